"""Speed of the ordering room, as ratios to peers measured in the same run.

::

    python benchmarks/ordering.py
"""

import argparse
from collections.abc import Callable
from datetime import date
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import prefero
from prefero import RankBoostOrderer, RankCorrelationReducer, RankSVMOrderer
from prefero.evaluation import ResultTable
from prefero.ordering import OrderedObjects, ranks_in_queries


def main() -> None:
    """Print one table per kernel. One thread each, the best of a few runs."""
    parser = argparse.ArgumentParser(description="Measure the speed of the orderers.")
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    with threadpool_limits(1):
        tables = {
            "Ranking SVM, groups of 100, 20 features": rank_svm(repeats),
            "Ranking SVM, one group": growth(repeats),
            "RankBoost, 500 orders of 10, 16 attributes, 100 rounds": rank_boost(500, 10, repeats),
            "RankBoost, 50 orders of 100": rank_boost(50, 100, repeats),
            "RCDR, 50,000 rows, 600 attributes, orders of 10, ten components": reduction(repeats),
        }
    print(f"# Speed of the orderers\n\n    python benchmarks/ordering.py --repeats {repeats}\n")
    print(f"Prefero {prefero.__version__}, {date.today()}. Seconds, one thread, best of {repeats}.")
    for head, table in tables.items():
        print(f"\n## {head}\n\n{table.to_text()}")


def sample(n_groups: int, size: int, features: int, noise: float = 1.0) -> OrderedObjects:
    """Noisy linear orders of random objects."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_groups * size, features))
    qid = np.repeat(np.arange(n_groups), size)
    worth = X @ rng.normal(size=features) + noise * rng.normal(size=len(X))
    return OrderedObjects(X, ranks_in_queries(worth, qid, higher_is_better=True), qid)


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Wall-clock time of the quickest of a few runs."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def relative_to(unit: str, times: dict[str, float]) -> ResultTable:
    """A table of times, in seconds and as multiples of one of them."""
    return ResultTable(
        [
            {"method": name, "seconds": time, f"relative to {unit}": time / times[unit]}
            for name, time in times.items()
        ]
    )


def rank_svm(repeats: int) -> ResultTable:
    """Our solver on implicit pairs against LinearSVC on the list of their differences."""
    data = sample(20, 100, 20)

    def explicit() -> LinearSVC:
        better, worse = explicit_pairs(data)
        signs = np.where(np.arange(len(better)) % 2, 1, -1)
        differences = (data.X[better] - data.X[worse]) * signs[:, None]
        return LinearSVC(C=0.01, fit_intercept=False, dual=False).fit(differences, signs)

    ours, theirs = RankSVMOrderer(C=0.01).fit(*data).coef_, explicit().coef_[0]
    cosine = ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)
    times = {
        "RankSVMOrderer": seconds(lambda: RankSVMOrderer(C=0.01).fit(*data), repeats),
        f"LinearSVC on pairs (cosine {cosine:.5f})": seconds(explicit, repeats),
    }
    return relative_to("RankSVMOrderer", times)


def explicit_pairs(data: OrderedObjects) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of all pairs (better, worse) inside qid."""
    found = []
    for group in np.unique(data.qid):
        rows = np.flatnonzero(data.qid == group)
        better, worse = np.nonzero(data.y[rows][:, None] < data.y[rows])
        found.append(np.stack([rows[better], rows[worse]]))
    better, worse = np.concatenate(found, axis=1)
    return better, worse


def growth(repeats: int) -> ResultTable:
    """Time by the number of objects of one group, against n log n."""
    sizes = np.array([2_000, 8_000, 32_000, 128_000])
    times = []
    for n in sizes:
        data = sample(1, n, 20)
        # C shrinks with the number of pairs, so that every size takes about as many steps.
        orderer = RankSVMOrderer(C=1e4 / n**2)
        times.append(seconds(partial(orderer.fit, *data), repeats) / orderer.n_iter_)
    growth = np.array(times) / (sizes * np.log2(sizes))
    return ResultTable(
        [
            {"objects": int(n), "seconds a step": time, "by n log n, relative": float(ratio)}
            for n, time, ratio in zip(sizes, times, growth / growth[0], strict=True)
        ]
    )


def rank_boost(n_groups: int, size: int, repeats: int) -> ResultTable:
    """Our kernels against RankBoost written with NumPy on a list of pairs."""
    data = sample(n_groups, size, 16)
    binned = RankBoostOrderer(100, learning_rate=1.0)
    exact = RankBoostOrderer(100, learning_rate=1.0, max_bins=None)
    times = {
        "RankBoostOrderer": seconds(lambda: binned.fit(*data), repeats),
        "RankBoostOrderer, exact": seconds(lambda: exact.fit(*data), repeats),
        "NumPy, a threshold at a time": 10 * seconds(lambda: numpy_rank_boost(data, 10), 1),
        "NumPy, running sums": seconds(lambda: numpy_rank_boost(data, 100, sort=True), repeats),
    }
    return relative_to("RankBoostOrderer", times)


def numpy_rank_boost(
    data: OrderedObjects, rounds: int, *, sort: bool = False
) -> NDArray[np.float64]:
    """RankBoost on a list of pairs; thresholds one after the other, or by sorted running sums."""
    better, worse = explicit_pairs(data)
    weight = np.full(len(better), 1 / len(better))
    values, order = np.sort(data.X.T, axis=1), np.argsort(data.X.T, axis=1)
    scores = np.zeros(len(data.y))
    for _ in range(rounds):
        potential = np.bincount(better, weight, len(scores))
        potential -= np.bincount(worse, weight, len(scores))
        if sort:
            gains = -np.cumsum(potential[order], axis=1)
        else:
            gains = np.array(
                [
                    [potential[x > t].sum() for t in edges[::20]]
                    for x, edges in zip(data.X.T, values, strict=True)
                ]
            )
        k, t = np.unravel_index(np.argmax(np.abs(gains)), gains.shape)
        threshold = values[k, t if sort else 20 * t]
        alpha, h = np.arctanh(gains[k, t]), (data.X[:, k] > threshold).astype(float)
        weight *= np.exp(alpha * (h[worse] - h[better]))
        weight /= weight.sum()
        scores += alpha * h
    return scores


def reduction(repeats: int) -> ResultTable:
    """Spearman and Kendall RCDR against scikit-learn's PCA, ten components each."""
    data = sample(5_000, 10, 600)
    spearman = RankCorrelationReducer(10, correlation="spearman")
    kendall = RankCorrelationReducer(10, correlation="kendall")
    times = {
        "PCA": seconds(lambda: PCA(10).fit(data.X), repeats),
        "Spearman RCDR": seconds(lambda: spearman.fit(*data), repeats),
        "Kendall RCDR": seconds(lambda: kendall.fit(*data), repeats),
    }
    return relative_to("PCA", times)


if __name__ == "__main__":
    main()

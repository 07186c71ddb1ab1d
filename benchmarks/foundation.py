"""Speed of the kernels that everything stands on, as ratios to plain SciPy and NumPy.

Run: python benchmarks/foundation.py [--quick]

Each peer does the same work in the same process and its result is compared with ours. The loop
over scipy.stats.kendalltau is timed on part of the rows and scaled up.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from prefero.consensus import borda_batch
from prefero.mallows import Mallows, fit_mallows_batch
from prefero.metrics import kendall_tau
from prefero.plackett_luce import fit_plackett_luce_batch
from prefero.rankings import drop_labels

Array = NDArray[Any]


def seconds(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the best time of several calls, and the last result."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def report(task: str, ours: float, peer: float, bar: str) -> None:
    """Print one row of the table."""
    print(f"| {task} | {ours:.4f} | {peer:.2f} | {peer / ours:.0f} | {bar} |", flush=True)


def tau(rows: int, labels: int, sample: int, repeats: int, bar: str) -> None:
    """Time Kendall's tau on random rankings against a loop over SciPy."""
    rng = np.random.default_rng(0)
    first, second = (rng.permuted(np.tile(np.arange(1.0, labels + 1), (rows, 1)), axis=1)
                     for _ in range(2))  # fmt: skip
    ours, values = seconds(lambda: kendall_tau(first, second, average=False), repeats)
    peer, expected = seconds(
        lambda: [kendalltau(a, b).statistic
                 for a, b in zip(first[:sample], second[:sample], strict=True)], 1
    )  # fmt: skip
    np.testing.assert_allclose(values[:sample], expected)
    report(f"tau, {rows:,} x {labels}", ours, peer * rows / sample, bar)


def numpy_mallows(Y: Array, indices: Array, weights: Array) -> tuple[Array, Array]:
    """Algorithm 1 of Cheng et al. 2009 for strict rankings, all neighbourhoods at once."""
    ranks = Y[indices]
    c = ranks.shape[-1]
    known = ~np.isnan(ranks)
    m = known.sum(axis=-1, keepdims=True)
    weight = (weights * m[..., 0] / c)[..., None]
    order = np.argsort(ranks, axis=-1)
    position = np.argsort(order, axis=-1) + 1
    votes = np.where(known, (m + 1 - position) * (c + 1) / (m + 1), (c + 1) / 2)
    center = numpy_center(votes, weight)
    for _ in range(20):
        extended = numpy_extend(order, position, known, m, center)
        previous, center = center, numpy_center(c + 1 - extended, weight)
        if np.array_equal(previous, center):
            break
    extended = numpy_extend(order, position, known, m, center)
    against = (center[:, None, :, None] < center[:, None, None, :]) & (
        extended[..., :, None] > extended[..., None, :]
    )
    total = weight.sum(axis=(1, 2))
    mean = (against.sum(axis=(2, 3)) * weight[..., 0]).sum(axis=1) / total
    return center + 1, numpy_theta(mean, c)


def numpy_center(votes: Array, weight: Array) -> Array:
    """Order labels by their mean votes; places count from 0."""
    mean = np.round((votes * weight).sum(axis=1) / weight.sum(axis=1), 8)
    return np.argsort(np.argsort(-mean, axis=-1, kind="stable"), axis=-1)


def numpy_extend(order: Array, position: Array, known: Array, m: Array, center: Array) -> Array:
    """Insert every missing label in its cheapest gap."""
    c = center.shape[-1]
    place = np.take_along_axis(np.broadcast_to(center[:, None, :], order.shape), order, axis=-1)
    cost = np.zeros((*order.shape, c + 1), dtype=np.int8)
    steps = np.sign(place[..., None, :] - center[:, None, :, None]).astype(np.int8)
    np.cumsum(steps, axis=-1, out=cost[..., 1:])
    cost[np.broadcast_to((np.arange(c + 1) > m)[..., None, :], cost.shape)] = 127
    gap = np.argmin(cost, axis=-1)
    key = np.where(known, 2 * c * position, (2 * gap + 1) * c + center[:, None, :])
    return np.argsort(np.argsort(key, axis=-1), axis=-1) + 1


def numpy_theta(mean: Array, c: int) -> Array:
    """Bisect for the theta with that expected distance."""
    low, high = np.full(mean.shape, 1e-6), np.full(mean.shape, 50.0)
    j = np.arange(1, c + 1)[:, None]
    for _ in range(45):
        theta = (low + high) / 2
        expected = (1 / np.expm1(theta) - j / np.expm1(j * theta)).sum(axis=0)
        low, high = np.where(expected > mean, theta, low), np.where(expected > mean, high, theta)
    return np.where(mean > 0, low, np.inf)


def in_chunks(fit: Callable[..., Any], Y: Array, indices: Array, weights: Array) -> Any:
    """Call the peer on parts that fit a cache: all at once it is slower still."""
    parts = [slice(i, i + 250) for i in range(0, len(indices), 250)]
    results = [fit(Y, indices[part], weights[part]) for part in parts]
    return [np.concatenate(part) for part in zip(*results, strict=True)]


def neighborhoods(count: int, missing: float) -> tuple[Array, Array, Array]:
    """Return 5000 rankings of 10 labels, and sets of 20 of them that have something in common."""
    rng = np.random.default_rng(1)
    models = [Mallows(rng.permutation(10) + 1, 0.4) for _ in range(50)]
    Y = np.concatenate([m.sample(100, random_state=i) for i, m in enumerate(models)])
    indices = rng.integers(0, 50, count)[:, None] * 100 + rng.integers(0, 100, (count, 20))
    return drop_labels(Y, missing, random_state=0), indices, rng.random(indices.shape)


def estimation(count: int, missing: float, repeats: int, bar: str) -> None:
    """Time the batch estimation of Mallows models."""
    problem = neighborhoods(count, missing)
    ours, batch = seconds(lambda: fit_mallows_batch(*problem), repeats)
    peer, (centers, theta) = seconds(lambda: in_chunks(numpy_mallows, *problem), 1)
    # The peer stops a chunk as a whole, so a set that cycles may end elsewhere.
    same = (batch.centers == centers).all(axis=1)
    assert same.mean() > 0.99, same.mean()
    np.testing.assert_allclose(batch.theta[same], theta[same], rtol=1e-5, atol=1e-5)
    report(f"Mallows, {count:,} sets, {missing:.0%} missing", ours, peer, bar)


def votes(count: int, repeats: int) -> None:
    """Time the batch Borda count of complete rankings."""
    Y, indices, weights = neighborhoods(count, 0)
    ours, found = seconds(lambda: borda_batch(Y, indices, weights), repeats)
    peer, expected = seconds(
        lambda: ((11 - Y)[indices] * weights[..., None]).sum(axis=1)
        / weights.sum(axis=1, keepdims=True), repeats
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-7)
    report(f"Borda, {count:,} sets, complete", ours, peer, "")


def worths(count: int) -> None:
    """Time the batch estimation of Plackett-Luce models; there is no plain peer."""
    problem = neighborhoods(count, 0.3)
    ours, _ = seconds(lambda: fit_plackett_luce_batch(*problem), 1)
    print(f"| Plackett-Luce, {count:,} sets, 30% missing | {ours:.4f} | | | |")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the sets and repeats")
    quick = parser.parse_args().quick
    repeats, count = (2, 1000) if quick else (10, 10_000)
    print("| task | ours, s | peer, s | ratio | goal |\n|---|---|---|---|---|")
    tau(100_000, 10, 200 if quick else 3000, repeats, "500")
    tau(1000, 100, 20 if quick else 300, repeats, "100")
    votes(count, repeats)
    estimation(count, 0.0, repeats, "")
    estimation(count, 0.3, repeats, "under 1 s")
    worths(count)


if __name__ == "__main__":
    main()

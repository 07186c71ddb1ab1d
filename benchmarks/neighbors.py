"""Speed and memory of NeighborsLabelRanker against scikit-learn's KNeighborsRegressor.

Both predict all rows of a set from all its rows with k = 5; ours with complete rankings and
with 30 % of the labels missing, the peer always on the complete ranks as a regression target.
The best of several runs counts. ``--million`` predicts from a million cases and prints the
largest memory the process used::

    python benchmarks/neighbors.py --output docs/results/neighbors-speed.md
    python benchmarks/neighbors.py --million
"""

import argparse
import resource
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

import prefero
from prefero import NeighborsLabelRanker
from prefero.datasets import benchmark_path
from prefero.rankings import drop_labels, ranks_from_scores
from prefero.tables import read_rankings

K = 5


def read_set(name: str) -> tuple[Any, Any]:
    """Return the instances and the ranks of one set."""
    data = read_rankings(benchmark_path(f"kebi/{name}.csv"))
    return data.X.to_numpy(), data.ranks


def seconds(function: Callable[[], Any], runs: int) -> float:
    """Return the shortest CPU time of several runs, which other processes disturb little."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def compare(name: str, runs: int) -> list[str]:
    """Return rows of the table: our ways to predict, as ratios to the peer."""
    X, Y = read_set(name)
    scaled = StandardScaler().fit_transform(X)
    peer = KNeighborsRegressor(K, weights="distance").fit(scaled, Y)
    theirs = seconds(lambda: peer.predict(scaled), runs)
    rows = [f"| {name} | KNeighborsRegressor | {theirs:.3f} | 1.00 |"]
    default, algorithm_1 = NeighborsLabelRanker, NeighborsLabelRanker.iblr
    for head, missing, make in (
        ("default", 0.0, default),
        ("default, 30 % missing", 0.3, default),
        ("Algorithm 1, plain features", 0.0, algorithm_1),
        ("Algorithm 1, plain features, 30 % missing", 0.3, algorithm_1),
    ):
        ranks = drop_labels(Y, missing, random_state=0)
        some = ~np.isnan(ranks).all(axis=1)
        ranker = make(n_neighbors=K).fit(X[some], ranks[some])
        ours = seconds(lambda ranker=ranker: ranker.predict(X), runs)
        rows.append(f"| {name} | {head} | {ours:.3f} | {ours / theirs:.2f} |")
    ranker = NeighborsLabelRanker("auto")
    fit = seconds(lambda: ranker.fit(X, Y), 1)
    rows.append(f"| {name} | fit, k among 20 sizes (k = {ranker.n_neighbors_}) | {fit:.3f} | |")
    return rows


def million(n_queries: int) -> list[str]:
    """Return what it takes to predict from a million cases of twenty features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 20))
    Y = ranks_from_scores(X @ rng.normal(size=(20, 10)), higher_is_better=True)
    lines = []
    for algorithm in ("auto", "approximate"):
        ranker = NeighborsLabelRanker(10, algorithm=algorithm)
        fit = seconds(lambda ranker=ranker: ranker.fit(X, Y), 1)
        predict = seconds(lambda ranker=ranker: ranker.predict(X[:n_queries] + 0.01), 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        lines.append(
            f"| {algorithm} | {fit:.1f} | {n_queries} | {predict:.1f} | {ranker.recall_:.3f} "
            f"| {peak:.2f} |"
        )
    return lines


def main() -> None:
    """Print the table asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--million", action="store_true", help="the large case base instead")
    parser.add_argument("--queries", type=int, default=5_000, help="with --million")
    parser.add_argument("--output", type=Path, help="write the table to this file too")
    options = parser.parse_args()
    if options.million:
        title = "Neighbours among 1,000,000 cases x 20 features, 10 labels"
        table = [
            "| algorithm | fit, CPU s | queries | predict, CPU s | recall | peak so far, GB |",
            "|---|---|---|---|---|---|",
            *million(options.queries),
        ]
    else:
        title = f"Predicting all rows from all rows, k = {K}"
        table = ["| set | method | CPU seconds | ratio |", "|---|---|---|---|"]
        for name in ("fried", "pendigits"):
            table += compare(name, options.runs)
    command = "python benchmarks/neighbors.py" + " --million" * options.million
    head = f"# {title}\n\n    {command}\n\nPrefero {prefero.__version__}, {date.today()}.\n\n"
    text = head + "\n".join(table) + "\n"
    print(text)
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

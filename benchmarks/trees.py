"""Speed of forests and trees against scikit-learn's forest, on the same data.

The peer is ``RandomForestRegressor(n, max_features="sqrt")`` on the rank matrix, one thread,
timed in the same run: each figure is the peer's best CPU time over ours, of several repetitions
in turn. Above 1 we are faster::

    python benchmarks/trees.py --quick
    python benchmarks/trees.py --trees 100 --repeat 3

Data are read from the folder that the environment variable PREFERO_DATA names.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from prefero import ForestLabelRanker, TreeLabelRanker
from prefero.datasets import benchmark_path, read_kebi
from prefero.rankings import drop_labels
from prefero.study import Table

SETS = ("fried", "calhousing", "elevators", "pendigits", "segment", "vowel", "wisconsin")
CRITERIA = ("kendall", "spearman", "mallows", "entropy")
# CPU time of one tree of scikit-lr 0.3.0 in those of RandomForestRegressor(10), measured once.
SCIKIT_LR_TREE = {
    "segment": 2.1,
    "vowel": 3.3,
    "wisconsin": 10,
    "pendigits": 2.7,
    "elevators": 3.8,
    "calhousing": 2.5,
    "fried": 2.2,
}


def best_times(tasks: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Run all tasks in turn, several times, and return the best CPU time of each."""
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(repeat):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def compare(name: str, trees: int, repeat: int) -> dict[str, Any]:
    """Return the ratios of one set."""
    data = read_kebi(benchmark_path(f"kebi/{name}.csv"))
    X, Y = np.asarray(data.data, dtype=float), np.asarray(data.target, dtype=float)
    peer = RandomForestRegressor(trees, max_features="sqrt", random_state=0)
    ours = {
        criterion: ForestLabelRanker(trees, criterion=criterion, random_state=0)
        for criterion in CRITERIA
    }
    tasks: dict[str, Callable[[], Any]] = {"peer": lambda: peer.fit(X, Y)}
    tasks |= {criterion: lambda f=forest: f.fit(X, Y) for criterion, forest in ours.items()}
    fit = best_times(tasks, repeat)
    predict = best_times(
        {"peer": lambda: peer.predict(X), "ours": lambda: ours["kendall"].predict(X)}, repeat
    )
    small_peer = RandomForestRegressor(10, max_features="sqrt", random_state=0)
    lrt = TreeLabelRanker.lrt()
    tree = best_times(
        {"peer": lambda: small_peer.fit(X, Y), "lrt": lambda: lrt.fit(X, Y)}, max(repeat, 3)
    )
    row = {"set": name, "peer fit (s)": fit["peer"], "peer predict (s)": predict["peer"]}
    row |= {criterion: fit["peer"] / fit[criterion] for criterion in CRITERIA}
    row["predict"] = predict["peer"] / predict["ours"]
    row["LRT against scikit-lr"] = SCIKIT_LR_TREE[name] * tree["peer"] / tree["lrt"]
    return row


def incomplete_tree(repeat: int) -> str:
    """Time LRT on segment with 60 % of the labels missing."""
    data = read_kebi(benchmark_path("kebi/segment.csv"))
    X, Y = np.asarray(data.data, dtype=float), np.asarray(data.target, dtype=float)
    Y = drop_labels(Y, 0.6, random_state=0)
    used = ~np.isnan(Y).all(axis=1)
    tree = TreeLabelRanker.lrt()
    seconds = best_times({"lrt": lambda: tree.fit(X[used], Y[used])}, max(repeat, 3))["lrt"]
    return f"LRT on segment, 60 % of the labels missing: {seconds:.3f} CPU s"


def threads(trees: int) -> str:
    """Compare two threads with one, by wall-clock time."""
    data = read_kebi(benchmark_path("kebi/elevators.csv"))
    X, Y = np.asarray(data.data, dtype=float), np.asarray(data.target, dtype=float)
    seconds = {}
    for jobs in (1, 2):
        forest = ForestLabelRanker(trees, n_jobs=jobs, random_state=0)
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            forest.fit(X, Y)
            best = min(best, time.perf_counter() - start)
        seconds[jobs] = best
    return f"two threads against one, elevators, fit: {seconds[1] / seconds[2]:.2f} times"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="ten trees, two repetitions")
    options = parser.parse_args()
    if options.quick:
        options.trees, options.repeat = 10, 2
    rows = [compare(name, options.trees, options.repeat) for name in options.sets]
    print(f"{options.trees} trees; peer's CPU time over ours\n")
    print(Table(rows).to_text(digits=2))
    print()
    print(incomplete_tree(options.repeat))
    print(threads(options.trees))


if __name__ == "__main__":
    main()

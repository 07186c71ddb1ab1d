"""Speed of forests and trees against scikit-learn's forest, on the same data.

The peer is ``RandomForestRegressor(n, max_features="sqrt")`` on the rank matrix, one thread,
timed in the same run: each figure is the peer's best CPU time over ours, of several repetitions
in turn. Above 1 we are faster. Criteria are timed without shrinkage; "shrunk over plain" is what
its automatic choice costs, as a ratio to the plain fit by Kendall's criterion::

    python benchmarks/trees.py --quick
    python benchmarks/trees.py --trees 100 --repeat 3 --peer-python ../scikit-lr/bin/python

With ``--peer-python``, an interpreter that has scikit-lr 0.3.0 (it needs Python 3.13), one label
ranking tree is compared with that package's.

Data are read from the folder that the environment variable PREFERO_DATA names.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from prefero import ForestLabelRanker, TreeLabelRanker
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable
from prefero.rankings import bucket_positions, drop_labels
from prefero.tables import read_rankings

SETS = ("fried", "calhousing", "elevators", "pendigits", "segment", "vowel", "wisconsin")
CRITERIA = ("kendall", "spearman", "mallows", "entropy")
LRT_SETS = (*SETS, "spo")


def best_times(tasks: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Run all tasks in turn, several times, and return the best CPU time of each."""
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(repeat):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def read(name: str) -> tuple[Any, Any]:
    """Return the features and ranks of a set."""
    data = read_rankings(benchmark_path(f"kebi/{name}.csv"))
    return data.X.to_numpy(), data.ranks


def compare(name: str, trees: int, repeat: int) -> dict[str, Any]:
    """Return the ratios of one set."""
    X, Y = read(name)
    peer = RandomForestRegressor(trees, max_features="sqrt", random_state=0)
    ours = {
        criterion: ForestLabelRanker(trees, criterion=criterion, shrinkage=0.0, random_state=0)
        for criterion in CRITERIA
    }
    ours["shrunk"] = ForestLabelRanker(trees, random_state=0)
    tasks: dict[str, Callable[[], Any]] = {"peer": lambda: peer.fit(X, Y)}
    tasks |= {criterion: lambda f=forest: f.fit(X, Y) for criterion, forest in ours.items()}
    fit = best_times(tasks, repeat)
    predict = best_times(
        {"peer": lambda: peer.predict(X), "ours": lambda: ours["kendall"].predict(X)}, repeat
    )
    row = {"set": name, "peer fit (s)": fit["peer"], "peer predict (s)": predict["peer"]}
    row |= {criterion: fit["peer"] / fit[criterion] for criterion in CRITERIA}
    row["shrunk over plain"] = fit["shrunk"] / fit["kendall"]
    row["predict"] = predict["peer"] / predict["ours"]
    return row


def lrt_against_scikit_lr(
    peer_python: str, name: str, repeat: int, missing: float
) -> dict[str, Any]:
    """Time one label ranking tree, ours and that of scikit-lr, with labels missing at random."""
    X, Y = read(name)
    if missing:
        Y = drop_labels(Y, missing, random_state=0)
        used = ~np.isnan(Y).all(axis=1)
        X, Y = X[used], bucket_positions(Y[used])
    tree = TreeLabelRanker.lrt()
    ours = best_times({"lrt": lambda: tree.fit(X, Y)}, max(repeat, 3))["lrt"]
    script = Path(__file__).with_name("scikit_lr_tree.py")
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "data.npz", X=X, Y=Y)
        command = [peer_python, str(script), str(Path(folder) / "data.npz")]
        done = subprocess.run(
            [*command, "--repeat", str(repeat)], check=True, capture_output=True, text=True
        )
    peer = float(done.stdout)
    return {
        "set": name,
        "labels missing": f"{missing:.0%}",
        "scikit-lr (s)": peer,
        "LRT (s)": ours,
        "ratio": peer / ours,
    }


def threads(trees: int) -> str:
    """Compare two threads with one, by wall-clock time."""
    X, Y = read("elevators")
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
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="ten trees, two repetitions")
    parser.add_argument("--peer-python", help="an interpreter that has scikit-lr")
    options = parser.parse_args()
    if options.quick:
        options.trees, options.repeat = 10, 2
    rows = [compare(name, options.trees, options.repeat) for name in options.sets]
    if rows:
        print(f"{options.trees} trees; peer's CPU time over ours\n")
        print(ResultTable(rows).to_text(digits=2))
        print()
        print(threads(options.trees))
    if options.peer_python:
        cases = [(name, 0.0) for name in LRT_SETS] + [("segment", 0.6)]
        trees = [
            lrt_against_scikit_lr(options.peer_python, name, options.repeat, missing)
            for name, missing in cases
        ]
        print("\none label ranking tree; CPU time of scikit-lr over ours\n")
        print(ResultTable(trees).to_text(digits=3))


if __name__ == "__main__":
    main()

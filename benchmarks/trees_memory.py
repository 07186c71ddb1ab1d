"""Peak memory of forests against scikit-learn's forest, each fit in a process of its own.

    python benchmarks/trees_memory.py --sets elevators pendigits fried million
    python benchmarks/trees_memory.py --sets million --methods kendall --shrinkage 0

``million`` is a made set of 1,000,000 rows, 20 features and five labels, with ten trees. The
figures are the rise of the peak while fitting, in MB, and CPU seconds: data and libraries are
loaded before.
"""

import argparse
import multiprocessing
import resource
import time

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from prefero import ForestLabelRanker
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable
from prefero.rankings import ranks_from_scores
from prefero.tables import read_rankings

METHODS = ("RandomForestRegressor", "kendall", "spearman")


def load(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read a benchmark set, or make the large one."""
    if name != "million":
        data = read_rankings(benchmark_path(f"kebi/{name}.csv"))
        return data.X.to_numpy(), data.ranks
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 20))
    return X, ranks_from_scores(X @ rng.normal(size=(20, 5)), higher_is_better=True)


def peak() -> float:
    """Return the largest size that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit(name: str, method: str, trees: int, shrinkage: float | str) -> tuple[float, float]:
    """Return by how many MB the peak rises in a fit, and its CPU seconds."""
    X, Y = load(name)
    forest = (
        RandomForestRegressor(trees, max_features="sqrt", random_state=0)
        if method == METHODS[0]
        else ForestLabelRanker(trees, criterion=method, shrinkage=shrinkage, random_state=0)
    )
    before, start = peak(), time.process_time()
    forest.fit(X, Y)
    return peak() - before, time.process_time() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["elevators", "pendigits", "fried"])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--shrinkage", default="auto", help="of our forests: auto or a number")
    options = parser.parse_args()
    shrinkage = options.shrinkage if options.shrinkage == "auto" else float(options.shrinkage)
    rows = []
    for name in options.sets:
        trees = 10 if name == "million" else 100
        row: dict[str, object] = {"set": name, "trees": trees}
        for method in options.methods:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                task = name, method, trees, shrinkage
                row[f"{method}, MB"], row[f"{method}, CPU s"] = pool.apply(fit, task)
        rows.append(row)
    print(ResultTable(rows).to_text(digits=1))


if __name__ == "__main__":
    main()

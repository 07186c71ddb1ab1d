"""Rankings with ties (partial label ranking): tau-x, ours beside the best that was published.

::

    python reproduction/ties.py --quick --jobs 2

The sets are ``ties/*.csv`` and two of ``real/*.csv`` in the folder that PREFERO_DATA names.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from kebi import arguments, beside, need, parse, publish, published
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from prefero import (
    BoostingLabelRanker,
    ConsensusLabelRanker,
    ConstraintLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    RegressionLabelRanker,
    TreeLabelRanker,
)
from prefero._typing import Values
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable, run_experiment
from prefero.tables import read_rankings

REAL_SETS = ("movies", "political")
LARGE = 3000
TABLE = "thies2024_moreplr_plr.csv"
METHODS = ("Chain_PI", "Chain_RR", "Native_PI", "Native_RR", "RPC", "ST_PI", "ST_RR")

READING = """
tau-x of `predict_buckets`, ten folds unless `--folds` asks for others; cells as the table says, one
repetition on sets of more than 3000 rows, and as many rows as `--rows` asks for. Every ranker has
its default parameters, but for "ties voting", which is `ties="model"`. The consensus order is cut
into buckets like any other. Published: Thies, Alfaro & Bengs (2024), MORE-PLR, five repetitions of
ten folds; the best of seven methods is taken set by set.
"""


def main() -> None:
    """Run every set that is there."""
    parser = arguments("Predict rankings with ties, beside the best published results.")
    parser.add_argument("--rows", type=int, default=0, help="rows of a set to take; 0: all")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--rankers", help="some of them, with commas; all by default")
    options = parse(parser)
    need(["ties"])
    wanted = list(rankers()) if options.rankers is None else options.rankers.split(",")
    chosen = {name: rankers()[name] for name in wanted}
    results = ResultTable([])
    for name, read in find_sets().items():
        X, ranks = read()
        if options.rows:
            rows = np.random.default_rng(0).permutation(len(X))[: options.rows]
            X, ranks = X[rows], ranks[rows]
        if options.quick and len(X) > LARGE:
            continue
        results += run_experiment(
            chosen,
            {name: (X, ranks)},
            n_splits=options.folds,
            n_repeats=1 if options.quick or len(X) > LARGE else options.repetitions,
            n_jobs=options.jobs,
            folder=options.folder,
        )
    figures = {method: published(TABLE, column="tau_x", method=method) for method in METHODS}
    places = figures[METHODS[0]]
    best = {place: max(figure[place] for figure in figures.values()) for place in places}
    cells = [
        {"dataset": name, "cells of each ranker": len(rows) // len(chosen)}
        for (name,), rows in results.groups("dataset").items()
    ]
    tables = {
        "tau-x": beside(results, {"best published": best}, scoring="tau_x"),
        "Cells": ResultTable(cells),
    }
    publish("Rankings with ties", tables, options.output, reading=READING)


def rankers() -> dict[str, BaseEstimator]:
    """The rankers, beside the consensus order; linear ones learn from standardized features."""
    linear = {
        "Pairwise": PairwiseLabelRanker(),
        "Pairwise, ties voting": PairwiseLabelRanker(ties="model"),
        "Log-linear": LogLinearLabelRanker(),
        "Regression": RegressionLabelRanker(),
        "Constraint": ConstraintLabelRanker(),
    }
    return {
        "consensus order": ConsensusLabelRanker(),
        "Forest": ForestLabelRanker(),
        "Boosting": BoostingLabelRanker(),
        "Tree": TreeLabelRanker(),
        "Neighbors": NeighborsLabelRanker(),
        **{name: make_pipeline(StandardScaler(), ranker) for name, ranker in linear.items()},
    }


def find_sets() -> dict[str, Callable[[], tuple[Values, Values]]]:
    """Return readers of the sets that are there, by name."""
    root = benchmark_path(".")
    found = {path.stem: partial(_read, path, None) for path in (root / "ties").glob("*.csv")}
    real = {name: root / "real" / f"{name}.csv" for name in REAL_SETS}
    found |= {name: partial(_read, path, "r_*") for name, path in real.items() if path.is_file()}
    return dict(sorted(found.items()))


def _read(path: Path, labels: str | None) -> tuple[Values, Values]:
    data = read_rankings(path, labels)
    return np.asarray(data.X, dtype=np.float64), data.ranks


if __name__ == "__main__":
    main()

"""Forests whose trees have each seen the rows of one partition alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from prefero import _core
from prefero._trees import Arrays, Trees
from prefero._typing import Indices
from prefero.base import twin_of
from prefero.distributed._forest import finish_forest, learn_bins, refuse_local_only
from prefero.distributed._partitions import Partitions, Place, Rows
from prefero.label_ranking import ForestLabelRanker


def fit_partition_forest(ranker: ForestLabelRanker, partitions: Partitions) -> None:
    """Fit a forest of trees that partitions grow by themselves.

    Partitions are small samples already (Breiman 1999, Pasting small votes): where there are
    several, trees see all rows of theirs, and rows are held out from the trees of the others.
    """
    refuse_local_only(ranker, but={"splitter", "max_leaf_nodes", "mdl_stopping"})
    n_parts = len(partitions.places)
    if ranker.n_estimators < n_parts:
        raise ValueError(
            f"n_estimators={ranker.n_estimators} is less than the {n_parts} partitions: some "
            "would have no tree. Ask for more trees, or make fewer partitions."
        )
    learn_bins(ranker, partitions)
    ranker.seeds_ = ranker._draw_seeds(ranker.n_estimators)
    numbers, sample = partitions.sample()
    ties = any(summary.ties for summary in partitions.summaries)
    shared = ranker, ties, np.array_split(ranker.seeds_, n_parts), numbers
    found = partitions.engine.gather(partitions.read(_grow_own, shared=shared))
    arrays, drawn = zip(*found, strict=True)
    grown = Trees.joined(arrays, ranker.n_features_in_, partitions.n_labels)
    # Trees x rows: no tree has seen rows of another partition.
    seen = np.asarray(block_diag(*drawn), dtype=np.uint16)
    finish_forest(ranker, partitions, grown, sample, seen)


def _grow_own(
    rows: Rows, place: Place, shared: tuple[Any, bool, list[NDArray[np.uint64]], Indices]
) -> tuple[Arrays, NDArray[np.uint16]]:
    """Grow the trees of a partition; say how often each has drawn the watched rows in it."""
    ranker, ties, seeds, numbers = shared
    own, twin = seeds[place.number], twin_of(ranker, anew=False)
    if twin.criterion == "auto":  # for all partitions alike
        twin.criterion = "spearman" if ties else "kendall"
    _share_bounds(twin, place, rows.ranks.shape[1])
    alone = place.size == place.total
    grown = twin._grow(
        twin._feature_bins.apply(rows.X), rows.ranks, rows.weight, own, bootstrap=alone
    )
    watched = place.inside(numbers)
    drawn = np.ones((len(own), len(watched)), dtype=np.uint16)
    if alone:
        counts = [_core.bootstrap_counts(int(seed), 0, place.size, place.size) for seed in own]
        drawn = np.stack(counts)[:, watched]
    return grown.arrays, drawn


def _share_bounds(ranker: ForestLabelRanker, place: Place, n_labels: int) -> None:
    """Ask of a node the share of the examples that its partition has of all.

    The leaves that a row reaches in the trees of all partitions then hold as many together.
    """
    bounds, share = ranker._grow_options(place.total, n_labels), place.size / place.total
    ranker.min_samples_leaf = int(np.ceil(bounds["min_leaf"] * share))
    ranker.min_samples_split = max(2, int(np.ceil(bounds["min_split"] * share)))

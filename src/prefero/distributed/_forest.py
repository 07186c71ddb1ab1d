"""Forests of rows in partitions: trees of all rows, from histograms that are added up."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from prefero._trees import (
    MAX_ROWS_FOR_QUANTILES,
    FeatureBins,
    JudgedRows,
    Trees,
    find_bins,
    row_votes,
)
from prefero._typing import Indices, Mask, Values
from prefero.distributed._binned import CRITERIA, LaneSpec, bin_rows
from prefero.distributed._levels import GrowOptions, grow_forest
from prefero.distributed._partitions import Partitions, Place, Rows
from prefero.label_ranking import ForestLabelRanker

# Parameters that only the growing of one machine knows, and the value that leaves them out.
_LOCAL_ONLY = {
    "splitter": "best",
    "max_leaf_nodes": None,
    "mdl_stopping": False,
    "bootstrap": True,
    "oob_score": False,
    "warm_start": False,
}


def fit_histogram_forest(ranker: ForestLabelRanker, partitions: Partitions) -> None:
    """Fit the trees that one machine would grow level by level from the same bins and seeds."""
    refuse_local_only(ranker)
    criterion = "spearman" if ranker.criterion == "auto" else ranker.criterion
    if criterion not in CRITERIA:
        raise ValueError(
            f"criterion={criterion!r} cannot be added up over partitions: use 'spearman', which "
            "'auto' means here, or 'kendall'; or forests of partitions, forest='partitions'."
        )
    learn_bins(ranker, partitions)
    spec = LaneSpec.of(partitions, ranker._feature_bins, criterion)
    parts = partitions.read(bin_rows, shared=spec)
    numbers, sample = partitions.sample()
    ranker.seeds_ = ranker._draw_seeds(ranker.n_estimators)
    options = _options(ranker, partitions)
    grown, drawn = grow_forest(partitions.engine, parts, ranker.seeds_, spec, options, numbers)
    finish_forest(ranker, partitions, grown, sample, drawn)


def refuse_local_only(ranker: ForestLabelRanker, but: Collection[str] = ()) -> None:
    """Refuse parameters that only the growing of one machine knows."""
    for name, value in _LOCAL_ONLY.items():
        if name not in but and getattr(ranker, name) != value:
            raise ValueError(
                f"{name}={getattr(ranker, name)!r} is not for rows in partitions: leave {name} at "
                f"{value!r}."
            )
    if ranker.leaf_values not in ("auto", "ranks"):
        raise ValueError(
            f"leaf_values={ranker.leaf_values!r} needs scores, which partitions do not hold."
        )


def learn_bins(ranker: ForestLabelRanker, partitions: Partitions) -> None:
    """Find the bins of all rows, from those that one machine would look at.

    Each worker sorts some of the features: the rows need not come to the driver.
    """
    engine, step = partitions.engine, -(-partitions.n_rows // MAX_ROWS_FOR_QUANTILES)
    numbers = np.arange(0, partitions.n_rows, step)
    looked_at = partitions.read(_features_at, shared=numbers, brief=True)
    groups = np.array_split(np.arange(ranker.n_features_in_), engine.ways)
    groups = [group for group in groups if len(group)]
    parts = [engine.each(_columns, looked_at, shared=group, brief=True) for group in groups]
    nominal = [ranker.nominal_features_[group] for group in groups]
    found = engine.gather(engine.each(_bins_of, parts, nominal, brief=True))
    ranker.bin_edges_ = np.concatenate([own.edges for own in found])
    widths = np.concatenate([np.diff(own.starts) for own in found])
    ranker.bin_starts_ = np.concatenate([[0], np.cumsum(widths)])


def _features_at(rows: Rows, place: Place, numbers: Indices) -> Values:
    return rows.X[place.inside(numbers)]


def _columns(X: Values, features: Indices) -> Values:
    return X[:, features]


def _bins_of(parts: list[Values], nominal: Mask, _: None) -> FeatureBins:
    return find_bins(np.concatenate(parts), nominal)


def _options(ranker: ForestLabelRanker, partitions: Partitions) -> GrowOptions:
    wanted = ranker._grow_options(partitions.n_rows, partitions.n_labels)
    return GrowOptions(**{name: wanted[name] for name in GrowOptions._fields})


def finish_forest(
    ranker: ForestLabelRanker,
    partitions: Partitions,
    grown: Trees,
    sample: Rows,
    drawn: NDArray[np.uint16],
) -> None:
    """Shrink and calibrate by what the trees say of sampled rows that they have not seen."""
    ranker.trees_, ranker.mean_votes_ = grown.arrays, partitions.mean_votes()
    bins = ranker._feature_bins.apply(sample.X)
    drawn = np.ascontiguousarray(drawn)
    rows = JudgedRows(bins, sample.ranks, sample.weight, drawn, *row_votes(sample.ranks))
    ranker._choose_shrinkage(grown, rows, "ranks")
    if not hasattr(ranker, "_held_out"):
        scores, trees = ranker._trees.walker.out_of_bag(bins, drawn)
        ranker._held_out = np.where(trees[:, None] > 0, scores, np.nan)
    ranker._calibrate(None, sample.X, sample.ranks, sample.ranks, sample.weight)

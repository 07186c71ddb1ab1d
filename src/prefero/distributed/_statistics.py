"""Rows of partitions as trees read them: bins, and statistics that are added up.

Sums must not depend on how the rows are divided. So each summand is rounded to a multiple of a
power of two that is small enough to lose nothing that matters, and large enough that the sum of all
rows is exact in doubles.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._trees._arrays import Trees
from prefero._trees._bins import MAX_ROWS_FOR_QUANTILES, FeatureBins, find_bins
from prefero._trees._shrinkage import row_votes
from prefero._typing import Indices, Mask, Values
from prefero.consensus import borda_votes
from prefero.distributed._partitions import PartitionRows, Partitions, Place
from prefero.label_ranking import ForestLabelRanker
from prefero.rankings import pair_signs

# Statistics of a row of a forest that stand before its vector: weight, examples, squared length.
_VECTOR = 3


class ForestStatistics(NamedTuple):
    """Which statistics of a row are added up.

    Attributes
    ----------
    bins : FeatureBins
        The bins of all features.
    criterion : {"spearman", "kendall"}
        Whose vectors are summed: Borda votes, one per label, or signs, one per pair of labels.
    n_labels : int
        Labels.
    most : float
        The most that the weights of all rows may add up to.
    complete : bool
        Whether all rows rank all labels; if not, the comparisons seen are summed too.
    whole_weights : bool
        Whether a weight of 2 is two examples.
    """

    bins: FeatureBins
    criterion: str
    n_labels: int
    most: float
    complete: bool
    whole_weights: bool

    @classmethod
    def of(cls, partitions: Partitions, bins: FeatureBins, criterion: str) -> "ForestStatistics":
        """Describe the statistics of some partitions."""
        complete = all(summary.complete for summary in partitions.summaries)
        weights = partitions.most_weight, complete, partitions.whole_weights
        return cls(bins, criterion, partitions.n_labels, *weights)

    @property
    def unit(self) -> float:
        """The squared length of the vector of a complete strict ranking."""
        c = self.n_labels
        if c < 2:
            return 1.0
        return c * (c + 1) * (c - 1) / 3 if self.criterion == "spearman" else c * (c - 1) / 2

    @property
    def width(self) -> int:
        """How many statistics are summed in histograms; there may be more in leaves."""
        c = self.n_labels
        return _VECTOR + (c if self.criterion == "spearman" else c * (c - 1) // 2)

    @property
    def votes_at(self) -> int:
        """Where the votes of leaves begin: the vector itself may hold them."""
        return _VECTOR if self.criterion == "spearman" and self.complete else self.width

    @property
    def known_at(self) -> int:
        """Where the comparisons that labels were seen in begin; 0 if all were."""
        return 0 if self.complete else self.votes_at + self.n_labels


class BinnedRows(NamedTuple):
    """The rows of a partition: bins, statistics, and which of all rows they are."""

    bins: NDArray[np.uint8]
    statistics: NDArray[Any]
    place: Place


def bin_rows(rows: PartitionRows, place: Place, layout: ForestStatistics) -> BinnedRows:
    """Turn the rows of a partition into bins and statistics; the features are dropped."""
    statistics = _statistics(rows.ranks, rows.weight, layout)
    return BinnedRows(layout.bins.apply(rows.X), shortest(statistics), place)


def shortest(statistics: Values) -> NDArray[Any]:
    """Return the statistics in single precision if that loses nothing."""
    short = statistics.astype(np.float32)
    return short if (short == statistics).all() else statistics


def _statistics(ranks: Values, weight: Values, layout: ForestStatistics) -> Values:
    c, most, width, votes_at = layout.n_labels, layout.most, layout.width, layout.votes_at
    if layout.criterion == "spearman":
        vector = 2 * borda_votes(ranks) - (c + 1)  # whole numbers where nothing is missing
    else:
        vector = pair_signs(ranks).astype(np.float64)
    share, parts = weight[:, None], row_votes(ranks)
    columns = [
        rounded(share, most, 1),
        share if layout.whole_weights else np.ones_like(share),
        rounded(share * (vector**2).sum(axis=1, keepdims=True), most, c**3),
        rounded(share * vector, most, c + 1),
    ]
    if votes_at == width:
        used = parts[:1] if layout.complete else parts
        columns += [rounded(share * (part * max(c - 1, 1)), most, c) for part in used]
    return np.hstack(columns)


def rounded(values: Values, most: float, largest: float) -> Values:
    """Round numbers of at most this size, so that they add up exactly over all rows."""
    grid = np.exp2(np.floor(52 - np.log2(most * largest)))
    return np.rint(values * grid) / grid


def leaves_of(bins: NDArray[np.uint8], tree: Trees | None) -> NDArray[np.int32]:
    """Return the leaf of one tree that each row reaches; None is a single leaf."""
    if tree is None:
        return np.zeros(len(bins), dtype=np.int32)
    return np.ascontiguousarray(tree.walker.apply(bins)[:, 0])


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


def _features_at(rows: PartitionRows, place: Place, numbers: Indices) -> Values:
    return rows.X[place.inside(numbers)]


def _columns(X: Values, features: Indices) -> Values:
    return X[:, features]


def _bins_of(parts: list[Values], nominal: Mask, _: None) -> FeatureBins:
    return find_bins(np.concatenate(parts), nominal)

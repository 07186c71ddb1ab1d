"""A partition as trees see it: bins, and what is summed of each row, exact in any order.

Sums over partitions must not depend on how the rows are divided. So what is summed is rounded to a
power of two that is small enough to lose nothing that counts, and large enough that the sum of all
rows is exact in doubles.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._trees import FeatureBins, Trees, row_votes
from prefero._typing import Indices, Mask, Values
from prefero.consensus import borda_votes
from prefero.distributed._partitions import Partitions, Place, Rows
from prefero.rankings import pair_signs

# Before the vector of a criterion: weight, examples, and the squared length of the vector.
WEIGHT, EXAMPLES, LENGTH, VECTOR = 0, 1, 2, 3

CRITERIA = ("spearman", "kendall")


class LaneSpec(NamedTuple):
    """What the lanes of a row hold.

    Attributes
    ----------
    bins : FeatureBins
        The bins of all features.
    criterion : {"spearman", "kendall"}
        Whose vectors are summed: Borda votes, one a label, or signs, one a pair of labels.
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
    def of(cls, partitions: Partitions, bins: FeatureBins, criterion: str) -> "LaneSpec":
        """Describe the lanes for some partitions."""
        found = partitions.summaries
        return cls(
            bins,
            criterion,
            partitions.n_labels,
            partitions.n_rows * max(s.most_weight for s in found),
            all(s.complete for s in found),
            all(s.whole_weights for s in found),
        )

    @property
    def n_vector(self) -> int:
        """How many numbers the vector of a ranking has."""
        c = self.n_labels
        return c if self.criterion == "spearman" else c * (c - 1) // 2

    @property
    def unit(self) -> float:
        """The squared length of the vector of a complete strict ranking."""
        c = self.n_labels
        if c < 2:
            return 1.0
        return c * (c + 1) * (c - 1) / 3 if self.criterion == "spearman" else c * (c - 1) / 2

    @property
    def width(self) -> int:
        """How many lanes are summed in histograms."""
        return VECTOR + self.n_vector

    @property
    def votes(self) -> slice:
        """Where the votes of leaves stand: the vector itself if that is what it holds."""
        c = self.n_labels
        own = self.criterion == "spearman" and self.complete
        return slice(VECTOR, VECTOR + c) if own else slice(self.width, self.width + c)

    @property
    def evidence(self) -> slice:
        """Where the comparisons that labels were seen in stand; empty if all were."""
        last = self.votes.stop
        return slice(last, last if self.complete else last + self.n_labels)


class BinnedRows(NamedTuple):
    """The rows of a partition: bins, lanes, and which of all rows they are."""

    bins: NDArray[np.uint8]
    lanes: NDArray[Any]
    place: Place


def bin_rows(rows: Rows, place: Place, spec: LaneSpec) -> BinnedRows:
    """Turn the rows of a partition into bins and lanes; the features themselves are forgotten."""
    lanes = _lanes(rows.ranks, rows.weight, spec)
    return BinnedRows(spec.bins.apply(rows.X), shortest(lanes), place)


def shortest(lanes: Values) -> NDArray[Any]:
    """Return the lanes in single precision if that loses nothing."""
    short = lanes.astype(np.float32)
    return short if (short == lanes).all() else lanes


def _lanes(ranks: Values, weight: Values, spec: LaneSpec) -> Values:
    c = spec.n_labels
    if spec.criterion == "spearman":
        vector = 2 * borda_votes(ranks) - (c + 1)  # whole numbers where nothing is missing
    else:
        vector = pair_signs(ranks).astype(np.float64)
    lanes = np.zeros((len(ranks), max(spec.width, spec.votes.stop, spec.evidence.stop)))
    share = weight[:, None]
    lanes[:, WEIGHT] = rounded(weight, spec.most, 1)
    lanes[:, EXAMPLES] = weight if spec.whole_weights else 1
    lanes[:, LENGTH] = rounded(weight * (vector**2).sum(axis=1), spec.most, c**3)
    lanes[:, VECTOR : spec.width] = rounded(share * vector, spec.most, c + 1)
    if spec.votes.start == spec.width or not spec.complete:
        votes, evidence = (part * max(c - 1, 1) for part in row_votes(ranks))
        lanes[:, spec.votes] = rounded(share * votes, spec.most, c)
        if not spec.complete:
            lanes[:, spec.evidence] = rounded(share * evidence, spec.most, c)
    return lanes


def rounded(values: Values, most: float, largest: float) -> Values:
    """Round numbers of at most this size, so that they add up exactly over all rows."""
    grid = np.exp2(np.floor(52 - np.log2(most * largest)))
    return np.rint(values * grid) / grid


def draw_rows(rows: BinnedRows, seeds: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return how often the bootstrap sample of each tree holds each row: trees x rows."""
    return np.stack([_core.bootstrap_counts(int(seed), *rows.place[:3]) for seed in seeds])


class Request(NamedTuple):
    """What a tree asks of every partition: histograms of features in some of its leaves.

    Attributes
    ----------
    tree : int
        Its number among those grown together.
    trees : Trees
        The tree so far.
    places : ndarray of shape (n_leaves,)
        The row of ``features`` that belongs to a leaf, or -1.
    features : ndarray of shape (n_asking, n_features)
        Which features.
    """

    tree: int
    trees: Trees
    places: NDArray[np.int32]
    features: NDArray[np.uint16]


class Requests(NamedTuple):
    """What is asked at a time, and what decides on cuts.

    Attributes
    ----------
    asked : list of Request
        What trees ask for.
    width : int
        Lanes that are added up.
    min_leaf : int
        Examples that children have at least.
    nominal : ndarray of shape (n_features,), dtype bool
        Which features are.
    category_sets : bool
        Sets of categories in place of one against the rest.
    """

    asked: list[Request]
    width: int
    min_leaf: int
    nominal: Mask
    category_sets: bool


def level_histograms(
    rows: BinnedRows, drawn: NDArray[np.uint16], requests: Requests
) -> list[Values]:
    """Add up what trees ask for of one partition, a histogram a request."""
    return [
        _core.level_histograms(
            *(rows.bins, rows.lanes, requests.width, drawn[one.tree]),
            *(leaves_of(rows.bins, one.trees), one.places, one.features),
        )
        for one in requests.asked
    ]


def level_cuts(sums: list[Values], requests: Requests) -> list[tuple[NDArray[Any], ...]]:
    """Find the best cut of each node and feature in the histograms of all rows."""
    nominal = np.flatnonzero(requests.nominal)
    return [
        _core.level_cuts(
            own, float(requests.min_leaf), np.isin(one.features, nominal), requests.category_sets
        )
        for own, one in zip(sums, requests.asked, strict=True)
    ]


def leaf_sums(rows: BinnedRows, drawn: NDArray[np.uint16], trees: list[Trees]) -> list[Values]:
    """Add up the lanes of the rows of one partition by the leaves of each tree."""
    return [
        _core.leaf_sums(rows.bins, rows.lanes, own, leaves_of(rows.bins, tree), len(tree.leaves))
        for own, tree in zip(drawn, trees, strict=True)
    ]


def leaves_of(bins: NDArray[np.uint8], tree: Trees) -> NDArray[np.int32]:
    """Return the leaf of one tree that each row reaches."""
    return np.ascontiguousarray(tree.walker.apply(bins)[:, 0])


def drawn_at(rows: BinnedRows, drawn: NDArray[np.uint16], numbers: Indices) -> NDArray[np.uint16]:
    """Return how often samples hold those of some rows that lie in this partition."""
    return drawn[:, rows.place.inside(numbers)]

"""A boosted tree from histograms of derivatives, which whoever holds the rows adds up.

The best leaf is split first, as one machine does it. Each split asks for the histogram of the
smaller child alone: that of the larger one is what is left of the parent's. Sums are exact, so
that what is left is exact too.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._trees import Trees
from prefero._typing import Indices, Mask, Values
from prefero.distributed._binned import EXAMPLES, WEIGHT
from prefero.distributed._nodes import MISSING_BIN, SET_WORDS, GrowingNodes, Splits, bits_of

# Before the derivatives, first ones before second ones.
DERIVATIVES = 2
# As the core has it: gains that differ by less are alike.
_ROUNDING, _LEAST = 4e-6, 1e-12

# Takes the tree so far and some of its leaves; returns leaves x features x bins x lanes.
Ask = Callable[[Trees, list[int]], Values]


class NewtonOptions(NamedTuple):
    """When nodes are split, and how far a step goes."""

    learning_rate: float
    penalty: float
    max_depth: int
    min_leaf: int
    max_leaves: int
    category_sets: bool


class NewtonCut(NamedTuple):
    """The best test of a node, and the sums of the rows that go left.

    ``categories`` are the bins that go left where the feature is nominal, None for numbers.
    """

    decrease: float
    feature: int
    last_left: int
    missing_left: bool
    left: Values
    categories: Indices | None = None


class _Open(NamedTuple):
    node: int
    depth: int
    total: Values
    histograms: Values
    cut: NewtonCut


def newton_gains(sums: Values, penalty: float) -> Values:
    """Return twice of what a Newton step of all labels lowers the loss by, for each of many."""
    first, second = np.split(sums[..., DERIVATIVES:], 2, axis=-1)
    return np.asarray((first**2 / (np.maximum(second, 0) + penalty)).sum(axis=-1))


class TriedFeatures(NamedTuple):
    """The features that a tree may test, by their numbers, and which of them are nominal."""

    numbers: NDArray[np.uint16]
    nominal: Mask


class _Best(NamedTuple):
    """The best cut of one feature: how good, what goes left, and which side is for the missing."""

    quality: float
    left: Values
    at: int
    missing_left: bool
    categories: Indices | None


def newton_cut(
    histograms: Values, tried: TriedFeatures, options: NewtonOptions
) -> NewtonCut | None:
    """Return the best cut of a node, the first of features that are alike; None if none gains.

    Parameters
    ----------
    histograms : ndarray of shape (n_tried, n_bins, n_lanes)
        Of the features that are tried, in the order of their numbers.
    tried : TriedFeatures
        Which they are.
    options : NewtonOptions
        What children must have.
    """
    total = histograms[0].sum(axis=0)
    own = float(newton_gains(total, options.penalty))
    numeric = iter(_numeric(histograms[~tried.nominal], total, options))
    bests = [
        _nominal(own, total, options) if nominal else next(numeric)
        for own, nominal in zip(histograms, tried.nominal, strict=True)
    ]
    chosen, reached = None, -np.inf
    for k, (quality, *_) in enumerate(bests):
        better = quality > reached * (1 + _ROUNDING if reached > 0 else 1)
        if better and quality > own * (1 + _ROUNDING) + _LEAST:
            chosen, reached = k, quality
    if chosen is None:
        return None
    best, histogram = bests[chosen], histograms[chosen]
    seen = histogram[MISSING_BIN, EXAMPLES] > 0
    larger_left = 2 * best.left[EXAMPLES] >= total[EXAMPLES]
    return NewtonCut(
        (best.quality - own) / 2,
        int(tried.numbers[chosen]),
        0 if tried.nominal[chosen] else _last_left(histogram[:MISSING_BIN, EXAMPLES], best.at),
        best.missing_left if seen else bool(larger_left),
        best.left,
        best.categories,
    )


def _numeric(histograms: Values, total: Values, options: NewtonOptions) -> list[_Best]:
    """The best cuts of numbers; missing values are tried on both sides."""
    known = histograms[:, :MISSING_BIN].cumsum(axis=1)
    missing = histograms[:, MISSING_BIN]
    sides = [known]
    if missing[:, EXAMPLES].any():
        sides.append(known + missing[:, None])
    gains = np.stack([_gains(left, total, options) for left in sides])
    gains[1:, missing[:, EXAMPLES] == 0] = -np.inf
    cuts = gains.argmax(axis=2)
    # The first of equals: missing values go right.
    side = gains.max(axis=2).argmax(axis=0)
    found = []
    for k, chosen in enumerate(side.tolist()):
        at = int(cuts[chosen, k])
        left = sides[chosen][k, at]
        found.append(_Best(float(gains[chosen, k, at]), left, at, bool(chosen), None))
    return found


def _nominal(histogram: Values, total: Values, options: NewtonOptions) -> _Best:
    """The best set of neighbours among categories, or one of them, against the rest."""
    filled = np.flatnonzero(histogram[:, EXAMPLES] > 0)
    if len(filled) < 2:
        return _Best(-np.inf, total, 0, False, None)
    left = histogram[filled]
    if options.category_sets:
        if len(filled) > 2:
            n_labels = (len(total) - DERIVATIVES) // 2
            filled = filled[_core.category_order(left, DERIVATIVES, DERIVATIVES + n_labels)]
        left = histogram[filled].cumsum(axis=0)[:-1]
    gains = _gains(left, total, options)
    # Rounded, a set and the rest of two categories are found equal: the first is taken.
    at = int(np.argmax(gains.astype(np.float32)))
    chosen = filled[: at + 1] if options.category_sets else filled[[at]]
    return _Best(float(gains[at]), left[at], at, MISSING_BIN in chosen, chosen)


def _gains(left: Values, total: Values, options: NewtonOptions) -> Values:
    right = total - left
    gains = newton_gains(left, options.penalty) + newton_gains(right, options.penalty)
    fewest = np.minimum(left[..., EXAMPLES], right[..., EXAMPLES])
    return np.where(fewest >= options.min_leaf, gains, -np.inf)


def _last_left(examples: Values, at: int) -> int:
    """The last bin left of a cut: half way between bins that hold rows, or behind all of them."""
    filled = np.flatnonzero(examples > 0)
    below, above = filled[filled <= at], filled[filled > at]
    last = int(below[-1]) if len(below) else 0
    return (last + int(above[0])) // 2 if len(above) else MISSING_BIN - 1


class BoostedTree:
    """A tree of Newton steps while it grows.

    Parameters
    ----------
    tried : TriedFeatures
        The features that it may test.
    n_features, n_labels : int
        Of the data.
    options : NewtonOptions
        When to stop.
    """

    def __init__(
        self, tried: TriedFeatures, n_features: int, n_labels: int, options: NewtonOptions
    ) -> None:
        self._tried, self._options = tried, options
        self._nodes = GrowingNodes(n_features)
        self._totals = np.zeros((1, DERIVATIVES + 2 * n_labels))
        self._frontier: list[_Open] = []

    def grow(self, ask: Ask) -> Trees:
        """Grow and return the tree; its leaves are steps, shortened by the learning rate."""
        (root,) = ask(self._so_far(), [0])
        self._totals[0] = root[0].sum(axis=0)
        self._open(0, 0, root)
        while self._frontier and not self._full:
            chosen = self._chosen()
            self._divide(chosen, self._split(chosen), ask)
        return self._grown()

    @property
    def _full(self) -> bool:
        leaves = (len(self._nodes) + 1) // 2
        return 0 < self._options.max_leaves <= leaves

    def _chosen(self) -> list[_Open]:
        """The node that gains most; where leaves are not counted all of them, at once."""
        if not self._options.max_leaves:
            chosen, self._frontier = self._frontier, []
            return chosen
        best = int(np.argmax([one.cut.decrease for one in self._frontier]))
        return [self._frontier.pop(best)]

    def _open(self, node: int, depth: int, histograms: Values) -> None:
        cut = newton_cut(histograms, self._tried, self._options)
        if cut is not None:
            self._frontier.append(_Open(node, depth, self._totals[node], histograms, cut))

    def _may_split(self, node: int, depth: int) -> bool:
        enough = self._totals[node, EXAMPLES] >= max(2, 2 * self._options.min_leaf)
        return depth < self._options.max_depth and bool(enough)

    def _split(self, chosen: list[_Open]) -> list[int]:
        """Split nodes; return the first child of each."""
        cuts = [one.cut for one in chosen]
        none = np.zeros(SET_WORDS, dtype=np.uint64)
        splits = Splits(
            np.array([cut.feature for cut in cuts], dtype=np.uint16),
            np.array([cut.last_left for cut in cuts], dtype=np.uint8),
            np.array([cut.missing_left for cut in cuts]),
            np.array([cut.decrease for cut in cuts]),
            np.array([cut.categories is not None for cut in cuts]),
            np.array([none if c.categories is None else bits_of(c.categories) for c in cuts]),
        )
        children = self._nodes.split(np.array([one.node for one in chosen]), splits)
        sides = [(one.cut.left, one.total - one.cut.left) for one in chosen]
        self._totals = np.concatenate([self._totals, *map(np.array, sides)])
        return children.tolist()

    def _divide(self, chosen: list[_Open], children: list[int], ask: Ask) -> None:
        """Open the children that may be split: ask for the smaller one of each pair."""
        if self._full:
            return
        asked = []
        for one, child in zip(chosen, children, strict=True):
            left, right = self._totals[child : child + 2, EXAMPLES]
            smaller, larger = (child + 1, child) if left >= right else (child, child + 1)
            if self._may_split(larger, one.depth + 1):
                asked.append((one, smaller, larger))
        if not asked:
            return
        leaf = self._nodes.leaf_numbers
        found = ask(self._so_far(), [int(leaf[smaller]) for _, smaller, _ in asked])
        for (one, smaller, larger), own in zip(asked, found, strict=True):
            for node, histograms in sorted(
                [(smaller, own), (larger, one.histograms - own)], key=lambda pair: -pair[0]
            ):
                if self._may_split(node, one.depth + 1):
                    self._open(node, one.depth + 1, histograms)

    def _so_far(self) -> Trees:
        return self._nodes.tree(self._totals[:, WEIGHT])

    def _grown(self) -> Trees:
        first, second = np.split(self._totals[self._nodes.is_leaf, DERIVATIVES:], 2, axis=1)
        steps = -self._options.learning_rate * first / (second + self._options.penalty)
        if len(steps) == 1:  # a tree that is a leaf by itself says nothing
            steps[:] = 0
        return self._nodes.tree(self._totals[:, WEIGHT], steps.astype(np.float32))

"""A boosted tree from histograms of derivatives, which whoever holds the rows adds up.

The best leaf is split first, as one machine does it. Each split asks for the histogram of the
smaller child alone: that of the larger one is what is left of the parent's. Sums are exact, so
that what is left is exact too.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._trees import LEAF, MISSING_LEFT, NODE, Trees
from prefero._typing import Values
from prefero.distributed._binned import EXAMPLES, WEIGHT
from prefero.distributed._levels import tree_of

# Before the derivatives, first ones before second ones.
DERIVATIVES = 2
_MISSING_BIN = 255
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


class NewtonCut(NamedTuple):
    """The best test of a node, and the sums of the rows that go left."""

    decrease: float
    feature: int
    last_left: int
    missing_left: bool
    left: Values


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


def newton_cut(
    histograms: Values, features: NDArray[np.uint16], options: NewtonOptions
) -> NewtonCut | None:
    """Return the best cut of a node, the first of features that are alike; None if none gains.

    Parameters
    ----------
    histograms : ndarray of shape (n_tried, n_bins, n_lanes)
        Of the features that are tried, in the order of their numbers.
    features : ndarray of shape (n_tried,)
        Which they are.
    options : NewtonOptions
        What children must have.
    """
    total = histograms[0].sum(axis=0)
    own = float(newton_gains(total, options.penalty))
    known = histograms[:, :_MISSING_BIN].cumsum(axis=1)
    missing = histograms[:, _MISSING_BIN]
    sides = [known]
    if missing[:, EXAMPLES].any():
        sides.append(known + missing[:, None])
    gains = np.stack([_gains(left, total, options) for left in sides])
    gains[1:, missing[:, EXAMPLES] == 0] = -np.inf
    cuts, row = gains.argmax(axis=2), np.arange(len(features))
    # The first of equals: missing values go right.
    side = gains.max(axis=2).argmax(axis=0)
    quality = gains[side, row, cuts[side, row]]
    best, reached = None, -np.inf
    for k in range(len(features)):
        better = quality[k] > reached * (1 + _ROUNDING if reached > 0 else 1)
        if better and quality[k] > own * (1 + _ROUNDING) + _LEAST:
            best, reached = k, quality[k]
    if best is None:
        return None
    at = int(cuts[side[best], best])
    left = sides[side[best]][best, at]
    seen = missing[best, EXAMPLES] > 0
    larger_left = 2 * left[EXAMPLES] >= total[EXAMPLES]
    return NewtonCut(
        (float(quality[best]) - own) / 2,
        int(features[best]),
        _last_left(histograms[best, :_MISSING_BIN, EXAMPLES], at),
        bool(side[best]) if seen else bool(larger_left),
        left,
    )


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
    return (last + int(above[0])) // 2 if len(above) else _MISSING_BIN - 1


class BoostedTree:
    """A tree of Newton steps while it grows.

    Parameters
    ----------
    features : ndarray of shape (n_tried,)
        Those it may test.
    n_features, n_labels : int
        Of the data.
    options : NewtonOptions
        When to stop.
    """

    def __init__(
        self,
        features: NDArray[np.uint16],
        n_features: int,
        n_labels: int,
        options: NewtonOptions,
    ) -> None:
        self._features, self._n_features, self._n_labels = features, n_features, n_labels
        self._options = options
        self._nodes = np.zeros(1, dtype=NODE)
        self._nodes["flags"] = LEAF
        self._totals = np.zeros((1, DERIVATIVES + 2 * n_labels))
        self._decrease = np.zeros(1, dtype=np.float32)
        self._frontier: list[_Open] = []

    @classmethod
    def leaf(cls, n_features: int, n_labels: int) -> Trees:
        """Return a tree that is a leaf and says nothing."""
        none = np.empty(0, dtype=np.uint16)
        return cls(none, n_features, n_labels, NewtonOptions(0, 1, 0, 1, 1))._grown()

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
        cut = newton_cut(histograms, self._features, self._options)
        if cut is not None:
            self._frontier.append(_Open(node, depth, self._totals[node], histograms, cut))

    def _may_split(self, node: int, depth: int) -> bool:
        enough = self._totals[node, EXAMPLES] >= max(2, 2 * self._options.min_leaf)
        return depth < self._options.max_depth and bool(enough)

    def _split(self, chosen: list[_Open]) -> list[int]:
        """Split nodes; return the first child of each."""
        first = len(self._nodes)
        children = [first + 2 * k for k in range(len(chosen))]
        for one, child in zip(chosen, children, strict=True):
            flags = MISSING_LEFT if one.cut.missing_left else 0
            self._nodes[one.node] = (child, one.cut.feature, one.cut.last_left, flags)
            self._decrease[one.node] = one.cut.decrease
        new = np.zeros(2 * len(chosen), dtype=NODE)
        new["flags"] = LEAF
        self._nodes = np.concatenate([self._nodes, new])
        sides = [(one.cut.left, one.total - one.cut.left) for one in chosen]
        self._totals = np.concatenate([self._totals, *map(np.array, sides)])
        self._decrease = np.concatenate([self._decrease, np.zeros(len(new), dtype=np.float32)])
        return children

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
        leaf = np.cumsum(self._nodes["flags"] & LEAF > 0) - 1
        found = ask(self._so_far(), [int(leaf[smaller]) for _, smaller, _ in asked])
        for (one, smaller, larger), own in zip(asked, found, strict=True):
            for node, histograms in sorted(
                [(smaller, own), (larger, one.histograms - own)], key=lambda pair: -pair[0]
            ):
                if self._may_split(node, one.depth + 1):
                    self._open(node, one.depth + 1, histograms)

    def _so_far(self) -> Trees:
        n_leaves = (len(self._nodes) + 1) // 2
        none = np.zeros((n_leaves, 1), dtype=np.float32)
        return tree_of(self._nodes, self._totals[:, WEIGHT], self._decrease, none, self._n_features)

    def _grown(self) -> Trees:
        leaf = self._nodes["flags"] & LEAF > 0
        first, second = np.split(self._totals[leaf, DERIVATIVES:], 2, axis=1)
        steps = -self._options.learning_rate * first / (second + self._options.penalty)
        if len(steps) == 1:  # a tree that is a leaf by itself says nothing
            steps[:] = 0
        weight = self._totals[:, WEIGHT]
        return tree_of(
            self._nodes, weight, self._decrease, steps.astype(np.float32), self._n_features
        )

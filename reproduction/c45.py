"""C4.5 for numeric features, as WEKA's J48 has it by default: what tree sizes are compared with.

Quinlan (1993): cuts by the gain ratio among those with at least average gain, a cut's gain less
log2(cuts tried) / rows; at least two rows a side, more in large nodes; then training errors that
do not fall collapse a subtree, and errors estimated at confidence 0.25 replace it by a leaf or by
its largest branch.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

FEWEST = 2
CONFIDENCE = 0.25
Rows = NDArray[np.int64]


@dataclass
class Node:
    """A leaf, or a cut with the nodes below it, and the classes of its rows."""

    counts: NDArray[np.float64]
    feature: int = -1
    threshold: float = 0.0
    left: Any = None
    right: Any = None

    @property
    def is_leaf(self) -> bool:
        """Whether there is no cut."""
        return self.left is None

    @property
    def wrong(self) -> float:
        """The training rows that the most frequent class misses."""
        return float(self.counts.sum() - self.counts.max())

    def make_leaf(self) -> None:
        """Forget the cut."""
        self.left = self.right = None


class C45:
    """A classification tree.

    Parameters
    ----------
    prune : bool, default=True
        Whether to collapse and prune it.
    """

    def __init__(self, prune: bool = True) -> None:
        self.prune = prune

    def fit(self, X: NDArray[np.float64], classes: Rows, n_classes: int) -> "C45":
        """Grow the tree."""
        self.X, self.classes, self.n_classes = X, classes, n_classes
        rows = np.arange(len(X))
        self.root = self._grow(rows)
        if self.prune:
            _collapse(self.root)
            self._prune(self.root, rows)
        return self

    def n_leaves(self) -> int:
        """Return the number of leaves."""
        open_nodes, leaves = [self.root], 0
        while open_nodes:
            node = open_nodes.pop()
            if node.is_leaf:
                leaves += 1
            else:
                open_nodes += [node.left, node.right]
        return leaves

    def _counts(self, rows: Rows) -> NDArray[np.float64]:
        return np.bincount(self.classes[rows], minlength=self.n_classes).astype(float)

    def _grow(self, rows: Rows) -> Node:
        node = Node(self._counts(rows))
        if len(rows) < 2 * FEWEST or node.wrong == 0:
            return node
        cuts = [self._best_cut(rows, feature) for feature in range(self.X.shape[1])]
        found = [(feature, *cut) for feature, cut in enumerate(cuts) if cut is not None]
        if not found:
            return node
        average = np.mean([gain for _, gain, _, _ in found]) - 1e-3
        good = [cut for cut in found if cut[1] >= average]
        node.feature, _, _, node.threshold = max(good, key=lambda cut: cut[2])
        goes_left = self.X[rows, node.feature] <= node.threshold
        node.left, node.right = self._grow(rows[goes_left]), self._grow(rows[~goes_left])
        return node

    def _best_cut(self, rows: Rows, feature: int) -> tuple[float, float, float] | None:
        """Return the gain, the gain ratio and the threshold of the best cut; none if useless."""
        n = len(rows)
        least = int(np.ceil(np.clip(0.1 * n / self.n_classes, FEWEST, 25)))
        values = self.X[rows, feature]
        order = np.argsort(values, kind="stable")
        values = values[order]
        places = np.flatnonzero(values[:-1] < values[1:]) + 1
        places = places[(places >= least) & (n - places >= least)]
        if not len(places):
            return None
        left = np.cumsum(np.eye(self.n_classes)[self.classes[rows[order]]], axis=0)
        total, left = left[-1], left[places - 1]
        bits = _bits(left) + _bits(total - left)
        best = int(np.argmin(bits))
        gain = (_bits(total[None])[0] - bits[best] - np.log2(len(places))) / n
        if gain <= 1e-9:
            return None
        size = float(places[best])
        split = _bits(np.array([[size, n - size]]))[0] / n
        threshold = float(values[places[best] - 1] + values[places[best]]) / 2
        return float(gain), float(gain / split), threshold

    def _prune(self, node: Node, rows: Rows) -> None:
        if node.is_leaf:
            return
        goes_left = self.X[rows, node.feature] <= node.threshold
        self._prune(node.left, rows[goes_left])
        self._prune(node.right, rows[~goes_left])
        largest = node.left if goes_left.sum() >= len(rows) / 2 else node.right
        as_leaf, as_tree = _estimated(node.counts), _errors(node)
        as_branch = self._errors_with(largest, rows)
        if as_leaf <= as_tree + 0.1 and as_leaf <= as_branch + 0.1:
            node.make_leaf()
        elif as_branch <= as_tree + 0.1:
            node.feature, node.threshold = largest.feature, largest.threshold
            node.left, node.right = largest.left, largest.right
            self._count_again(node, rows)
            self._prune(node, rows)

    def _errors_with(self, node: Node, rows: Rows) -> float:
        """Return the estimated errors of a branch if it had these rows."""
        if node.is_leaf or not len(rows):
            return _estimated(self._counts(rows))
        goes_left = self.X[rows, node.feature] <= node.threshold
        return self._errors_with(node.left, rows[goes_left]) + self._errors_with(
            node.right, rows[~goes_left]
        )

    def _count_again(self, node: Node, rows: Rows) -> None:
        node.counts = self._counts(rows)
        if not node.is_leaf:
            goes_left = self.X[rows, node.feature] <= node.threshold
            self._count_again(node.left, rows[goes_left])
            self._count_again(node.right, rows[~goes_left])


def _bits(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return n times the entropy of each row of counts."""
    total = counts.sum(axis=1)
    logs = np.where(counts > 0, counts * np.log2(np.maximum(counts, 1)), 0).sum(axis=1)
    return total * np.log2(np.maximum(total, 1)) - logs


def _collapse(node: Node) -> float:
    """Make leaves of subtrees that save no training error; return the errors."""
    if node.is_leaf:
        return node.wrong
    below = _collapse(node.left) + _collapse(node.right)
    if node.wrong >= below + 1e-3:
        return below
    node.make_leaf()
    return node.wrong


def _errors(node: Node) -> float:
    if node.is_leaf:
        return _estimated(node.counts)
    return _errors(node.left) + _errors(node.right)


def _estimated(counts: NDArray[np.float64]) -> float:
    """Return the errors of a leaf and what is added to them for its size."""
    n = float(counts.sum())
    wrong = n - float(counts.max())
    return wrong + _added(n, wrong) if n else 0.0


def _added(n: float, wrong: float) -> float:
    """Return the upper bound of the errors at the confidence, less the errors seen."""
    if wrong < 1:
        none = n * (1 - CONFIDENCE ** (1 / n))
        return none + wrong * (_added(n, 1.0) - none) if wrong > 0 else none
    if wrong + 0.5 >= n:
        return max(n - wrong, 0.0)
    z, f = float(norm.ppf(1 - CONFIDENCE)), (wrong + 0.5) / n
    root = np.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))
    return float((f + z**2 / (2 * n) + z * root) / (1 + z**2 / n) * n - wrong)

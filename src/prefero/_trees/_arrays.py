"""Grown trees: plain arrays, the walker that sends rows through them, and what they tell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._typing import Indices, Mask, Values

Arrays = dict[str, NDArray[Any]]

# One node in eight bytes, as the core lays them out.
NODE = np.dtype([("child", "<i4"), ("feature", "<u2"), ("cut", "u1"), ("flags", "u1")])
LEAF, MISSING_LEFT, CATEGORIES = 1, 2, 4

DTYPES = {
    "node_starts": np.int64,
    "value_starts": np.int64,
    "set_starts": np.int64,
    "nodes": np.int64,
    "weight": np.float64,
    "decrease": np.float32,
    "sets": np.int32,
    "categories": np.uint64,
    "scores": np.float32,
    "evidence": np.float32,
}

# What the entries of each array stand for, and how many there are of each; 0: one a label.
_PARTS = ("node", "value", "set")
_ENDS = {
    **dict.fromkeys(("nodes", "weight", "decrease", "sets"), ("node", 1)),
    "categories": ("set", 4),
    **dict.fromkeys(("scores", "evidence"), ("value", 0)),
}


class ScoreEffects(NamedTuple):
    """Scores taken apart: ``base + effects.sum(axis=1)`` is the decision function.

    Attributes
    ----------
    base : ndarray of shape (n_samples, n_labels)
        What the roots say, before any feature is looked at.
    effects : ndarray of shape (n_samples, n_features, n_labels)
        What the tests on each feature add on the way to the leaves.
    """

    base: Values
    effects: Values


@dataclass(frozen=True, eq=False, repr=False)
class Trees:
    """Trees over the same features and labels; nodes and leaves are numbered through all.

    Parameters
    ----------
    arrays : dict of str to ndarray
        One-dimensional, of the dtypes in ``DTYPES``; refused if they contradict each other.

        - ``node_starts``, ``value_starts``, ``set_starts`` (n_trees + 1): where the nodes, leaves
          and category sets of each tree start.
        - ``nodes`` (n_nodes): records of ``NODE``. ``child`` is the first of two children,
          counted in its tree and standing after its parent; of a leaf, its row of scores.
        - ``weight``, ``decrease`` (n_nodes): of the training rows, and what the test gains.
        - ``sets`` (n_nodes, or empty): the category set of a node, counted in its tree, or -1.
        - ``categories`` (4 n_sets): bits of the categories that go to the first child.
        - ``scores`` (n_leaves n_labels): mean votes.
        - ``evidence`` (n_leaves n_labels, or empty if all labels are known): the comparisons
          behind them, as a share, mean over the rows.
    n_features, n_labels : int
        What the trees were grown from.
    """

    arrays: Arrays
    n_features: int
    n_labels: int
    walker: _core.TreeWalker = field(init=False)

    def __post_init__(self) -> None:
        arrays = _checked(self.arrays)
        object.__setattr__(self, "arrays", arrays)
        if self.n_trees:  # boosting adds none if no pair is ordered
            used = {name: arrays[name] for name in DTYPES if name not in {"weight", "decrease"}}
            walker = _core.TreeWalker(features=self.n_features, labels=self.n_labels, **used)
            object.__setattr__(self, "walker", walker)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.arrays, *self.shape)

    @classmethod
    def joined(cls, parts: Sequence[Arrays], n_features: int, n_labels: int) -> Self:
        """Put the trees of several arrays one after the other."""
        if len(parts) == 1:
            return cls(parts[0], n_features, n_labels)
        # What a part may leave out, and what that stands for.
        absent = {"sets": ("nodes", -1), "evidence": ("scores", 1)}
        whole: Arrays = {}
        for name, dtype in DTYPES.items():
            arrays = [part[name] for part in parts]
            if name.endswith("_starts"):
                offsets = np.cumsum([0] + [array[-1] for array in arrays])
                arrays = [array[1:] + at for array, at in zip(arrays, offsets, strict=False)]
                arrays.insert(0, offsets[:1])
            elif name in absent and any(map(len, arrays)):
                beside, value = absent[name]
                arrays = [
                    part[name] if len(part[name]) else np.full(len(part[beside]), value, dtype)
                    for part in parts
                ]
            whole[name] = np.concatenate(arrays)
        return cls(whole, n_features, n_labels)

    def first(self, n_trees: int) -> "Trees":
        """Return the first trees alone."""
        starts = {name: self.arrays[f"{name}_starts"][: n_trees + 1] for name in _PARTS}
        ends = {name: int(part[-1]) for name, part in starts.items()}
        arrays = {f"{name}_starts": part for name, part in starts.items()}
        for name, array in self.arrays.items():
            if name in _ENDS and len(array):
                part, size = _ENDS[name]
                arrays[name] = array[: ends[part] * (size or self.n_labels)]
        return type(self)({**self.arrays, **arrays}, *self.shape)

    # Structure

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.arrays["node_starts"]) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of features and labels."""
        return self.n_features, self.n_labels

    @property
    def nodes(self) -> NDArray[Any]:
        """The nodes as records."""
        return self.arrays["nodes"].view(NODE)

    @cached_property
    def is_leaf(self) -> Mask:
        """Which nodes are leaves."""
        return (self.nodes["flags"] & LEAF) > 0

    @property
    def roots(self) -> Indices:
        """The first node of each tree."""
        return self.arrays["node_starts"][:-1]

    @cached_property
    def children(self) -> Indices:
        """The first child of each node; of a leaf, its row of scores."""
        sizes = np.diff(self.arrays["node_starts"])
        of_leaves, of_nodes = self.arrays["value_starts"][:-1], self.arrays["node_starts"][:-1]
        starts = np.where(self.is_leaf, np.repeat(of_leaves, sizes), np.repeat(of_nodes, sizes))
        return self.nodes["child"] + starts

    @cached_property
    def parents(self) -> Indices:
        """The parent of each node, -1 for a root."""
        parents = np.full(len(self.nodes), -1, dtype=np.int64)
        inner = np.flatnonzero(~self.is_leaf)
        parents[self.children[inner]] = inner
        parents[self.children[inner] + 1] = inner
        return parents

    @cached_property
    def leaves(self) -> Indices:
        """The node of each row of scores."""
        leaves = np.flatnonzero(self.is_leaf)
        order = np.empty(len(leaves), dtype=np.int64)
        order[self.children[leaves]] = leaves
        return order

    @cached_property
    def inner_levels(self) -> list[Indices]:
        """The nodes that have tests, by their distance from the root."""
        levels, level = [], self.roots
        while len(level := level[~self.is_leaf[level]]):
            levels.append(level)
            level = np.concatenate([self.children[level], self.children[level] + 1])
        return levels

    def depths(self) -> Indices:
        """Return the longest path of each tree, in tests."""
        depths = np.zeros(self.n_trees, dtype=np.int64)
        for depth, inner in enumerate(self.inner_levels, 1):
            depths[np.searchsorted(self.roots, inner, side="right") - 1] = depth
        return depths

    def refuse_tangles(self) -> None:
        """Refuse arrays in which nodes share a child or leaves a row of scores."""
        inner, rows = self.children[~self.is_leaf], self.children[self.is_leaf]
        # As many as there are, and all of them: then each once.
        below = np.zeros(len(self.nodes), dtype=bool)
        below[self.roots] = below[inner] = below[inner + 1] = True
        scored = np.zeros(len(rows), dtype=bool)
        scored[rows] = True
        if len(self.roots) + 2 * len(inner) != len(below) or not (below.all() and scored.all()):
            raise ValueError("The trees share nodes or leaves: the model is damaged.")

    # Rows

    def reached(self, bins: NDArray[np.uint8]) -> Indices:
        """Return the node in which each row ends in each tree."""
        return self.leaves[self.walker.apply(bins) + self.arrays["value_starts"][:-1]]

    def path_to(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path = [node]
        while self.parents[path[-1]] >= 0:
            path.append(int(self.parents[path[-1]]))
        return path[::-1]

    def passed(self, reached: Indices) -> tuple[Indices, Indices]:
        """Return rows and nodes: every node on the way to the one in which a row ends."""
        rows, at = [], []
        row = np.arange(len(reached))
        while len(row):
            rows.append(row)
            at.append(reached)
            inside = self.parents[reached] >= 0
            row, reached = row[inside], self.parents[reached[inside]]
        none = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *rows]), np.concatenate([none, *at])

    def sums(self, bins: NDArray[np.uint8]) -> Values:
        """Return what the trees say of each row, summed up; zero if there is none."""
        if not self.n_trees:
            return np.zeros((len(bins), self.n_labels))
        return self.n_trees * self.walker.scores(bins)

    # What nodes say

    def node_means(self) -> tuple[Values, Values]:
        """Return the mean scores of the training rows of every node, and their evidence.

        Returns
        -------
        scores, evidence : ndarray of shape (n_nodes, n_labels)
            The means of the leaves below, weighted by their rows, the scores also by their
            evidence; 1 if all labels are known.
        """
        shape = len(self.nodes), self.n_labels
        weight = self.arrays["weight"].astype(np.float64)[:, None]
        scores, evidence = np.zeros(shape), np.ones(shape)
        scores[self.leaves] = self.arrays["scores"].reshape(-1, self.n_labels)
        if len(self.arrays["evidence"]):
            evidence[self.leaves] = self.arrays["evidence"].reshape(-1, self.n_labels)
        for inner in reversed(self.inner_levels):
            pair = self.children[inner] + np.array([[0], [1]])
            seen = weight[pair] * evidence[pair]
            total = seen.sum(axis=0)
            scores[inner] = (seen * scores[pair]).sum(axis=0) / np.where(total > 0, total, 1)
            evidence[inner] = total / weight[inner]
        return scores, evidence

    def effects(self, bins: NDArray[np.uint8], scores: Values) -> ScoreEffects:
        """Take the scores of rows apart, given what every node says."""
        reached = self.reached(bins)
        share = self._shares(reached)
        base = np.einsum("rtl,tl->rl", share, scores[self.roots])
        effects = np.zeros((len(bins), self.n_features, self.n_labels))
        row, below = self.passed(reached.ravel())
        inside = self.parents[below] >= 0
        row, below = row[inside], below[inside]
        above = self.parents[below]
        steps = share.reshape(-1, self.n_labels)[row] * (scores[below] - scores[above])
        np.add.at(effects, (row // self.n_trees, self.nodes["feature"][above]), steps)
        return ScoreEffects(base, effects)

    def _shares(self, reached: Indices) -> Values:
        """What each tree counts for each label: alike, or by the comparisons its leaf has seen."""
        if self.n_trees == 1 or not len(self.arrays["evidence"]):
            return np.full((*reached.shape, self.n_labels), 1 / self.n_trees)
        evidence = self.arrays["evidence"].reshape(-1, self.n_labels)
        seen = evidence[self.children[reached]].astype(np.float64)
        total = seen.sum(axis=1, keepdims=True)
        return np.divide(seen, total, out=np.zeros(seen.shape), where=total > 0)

    def importances(self) -> Values:
        """Return how much each feature's tests gain, mean over the trees; they sum to 1.

        Returns
        -------
        ndarray of shape (n_features,)
            All zero if no tree has a test.
        """
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.arrays["node_starts"]))
        inner = ~self.is_leaf
        gains = np.zeros((self.n_trees, self.n_features))
        places = tree[inner], self.nodes["feature"][inner]
        np.add.at(gains, places, self.arrays["decrease"][inner])
        totals = gains.sum(axis=1, keepdims=True)
        grown = totals[:, 0] > 0
        if not grown.any():
            return np.zeros(self.n_features)
        return np.mean(gains[grown] / totals[grown], axis=0)


def _checked(arrays: Arrays) -> Arrays:
    """Return the arrays as the core reads them, or say which one is wrong."""
    missing = DTYPES.keys() - arrays.keys()
    if missing:
        raise ValueError(f"The trees lack the array {min(missing)!r}: the model is damaged.")
    for name, dtype in DTYPES.items():
        array = np.asarray(arrays[name])
        if array.dtype != dtype or array.ndim != 1:
            raise ValueError(
                f"The array {name!r} of the trees has dtype {array.dtype} and shape "
                f"{array.shape}, expected {np.dtype(dtype)} in one dimension: the model is damaged."
            )
    n_nodes = len(arrays["nodes"])
    if len(arrays["weight"]) != n_nodes or len(arrays["decrease"]) != n_nodes:
        raise ValueError("The trees have nodes without weight or decrease: the model is damaged.")
    return {name: np.ascontiguousarray(arrays[name]) for name in DTYPES}

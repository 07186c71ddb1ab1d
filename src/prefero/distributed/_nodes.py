"""The nodes of a tree while it grows, whatever its splits are chosen by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._trees import CATEGORIES, LEAF, MISSING_LEFT, NODE, Trees
from prefero._typing import Indices, Mask, Values

N_BINS, MISSING_BIN = 256, 255
# The bits of a set of bins.
SET_WORDS = N_BINS // 64


class Splits(NamedTuple):
    """How some nodes are split, each an entry of every array.

    Attributes
    ----------
    feature, cut : ndarray of int
        What is tested, and the last bin that goes left; 0 for categories.
    missing_left : ndarray of bool
        Whether missing values go left.
    decrease : ndarray of float
        What the split gains.
    nominal : ndarray of bool
        Whether the feature is.
    sets : ndarray of shape (n_splits, SET_WORDS), dtype uint64
        The bits of the categories that go left; of no meaning for numbers.
    """

    feature: NDArray[np.uint16]
    cut: NDArray[np.uint8]
    missing_left: Mask
    decrease: Values
    nominal: Mask
    sets: NDArray[np.uint64]


class GrowingNodes:
    """The nodes of one tree, at first a leaf.

    Parameters
    ----------
    n_features : int
        Features of the data.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self._nodes = _leaves(1)
        self._decrease = np.zeros(1, dtype=np.float32)
        self._sets = np.full(1, -1, dtype=np.int32)
        self._categories = np.empty((0, SET_WORDS), dtype=np.uint64)

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def is_leaf(self) -> Mask:
        """Which nodes are leaves."""
        return (self._nodes["flags"] & LEAF) > 0

    @property
    def leaf_numbers(self) -> Indices:
        """The number of each node among the leaves, if it is one."""
        return np.cumsum(self.is_leaf) - 1

    def split(self, nodes: Indices, splits: Splits) -> Indices:
        """Split leaves; return the first child of each, which the second one follows."""
        children = len(self) + 2 * np.arange(len(nodes))
        self._nodes["child"][nodes], self._nodes["feature"][nodes] = children, splits.feature
        self._nodes["cut"][nodes] = splits.cut
        self._nodes["flags"][nodes] = MISSING_LEFT * splits.missing_left + (
            CATEGORIES * splits.nominal
        )
        self._decrease[nodes] = splits.decrease
        known = len(self._categories)
        self._sets[nodes[splits.nominal]] = known + np.arange(splits.nominal.sum())
        self._categories = np.concatenate([self._categories, splits.sets[splits.nominal]])
        new = 2 * len(nodes)
        self._nodes = np.concatenate([self._nodes, _leaves(new)])
        self._decrease = np.concatenate([self._decrease, np.zeros(new, dtype=np.float32)])
        self._sets = np.concatenate([self._sets, np.full(new, -1, dtype=np.int32)])
        return children

    def tree(
        self,
        weight: Values,
        scores: NDArray[np.float32] | None = None,
        evidence: NDArray[np.float32] | None = None,
    ) -> Trees:
        """Return the tree of these nodes.

        Parameters
        ----------
        weight : ndarray of shape (n_nodes,)
            Of their rows.
        scores : ndarray of shape (n_leaves, n_scores), optional
            Of the leaves, in the order of the nodes; None: leaves say nothing so far.
        evidence : ndarray, optional
            The comparisons behind the scores, if some are missing.
        """
        nodes, leaf = self._nodes.copy(), self.is_leaf
        n_leaves, none = int(leaf.sum()), np.empty(0, dtype=np.float32)
        scores = np.zeros((n_leaves, 1), dtype=np.float32) if scores is None else scores
        nodes["child"][leaf] = np.arange(n_leaves)
        n_sets = len(self._categories)
        arrays = {
            "node_starts": np.array([0, len(nodes)]),
            "value_starts": np.array([0, n_leaves]),
            "set_starts": np.array([0, n_sets]),
            "nodes": nodes.view(np.int64),
            "weight": weight,
            "decrease": self._decrease,
            "sets": self._sets if n_sets else np.empty(0, dtype=np.int32),
            "categories": self._categories.ravel(),
            "scores": scores.ravel(),
            "evidence": none if evidence is None else evidence.ravel(),
        }
        return Trees(arrays, self.n_features, scores.shape[1])


def _leaves(count: int) -> NDArray[np.void]:
    nodes = np.zeros(count, dtype=NODE)
    nodes["flags"] = LEAF
    return nodes


def bits_of(bins: Indices) -> NDArray[np.uint64]:
    """Return a set of bins as bits."""
    inside = np.zeros(N_BINS, dtype=bool)
    inside[bins] = True
    return np.packbits(inside, bitorder="little").view("<u8").astype(np.uint64)

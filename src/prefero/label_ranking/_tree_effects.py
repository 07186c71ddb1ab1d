"""Why trees score labels as they do: what the tests on each feature add along the paths."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._typing import Values
from prefero.label_ranking._tree_arrays import LEAF, Arrays, leaf_nodes, node_parents, nodes_of


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


class PathStep(NamedTuple):
    """A node on the way of an instance down a tree.

    Attributes
    ----------
    test : str
        What held for the instance at the node above; empty for the root.
    rows : int
        The training rows in the node.
    theta : float
        The spread of its model.
    votes : ndarray of shape (n_labels,)
        Its votes, larger is better.
    """

    test: str
    rows: int
    theta: float
    votes: Values


def path_to(nodes: NDArray[Any], leaf: int) -> list[int]:
    """Return the nodes from the root to a leaf.

    Parameters
    ----------
    nodes : ndarray of records
        One tree.
    leaf : int
        A node of it.

    Returns
    -------
    list of int
        Root first.
    """
    parent = node_parents(nodes)
    path = [leaf]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path[::-1]


def node_scores(arrays: Arrays, tree: int, n_labels: int) -> Values:
    """Return the mean score of the leaves under every node, weighted by what they have seen.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Trees.
    tree : int
        Which of them.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_nodes, n_labels)
        In a leaf its own scores.
    """
    nodes = nodes_of(arrays, tree)
    leaves = leaf_nodes(nodes)
    values = slice(*arrays["value_starts"][tree : tree + 2])
    first = arrays["node_starts"][tree]
    mass = np.zeros((len(nodes), n_labels))
    total = np.zeros_like(mass)
    mass[leaves] = arrays["weight"][first + leaves][:, None]
    if len(arrays["evidence"]):
        mass[leaves] = arrays["evidence"].reshape(-1, n_labels)[values]
    total[leaves] = mass[leaves] * arrays["scores"].reshape(-1, n_labels)[values]
    for inner in reversed(_inner_levels(nodes)):
        child = nodes["child"][inner]
        mass[inner] = mass[child] + mass[child + 1]
        total[inner] = total[child] + total[child + 1]
    scores = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
    scores[leaves] = arrays["scores"].reshape(-1, n_labels)[values]
    return scores


def _inner_levels(nodes: NDArray[Any]) -> list[NDArray[np.int64]]:
    """The nodes that have tests, by their distance from the root."""
    levels: list[NDArray[np.int64]] = []
    level = np.zeros(1, dtype=np.int64)
    while True:
        inner = level[(nodes["flags"][level] & LEAF) == 0]
        if not len(inner):
            return levels
        levels.append(inner)
        child = nodes["child"][inner].astype(np.int64)
        level = np.concatenate([child, child + 1])


def score_effects(
    arrays: Arrays, scores_of_nodes: list[Values], leaves: NDArray[np.int32], n_features: int
) -> ScoreEffects:
    """Take the scores of instances apart.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Trees.
    scores_of_nodes : list of ndarray of shape (n_nodes, n_labels)
        What the nodes of each tree say.
    leaves : ndarray of shape (n_samples, n_trees)
        The leaf that each instance reaches in each tree.
    n_features : int
        The number of features.

    Returns
    -------
    ScoreEffects
        The parts.
    """
    n_labels = scores_of_nodes[0].shape[1]
    share = _shares(arrays, leaves, n_labels)
    base = np.zeros((len(leaves), n_labels))
    effects = np.zeros((len(leaves), n_features, n_labels))
    for tree, scores in enumerate(scores_of_nodes):
        nodes = nodes_of(arrays, tree)
        of_values = leaf_nodes(nodes)
        for row, leaf in enumerate(leaves[:, tree]):
            path = path_to(nodes, int(of_values[leaf]))
            base[row] += share[row, tree] * scores[0]
            for above, below in pairwise(path):
                step = share[row, tree] * (scores[below] - scores[above])
                effects[row, nodes["feature"][above]] += step
    return ScoreEffects(base, effects)


def _shares(arrays: Arrays, leaves: NDArray[np.int32], n_labels: int) -> Values:
    """What each tree counts for each label: alike, or by the comparisons its leaf has seen."""
    n, trees = leaves.shape
    if trees == 1 or not len(arrays["evidence"]):
        return np.full((n, trees, n_labels), 1 / trees)
    seen = arrays["evidence"].reshape(-1, n_labels)[arrays["value_starts"][:-1] + leaves]
    total = seen.sum(axis=1, keepdims=True, dtype=np.float64)
    return np.divide(seen, total, out=np.zeros(seen.shape), where=total > 0)

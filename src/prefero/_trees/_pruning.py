"""Cost-complexity pruning: cut subtrees that gain too little for their leaves."""

from collections.abc import Iterator

import numpy as np

from prefero._trees._arrays import LEAF, Trees
from prefero._typing import Indices, Values

MAX_CANDIDATES = 40


def _weakest_links(tree: Trees) -> Values:
    """Return the alpha at which each inner node becomes a leaf; infinite in leaves.

    The weakest link is cut first: the node whose subtree gains least a leaf it has more than
    one. What a subtree gains is the sum of its splits' decreases. In the nested sequence of
    pruned trees a node falls at the largest alpha, among all ways to prune below it first, at
    which its subtree no longer pays. Working upwards, the best subtree below a node at a given
    alpha is found by merging the links of its children in ascending order.
    """
    gain = np.where(tree.is_leaf, 0.0, tree.arrays["decrease"]) / tree.arrays["weight"][0]
    leaves = tree.is_leaf.astype(np.int64)
    alphas = np.full(len(tree.nodes), np.inf)
    below: dict[int, list[tuple[float, float, int]]] = {}  # (alpha, gain, leaves) still standing
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():  # children stand after their parent
        child = int(tree.children[node])
        gain[node] += gain[child] + gain[child + 1]
        leaves[node] = leaves[child] + leaves[child + 1]
        links = sorted(below.pop(child, []) + below.pop(child + 1, []))
        own_gain, own_leaves = gain[node], leaves[node] - 1
        kept = 0
        while kept < len(links):
            alpha, lost, fewer = links[kept]
            if own_gain / own_leaves <= alpha:
                break
            own_gain, own_leaves, kept = own_gain - lost, own_leaves - fewer, kept + 1
        alphas[node] = own_gain / own_leaves
        below[node] = [*links[:kept], (alphas[node], own_gain, own_leaves)]
    return alphas


def _survival(tree: Trees, alphas: Values) -> Values:
    """Return the strength of pruning at which each node is gone: the least of those above it."""
    gone = np.full(len(tree.nodes), np.inf)
    for inner in tree.inner_levels:
        gone[tree.children[inner] + np.array([[0], [1]])] = np.minimum(gone[inner], alphas[inner])
    return gone


def pruning_path(tree: Trees) -> tuple[Values, Indices]:
    """Return the alphas at which a tree changes, ascending from 0, and the leaves left at each.

    Parameters
    ----------
    tree : Trees
        One tree.

    Returns
    -------
    alphas, n_leaves : ndarray of shape (n_steps,)
        The path.
    """
    alphas = _weakest_links(tree)
    steps = np.unique(np.concatenate([[0.0], np.maximum(alphas[np.isfinite(alphas)], 0)]))
    # A node is a leaf from its alpha until it is gone.
    since, gone = np.where(tree.is_leaf, -np.inf, alphas), _survival(tree, alphas)
    ever = since < gone
    begun, ended = np.sort(since[ever]), np.sort(gone[ever])
    counts = np.searchsorted(begun, steps, "right") - np.searchsorted(ended, steps, "right")
    changes = np.diff(counts, prepend=counts[0] + 1) != 0
    return steps[changes], counts[changes]


def candidate_alphas(tree: Trees) -> Values:
    """Return strengths of pruning, ascending from 0, that stand for the whole path of a tree."""
    path, _ = pruning_path(tree)
    middles = np.sqrt(path[:-1] * path[1:])  # of neighbours, as a tree lasts between them
    candidates = np.unique(np.concatenate([[0.0], middles, path[-1:]]))
    chosen = np.linspace(0, len(candidates) - 1, min(MAX_CANDIDATES, len(candidates)))
    return candidates[np.unique(chosen.astype(int))]


def pruned(tree: Trees, alpha: float) -> Trees:
    """Return one tree without the subtrees that gain less than alpha a leaf.

    Parameters
    ----------
    tree : Trees
        One tree.
    alpha : float
        The strength of pruning.

    Returns
    -------
    Trees
        The smaller tree.
    """
    alphas = _weakest_links(tree)
    stays = _survival(tree, alphas) > alpha
    leaf = stays & (tree.is_leaf | (alphas <= alpha))
    is_leaf = leaf[stays]
    nodes = tree.nodes[stays].copy()
    number = np.cumsum(stays) - 1
    nodes["child"][~is_leaf] = number[nodes["child"][~is_leaf]]
    nodes["child"][is_leaf] = np.arange(np.count_nonzero(is_leaf))
    for field, value in (("feature", 0), ("cut", 0), ("flags", LEAF)):
        nodes[field][is_leaf] = value
    old = tree.arrays
    scores, evidence = tree.node_means()
    arrays = {
        **old,
        "node_starts": np.array([0, len(nodes)]),
        "value_starts": np.array([0, np.count_nonzero(leaf)]),
        "nodes": nodes.view(np.int64),
        "weight": old["weight"][stays],
        "decrease": np.where(is_leaf, np.float32(0), old["decrease"][stays]),
        "scores": scores[leaf].ravel().astype(np.float32),
    }
    if len(old["sets"]):
        arrays["sets"] = np.where(is_leaf, np.int32(-1), old["sets"][stays])
    if len(old["evidence"]):
        arrays["evidence"] = evidence[leaf].ravel().astype(np.float32)
    return Trees(arrays, tree.n_features, tree.n_labels)


def reached_when_pruned(tree: Trees, reached: Indices, alphas: Values) -> Iterator[Indices]:
    """Yield, for ever stronger pruning, the nodes in which rows end.

    Parameters
    ----------
    tree : Trees
        One tree.
    reached : ndarray of shape (n_samples,)
        The node in which each row ends in the whole tree.
    alphas : ndarray of shape (n_alphas,)
        Strengths of pruning, ascending; 0 leaves the tree as it is.

    Yields
    ------
    ndarray of shape (n_samples,)
        Nodes of the whole tree that are leaves of the pruned one.
    """
    gone = _survival(tree, _weakest_links(tree))
    for alpha in alphas:
        while alpha > 0 and (lost := gone[reached] <= alpha).any():
            reached = np.where(lost, tree.parents[reached], reached)
        yield reached

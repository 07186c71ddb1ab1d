"""Cost-complexity pruning: cut subtrees that gain too little for their leaves."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from prefero._typing import Values
from prefero.label_ranking._tree_arrays import LEAF, NODE, Arrays, node_parents, nodes_of

FOLDS = 5
MAX_CANDIDATES = 40


def _collapse_order(arrays: Arrays) -> tuple[Values, NDArray[np.int64]]:
    """Return at which alpha each inner node is collapsed, and the leaves below each node.

    The weakest link is cut first: the node whose subtree gains least a leaf it has more than
    one. What a subtree gains is the sum of its splits' decreases.
    """
    nodes = nodes_of(arrays)
    inner = (nodes["flags"] & LEAF) == 0
    gain = np.where(inner, arrays["decrease"], 0.0) / arrays["weight"][0]
    leaves = np.where(inner, 0, 1)
    for node in np.flatnonzero(inner)[::-1]:  # children stand after their parent
        child = nodes["child"][node]
        gain[node] += gain[child] + gain[child + 1]
        leaves[node] = leaves[child] + leaves[child + 1]
    return _weakest_links(nodes, gain, leaves), leaves


def _weakest_links(nodes: NDArray[Any], gain: Values, leaves: NDArray[np.int64]) -> Values:
    """Return the alpha at which each inner node becomes a leaf; infinite in leaves.

    In the nested sequence of pruned trees a node falls at the largest alpha, among all ways
    to prune below it first, at which its subtree no longer pays. Working upwards, the best
    subtree below a node at a given alpha is found by merging the links of its children in
    ascending order.
    """
    alphas = np.full(len(nodes), np.inf)
    below: dict[int, list[tuple[float, float, int]]] = {}  # (alpha, gain, leaves) still standing
    for node in range(len(nodes) - 1, -1, -1):
        if nodes["flags"][node] & LEAF:
            continue
        child = int(nodes["child"][node])
        links = sorted(below.pop(child, []) + below.pop(child + 1, []))
        own_gain, own_leaves = gain[node], leaves[node] - 1
        kept = 0
        while kept < len(links):
            alpha, lost, fewer = links[kept]
            if own_gain / own_leaves <= alpha:
                break
            own_gain, own_leaves, kept = own_gain - lost, own_leaves - fewer, kept + 1
        alphas[node] = own_gain / own_leaves
        survivors = links[:kept]
        below[node] = [*survivors, (alphas[node], own_gain, own_leaves)]
    return alphas


def pruning_path(arrays: Arrays) -> tuple[Values, NDArray[np.int64]]:
    """Return the alphas at which a tree changes, ascending from 0, and the leaves left at each.

    Parameters
    ----------
    arrays : dict of str to ndarray
        One tree.

    Returns
    -------
    alphas, n_leaves : ndarray of shape (n_steps,)
        The path.
    """
    alphas, _ = _collapse_order(arrays)
    steps = np.unique(np.concatenate([[0.0], np.maximum(alphas[np.isfinite(alphas)], 0)]))
    counts = _leaves_left(nodes_of(arrays), alphas, steps)
    changes = np.diff(counts, prepend=counts[0] + 1) != 0
    return steps[changes], counts[changes]


def _leaves_left(nodes: NDArray[Any], alphas: Values, steps: Values) -> NDArray[np.int64]:
    """Return the leaves at each strength: a node is one from its alpha until it is gone."""
    since = np.where((nodes["flags"] & LEAF) > 0, -np.inf, alphas)
    gone = _survival(nodes, alphas)
    ever = since < gone
    begun, ended = np.sort(since[ever]), np.sort(gone[ever])
    return np.searchsorted(begun, steps, "right") - np.searchsorted(ended, steps, "right")


def _survival(nodes: NDArray[Any], alphas: Values) -> Values:
    """Return the strength of pruning at which each node is gone: the least of those above it."""
    gone = np.full(len(nodes), np.inf)
    for node in np.flatnonzero(np.isfinite(alphas)):  # children stand after their parent
        child = nodes["child"][node]
        gone[child : child + 2] = min(gone[node], alphas[node])
    return gone


def _standing(
    arrays: Arrays, alphas: Values, alpha: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which nodes remain at this strength, and which of them are leaves."""
    nodes = nodes_of(arrays)
    stays = _survival(nodes, alphas) > alpha
    return stays, stays & (((nodes["flags"] & LEAF) > 0) | (alphas <= alpha))


def pruned(arrays: Arrays, alpha: float) -> Arrays:
    """Return one tree without the subtrees that gain less than alpha a leaf.

    Parameters
    ----------
    arrays : dict of str to ndarray
        One tree.
    alpha : float
        The strength of pruning.

    Returns
    -------
    dict of str to ndarray
        The smaller tree.
    """
    alphas, _ = _collapse_order(arrays)
    stays, leaf = _standing(arrays, alphas, alpha)
    scores, evidence = _node_values(arrays)
    nodes = nodes_of(arrays)[stays].copy()
    number = np.cumsum(stays) - 1
    is_leaf = leaf[stays]
    nodes["child"][~is_leaf] = number[nodes["child"][~is_leaf]]
    nodes["child"][is_leaf] = np.arange(np.count_nonzero(is_leaf))
    for field, value in (("feature", 0), ("cut", 0), ("flags", LEAF)):
        nodes[field][is_leaf] = value
    sets = arrays["sets"][stays] if len(arrays["sets"]) else arrays["sets"]
    n_nodes, n_leaves = len(nodes), int(np.count_nonzero(leaf))
    return {
        **arrays,
        "node_starts": np.array([0, n_nodes]),
        "value_starts": np.array([0, n_leaves]),
        "nodes": nodes.astype(NODE).view(np.int64),
        "weight": arrays["weight"][stays],
        "decrease": np.where(is_leaf, 0, arrays["decrease"][stays]).astype(np.float32),
        "sets": np.where(is_leaf, -1, sets).astype(np.int32) if len(sets) else sets,
        "scores": scores[leaf].ravel().astype(np.float32),
        "evidence": evidence[leaf].ravel().astype(np.float32),
    }


def _node_values(arrays: Arrays) -> tuple[Values, Values]:
    """Return the scores, and the evidence if there is any, of every node from its leaves."""
    nodes = nodes_of(arrays)
    n_labels = len(arrays["scores"]) // int(arrays["value_starts"][-1])
    is_leaf = (nodes["flags"] & LEAF) > 0
    scores = np.zeros((len(nodes), n_labels))
    scores[is_leaf] = arrays["scores"].reshape(-1, n_labels)[nodes["child"][is_leaf]]
    known = len(arrays["evidence"]) > 0
    evidence = np.ones_like(scores)
    if known:
        evidence[is_leaf] = arrays["evidence"].reshape(-1, n_labels)[nodes["child"][is_leaf]]
    weight = arrays["weight"].astype(np.float64)
    for node in np.flatnonzero(~is_leaf)[::-1]:
        pair = slice(nodes["child"][node], nodes["child"][node] + 2)
        seen = weight[pair, None] * evidence[pair]
        total = seen.sum(axis=0)
        scores[node] = (seen * scores[pair]).sum(axis=0) / np.where(total > 0, total, 1)
        evidence[node] = total / weight[node]
    return scores, evidence if known else np.zeros((len(nodes), 0))


def leaves_when_pruned(
    arrays: Arrays, leaves: NDArray[np.int64], alphas: Values
) -> Iterator[NDArray[np.int64]]:
    """Yield, for ever stronger pruning, the nodes in which rows end.

    Parameters
    ----------
    arrays : dict of str to ndarray
        One tree.
    leaves : ndarray of shape (n_samples,)
        The node in which each row ends in the whole tree.
    alphas : ndarray of shape (n_alphas,)
        Strengths of pruning, ascending; 0 leaves the tree as it is.

    Yields
    ------
    ndarray of shape (n_samples,)
        Nodes of the whole tree that are leaves of the pruned one.
    """
    nodes = nodes_of(arrays)
    gone, parent = _survival(nodes, _collapse_order(arrays)[0]), node_parents(nodes)
    at = leaves
    for alpha in alphas:
        while alpha > 0 and (lost := gone[at] <= alpha).any():
            at = np.where(lost, parent[at], at)
        yield at


def chosen_alpha(ranker: Any, arrays: Arrays, X: Values, ranks: Values, weight: Values) -> float:
    """Return the strength of pruning that gives the best mean tau in cross-validation.

    Parameters
    ----------
    ranker : TreeLabelRanker
        What to grow.
    arrays : dict of str to ndarray
        The tree grown from all rows; its path gives the candidates.
    X, ranks, weight : ndarray
        The training rows.

    Returns
    -------
    float
        Among equals the largest.
    """
    path, _ = pruning_path(arrays)
    middles = np.sqrt(path[:-1] * path[1:])  # of neighbours, as a tree lasts between them
    candidates = np.unique(np.concatenate([[0.0], middles, path[-1:]]))
    chosen = np.linspace(0, len(candidates) - 1, min(MAX_CANDIDATES, len(candidates)))
    candidates = candidates[np.unique(chosen.astype(int))]
    folds = min(FOLDS, len(X))
    if folds < 2 or len(candidates) < 2:
        return 0.0
    splits = KFold(folds, shuffle=True, random_state=0).split(X)
    taus = sum(
        ranker._pruned_taus(X, ranks, weight, train, test, candidates) for train, test in splits
    )
    best = np.flatnonzero(taus >= taus.max() - 1e-12)[-1]
    return float(candidates[best])

"""Grown trees as plain arrays, and what can be read from them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero import _core

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


def checked(arrays: Arrays) -> Arrays:
    """Return the arrays with the dtypes the core reads, or say which one is wrong.

    Parameters
    ----------
    arrays : dict of str to ndarray
        As ``TreeGrower.grow`` returns them, perhaps read from a file.

    Returns
    -------
    dict of str to ndarray
        Contiguous one-dimensional arrays.
    """
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
    return {name: np.ascontiguousarray(arrays[name]) for name in DTYPES}


def walker(arrays: Arrays, n_features: int, n_labels: int) -> _core.TreeWalker:
    """Return the object that sends rows through the trees; it refuses contradicting arrays.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Trees.
    n_features, n_labels : int
        What they were grown from.

    Returns
    -------
    TreeWalker
        It keeps the arrays alive and changes nothing.
    """
    arrays = checked(arrays)
    n_nodes = len(arrays["nodes"])
    if len(arrays["weight"]) != n_nodes or len(arrays["decrease"]) != n_nodes:
        raise ValueError("The trees have nodes without weight or decrease: the model is damaged.")
    used = [name for name in DTYPES if name not in {"weight", "decrease"}]
    return _core.TreeWalker(n_features, n_labels, **{name: arrays[name] for name in used})


def joined(parts: list[Arrays]) -> Arrays:
    """Put the trees of several arrays one after the other.

    Parameters
    ----------
    parts : list of dict of str to ndarray
        Trees over the same features and labels.

    Returns
    -------
    dict of str to ndarray
        All of them.
    """
    if len(parts) == 1:
        return parts[0]
    if any(len(part["sets"]) for part in parts):
        for part in parts:
            if not len(part["sets"]):
                part["sets"] = np.full(len(part["nodes"]), -1, dtype=np.int32)
    whole: Arrays = {}
    for name in DTYPES:
        if name.endswith("_starts"):
            offsets = np.cumsum([0] + [part[name][-1] for part in parts[:-1]])
            shifted = [part[name][1:] + start for part, start in zip(parts, offsets, strict=True)]
            whole[name] = np.concatenate([parts[0][name][:1], *shifted])
        else:
            whole[name] = np.concatenate([part[name] for part in parts])
    return whole


def nodes_of(arrays: Arrays, tree: int = 0) -> NDArray[Any]:
    """Return the nodes of one tree as records of child, feature, cut and flags."""
    start, end = arrays["node_starts"][tree : tree + 2]
    return arrays["nodes"][start:end].view(NODE)


def node_depths(nodes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the depth of each node of one tree; the root has depth 0."""
    depth = np.zeros(len(nodes), dtype=np.int64)
    inner = np.flatnonzero((nodes["flags"] & LEAF) == 0)
    for node in inner:  # children stand after their parent
        child = nodes["child"][node]
        depth[child : child + 2] = depth[node] + 1
    return depth


def node_parents(nodes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the parent of each node of one tree, -1 for the root."""
    parent = np.full(len(nodes), -1, dtype=np.int64)
    inner = np.flatnonzero((nodes["flags"] & LEAF) == 0)
    parent[nodes["child"][inner]] = inner
    parent[nodes["child"][inner] + 1] = inner
    return parent


def leaf_nodes(nodes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the node of each leaf value of one tree, in the order of the values."""
    leaves = np.flatnonzero(nodes["flags"] & LEAF)
    order = np.empty(len(leaves), dtype=np.int64)
    order[nodes["child"][leaves]] = leaves
    return order


def importances(arrays: Arrays, n_features: int) -> NDArray[np.float64]:
    """Return how much each feature's tests gained, mean over the trees, summing to 1.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Trees.
    n_features : int
        The number of features.

    Returns
    -------
    ndarray of shape (n_features,)
        All zero if no tree has a test.
    """
    records = arrays["nodes"].view(NODE)
    n_trees = len(arrays["node_starts"]) - 1
    tree = np.repeat(np.arange(n_trees), np.diff(arrays["node_starts"]))
    inner = (records["flags"] & LEAF) == 0
    gains = np.zeros((n_trees, n_features))
    np.add.at(gains, (tree[inner], records["feature"][inner]), arrays["decrease"][inner])
    totals = gains.sum(axis=1, keepdims=True)
    grown = totals[:, 0] > 0
    if not grown.any():
        return np.zeros(n_features)
    return np.mean(gains[grown] / totals[grown], axis=0)

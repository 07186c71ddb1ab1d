"""Edges of preference graphs as arrays: made of layers and names, and checked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from prefero._typing import Mask, Values
from prefero.rankings import check_label_names

Offsets = NDArray[np.int64]
Labels = NDArray[np.int32]


def edges_of_layers(layers: Labels) -> Labels:
    """Return the edges of all rows, one row after another, sorted by label index."""
    part = layers >= 0
    apart = layers[:, :, None] < layers[:, None, :]
    _, preferred, other = np.nonzero(apart & part[:, :, None])
    return np.column_stack([preferred, other]).astype(np.int32)


def indices_of_names(
    graphs: list[list[Sequence[Any]]], labels: Sequence[Any]
) -> list[list[Sequence[Any]]]:
    """Return pairs of names as pairs of indices."""
    position = {name: index for index, name in enumerate(check_label_names(labels))}
    for row, graph in enumerate(graphs):
        for name in (name for pair in graph for name in pair):
            if name not in position:
                raise ValueError(f"Graph {row}: {name!r} is not among the labels.")
    return [[[position[name] for name in pair] for pair in graph] for graph in graphs]


def refuse_bad_offsets(indptr: Offsets, n_edges: int) -> None:
    """Raise for offsets that do not part so many edges."""
    if len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != n_edges or (np.diff(indptr) < 0).any():
        raise ValueError(f"indptr must rise from 0 to the number of edges, {n_edges}.")


def refuse_bad_edges(
    indptr: Offsets, edges: Labels, n_labels: int, names: NDArray[Any] | None
) -> None:
    """Raise for an unknown label, a self-loop, or two edges between the same labels."""
    graph = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    low, high = edges.min(axis=1, initial=n_labels), edges.max(axis=1, initial=-1)

    def name(label: Any) -> Any:
        return int(label) if names is None else names[label]

    outside = (low < 0) | (high >= n_labels)
    if outside.any():
        edge = int(np.argmax(outside))
        raise ValueError(
            f"Graph {graph[edge]}: the edge {edges[edge].tolist()} leaves the label indices "
            f"0..{n_labels - 1}."
        )
    if (low == high).any():
        edge = int(np.argmax(low == high))
        raise ValueError(f"Graph {graph[edge]}: label {name(low[edge])!r} is preferred to itself.")
    pair = (graph * n_labels + low) * n_labels + high
    order = np.argsort(pair, kind="stable")
    twice = np.flatnonzero(np.diff(pair[order]) == 0)
    if len(twice):
        edge = order[twice].min()
        raise ValueError(
            f"Graph {graph[edge]}: there are two edges between the labels {name(low[edge])!r} and "
            f"{name(high[edge])!r}; a preference graph has at most one."
        )


def check_edge_weights(weights: ArrayLike, n_edges: int) -> Values:
    """Return one finite weight per edge, none negative, or say which is wrong."""
    found = check_array(
        weights, ensure_2d=False, dtype=np.float64, ensure_min_samples=0, input_name="weights"
    )
    if found.shape != (n_edges,):
        raise ValueError(f"weights must have one entry per edge, {n_edges}, got {found.shape}.")
    if (found < 0).any():
        edge = int(np.argmax(found < 0))
        raise ValueError(f"weights[{edge}] is {found[edge]:g}, but no edge weighs less than zero.")
    return found


def hierarchy_layers(
    indicator: Mask, labels: Iterable[Any], parents: Mapping[Any, Any], layers: int
) -> NDArray[np.int32]:
    """Return the layer of every label's leaf; -1 throughout a row without labels.

    Leaves that are siblings are two steps apart, so distance d >= 2 is layer d - 1.
    """
    names = list(labels)
    paths = [_path_to_root(name, parents) for name in names]
    right = _ends_of_paths(indicator, names, paths)
    inner = set(parents.values())
    distance = _leaf_distances(paths, np.array([name in inner for name in names], dtype=bool))
    step = np.clip(distance - 1, 0, layers - 1)
    result = np.full(indicator.shape, layers - 1, dtype=np.int32)
    for layer in range(layers - 2, -1, -1):
        result[(right.astype(np.float32) @ (step <= layer)) > 0] = layer
    result[~right.any(axis=1)] = -1
    return result


def _path_to_root(name: Any, parents: Mapping[Any, Any]) -> list[Any]:
    """The vertex and its ancestors, without the root that all paths share."""
    if name not in parents:
        raise ValueError(f"parents must name the parent of every label; {name!r} has none.")
    path = [name]
    while path[-1] in parents and parents[path[-1]] in parents:
        path.append(parents[path[-1]])
        if path[-1] in path[:-1]:
            raise ValueError(f"parents must form a tree, but {path[-1]!r} is its own ancestor.")
    return path


def _ends_of_paths(indicator: Mask, names: list[Any], paths: list[list[Any]]) -> Mask:
    """The labels of each row that have no descendant in it: where its paths end."""
    position = {name: index for index, name in enumerate(names)}
    descends = np.zeros((len(names), len(names)), dtype=np.float32)
    for label, path in enumerate(paths):
        for ancestor in path[1:]:
            if ancestor in position:
                descends[label, position[ancestor]] = 1
    return indicator & ~((indicator.astype(np.float32) @ descends) > 0)


def _leaf_distances(paths: list[list[Any]], inner: Mask) -> NDArray[np.int64]:
    """Steps between the leaves of any two labels; an inner label's leaf hangs below it."""
    vertices = {vertex: index for index, vertex in enumerate({v: 0 for p in paths for v in p})}
    on_path = np.zeros((len(paths), len(vertices)), dtype=np.int64)
    for label, path in enumerate(paths):
        on_path[label, [vertices[vertex] for vertex in path]] = 1
    depth = on_path.sum(axis=1) + inner
    distance = depth[:, None] + depth[None, :] - 2 * (on_path @ on_path.T)
    np.fill_diagonal(distance, 0)
    return distance

"""Edges of preference graphs as arrays: made of layers and names, and checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from prefero._typing import Values
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
    """Return one finite weight an edge, none negative, or say which is wrong."""
    found = check_array(
        weights, ensure_2d=False, dtype=np.float64, ensure_min_samples=0, input_name="weights"
    )
    if found.shape != (n_edges,):
        raise ValueError(f"weights must have one entry an edge, {n_edges}, got {found.shape}.")
    if (found < 0).any():
        edge = int(np.argmax(found < 0))
        raise ValueError(f"weights[{edge}] is {found[edge]:g}, but no edge weighs less than zero.")
    return found

"""Layers of labels by their distance in a tree."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def hierarchy_layers(
    indicator: NDArray[np.bool_], labels: Iterable[Any], parents: Mapping[Any, Any], layers: int
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


def _ends_of_paths(
    indicator: NDArray[np.bool_], names: list[Any], paths: list[list[Any]]
) -> NDArray[np.bool_]:
    """The labels of each row that have no descendant in it: where its paths end."""
    position = {name: index for index, name in enumerate(names)}
    descends = np.zeros((len(names), len(names)), dtype=np.float32)
    for label, path in enumerate(paths):
        for ancestor in path[1:]:
            if ancestor in position:
                descends[label, position[ancestor]] = 1
    return indicator & ~((indicator.astype(np.float32) @ descends) > 0)


def _leaf_distances(paths: list[list[Any]], inner: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Steps between the leaves of any two labels; an inner label's leaf hangs below it."""
    vertices = {vertex: index for index, vertex in enumerate({v: 0 for p in paths for v in p})}
    on_path = np.zeros((len(paths), len(vertices)), dtype=np.int64)
    for label, path in enumerate(paths):
        on_path[label, [vertices[vertex] for vertex in path]] = 1
    depth = on_path.sum(axis=1) + inner
    distance = depth[:, None] + depth[None, :] - 2 * (on_path @ on_path.T)
    np.fill_diagonal(distance, 0)
    return distance

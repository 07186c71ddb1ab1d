"""A tree as text."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero._bins import MAX_BINS, FeatureBins
from prefero.label_ranking._tree_arrays import CATEGORIES, LEAF, MISSING_LEFT, Arrays, nodes_of
from prefero.label_ranking._tree_effects import PathStep, path_to
from prefero.label_ranking._tree_features import Categories
from prefero.label_ranking._tree_leaves import NodeModels


def sides_of_test(
    arrays: Arrays,
    bins: FeatureBins,
    node: int,
    *,
    feature_names: Sequence[Any],
    categories: Categories,
    digits: int,
) -> tuple[str, str]:
    """Return what holds for the instances that go left at a node, and for those that go right.

    Parameters
    ----------
    arrays : dict of str to ndarray
        One tree.
    bins : FeatureBins
        Its features' bins.
    node : int
        An inner node.
    feature_names : sequence
        Names of the features.
    categories : dict
        Categories of nominal features.
    digits : int
        Significant digits of a threshold.

    Returns
    -------
    left, right : str
        Tests.
    """
    record = nodes_of(arrays)[node]
    feature, missing_left = int(record["feature"]), bool(record["flags"] & MISSING_LEFT)
    name = feature_names[feature]
    if record["flags"] & CATEGORIES:
        words = arrays["categories"].reshape(-1, 4)[arrays["sets"][node]]
        goes_left = [
            category
            for code, category in enumerate(categories[feature])
            if int(words[code // 64]) >> (code % 64) & 1
        ]
        listed = ", ".join(str(category) for category in goes_left)
        return f"{name} in {{{listed}}}", f"{name} not in {{{listed}}}"
    edges, cut = bins.of_feature(feature), int(record["cut"])
    if cut >= len(edges) or cut >= MAX_BINS - 1:
        sides = f"{name} is known", f"{name} is missing"
        return sides[::-1] if missing_left else sides
    threshold = f"{edges[cut]:.{digits}g}"
    return f"{name} <= {threshold}", f"{name} > {threshold}"


def leaf_text(models: NodeModels, node: int, labels: NDArray[Any]) -> str:
    """Return the center, by names, the number of rows and theta of a node.

    Parameters
    ----------
    models : NodeModels
        Models of all nodes.
    node : int
        A node.
    labels : ndarray of shape (n_labels,)
        Names.

    Returns
    -------
    str
        One line.
    """
    order = " > ".join(
        str(label) for label in labels[np.argsort(-models.votes[node], kind="stable")]
    )
    rows, theta = models.samples[node], models.theta[node]
    noun = "row" if rows == 1 else "rows"
    return f"{order}  ({rows} {noun}, theta {theta:.2g})"


def tree_text(
    arrays: Arrays,
    bins: FeatureBins,
    models: NodeModels,
    *,
    feature_names: Sequence[Any],
    categories: Categories,
    labels: NDArray[Any],
    max_depth: int | None,
    digits: int,
) -> str:
    """Return a tree as indented lines.

    Parameters
    ----------
    arrays : dict of str to ndarray
        One tree.
    bins : FeatureBins
        Its features' bins.
    models : NodeModels
        Models of its nodes.
    feature_names, categories, labels
        Names.
    max_depth : int, optional
        The depth to show.
    digits : int
        Significant digits of thresholds.

    Returns
    -------
    str
        Lines.
    """
    nodes = nodes_of(arrays)
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, test = stack.pop()
        if test:
            lines.append("|   " * (depth - 1) + test)
        indent = "|   " * depth
        if nodes["flags"][node] & LEAF:
            lines.append(indent + leaf_text(models, node, labels))
        elif max_depth is not None and depth >= max_depth:
            lines.append(indent + leaf_text(models, node, labels) + " ...")
        else:
            left, right = sides_of_test(
                arrays,
                bins,
                node,
                feature_names=feature_names,
                categories=categories,
                digits=digits,
            )
            child = int(nodes["child"][node])
            stack += [(child + 1, depth + 1, right), (child, depth + 1, left)]
    return "\n".join(lines)


def path_steps(
    arrays: Arrays,
    bins: FeatureBins,
    models: NodeModels,
    leaf: int,
    *,
    feature_names: Sequence[Any],
    categories: Categories,
) -> list[PathStep]:
    """Return what was asked and what is known on the way to a leaf.

    Parameters
    ----------
    arrays : dict of str to ndarray
        One tree.
    bins : FeatureBins
        Its features' bins.
    models : NodeModels
        Models of its nodes.
    leaf : int
        A node.
    feature_names, categories
        Names.

    Returns
    -------
    list of PathStep
        One a node, root first.
    """
    nodes = nodes_of(arrays)
    path, tests = path_to(nodes, leaf), [""]
    for above, below in pairwise(path):
        sides = sides_of_test(
            arrays, bins, above, feature_names=feature_names, categories=categories, digits=4
        )
        tests.append(sides[below - int(nodes["child"][above])])
    return [
        PathStep(test, int(models.samples[node]), float(models.theta[node]), models.votes[node])
        for test, node in zip(tests, path, strict=True)
    ]

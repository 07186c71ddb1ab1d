"""A tree in words: its nodes, its text, the way to a leaf."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._trees._arrays import CATEGORIES, MISSING_LEFT, Trees
from prefero._trees._bins import MAX_BINS, FeatureBins
from prefero._trees._categories import Categories
from prefero._trees._models import NodeModels
from prefero._typing import Values


class TreeNode(NamedTuple):
    """A node of a tree.

    Attributes
    ----------
    test : str
        What holds in this node, of the two sides of the test above it; empty for the root.
    children : tuple of int
        The numbers of the two nodes below; empty in a leaf.
    rows : int
        The training rows in the node.
    theta : float
        The spread of its model.
    votes : ndarray of shape (n_labels,)
        Its votes, larger is better.
    """

    test: str
    children: tuple[int, ...]
    rows: int
    theta: float
    votes: Values


@dataclass(frozen=True)
class TreeReader:
    """One tree and the words for what it holds.

    Parameters
    ----------
    tree : Trees
        One tree.
    models : NodeModels
        Of its nodes.
    bins : FeatureBins
        Of its features.
    feature_names : sequence
        Their names.
    categories : dict
        The categories of the nominal ones.
    digits : int, default=4
        Significant digits of a threshold.
    """

    tree: Trees
    models: NodeModels
    bins: FeatureBins
    feature_names: Sequence[Any]
    categories: Categories
    digits: int = 4

    def node(self, at: int) -> TreeNode:
        """Return one node."""
        child, parent = int(self.tree.children[at]), int(self.tree.parents[at])
        return TreeNode(
            self._sides(parent)[at - int(self.tree.children[parent])] if parent >= 0 else "",
            () if self.tree.is_leaf[at] else (child, child + 1),
            int(self.models.samples[at]),
            float(self.models.theta[at]),
            self.models.votes[at],
        )

    def _sides(self, at: int) -> tuple[str, str]:
        """Return what holds in the first and in the second child of a node."""
        record = self.tree.nodes[at]
        feature, cut = int(record["feature"]), int(record["cut"])
        name = self.feature_names[feature]
        if record["flags"] & CATEGORIES:
            arrays = self.tree.arrays
            words = arrays["categories"].reshape(-1, 4)[arrays["sets"][at]]
            listed = ", ".join(
                str(category)
                for code, category in enumerate(self.categories[feature])
                if int(words[code // 64]) >> (code % 64) & 1
            )
            return f"{name} in {{{listed}}}", f"{name} not in {{{listed}}}"
        edges = self.bins.of_feature(feature)
        if cut >= len(edges) or cut >= MAX_BINS - 1:
            sides = f"{name} is known", f"{name} is missing"
            return sides[::-1] if record["flags"] & MISSING_LEFT else sides
        threshold = f"{edges[cut]:.{self.digits}g}"
        return f"{name} <= {threshold}", f"{name} > {threshold}"

    def path(self, leaf: int) -> list[TreeNode]:
        """Return the nodes from the root to a leaf."""
        return [self.node(at) for at in self.tree.path_to(leaf)]

    def text(self, labels: NDArray[Any], max_depth: int | None) -> str:
        """Return the tree as indented lines, with names of labels, down to a depth."""
        lines: list[str] = []
        stack = [(0, 0)]
        while stack:
            at, depth = stack.pop()
            node = self.node(at)
            if node.test:
                lines.append("|   " * (depth - 1) + node.test)
            if node.children and (max_depth is None or depth < max_depth):
                stack += [(child, depth + 1) for child in reversed(node.children)]
            else:
                more = " ..." if node.children else ""
                lines.append("|   " * depth + _leaf_text(node, labels) + more)
        return "\n".join(lines)


def _leaf_text(node: TreeNode, labels: NDArray[Any]) -> str:
    """Return the center, by names, the number of rows and theta of a node."""
    order = " > ".join(str(label) for label in labels[np.argsort(-node.votes, kind="stable")])
    noun = "row" if node.rows == 1 else "rows"
    return f"{order}  ({node.rows} {noun}, theta {node.theta:.2g})"

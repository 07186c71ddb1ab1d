"""A ranking tree as a picture."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from prefero.label_ranking import TreeLabelRanker
from prefero.study.plotting._style import Display, plain

__all__ = ["TreeBox", "TreeDisplay"]

# Of a figure of the tree's own: characters of a line, and inches.
_LINE_LENGTH, _CHARACTER_WIDTH, _LINE_HEIGHT, _GAP = 26, 0.07, 0.17, 0.3


@dataclass
class TreeBox:
    """One box of a drawn tree.

    Parameters
    ----------
    text : str
        What stands in the box.
    share : float
        The share of the training rows that reach it.
    children : list of TreeBox, default=[]
        The boxes below: where the test holds, then where it does not.
    collapsed : bool, default=False
        Whether boxes below it were left out.
    """

    text: str
    share: float
    children: list["TreeBox"] = field(default_factory=list)
    collapsed: bool = False

    @property
    def leaves(self) -> int:
        """The number of boxes without children."""
        return sum(child.leaves for child in self.children) or 1

    @property
    def depth(self) -> int:
        """The number of levels below."""
        return 1 + max(child.depth for child in self.children) if self.children else 0

    def boxes(self) -> Iterator["TreeBox"]:
        """Yield this box and all below it."""
        yield self
        for child in self.children:
            yield from child.boxes()


class TreeDisplay(Display):
    """A decision tree whose leaves are orders of labels.

    Parameters
    ----------
    root : TreeBox
        The tree.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    """

    def __init__(self, root: TreeBox) -> None:
        self.root = root

    @classmethod
    def from_estimator(
        cls, ranker: TreeLabelRanker, *, max_depth: int | None = 3, top: int = 4, ax: Any = None
    ) -> Self:
        """Draw a fitted tree.

        Parameters
        ----------
        ranker : TreeLabelRanker
            Fitted.
        max_depth : int or None, default=3
            The depth to draw; None for the whole tree. Boxes at which it is cut off say so.
        top : int, default=4
            How many labels of an order to write.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        TreeDisplay
            The display.
        """
        nodes = ranker.export_nodes()

        def box(at: int, depth: int) -> TreeBox:
            node, share = nodes[at], nodes[at].rows / nodes[0].rows
            if not node.children or depth == max_depth:
                order = np.argsort(-node.votes, kind="stable")
                text = _order(ranker.labels_[order], top)
                return TreeBox(text, share, collapsed=bool(node.children))
            below = [box(child, depth + 1) for child in node.children]
            return TreeBox(nodes[node.children[0]].test.replace("<=", "≤"), share, below)

        return cls(box(0, 0)).plot(ax)

    def _draw(self, ax: Any) -> None:
        leaves, depth = self.root.leaves, self.root.depth
        lines = [_words(box).split("\n") for box in self.root.boxes()]
        width = max(len(line) for box in lines for line in box) * _CHARACTER_WIDTH + _GAP
        height = max(len(box) for box in lines) * _LINE_HEIGHT + 2 * _GAP
        ax = self._axes(ax, leaves * width, (depth + 1) * height - _GAP)
        ax.set(xlim=(0, leaves), ylim=(-depth - 0.35, 0.35))
        ax.axis("off")
        self._draw_box(self.root, left=0.0, level=0)

    def _draw_box(self, box: TreeBox, left: float, level: int) -> float:
        """Draw a box and what is below it, from the left on; return its middle."""
        middles = []
        for child in box.children:
            middles.append(self._draw_box(child, left, level + 1))
            left += child.leaves
        middle = (middles[0] + middles[-1]) / 2 if middles else left + 0.5
        for child_middle, answer in zip(middles, ("yes", "no"), strict=False):
            ends = [middle, child_middle], [-level, -level - 1]
            self.ax_.plot(*ends, color="0.6", linewidth=1, zorder=0)
            at = (middle + child_middle) / 2, -level - 0.5
            self._write(at, answer, {"facecolor": "white", "edgecolor": "none", "pad": 1}, "0.35")
        self._write((middle, -level), _words(box), _look(box), "black")
        return middle

    def _write(self, at: tuple[float, float], text: str, look: dict[str, Any], colour: str) -> None:
        self.ax_.text(
            *at, text, ha="center", va="center", fontsize="small", color=colour, bbox=look
        )


def _order(labels: NDArray[Any], top: int) -> str:
    names = [str(label) for label in labels[:top]]
    return " > ".join([*names, "..."] if len(labels) > top else names)


def _words(box: TreeBox) -> str:
    lines = [*textwrap.wrap(plain(box.text), _LINE_LENGTH), f"{box.share:.0%} of rows"]
    return "\n".join([*lines, "(more below)"] if box.collapsed else lines)


def _look(box: TreeBox) -> dict[str, Any]:
    """Round boxes ask, square ones answer; a dashed border means that more was left out."""
    return {
        "boxstyle": "round,pad=0.35" if box.children else "square,pad=0.35",
        "facecolor": "#EAF2F8" if box.children else "#FDF2E3",
        "edgecolor": "0.5",
        "linestyle": "--" if box.collapsed else "-",
    }

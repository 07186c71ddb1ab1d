"""Displays of models: a ranking tree, and accuracy by number of dimensions."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from prefero._names import without_common_start
from prefero.inspection._display import Display, plain
from prefero.label_ranking import TreeLabelRanker

# Characters per line, and inches.
_LINE_LENGTH, _CHARACTER_WIDTH, _LINE_HEIGHT, _GAP = 26, 0.07, 0.17, 0.3
_LEAST_WIDTH = 4.0
_BEFORE = " > "


@dataclass
class TreeBox:
    """One box of a drawn tree.

    Parameters
    ----------
    text : str
        The text of the box.
    share : float
        The share of the training rows that reach it.
    children : list of TreeBox, default=[]
        The boxes below: where the test holds, then where it does not.
    collapsed : bool, default=False
        Whether boxes below it are not drawn.
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
    start : str, default=""
        The common start of all labels, omitted in the boxes.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> X, Y = [[0.0], [0.0], [9.0], [9.0]], [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> tree = TreeLabelRanker(min_samples_split=2).fit(X, Y)
    >>> TreeDisplay.from_estimator(tree).figure_ is not None
    True
    """

    def __init__(self, root: TreeBox, start: str = "") -> None:
        self.root, self.start = root, start

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
            The depth to draw; None for the whole tree. Boxes where it is cut off say so.
        top : int, default=4
            How many labels of each order to write.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        TreeDisplay
            The display.
        """
        nodes = ranker.export_nodes()
        start, names = without_common_start(ranker.labels_)

        def box(at: int, depth: int) -> TreeBox:
            node, share = nodes[at], nodes[at].rows / nodes[0].rows
            if not node.children or depth == max_depth:
                order = np.argsort(-node.votes, kind="stable")
                text = _order([names[j] for j in order], top)
                return TreeBox(text, share, collapsed=bool(node.children))
            below = [box(child, depth + 1) for child in node.children]
            return TreeBox(nodes[node.children[0]].test.replace("<=", "≤"), share, below)

        return cls(box(0, 0), start).plot(ax)

    def _draw(self, ax: Any) -> None:
        lines = [_words(box).split("\n") for box in self.root.boxes()]
        width = max(len(line) for box in lines for line in box) * _CHARACTER_WIDTH + _GAP
        heights = [
            max(len(_words(box).split("\n")) for box in level) * _LINE_HEIGHT + 2 * _GAP
            for level in self._levels()
        ]
        # The middle of each level, in inches below the upper edge.
        middles = np.cumsum(heights) - np.array(heights) / 2
        note = _LINE_HEIGHT * 1.5 if self.start else 0.0
        leaves, height = self.root.leaves, sum(heights) + note
        ax = self._axes(ax, max(leaves * width, _LEAST_WIDTH), height)
        ax.set(xlim=(0, leaves), ylim=(-height, 0))
        ax.axis("off")
        self._draw_box(self.root, 0.0, (-middles).tolist())
        if self.start:
            text = f"All labels start with {plain(self.start)!r}, which is omitted."
            ax.text(0, -height, text, va="bottom", fontsize="small", color="0.35")

    def _levels(self) -> Iterator[list[TreeBox]]:
        level = [self.root]
        while level:
            yield level
            level = [child for box in level for child in box.children]

    def _draw_box(self, box: TreeBox, left: float, heights: list[float]) -> float:
        """Draw a box and those below it; return its middle."""
        middles = []
        for child in box.children:
            middles.append(self._draw_box(child, left, heights[1:]))
            left += child.leaves
        middle = (middles[0] + middles[-1]) / 2 if middles else left + 0.5
        for child_middle, answer in zip(middles, ("yes", "no"), strict=False):
            self.ax_.plot([middle, child_middle], heights[:2], color="0.6", linewidth=1, zorder=0)
            at = (middle + child_middle) / 2, (heights[0] + heights[1]) / 2
            self._write(at, answer, {"facecolor": "white", "edgecolor": "none", "pad": 1}, "0.35")
        self._write((middle, heights[0]), _words(box), _look(box), "black")
        return middle

    def _write(self, at: tuple[float, float], text: str, look: dict[str, Any], colour: str) -> None:
        self.ax_.text(
            *at, text, ha="center", va="center", fontsize="small", color=colour, bbox=look
        )


def _order(names: list[str], top: int) -> str:
    return _BEFORE.join([*names[:top], "..."] if len(names) > top else names)


def _words(box: TreeBox) -> str:
    """The text of a box; names are not broken, so the longest one sets the width."""
    text = plain(box.text)
    if box.children:
        lines = textwrap.wrap(text, _LINE_LENGTH, break_long_words=False, break_on_hyphens=False)
    else:
        lines = _broken(text.split(_BEFORE))
    lines.append(f"{box.share:.0%} of rows")
    return "\n".join([*lines, "(more below)"] if box.collapsed else lines)


def _broken(names: list[str]) -> list[str]:
    """Put as many names into each line as fit."""
    lines = [names[0]]
    for name in names[1:]:
        if len(lines[-1]) + len(_BEFORE) + len(name) <= _LINE_LENGTH:
            lines[-1] += f"{_BEFORE}{name}"
        else:
            lines[-1] += _BEFORE.rstrip()
            lines.append(name)
    return lines


def _look(box: TreeBox) -> dict[str, Any]:
    """Round boxes are tests, square ones are leaves; a dashed border marks a cut."""
    return {
        "boxstyle": "round,pad=0.35" if box.children else "square,pad=0.35",
        "facecolor": "#EAF2F8" if box.children else "#FDF2E3",
        "edgecolor": "0.5",
        "linestyle": "--" if box.collapsed else "-",
    }

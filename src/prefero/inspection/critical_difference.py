"""The critical-difference diagram of Demšar."""

from dataclasses import dataclass
from typing import Any, Self

from prefero.evaluation.comparison import Comparison
from prefero.inspection._style import COLOURS, Display, plain, room_for, some_of

__all__ = ["CriticalDifferenceDisplay"]

# Inches of the scale, and how far it goes on beyond the first and the last place.
_SCALE, _EDGE = 4.6, 0.3
# An ordinary space at the edge of a text is lost in SVG.
_GAP = "\N{NO-BREAK SPACE}"


@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Average ranks on a line, with bars over rankers that do not differ significantly.

    Parameters
    ----------
    comparison : Comparison
        What `prefero.evaluation.compare` found.

    %(drawn_on)s

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    Examples
    --------
    >>> from prefero.evaluation import Table, compare
    >>> rows = [
    ...     {"dataset": f"set {k}", "ranker": ranker, "tau": 0.5 + gain + 0.01 * k}
    ...     for k in range(6)
    ...     for ranker, gain in (("forest", 0.2), ("tree", 0.1), ("constant", 0.0))
    ... ]
    >>> display = CriticalDifferenceDisplay.from_comparison(compare(Table(rows)))
    >>> display.comparison.best
    'forest'
    """

    comparison: Comparison

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, ax: Any = None) -> Self:
        """Draw a comparison.

        Parameters
        ----------
        comparison : Comparison
            What `prefero.evaluation.compare` found.
        %(ax)s

        %(display)s
        """
        return cls(comparison).plot(ax)

    def _draw(self, ax: Any) -> None:
        found = self.comparison
        groups = found.groups()
        k = max(len(found.rankers), 2)
        rows = 1.2 + 0.4 * len(groups) + (len(found.rankers) + 1) // 2
        # Names hang left and right of the scale, in room of their own.
        names = [f"{found.rankers[i]} 0.00" for i in found.order]
        half = (len(names) + 1) // 2
        rooms = [room_for(some) for some in (names[:half], names[half:])]
        ax = self._axes(ax, _SCALE + sum(rooms), 0.6 + 0.27 * rows)
        unit = (k - 1 + 2 * _EDGE) / _SCALE
        left, right = 1 - _EDGE - rooms[0] * unit, k + _EDGE + rooms[1] * unit
        ax.set(xlim=(left, right), ylim=(-rows, 2))
        ax.axis("off")
        self._draw_scale(k)
        self._draw_groups(groups)
        self._draw_rankers(k, top=-1.2 - 0.4 * len(groups))

    def _draw_scale(self, k: int) -> None:
        ax = self.ax_
        ax.plot([1, k], [0, 0], color="0.5", linewidth=1, clip_on=False)
        for place in (at + 1 for at in some_of(k)):
            ax.plot([place, place], [0, 0.2], color="0.5", linewidth=1, clip_on=False)
            ax.text(place, 0.3, str(place), ha="center", va="bottom")
        width = self.comparison.critical_difference
        if width < k - 1:
            ax.plot([1, 1 + width], [1.5, 1.5], color="0.5", linewidth=1.5, marker="|")
            ax.text(1 + width, 1.5, f"{_GAP * 2}critical difference {width:.2f}", va="center")

    def _draw_groups(self, groups: list[list[str]]) -> None:
        place = dict(zip(self.comparison.rankers, self.comparison.average_ranks, strict=True))
        for row, group in enumerate(groups):
            ends = [place[group[0]] - 0.03, place[group[-1]] + 0.03]
            height = -0.6 - 0.4 * row
            self.ax_.plot(ends, [height] * 2, color=COLOURS[1], linewidth=4, solid_capstyle="round")

    def _draw_rankers(self, k: int, top: float) -> None:
        """Hang every ranker below its place, the better half to the left."""
        ax, found = self.ax_, self.comparison
        left, right = 1 - _EDGE, k + _EDGE
        half = (len(found.order) + 1) // 2
        for position, i in enumerate(found.order):
            place, to_left = found.average_ranks[i], position < half
            height = top - (position if to_left else len(found.order) - 1 - position)
            edge = left if to_left else right
            ax.plot([place, place, edge], [0, height, height], color="0.6", linewidth=1, zorder=0)
            ax.plot(place, 0, "o", color=COLOURS[0], markersize=6, clip_on=False)
            name = plain(found.rankers[i])
            text = f"{name} {place:.2f}{_GAP}" if to_left else f"{_GAP}{place:.2f} {name}"
            weight = "bold" if i == found.order[0] else "normal"
            side = "right" if to_left else "left"
            ax.text(edge, height, text, ha=side, va="center", fontweight=weight)

"""Quality against cost, as papers on routing draw it."""

from dataclasses import dataclass
from typing import Any, Self

from prefero.study.plotting._style import COLOURS, Display, open_frame, plain
from prefero.study.table import Table

__all__ = ["CostCurveDisplay"]


@dataclass(eq=False, repr=False)
class CostCurveDisplay(Display):
    """The mean score of a ranker's first choices against their mean cost.

    Parameters
    ----------
    curve : Table
        What `prefero.study.cost_curve` returned.
    singles : Table
        The columns ``label``, ``score`` and ``cost``: what each label alone would get.

    %(drawn_on)s
    """

    curve: Table
    singles: Table

    @classmethod
    def from_curve(cls, curve: Table, singles: Table, *, ax: Any = None) -> Self:
        """Draw a curve.

        Parameters
        ----------
        curve, singles : Table
            As for the display itself.
        %(ax)s

        %(display)s
        """
        return cls(curve, singles).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 6.5, 4.2)
        ax.plot(
            *(self.curve["cost"], self.curve["score"], "o-"),
            color=COLOURS[0],
            label="the first choice, for several weights of the cost",
        )
        ax.plot(
            *(self.singles["cost"], self.singles["score"], "x"),
            color=COLOURS[1],
            label="one label for all",
        )
        for row in self.singles:
            place = row["cost"], row["score"]
            ax.annotate(plain(row["label"]), place, fontsize="xx-small", alpha=0.8)
        ax.set(xlabel="mean cost", ylabel="mean score")
        ax.legend(frameon=False, fontsize="small")
        open_frame(ax)

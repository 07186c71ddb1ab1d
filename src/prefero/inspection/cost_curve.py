"""Quality against cost, as papers on routing draw it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from prefero.evaluation.table import Table
from prefero.inspection._style import (
    COLOURS,
    Display,
    legend,
    open_frame,
    short_names,
    write_beside,
)

__all__ = ["CostCurveDisplay"]


@dataclass(eq=False, repr=False)
class CostCurveDisplay(Display):
    """The mean score of a ranker's first choices against their mean cost.

    Parameters
    ----------
    curve : Table
        What `prefero.evaluation.cost_curve` returned.
    singles : Table
        The columns ``label``, ``score`` and ``cost``: what each label alone would get.

    %(drawn_on)s

    Examples
    --------
    >>> curve = Table([{"weight": w, "score": 0.9 - w, "cost": 5 - 40 * w} for w in (0.0, 0.1)])
    >>> singles = Table([{"label": "small", "score": 0.7, "cost": 1.0}])
    >>> CostCurveDisplay.from_curve(curve, singles).ax_.get_xlabel() != ""
    True
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
            label=f"one label for all {short_names(self.singles['label'])[1]}".rstrip(),
        )
        ax.set(xlabel="mean cost", ylabel="mean score")
        open_frame(ax)
        legend(ax)
        self._write_names(ax)

    def _write_names(self, ax: Any) -> None:
        """Name the labels where there is room, first those that no other one beats in both."""
        cost, score = self.singles["cost"], self.singles["score"]
        cheaper, better = cost[:, None] >= cost, score[:, None] <= score
        differ = (cost[:, None] != cost) | (score[:, None] != score)
        beaten = (cheaper & better & differ).any(axis=1)
        order = np.lexsort((cost, beaten))
        places = np.column_stack((cost, score))
        curve = np.column_stack((self.curve["cost"], self.curve["score"]))
        names, _ = short_names(self.singles["label"])
        write_beside(ax, places[order], [names[i] for i in order], among=np.vstack((places, curve)))

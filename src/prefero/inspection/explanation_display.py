"""Which features speak for one label and which for another."""

from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from prefero.inspection._style import COLOURS, HATCHES, Display, legend, plain, room_for

if TYPE_CHECKING:
    from prefero.inspection.explanation import Explanation

__all__ = ["ExplanationDisplay"]


@dataclass(eq=False, repr=False)
class ExplanationDisplay(Display):
    """Bars of what each feature adds to the margin of one label over another.

    Parameters
    ----------
    features : list of str
        Names, with the values of the instance.
    amounts : list of float
        Effects on the margin.
    pair : tuple
        The two labels.
    title : str
        The finding.
    unit : str
        Of the effects.

    %(drawn_on)s

    Examples
    --------
    >>> display = ExplanationDisplay(["age = 31", "town = Ulm"], [0.4, -0.1], pair=("tea", "milk"))
    >>> display.plot().figure_ is display.ax_.figure
    True
    """

    features: list[str]
    amounts: list[float]
    _: KW_ONLY
    pair: tuple[Any, Any]
    title: str = ""
    unit: str = "score"

    @classmethod
    def from_explanation(cls, why: "Explanation", *, top: int = 10, ax: Any = None) -> Self:
        """Draw an explanation.

        Parameters
        ----------
        why : Explanation
            What `prefero.inspection.explain` returned.
        top : int, default=10
            How many features.
        %(ax)s

        %(display)s
        """
        rows = why.effect_table(top)
        names = [f"{r['feature']} = {r['value']}" if r["value"] else r["feature"] for r in rows]
        amounts = [row["effect"] for row in rows]
        display = cls(names, amounts, pair=why.pair, title=why.verdict(), unit=why.unit)
        return display.plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 4.5 + room_for(self.features), 0.4 * len(self.features) + 2.2)
        places = np.arange(len(self.features))
        for side, label in enumerate(self.pair):
            sign = 1 - 2 * side
            chosen = [i for i, amount in enumerate(self.amounts) if sign * amount > 0]
            ax.barh(
                places[chosen],
                [self.amounts[i] for i in chosen],
                color=COLOURS[side],
                hatch=HATCHES[side],
                edgecolor="white",
                linewidth=0.5,
                label=f"speaks for {plain(label)}",
            )
        ax.axvline(0, color="0.5", linewidth=1)
        ax.set_yticks(places, [plain(name) for name in self.features])
        ax.invert_yaxis()
        ax.set_xlabel(f"effect on the margin ({self.unit})")
        ax.set_title(plain(fill(self.title, 56)), fontsize="medium", loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        legend(ax)

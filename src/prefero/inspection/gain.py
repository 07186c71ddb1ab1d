"""What one ranker gains over another, data set by data set."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from prefero._typing import Values
from prefero.evaluation._scores import score_matrix
from prefero.evaluation.table import Table
from prefero.inspection._style import (
    Display,
    bar_style,
    legend,
    metric_name,
    open_frame,
    plain,
)

__all__ = ["GainDisplay"]


@dataclass(eq=False, repr=False)
class GainDisplay(Display):
    """Accuracy gained or lost per data set (Fig. 2 of de Sá et al. 2017).

    Parameters
    ----------
    datasets : list of str
        Names.
    gains : dict of str to ndarray of shape (n_datasets,)
        What was gained, by what was compared.
    scoring : str, default="tau"
        In what.

    %(drawn_on)s

    Examples
    --------
    >>> from prefero.evaluation import Table
    >>> told = [("iris", "forest", 0.9), ("iris", "tree", 0.8)]
    >>> results = Table([dict(zip(("dataset", "ranker", "tau"), row)) for row in told])
    >>> display = GainDisplay.from_results(results, [("forest", "tree")])
    >>> display.datasets
    ['iris']
    """

    datasets: list[str]
    gains: dict[str, Values]
    _: KW_ONLY
    scoring: str = "tau"

    @classmethod
    def from_results(
        cls,
        results: Table,
        pairs: Sequence[tuple[str, str]],
        *,
        scoring: str = "tau",
        missing: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what the first ranker of each pair gains over the second.

        Parameters
        ----------
        %(results)s
        pairs : sequence of (str, str)
            Pairs of rankers, such as ``("forest", "tree")``.
        %(scoring)s
        missing : float, optional
            The missing rate to look at, if the results hold several.
        %(ax)s

        %(display)s
        """
        datasets, rankers, scores = score_matrix(results, scoring, missing)
        unknown = {name for pair in pairs for name in pair} - set(rankers)
        if unknown:
            raise ValueError(f"There is no ranker {', '.join(sorted(unknown))} in the results.")
        column = {name: scores[:, i] for i, name in enumerate(rankers)}
        gains = {f"{one} over {other}": column[one] - column[other] for one, other in pairs}
        return cls(datasets, gains, scoring=scoring).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, max(4.5, 0.5 * len(self.datasets) + 1.5), 4)
        width = 0.8 / len(self.gains)
        places = np.arange(len(self.datasets))
        for i, (name, gain) in enumerate(self.gains.items()):
            offset = (i - (len(self.gains) - 1) / 2) * width
            ax.bar(places + offset, gain, width, label=plain(name), **bar_style(i))
        ax.axhline(0, color="0.5", linewidth=1)
        names = [plain(name) for name in self.datasets]
        ax.set_xticks(places, names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_ylabel(f"{metric_name(self.scoring)}, gain")
        ax.margins(x=0.01)
        open_frame(ax)
        legend(ax)

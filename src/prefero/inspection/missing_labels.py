"""Accuracy against the share of missing labels."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from prefero._typing import Values
from prefero.evaluation._scores import score_matrix
from prefero.evaluation.table import Table
from prefero.inspection._style import (
    Display,
    draw_curves,
    legend,
    metric_name,
    open_frame,
    plain,
)

__all__ = ["MissingLabelsDisplay"]


@dataclass(eq=False, repr=False)
class MissingLabelsDisplay(Display):
    """Learning curves over the missing rate, one line a ranker (Fig. 1 of Cheng et al. 2009).

    Parameters
    ----------
    rates : ndarray of shape (n_rates,)
        Missing rates, ascending.
    curves : dict of str to ndarray of shape (n_rates,)
        The mean metric of each ranker.
    scoring : str, default="tau"
        What the curves are.
    title : str, default=""
        What they were measured on.

    %(drawn_on)s

    Examples
    --------
    >>> import numpy as np
    >>> curves = {"forest": np.array([0.8, 0.7, 0.6])}
    >>> display = MissingLabelsDisplay(np.array([0, 0.3, 0.6]), curves)
    >>> display.plot().ax_.get_ylabel() != ""
    True
    """

    rates: Values
    curves: dict[str, Values]
    _: KW_ONLY
    scoring: str = "tau"
    title: str = ""

    @classmethod
    def from_results(
        cls, results: Table, *, dataset: str | None = None, scoring: str = "tau", ax: Any = None
    ) -> Self:
        """Draw the curves of an experiment with several missing rates.

        Parameters
        ----------
        %(results)s
        dataset : str, optional
            The data set to look at; by default the mean over all of them.
        %(scoring)s
        %(ax)s

        %(display)s
        """
        chosen = results if dataset is None else results.where(dataset=dataset)
        if not len(chosen):
            raise ValueError(f"The results hold no data set {dataset!r}.")
        rates = np.unique(chosen["missing"])
        matrices = [score_matrix(chosen, scoring, rate) for rate in rates]
        datasets, rankers, _ = matrices[0]
        means = np.array([scores.mean(axis=0) for _, _, scores in matrices])
        curves = {name: means[:, i] for i, name in enumerate(rankers)}
        title = dataset or (datasets[0] if len(datasets) == 1 else f"Mean of {len(datasets)} sets")
        return cls(rates, curves, scoring=scoring, title=title).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 5.5, 4)
        draw_curves(ax, self.rates, self.curves)
        ax.set(
            title=plain(self.title),
            xlabel="share of labels missing",
            ylabel=metric_name(self.scoring),
        )
        ax.set_xticks(self.rates)
        ax.xaxis.set_major_formatter(lambda rate, _: f"{rate:.0%}")
        open_frame(ax)
        legend(ax)

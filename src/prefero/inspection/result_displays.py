"""Displays of experiments: critical differences, gains, missing labels, costs."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from prefero._typing import Values
from prefero.evaluation.comparison import Comparison
from prefero.evaluation.results import ResultTable, score_matrix
from prefero.inspection import _display as drawing

# Width of the scale in inches, and its extension beyond the first and the last place.
_SCALE, _EDGE = 4.6, 0.3
# Ordinary spaces at the edge of a text are lost in SVG.
_GAP = "\N{NO-BREAK SPACE}"


@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(drawing.Display):
    """Average ranks on a line, with bars over rankers that do not differ significantly.

    Parameters
    ----------
    comparison : Comparison
        What `prefero.evaluation.compare` returned.

    %(drawn_on)s

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    Examples
    --------
    >>> from prefero.evaluation import ResultTable, compare
    >>> rows = [
    ...     {"dataset": f"set {k}", "ranker": ranker, "tau": 0.5 + gain + 0.01 * k}
    ...     for k in range(6)
    ...     for ranker, gain in (("forest", 0.2), ("tree", 0.1), ("constant", 0.0))
    ... ]
    >>> display = CriticalDifferenceDisplay.from_comparison(compare(ResultTable(rows)))
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
            What `prefero.evaluation.compare` returned.
        %(ax)s

        %(display)s
        """
        return cls(comparison).plot(ax)

    def _draw(self, ax: Any) -> None:
        found = self.comparison
        groups = found.groups()
        k = max(len(found.rankers), 2)
        rows = 1.2 + 0.4 * len(groups) + (len(found.rankers) + 1) // 2
        # Names are left and right of the scale.
        names = [f"{found.rankers[i]} 0.00" for i in found.order]
        half = (len(names) + 1) // 2
        packages = [drawing.room_for(some) for some in (names[:half], names[half:])]
        ax = self._axes(ax, _SCALE + sum(packages), 0.6 + 0.27 * rows)
        unit = (k - 1 + 2 * _EDGE) / _SCALE
        left, right = 1 - _EDGE - packages[0] * unit, k + _EDGE + packages[1] * unit
        ax.set(xlim=(left, right), ylim=(-rows, 2))
        ax.axis("off")
        self._draw_scale(k)
        self._draw_groups(groups)
        self._draw_rankers(k, top=-1.2 - 0.4 * len(groups))

    def _draw_scale(self, k: int) -> None:
        ax = self.ax_
        ax.plot([1, k], [0, 0], color="0.5", linewidth=1, clip_on=False)
        for place in (at + 1 for at in drawing.some_of(k)):
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
            self.ax_.plot(
                ends, [height] * 2, color=drawing.COLORS[1], linewidth=4, solid_capstyle="round"
            )

    def _draw_rankers(self, k: int, top: float) -> None:
        """Write every ranker below its place, the better half to the left."""
        ax, found = self.ax_, self.comparison
        left, right = 1 - _EDGE, k + _EDGE
        half = (len(found.order) + 1) // 2
        for position, i in enumerate(found.order):
            place, to_left = found.average_ranks[i], position < half
            height = top - (position if to_left else len(found.order) - 1 - position)
            edge = left if to_left else right
            ax.plot([place, place, edge], [0, height, height], color="0.6", linewidth=1, zorder=0)
            ax.plot(place, 0, "o", color=drawing.COLORS[0], markersize=6, clip_on=False)
            name = drawing.plain(found.rankers[i])
            text = f"{name} {place:.2f}{_GAP}" if to_left else f"{_GAP}{place:.2f} {name}"
            weight = "bold" if i == found.order[0] else "normal"
            side = "right" if to_left else "left"
            ax.text(edge, height, text, ha=side, va="center", fontweight=weight)


@dataclass(eq=False, repr=False)
class GainDisplay(drawing.Display):
    """Accuracy gained or lost per data set (Fig. 2 of de Sá et al. 2017).

    Parameters
    ----------
    datasets : list of str
        Names.
    gains : dict of str to ndarray of shape (n_datasets,)
        Gains, by the pair that was compared.
    scoring : str, default="tau"
        The metric.

    %(drawn_on)s

    Examples
    --------
    >>> from prefero.evaluation import ResultTable
    >>> told = [("iris", "forest", 0.9), ("iris", "tree", 0.8)]
    >>> results = ResultTable([dict(zip(("dataset", "ranker", "tau"), row)) for row in told])
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
        results: ResultTable,
        pairs: Sequence[tuple[str, str]],
        *,
        scoring: str = "tau",
        missing: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the gains of the first ranker of each pair over the second.

        Parameters
        ----------
        %(results)s
        pairs : sequence of (str, str)
            Pairs of rankers, such as ``("forest", "tree")``.
        %(column_drawn)s
        missing : float, optional
            The missing rate to use, if the results hold several.
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
            ax.bar(places + offset, gain, width, label=drawing.plain(name), **drawing.bar_style(i))
        ax.axhline(0, color="0.5", linewidth=1)
        names = [drawing.plain(name) for name in self.datasets]
        ax.set_xticks(places, names, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_ylabel(f"{drawing.metric_name(self.scoring)}, gain")
        ax.margins(x=0.01)
        drawing.open_frame(ax)
        drawing.legend(ax)


@dataclass(eq=False, repr=False)
class MissingLabelsDisplay(drawing.Display):
    """Learning curves over the missing rate, one line per ranker (Fig. 1 of Cheng et al. 2009).

    Parameters
    ----------
    rates : ndarray of shape (n_rates,)
        Missing rates, ascending.
    curves : dict of str to ndarray of shape (n_rates,)
        The mean metric of each ranker.
    scoring : str, default="tau"
        The metric.
    title : str, default=""
        The data.

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
        cls,
        results: ResultTable,
        *,
        dataset: str | None = None,
        scoring: str = "tau",
        ax: Any = None,
    ) -> Self:
        """Draw the curves of an experiment with several missing rates.

        Parameters
        ----------
        %(results)s
        dataset : str, optional
            The data set to draw; by default the mean over all of them.
        %(column_drawn)s
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
        drawing.draw_curves(ax, self.rates, self.curves)
        ax.set(
            title=drawing.plain(self.title),
            xlabel="share of labels missing",
            ylabel=drawing.metric_name(self.scoring),
        )
        ax.set_xticks(self.rates)
        ax.xaxis.set_major_formatter(lambda rate, _: f"{rate:.0%}")
        drawing.open_frame(ax)
        drawing.legend(ax)


@dataclass(eq=False, repr=False)
class CostCurveDisplay(drawing.Display):
    """The mean score of a ranker's first choices against their mean cost.

    Parameters
    ----------
    curve : ResultTable
        What `prefero.evaluation.cost_curve` returned.
    singles : ResultTable
        The columns ``label``, ``score`` and ``cost``: the mean of each single label.

    %(drawn_on)s

    Examples
    --------
    >>> curve = ResultTable([{"weight": w, "score": 0.9 - w, "cost": 5 - 40 * w} for w in (0, 0.1)])
    >>> singles = ResultTable([{"label": "small", "score": 0.7, "cost": 1.0}])
    >>> CostCurveDisplay.from_curve(curve, singles).ax_.get_xlabel() != ""
    True
    """

    curve: ResultTable
    singles: ResultTable

    @classmethod
    def from_curve(cls, curve: ResultTable, singles: ResultTable, *, ax: Any = None) -> Self:
        """Draw a curve.

        Parameters
        ----------
        curve, singles : ResultTable
            As for the display itself.
        %(ax)s

        %(display)s
        """
        return cls(curve, singles).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 6.5, 4.2)
        ax.plot(
            *(self.curve["cost"], self.curve["score"], "o-"),
            color=drawing.COLORS[0],
            label="the first choice, for several weights of the cost",
        )
        ax.plot(
            *(self.singles["cost"], self.singles["score"], "x"),
            color=drawing.COLORS[1],
            label=f"one label for all {drawing.short_names(self.singles['label'])[1]}".rstrip(),
        )
        ax.set(xlabel="mean cost", ylabel="mean score")
        drawing.open_frame(ax)
        drawing.legend(ax)
        self._write_names(ax)

    def _write_names(self, ax: Any) -> None:
        """Name the labels where there is room, first those that no other label dominates."""
        cost, score = self.singles["cost"], self.singles["score"]
        cheaper, better = cost[:, None] >= cost, score[:, None] <= score
        differ = (cost[:, None] != cost) | (score[:, None] != score)
        beaten = (cheaper & better & differ).any(axis=1)
        order = np.lexsort((cost, beaten))
        places = np.column_stack((cost, score))
        curve = np.column_stack((self.curve["cost"], self.curve["score"]))
        names, _ = drawing.short_names(self.singles["label"])
        drawing.write_beside(
            ax, places[order], [names[i] for i in order], among=np.vstack((places, curve))
        )

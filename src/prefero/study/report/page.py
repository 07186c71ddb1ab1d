"""The page itself: what stands on it, and how it is written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from prefero._files import write_beside
from prefero._optional import require
from prefero._sklearn import safe_indexing
from prefero.study._data import DataSet, Source, load_all
from prefero.study._tasks import task_of
from prefero.study.comparison import Comparison, Posthoc, compare
from prefero.study.costs import COST, SCORE, cost_curve, single_choices
from prefero.study.plotting import (
    CostCurveDisplay,
    CriticalDifferenceDisplay,
    MissingLabelsDisplay,
    PairMatrixDisplay,
    RankHeatmapDisplay,
    ReliabilityDisplay,
)
from prefero.study.plotting._style import MOST_WRITTEN_ROWS
from prefero.study.plotting.pair_matrix import pair_shares
from prefero.study.plotting.reliability import first_telling, rejection_curve
from prefero.study.report import findings
from prefero.study.report.close_look import (
    MOST_ROWS,
    CloseLook,
    explain_row,
    feature_importance,
    look_closely,
    telling_pair,
    typical_and_worst,
)
from prefero.study.report.other_tasks import (
    SECTIONS,
    Section,
    TaskPage,
    foresee,
    leaderboard_section,
    shuffled_importance,
)
from prefero.study.report.rendering import listed_importance, made, render
from prefero.study.report.svg import Figures
from prefero.study.table import Table

# A picture of more labels than this is neither readable nor small.
_MOST_DRAWN_LABELS = 60
_LISTED_FEATURES, _LISTED_EFFECTS = 20, 5


def write_report(
    path: str | os.PathLike[str],
    results: Table,
    data: Mapping[str, Source],
    rankers: Mapping[str, Any],
    *,
    groups: Mapping[str, ArrayLike] | None = None,
    focus: str | None = None,
    measure: str | None = None,
    missing: float | None = None,
    posthoc: Posthoc = "nemenyi",
    alpha: float = 0.05,
    title: str = "Comparison of label rankers",
    command: str | None = None,
    random_state: int = 0,
) -> None:
    """Write an experiment as one HTML page that needs nothing else.

    The page gives the verdict, the data, the leaderboard and the critical-difference diagram.
    Then it looks closely at the best ranker on one data set, by a cross-validation of five
    folds: which label takes which rank, which label stands before which other one, what
    abstaining buys, typical and worst rows with their explanation, and the features that
    matter. It ends with how to do it again. There is no script in it, nothing is fetched, and
    it follows the reader's choice of light or dark.

    Parameters
    ----------
    path : path
        The file to write. An older one is replaced only when the new one is complete.
    results : Table
        What `prefero.study.run_experiment` returned.
    data : mapping of str to tuple, Bunch or callable
        The data sets that it was given.
    rankers : mapping of str to estimator
        The rankers that it was given. For multilabel rankers and orderers the page looks
        closely at labels and rows, or at groups, instead.
    groups : mapping of str to array-like of shape (n_samples,), optional
        By data set, what each row belongs to, if `run_experiment` was given it.
    focus : str, optional
        The data set to look at closely; the first one by default.
    measure : str, optional
        The column of the results to compare by; by default the first of the task, such as tau.
    missing : float, optional
        The missing rate to compare at; the lowest one of the results by default.
    posthoc : {"nemenyi", "dunn"}, default="nemenyi"
        The test of each pair of rankers, as for `compare`.
    alpha : float, default=0.05
        The level of significance.
    title : str, default="Comparison of label rankers"
        The heading.
    command : str, optional
        What a person types to get the page again.
    random_state : int, default=0
        The seed of the close look.

    See Also
    --------
    prefero.study.run_experiment : Makes the results.
    prefero.study.compare : The statistics on the page.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker, NeighborsLabelRanker
    >>> from prefero.datasets import load_dataset
    >>> from prefero.study import run_experiment, write_report
    >>> data = {"iris": load_dataset("iris", as_frame=True)}
    >>> rankers = {"baseline": ConsensusLabelRanker(), "neighbours": NeighborsLabelRanker()}
    >>> results = run_experiment(rankers, data, n_splits=3)
    >>> write_report("iris.html", results, data, rankers)  # doctest: +SKIP
    """
    at_rate, rates = findings.lowest_rate(results, missing)
    task = task_of(rankers)
    found = compare(at_rate, measure=measure or task.measures[0], posthoc=posthoc, alpha=alpha)
    sets = load_all(data, groups, check=task.check)
    chosen = _chosen(focus, sets)
    best = _known(found.best, rankers)
    if task.kind in SECTIONS:
        foreseen = foresee(task, sets[chosen], rankers[best], random_state)
        words, sections = SECTIONS[task.kind](foreseen)
        summary: list[tuple[str, Table, int | None]] = [
            ("What each data set holds", findings.data_summary(sets), None)
        ]
        constant = findings.constant_order(rankers)
        other = TaskPage(
            title=title,
            verdict=found.verdict(),
            in_words=words,
            sections=[
                Section("data", "The data", [], summary),
                leaderboard_section(task, found, at_rate, constant, findings.protocol(at_rate)),
                *sections,
            ],
            importance=shuffled_importance(task, foreseen, found.measure, random_state),
            n_features=len(foreseen.features),
            command=command,
            rankers={name: repr(ranker) for name, ranker in rankers.items()},
            made=made(random_state),
        )
        write_beside(path, render("sections.html.j2", other).encode())
        return
    look = look_closely(sets[chosen], rankers[best], random_state)
    figures = Figures()
    curve = _cost_curve(sets[chosen], rankers[best], random_state)
    drawn = _figures(figures, found, look, results if len(rates) > 1 else None)
    if curve is not None:
        points, singles = curve
        drawn["costs"] = figures.draw(
            lambda: CostCurveDisplay.from_curve(points, singles),
            "Mean score of the first choices against their mean cost",
        )
    page = _Page(
        title=title,
        verdict=found.verdict(),
        in_words=_in_words(look, chosen),
        protocol=findings.protocol(at_rate),
        data=findings.data_summary(sets),
        found=found,
        leaderboard=findings.leaderboard(found, at_rate),
        constant=findings.constant_order(rankers),
        scores=findings.scores_by_dataset(found),
        best=best,
        focus=chosen,
        look=look,
        figures=drawn,
        costs=None if curve is None else _weights_in_words(curve[0]),
        pairs=_pair_numbers(look),
        abstaining=_abstaining(look),
        rows=[_row(look, kind, i) for kind, i in typical_and_worst(look)],
        importance=_importance(look, random_state),
        command=command,
        rankers={name: repr(ranker) for name, ranker in rankers.items()},
        made=made(random_state),
    )
    write_beside(path, render("page.html.j2", page).encode())


@dataclass(frozen=True, eq=False)
class _Page:
    """Everything that the template shows."""

    title: str
    verdict: str
    in_words: str
    protocol: str
    data: Table
    found: Comparison
    leaderboard: Table
    constant: list[str]
    scores: Table
    best: str
    focus: str
    look: CloseLook
    figures: dict[str, str]
    costs: Table | None
    pairs: list[PairMatrixDisplay]
    abstaining: list[tuple[str, str]]
    rows: list[dict[str, Any]]
    importance: tuple[str, list[tuple[str, float, float]]]
    command: str | None
    rankers: dict[str, str]
    made: dict[str, str]


def _chosen(focus: str | None, sets: Mapping[str, DataSet]) -> str:
    if focus is None:
        return next(iter(sets))
    if focus not in sets:
        raise ValueError(f"There is no data set {focus!r}, only {', '.join(sets)}.")
    return focus


def _known(best: str, rankers: Mapping[str, Any]) -> str:
    if best not in rankers:
        raise ValueError(f"The results hold a ranker {best!r} that is not among the rankers given.")
    return best


def _cost_curve(data: DataSet, ranker: Any, random_state: int) -> tuple[Table, Table] | None:
    """Quality against cost on some rows of a data set; None if nothing costs anything."""
    if not {SCORE, COST} <= data.values.keys() or data.scores is None:
        return None
    rows = np.arange(len(data.ranks))
    if len(rows) > MOST_ROWS:
        rows = np.sort(check_random_state(random_state).choice(rows, MOST_ROWS, replace=False))
    scores, costs = data.values[SCORE][rows], data.values[COST][rows]
    members = None if data.groups is None else data.groups[rows]
    X = safe_indexing(data.X, rows)
    curve = cost_curve(ranker, X, scores, costs, groups=members, random_state=random_state)
    return curve, single_choices(data.labels, scores, costs)


def _weights_in_words(curve: Table) -> Table:
    """The curve with its weights, which may be tiny, in digits that matter."""
    return Table({**row, "weight": f"{row['weight']:.3g}"} for row in curve)


def _in_words(look: CloseLook, dataset: str) -> str:
    """Say what tau means to a person who has never met it."""
    tau = float(np.nanmean(look.tau)) if (~np.isnan(look.tau)).any() else float("nan")
    if np.isnan(tau):
        return f"No row of {dataset} orders any pair of labels."
    return (
        f"On rows of {dataset} that it has not seen, it puts about {50 + 50 * tau:.0f} of 100 "
        f"pairs of labels in the right order; guessing would put 50."
    )


def _figures(
    figures: Figures, found: Comparison, look: CloseLook, results: Table | None
) -> dict[str, str]:
    drawn = {}
    if len(found.rankers) > 1 and len(found.datasets) > 1:
        drawn["ranks"] = figures.draw(
            lambda: CriticalDifferenceDisplay.from_comparison(found),
            "Average ranks of the rankers; bars join those that do not differ significantly",
        )
    if results is not None:
        drawn["missing"] = figures.draw(
            lambda: MissingLabelsDisplay.from_results(results, measure=found.measure),
            f"Mean {found.measure} of each ranker against the share of missing labels",
        )
    if len(look.labels) <= _MOST_DRAWN_LABELS:
        drawn |= _matrices(figures, look)
    if look.reliability is not None and (~np.isnan(look.tau)).any():
        sure = look.reliability
        drawn["reliability"] = figures.draw(
            lambda: ReliabilityDisplay.from_predictions(sure, look.tau),
            "Mean tau of the rows answered against their share, the most reliable first",
        )
    return drawn


def _matrices(figures: Figures, look: CloseLook) -> dict[str, str]:
    true, predicted = _pair_displays(look)
    return {
        "heatmap": figures.draw(
            lambda: _heatmaps(look),
            "How often each label takes each rank, in the data and as predicted",
        ),
        "true_pairs": figures.draw(
            true.plot,
            "How often the label of the row stands before that of the column, in the data",
        ),
        "predicted_pairs": figures.draw(
            predicted.plot,
            "How often the label of the row stands before that of the column, as predicted",
        ),
    }


def _heatmaps(look: CloseLook) -> RankHeatmapDisplay:
    """Draw both heat maps in the width of the page, so that their letters keep their size."""
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="The page")
    c = len(look.labels)
    size = min(9.5, 3 + 1.1 * c), min(14, 1.4 + 0.4 * c)
    _, axes = pyplot.subplots(1, 2, figsize=size, sharey=True, layout="constrained")
    return RankHeatmapDisplay.from_ranks(
        look.truth, look.predicted, labels=look.labels.tolist(), axes=axes
    )


def _pair_displays(look: CloseLook) -> tuple[PairMatrixDisplay, PairMatrixDisplay]:
    """Return the true and the predicted pairs, not drawn, the labels in the same order."""
    true, predicted = pair_shares(look.truth), pair_shares(look.predicted)
    quantity = "share of rankings"
    if look.pairwise is not None:
        predicted, quantity = look.pairwise.copy(), "mean probability"
        np.fill_diagonal(predicted, np.nan)
    order = np.argsort(-np.nansum(true - 0.5, axis=1), kind="stable")
    names, square = look.labels[order].tolist(), np.ix_(order, order)
    return (
        PairMatrixDisplay(true[square], names, title="true"),
        PairMatrixDisplay(predicted[square], names, title="predicted", quantity=quantity),
    )


def _pair_numbers(look: CloseLook) -> list[PairMatrixDisplay]:
    """Return the pairs to be written out: those whose picture has no room for numbers."""
    written = MOST_WRITTEN_ROWS < len(look.labels) <= _MOST_DRAWN_LABELS
    return list(_pair_displays(look)) if written else []


def _abstaining(look: CloseLook) -> list[tuple[str, str]]:
    """Return the mean tau of the rows answered, for some shares of them."""
    if look.reliability is None:
        return []
    known = ~np.isnan(look.tau)
    if not known.any():
        return []
    answered, tau = rejection_curve(look.reliability[known], look.tau[known])
    shares = np.array((1.0, 0.9, 0.75, 0.5, 0.25, 0.1))
    places = np.minimum(np.searchsorted(answered, shares - 1e-9), len(tau) - 1)
    return [
        (f"{share:.0%}", f"{tau[i]:.3f}")
        for share, i in zip(shares, places, strict=True)
        if i >= first_telling(len(tau))
    ]


def _row(look: CloseLook, kind: str, i: int) -> dict[str, Any]:
    why = explain_row(look, i)
    first, second = telling_pair(look, i)
    return {
        "kind": kind,
        "name": str(look.rows[i]),
        "tau": float(look.tau[i]),
        "true": look.order(look.truth[i]),
        "predicted": look.order(look.predicted[i]),
        "wrong": bool(look.truth[i, first] > look.truth[i, second]),
        "surer": None if look.reliability is None else _share_below(look.reliability, i),
        "why": why,
        "effects": why.effect_table(_LISTED_EFFECTS),
    }


def _share_below(values: Any, i: int) -> str:
    return f"{np.mean(values < values[i]):.0%}"


def _importance(look: CloseLook, random_state: int) -> tuple[str, list[tuple[str, float, float]]]:
    meaning, values = feature_importance(look, random_state)
    return listed_importance(meaning, look.features, values, _LISTED_FEATURES)

"""The page: what it shows, and how it is written."""

import os
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from prefero._files import write_beside
from prefero.evaluation._data import DataSet, Source, load_all
from prefero.evaluation._tasks import task_of
from prefero.evaluation.baselines import reference_choices
from prefero.evaluation.comparison import Comparison, Posthoc, compare
from prefero.evaluation.results import METRICS, ResultTable
from prefero.inspection import CriticalDifferenceDisplay, MissingLabelsDisplay
from prefero.report.findings import (
    all_metrics,
    baseline_names,
    data_summary,
    known_metrics,
    lowest_rate,
    per_row,
    protocol,
    scores_by_dataset,
)
from prefero.report.label_part import label_details
from prefero.report.other_tasks import OTHER_DETAILS
from prefero.report.predictions import Focus
from prefero.report.rendering import Figures, made, render
from prefero.report.sections import Details
from prefero.report.standings import standings


def write_report(
    path: str | os.PathLike[str],
    results: ResultTable,
    data: Mapping[str, Source],
    rankers: Mapping[str, Any],
    *,
    groups: Mapping[str, ArrayLike] | None = None,
    focus: str | None = None,
    scoring: str | None = None,
    greater_is_better: bool | None = None,
    missing: float | None = None,
    posthoc: Posthoc = "nemenyi",
    alpha: float = 0.05,
    title: str = "Comparison of label rankers",
    command: str | None = None,
    random_state: int = 0,
) -> None:
    """Write an experiment as one HTML page that needs nothing else.

    The page starts with a summary, the leaderboard with intervals, and the data. Then it looks
    closely at the best ranker on one data set, by its models of the folds: quality against
    cost where there are costs, which label takes which rank, which label comes before which,
    calibration and the effect of abstaining, single rows with their explanation, and feature
    importance. It ends with how to reproduce it. Nothing is fetched; a small script sorts the
    leaderboard and shows the rows, whose data are in the page. The page follows the reader's
    choice of light or dark, and can be printed.

    Parameters
    ----------
    path : path
        The file to write. An older one is replaced only when the new one is complete.
    results : ResultTable
        What `prefero.evaluation.run_experiment` returned.
    data : mapping of str to tuple, Bunch or callable
        The data sets that it was given.
    rankers : mapping of str to estimator
        The rankers that it was given.
    groups : mapping of str to array-like of shape (n_samples,), optional
        By data set, the group of each row, if `run_experiment` was given groups.
    focus : str, optional
        The data set for the detailed part; the first one by default.
    scoring : str, optional
        The column of the results to compare by; by default the first of the task, such as tau.
    greater_is_better : bool, optional
        Whether larger values of that column are better, as for `prefero.evaluation.compare`.
    missing : float, optional
        The missing rate to compare at; the lowest by default.
    posthoc : {"nemenyi", "dunn"}, default="nemenyi"
        The test of each pair of rankers, as for `compare`.
    alpha : float, default=0.05
        The level of significance.
    title : str, default="Comparison of label rankers"
        The heading.
    command : str, optional
        The command that writes the page.
    random_state : int, default=0
        The seed of the detailed part.

    See Also
    --------
    prefero.evaluation.run_experiment : Makes the results.
    prefero.evaluation.compare : The statistics on the page.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker, NeighborsLabelRanker
    >>> from prefero.datasets import load_dataset
    >>> from prefero.evaluation import run_experiment
    >>> from prefero.report import write_report
    >>> data = {"iris": load_dataset("iris", as_frame=True)}
    >>> rankers = {"baseline": ConsensusLabelRanker(), "neighbours": NeighborsLabelRanker()}
    >>> results = run_experiment(rankers, data, n_splits=3)
    >>> write_report("iris.html", results, data, rankers)  # doctest: +SKIP
    """
    at_rate, rates = lowest_rate(results, missing)
    task, baselines = task_of(rankers), baseline_names(rankers)
    found = compare(
        at_rate,
        scoring=scoring or task.metrics[0],
        greater_is_better=greater_is_better,
        posthoc=posthoc,
        alpha=alpha,
        baseline=next(iter(baselines), None),
    )
    if found.best not in rankers:
        raise ValueError(f"The results hold a ranker {found.best!r} that was not given.")
    sets = load_all(data, groups, check=task.check)
    chosen = _focus(focus, sets)
    figures = Figures()
    drawn = _figures(figures, found, results if len(rates) > 1 else None)
    of_best = sets[chosen], rankers[found.best], chosen, found.best
    part = _details(
        Focus(task, *of_best, at_rate, found.scoring, found.baseline, random_state), figures
    )
    page = dict(
        title=title,
        summary=found.summary(),
        alike=found.alike() if found.tested else [],
        found=found,
        board=standings(task.kind, found, at_rate, baselines),
        baselines=baselines,
        protocol=protocol(at_rate),
        metrics=all_metrics(found, at_rate),
        scores=scores_by_dataset(found) if len(found.datasets) > 1 else None,
        data=data_summary(sets),
        best=found.best,
        focus=chosen,
        figures=drawn,
        part=part,
        links=_links(part),
        per_row=per_row(found, at_rate, chosen),
        references=_references(found, at_rate, sets, known_metrics(found, at_rate)),
        command=command,
        rankers={name: repr(ranker) for name, ranker in rankers.items()},
        made=made(random_state),
    )
    write_beside(path, render("page.html.j2", page).encode())


def _details(focus: Focus, figures: Figures) -> Details:
    if focus.task.kind == "label_ranker":
        return label_details(focus, figures=figures)
    return OTHER_DETAILS[focus.task.kind](focus)


def _references(
    found: Comparison, results: ResultTable, sets: Mapping[str, DataSet], metrics: list[str]
) -> ResultTable | None:
    """What the single best label and the virtual best reach, where there are scores."""
    rows = [
        {"data set": name, "choice": row["ranker"]}
        | {METRICS[key].title: row[key] for key in metrics if key in row}
        for name in found.datasets
        if sets[name].ranks.ndim > 1
        for row in reference_choices(results, name, sets[name])
    ]
    return ResultTable(rows) if rows else None


def _focus(focus: str | None, sets: Mapping[str, Any]) -> str:
    if focus is not None and focus not in sets:
        raise ValueError(f"There is no data set {focus!r}, only {', '.join(sets)}.")
    return next(iter(sets)) if focus is None else focus


def _links(part: Details) -> list[tuple[str, str]]:
    """The sections: anchor and title."""
    return [
        ("leaderboard", "Leaderboard"),
        ("data", "Data"),
        *([("costs", "Costs")] if part.costs else []),
        *([("ranks", "Labels and ranks")] if part.ranks else []),
        *([("pairs", "Pairs")] if part.pairs else []),
        *([("uncertainty", "Uncertainty")] if part.uncertainty else []),
        *((section.name, section.title) for section in part.sections),
        *([("rows", part.rows["title"])] if part.rows["rows"] else []),
        ("features", "Features"),
        ("reproduce", "Reproduce"),
    ]


def _figures(figures: Figures, found: Comparison, results: ResultTable | None) -> dict[str, str]:
    drawn = {}
    if len(found.rankers) > 1 and len(found.datasets) > 1:
        drawn["ranks"] = figures.draw(
            lambda ax: CriticalDifferenceDisplay.from_comparison(found),
            "Average ranks of the rankers; bars join those that do not differ significantly",
        )
    if results is not None:
        drawn["missing"] = figures.draw(
            lambda ax: MissingLabelsDisplay.from_results(results, scoring=found.scoring, ax=ax),
            f"Mean {found.scoring} of each ranker against the share of missing labels",
            size=(4.8, 3.8),
        )
    return drawn

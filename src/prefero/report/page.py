"""The page itself: what stands on it, and how it is written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prefero._files import write_beside
from prefero.evaluation._data import DataSet, Source, load_all
from prefero.evaluation._tasks import task_of
from prefero.evaluation.comparison import Comparison, Posthoc, compare
from prefero.evaluation.table import Table
from prefero.inspection import CriticalDifferenceDisplay, MissingLabelsDisplay
from prefero.report import findings
from prefero.report.label_part import part_of_labels
from prefero.report.other_tasks import PARTS
from prefero.report.rendering import Figures, made, render
from prefero.report.sections import ClosePart
from prefero.report.standings import Standings, standings


def write_report(
    path: str | os.PathLike[str],
    results: Table,
    data: Mapping[str, Source],
    rankers: Mapping[str, Any],
    *,
    groups: Mapping[str, ArrayLike] | None = None,
    focus: str | None = None,
    scoring: str | None = None,
    missing: float | None = None,
    posthoc: Posthoc = "nemenyi",
    alpha: float = 0.05,
    title: str = "Comparison of label rankers",
    command: str | None = None,
    random_state: int = 0,
) -> None:
    """Write an experiment as one HTML page that needs nothing else.

    The page gives the verdict, the leaderboard with intervals, and the data. Then it looks
    closely at the best ranker on one data set, by a cross-validation of five folds: quality
    against cost where there are costs, which label takes which rank, which label stands before
    which other one, whether its probabilities hold and what abstaining buys, rows to pick with
    their explanation, and the features that matter. It ends with how to do it again. Nothing is
    fetched; a small script sorts the leaderboard and shows the rows, whose data are in the page.
    It follows the reader's choice of light or dark, and can be printed.

    Parameters
    ----------
    path : path
        The file to write. An older one is replaced only when the new one is complete.
    results : Table
        What `prefero.evaluation.run_experiment` returned.
    data : mapping of str to tuple, Bunch or callable
        The data sets that it was given.
    rankers : mapping of str to estimator
        The rankers that it was given. For multilabel rankers and orderers the page looks
        closely at labels and rows, or at groups, instead.
    groups : mapping of str to array-like of shape (n_samples,), optional
        By data set, what each row belongs to, if `run_experiment` was given it.
    focus : str, optional
        The data set to look at closely; the first one by default.
    scoring : str, optional
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
    at_rate, rates = findings.lowest_rate(results, missing)
    task = task_of(rankers)
    found = compare(at_rate, scoring=scoring or task.metrics[0], posthoc=posthoc, alpha=alpha)
    sets = load_all(data, groups, check=task.check)
    chosen = _chosen(focus, sets)
    best = _known(found.best, rankers)
    constant = findings.constant_order(rankers)
    figures = Figures()
    drawn = _figures(figures, found, results if len(rates) > 1 else None)
    if task.kind in PARTS:
        part = PARTS[task.kind](task, sets[chosen], rankers[best], found.scoring, random_state)
    else:
        part = part_of_labels(sets[chosen], rankers[best], chosen, figures, random_state)
    page = _Page(
        title=title,
        verdict=found.verdict(),
        alike=found.alike() if _tested(found) else [],
        found=found,
        board=standings(task.kind, found, at_rate, constant),
        constant=constant,
        protocol=findings.protocol(at_rate),
        metrics=findings.all_metrics(found, at_rate),
        scores=findings.scores_by_dataset(found) if len(found.datasets) > 1 else None,
        data=findings.data_summary(sets),
        best=best,
        focus=chosen,
        figures=drawn,
        part=part,
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
    alike: list[str]
    found: Comparison
    board: Standings
    constant: list[str]
    protocol: str
    metrics: Table
    scores: Table | None
    data: Table
    best: str
    focus: str
    figures: dict[str, str]
    part: ClosePart
    command: str | None
    rankers: dict[str, str]
    made: dict[str, str]

    @property
    def links(self) -> list[tuple[str, str]]:
        """The sections: what the address calls them, and what the reader does."""
        part = self.part
        return [
            ("leaderboard", "Leaderboard"),
            ("data", "Data"),
            *([("costs", "Costs")] if part.costs else []),
            *([("ranks", "Labels and ranks")] if part.ranks else []),
            *([("pairs", "Pairs")] if part.pairs else []),
            *([("sure", "How sure")] if part.trust else []),
            *((section.name, section.title) for section in part.sections),
            *([("rows", part.rows["title"])] if part.rows["rows"] else []),
            ("features", "Features"),
            ("reproduce", "Reproduce"),
        ]


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


def _tested(found: Comparison) -> bool:
    return len(found.over_folds) > 0 or not np.isnan(found.p_value)


def _figures(figures: Figures, found: Comparison, results: Table | None) -> dict[str, str]:
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

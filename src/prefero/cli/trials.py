"""Rankers cross-validated on tables, for train to choose by and for compare to show."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero._prediction import as_input, takes_missing
from prefero._progress import reporting
from prefero.cli.console import say
from prefero.cli.models import build
from prefero.cli.options import OF_SCORES, Metric
from prefero.cli.rankers import RankerChoice
from prefero.exceptions import DataError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.evaluation import Comparison
    from prefero.evaluation import ResultTable as Table
    from prefero.tables import Rankings


_ZERO_POINT = "(zero point)"


@dataclass(frozen=True)
class Plan:
    """How rankers are tried; what train and compare do unless told otherwise."""

    metric: Metric = Metric.TAU
    folds: int = 10
    repeats: int = 1
    most_rows: int = 5000
    seed: int = 0

    @property
    def divides_as_usual(self) -> bool:
        """Whether nobody has asked for other folds than a table may come with."""
        return (self.folds, self.repeats) == (Plan.folds, Plan.repeats)


@dataclass
class Sample:
    """Rows of a table as an experiment takes them.

    Ranks are those of the labels; with a zero point between relevant and irrelevant ones, it
    is the last column. Scores and groups are there if the table has some, folds if it comes with
    its own and is not to be divided otherwise.
    """

    name: str
    features: "pd.DataFrame"
    ranks: "pd.DataFrame"
    scores: "NDArray[np.float64] | None" = None
    groups: "NDArray[Any] | None" = None
    multilabel: bool = False
    values: "Mapping[str, NDArray[np.float64]]" = field(default_factory=dict)
    folds: "NDArray[np.int64] | None" = None

    @classmethod
    def of(
        cls, name: str, rankings: "Rankings", features: "pd.DataFrame", groups: Any, plan: Plan
    ) -> "Sample":
        """Draw rows of a table, all if they are not too many; each keeps its number from 1 on."""
        import numpy as np
        from pandas import DataFrame

        rows = np.arange(len(rankings.ranks))
        if len(rows) > plan.most_rows > 0:
            say(f"{name}: tried on {plan.most_rows} of {len(rows)} rows; --rows 0 takes all.")
            rows = np.random.default_rng(plan.seed).permutation(rows)[: plan.most_rows]
        calibrated = rankings.calibrated
        target, names = rankings.ranks, rankings.labels
        if calibrated is not None:
            target, names = calibrated, [*rankings.labels, _ZERO_POINT]
        official = rankings.folds if groups is None and plan.divides_as_usual else None
        if official is not None:
            say(f"{name}: divided into the folds that come with it.")
        return cls(
            name,
            features.iloc[rows].set_axis(rankings.rows[rows] + 1),
            DataFrame(target[rows], columns=names),
            None if rankings.scores is None else rankings.scores[rows],
            None if groups is None else groups[rows],
            calibrated is not None,
            {name: worth[rows] for name, worth in rankings.values.items()},
            None if official is None else official[rows, 0],
        )

    def cv(self) -> Any:
        """Return the splitter of the folds that the table comes with, if it has some."""
        from sklearn.model_selection import PredefinedSplit

        return None if self.folds is None else PredefinedSplit(self.folds)

    @property
    def witnesses(self) -> int:
        """How many rows, or groups of rows, folds can be made of."""
        return len(self.ranks) if self.groups is None else len(set(self.groups.tolist()))

    def source(self, model: Any) -> tuple[Any, ...]:
        """Return X, Y and perhaps scores and other values for one model."""
        parts = (as_input(model, self.features), self.ranks, self.scores, self.values)
        return parts if self.scores is not None else parts[:2]

    def wonder(self) -> None:
        """Warn of rows that are no independent witnesses."""
        from prefero._data_checks import repeated_rows

        twins = 0 if self.groups is not None else repeated_rows(self.features)
        if twins:
            warnings.warn(
                f"{twins} rows of {self.name} repeat the features of another row: if such rows "
                "belong together, name the column that says so by --groups, or the figures are "
                "too good.",
                stacklevel=2,
            )


def wonder_about_leaks(rankings: "Rankings", features: "pd.DataFrame") -> None:
    """Warn of features that nearly say what they are to predict."""
    from prefero._data_checks import leaks

    for leak in leaks(features, rankings.ranks, rankings.labels):
        warnings.warn(
            f"{leak}: if it would not be known before the ranking is, leave it out by --ignore.",
            stacklevel=2,
        )


def refuse_measure(sample: Sample, plan: Plan) -> None:
    """Refuse to measure what labels are worth where nothing says it."""
    if plan.metric in OF_SCORES and sample.scores is None:
        problem = f"--metric {plan.metric} needs scores: add --format scores."
        raise DataError(problem, sample.name)


@dataclass
class Trials:
    """The results of all rankers; by ranker and data set why there is none; what rankers are."""

    results: "Table"
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    noun: str = "ranker"

    def judged(self, column: str) -> "Comparison":
        """Compare the rankers that have a result, or say why there is nothing to compare."""
        from prefero.evaluation import ResultTable as Table
        from prefero.evaluation import compare, summarize

        means = summarize(self.results, by=("ranker",)) if len(self.results) else []
        known = {row["ranker"] for row in means if row[column] == row[column]}
        if not known:
            raise DataError(f"no {self.noun} could be trained and measured.")
        results = Table(row for row in self.results if row["ranker"] in known)
        return compare(results, scoring=column)


@dataclass(frozen=True)
class Trial:
    """A model that is to be tried on a data set, unless a check refuses the two."""

    name: str
    dataset: str
    model: Any
    source: tuple[Any, ...]
    check: Callable[[], None]
    groups: Any = None
    cv: Any = None


def cross_validate(
    trials: Iterable[Trial],
    plan: Plan,
    *,
    noun: str = "ranker",
    jobs: int | None = None,
    folder: Path | None = None,
) -> Trials:
    """Cross-validate models on data sets, with the same folds for all.

    A model that refuses the data is left out.
    """
    from prefero.evaluation import ResultTable as Table
    from prefero.evaluation import run_experiment
    from prefero.evaluation.experiment import RefusedDataError

    done, trials = Trials(Table([]), noun=noun), list(trials)
    cells = len(trials) * plan.folds * plan.repeats
    with reporting("auto", cells, what="Cross-validating") as advance:
        for trial in trials:
            try:
                trial.check()
                with warnings.catch_warnings():
                    # Folds lack labels that the table holds: no news for its owner.
                    warnings.simplefilter("ignore")
                    done.results += run_experiment(
                        {trial.name: trial.model},
                        {trial.dataset: trial.source},
                        n_splits=plan.folds,
                        n_repeats=plan.repeats,
                        groups=None if trial.groups is None else {trial.dataset: trial.groups},
                        cv=trial.cv,
                        random_state=plan.seed,
                        n_jobs=jobs,
                        folder=folder,
                        use_scores=plan.metric in OF_SCORES,
                        progress=lambda *_: advance(),
                    )
            except RefusedDataError as error:
                done.failed[trial.name, trial.dataset] = error.problem
            except ValueError as error:
                done.failed[trial.name, trial.dataset] = str(error)
    return done


def run_trials(
    choices: Iterable[RankerChoice],
    samples: Iterable[Sample],
    plan: Plan,
    *,
    jobs: int | None = None,
    folder: Path | None = None,
) -> Trials:
    """Cross-validate every ranker on every sample."""
    trials = [_trial(choice, sample) for sample in samples for choice in choices]
    return cross_validate(trials, plan, jobs=jobs, folder=folder)


def _trial(choice: RankerChoice, sample: Sample) -> Trial:
    model = build(choice, sample.features)
    return Trial(
        choice.name,
        sample.name,
        model,
        sample.source(model),
        lambda: refuse_gaps(sample, model),
        sample.groups,
        sample.cv(),
    )


def refuse_gaps(sample: Sample, model: Any) -> None:
    """Refuse missing numbers in the name of a model that needs them all."""
    if sample.features.select_dtypes("number").isna().to_numpy().any():
        if not takes_missing(model):
            raise ValueError("it needs every number of every feature, and some are missing.")

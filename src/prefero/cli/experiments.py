"""Rankers and orderers cross-validated on tables, for train and compare."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero._model_inputs import as_input, fills_gaps, refuse_missing, takes_missing
from prefero._names import without_common_start
from prefero._progress import reporting
from prefero.cli import models
from prefero.cli.console import count, say
from prefero.cli.options import SCORE_METRICS, Metric
from prefero.exceptions import DataError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.evaluation import Comparison, ResultTable
    from prefero.evaluation._data import DataSet
    from prefero.tables import DataTable, Rankings

_VIRTUAL_LABEL = "(virtual label)"


@dataclass(frozen=True)
class CrossValidation:
    """How rankers are compared; ``default_folds`` says that the user named no folds."""

    metric: Metric = Metric.TAU
    folds: int = 10
    repeats: int = 1
    most_rows: int = 5000
    seed: int = 0
    default_folds: bool = True


@dataclass(frozen=True)
class Sample:
    """Rows of a table as an experiment takes them.

    The target holds ranks: one column per label, then one for the virtual label if there is one; or
    of objects one column, with their query as groups and their grades as scores. The index of the
    features counts the rows of the table from 1. Folds are those that the table comes with.
    """

    name: str
    table: "DataTable"
    features: "pd.DataFrame"
    target: Any
    scores: "NDArray[np.float64] | None" = None
    groups: "NDArray[Any] | None" = None
    multilabel: bool = False
    values: "Mapping[str, NDArray[np.float64]]" = field(default_factory=dict)
    folds: "NDArray[np.int64] | None" = None

    @classmethod
    def of(
        cls,
        name: str,
        rankings: "Rankings",
        features: "pd.DataFrame",
        groups: Any,
        plan: CrossValidation,
    ) -> "Sample":
        """Draw rows of a table, or take all if they are not too many."""
        import numpy as np
        from pandas import DataFrame

        rows = np.arange(len(rankings.ranks))
        if len(rows) > plan.most_rows > 0:
            say(f"{name}: compared on {plan.most_rows} of {len(rows)} rows; --rows 0 uses all.")
            rows = np.random.default_rng(plan.seed).permutation(rows)[: plan.most_rows]
        calibrated = rankings.calibrated
        target, names = rankings.ranks, rankings.labels
        if calibrated is not None:
            target, names = calibrated, [*rankings.labels, _VIRTUAL_LABEL]
        official = rankings.folds if groups is None and plan.default_folds else None
        if official is not None:
            say(f"{name}: divided into the folds that come with it.")
        return cls(
            name,
            rankings.table,
            features.iloc[rows].set_axis(rankings.rows[rows] + 1),
            DataFrame(target[rows], columns=names),
            None if rankings.scores is None else rankings.scores[rows],
            None if groups is None else groups[rows],
            calibrated is not None,
            {name: values[rows] for name, values in rankings.values.items()},
            None if official is None else official[rows, 0],
        )

    @property
    def is_ordering(self) -> bool:
        """Whether the rows are objects with one rank each."""
        return self.target.ndim == 1

    @property
    def best_label(self) -> str:
        """The label with the best mean score over all rows."""
        import numpy as np

        from prefero.evaluation._tasks import ranks_by_mean

        _, names = without_common_start(self.target.columns)
        return names[int(ranks_by_mean(np.asarray(self.scores)).argmin())]

    @property
    def independent_units(self) -> int:
        """How many rows, or groups of rows, folds can be made of."""
        return len(self.target) if self.groups is None else len(set(self.groups.tolist()))

    def source(self, model: Any) -> tuple[Any, ...]:
        """Return X, y and perhaps scores and other values for one model."""
        parts = (as_input(model, self.features), self.target, self.scores, self.values)
        return parts[:2] if self.scores is None else parts if self.values else parts[:3]

    def model(self, choice: models.RankerChoice, seed: int, reduce: int | None = None) -> Any:
        """Return an untrained model of a choice."""
        if not self.is_ordering:
            return models.build(choice, self.features)
        reduced = None if choice.name in models.UNREDUCED else reduce
        return models.build(choice, self.features, models.seeded(choice, seed), reduce=reduced)

    def data_set(self) -> "DataSet":
        """Return the sample as experiments take it."""
        from prefero.evaluation._data import load_data

        parts = (self.features, self.target, self.scores, self.values)
        return load_data(self.name, parts, groups=self.groups)

    def refuse_missing(self, model: Any, name: str) -> None:
        """Refuse missing numbers on behalf of a model that needs them all."""
        reduced = "reduce" in dict(getattr(model, "steps", ()))
        if reduced or not takes_missing(model):
            others = (models.ORDERERS_WITH_MISSING,) if self.is_ordering else ()
            needs = "--reduce" if reduced else name
            refuse_missing(self.table, self.features, self.features.index - 1, needs, *others)

    def refuse_few(self, folds: int) -> None:
        """Refuse folds that the sample is too small for."""
        if self.independent_units < folds:
            rows = "objects" if self.is_ordering else "rankings"
            what = rows if self.groups is None else "groups"
            raise self.table.error(f"too few {what} for {folds} folds: {self.independent_units}.")

    def refuse_metric(self, metric: Metric) -> None:
        """Refuse a metric of scores where there are none."""
        if metric in SCORE_METRICS and self.scores is None:
            raise DataError(f"--metric {metric} needs scores: add --format scores.", self.name)

    def warn_of_copies(self) -> None:
        """Warn of rows that are not independent of each other."""
        from prefero._data_checks import repeated_rows, shared_entities

        if self.groups is not None:
            return
        for entities in shared_entities(self.features):
            warnings.warn(
                f"{self.name}: {entities}. If they describe things that new rows will not share, "
                "name the column that tells these apart by --groups, or the figures are too good.",
                stacklevel=2,
            )
        copies = repeated_rows(self.features)
        if copies:
            warnings.warn(
                f"{copies} rows of {self.name} repeat the features of another row: if such rows "
                "belong together, name the column that says so by --groups, or the figures are "
                "too good.",
                stacklevel=2,
            )


def warn_of_leaks(rankings: "Rankings", features: "pd.DataFrame") -> None:
    """Warn of features that nearly determine what they are to predict."""
    from prefero._data_checks import leaks

    for leak in leaks(features, rankings.ranks, rankings.labels):
        warnings.warn(
            f"{leak}: if it is not known before the ranking is, leave it out by --ignore.",
            stacklevel=2,
        )


@dataclass
class Trials:
    """The results of all rankers; why there are none, by ranker and data set."""

    results: "ResultTable"
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    noun: str = "ranker"
    baseline: str = models.BASELINE.name

    def compared(self, column: str) -> "Comparison":
        """Compare the rankers that have a result, or say why there is nothing to compare."""
        from prefero.evaluation import compare, summarize

        means = summarize(self.results, by=("ranker",)) if len(self.results) else []
        known = {row["ranker"] for row in means if row[column] == row[column]}
        if not known:
            raise DataError(f"no {self.noun} could be trained and evaluated.")
        results = self.results.with_rows(row for row in self.results if row["ranker"] in known)
        return compare(results, scoring=column, baseline=self.baseline)


def baseline_name(samples: list[Sample], metric: Metric) -> str:
    """Return what results call the baseline: by a metric of scores, the single best label."""
    if any(sample.is_ordering for sample in samples):
        return models.CONSTANT.name
    if metric not in SCORE_METRICS:
        return models.BASELINE.name
    return f"single best: {samples[0].best_label}" if len(samples) == 1 else "single best"


def cross_validate(
    choices: Iterable[models.RankerChoice],
    samples: Iterable[Sample],
    plan: CrossValidation,
    *,
    reduce: int | None = None,
    jobs: int | None = None,
    folder: Path | None = None,
) -> Trials:
    """Cross-validate every ranker on every sample, with the same folds for all.

    A ranker that refuses the data of a sample has no result there.
    """
    from sklearn.model_selection import PredefinedSplit

    from prefero.evaluation import ResultTable, run_experiment
    from prefero.evaluation._runs import RefusedDataError

    choices, samples = list(choices), list(samples)
    runs = [(choice, sample) for sample in samples for choice in choices]
    noun = "orderer" if any(sample.is_ordering for sample in samples) else "ranker"
    done = Trials(ResultTable([]), noun=noun, baseline=baseline_name(samples, plan.metric))
    filled: dict[str, None] = {}
    with reporting(
        "lines", len(runs) * plan.folds * plan.repeats, what="Cross-validating"
    ) as advance:
        for choice, sample in runs:
            model = sample.model(choice, plan.seed, reduce)
            name = done.baseline if choice is models.BASELINE else choice.name
            try:
                sample.refuse_missing(model, choice.name)
                if fills_gaps(model):
                    filled[choice.name] = None
                with warnings.catch_warnings():
                    # A fold may lack labels that the table holds.
                    warnings.simplefilter("ignore")
                    done.results += run_experiment(
                        {name: model},
                        {sample.name: sample.source(model)},
                        n_splits=plan.folds,
                        n_repeats=plan.repeats,
                        groups=None if sample.groups is None else {sample.name: sample.groups},
                        cv=None if sample.folds is None else PredefinedSplit(sample.folds),
                        random_state=plan.seed,
                        n_jobs=jobs,
                        folder=folder,
                        use_scores=plan.metric in SCORE_METRICS,
                        progress=lambda *_: advance(),
                    )
            except RefusedDataError as error:
                done.failed[name, sample.name] = error.problem
            except ValueError as error:
                done.failed[name, sample.name] = str(error)
    say_filled(filled)
    return done


def say_filled(names: Iterable[str]) -> None:
    """Say for which rankers empty cells are filled."""
    if names := list(names):
        listed = ", ".join(names)
        say(f"Empty cells of numbers are filled with the mean of their column for: {listed}.")


@dataclass(frozen=True)
class FitResult:
    """A fitted ranker, and how it and others did on held-out rows."""

    ranker: Any
    name: str
    metric: str
    held_out: dict[str, float] = field(default_factory=dict)
    summary: str | None = None


@dataclass(frozen=True)
class TrainedRanker:
    """A fitted ranker of labels and the data that it was trained on."""

    fitted: FitResult
    rows: int
    labels: list[str]
    features: list[str]
    seconds: float | None = None

    def as_json(self, out: Path) -> dict[str, Any]:
        """Return what --json prints."""
        fitted = self.fitted
        return {
            **{"model": fitted.name, "file": str(out), "rows": self.rows},
            **{"labels": self.labels, "features": self.features, "metric": fitted.metric},
            **{"cross_validated": fitted.held_out, "summary": fitted.summary},
        }

    def sentence(self, out: Path) -> str:
        """Return what was trained on what."""
        rows = count(self.rows, "ranking" if self.seconds is None else "row")
        speed = "" if self.seconds is None else f", {self.rows / self.seconds:,.0f} rows per second"
        return (
            f"Trained {self.fitted.name} on {rows} of {count(len(self.labels), 'label')} by "
            f"{count(len(self.features), 'feature')}{speed}; wrote {out}."
        )

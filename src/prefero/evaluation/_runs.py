"""One run of an experiment: a ranker is trained on one fold's rows and tested on the others."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from prefero._optional import require
from prefero._sklearn import safe_indexing
from prefero._typing import Indices
from prefero.evaluation._data import DataSet, Split
from prefero.evaluation._run_store import Rows, Values, derived_seed
from prefero.evaluation._tasks import RankingTask, task_of
from prefero.evaluation.results import RunPredictions
from prefero.rankings import drop_labels

Metric = Callable[[Any, Any, ArrayLike], float]
COSTS = ("train_rows", "test_rows", "fit_seconds", "predict_seconds")


@dataclass(frozen=True)
class Run:
    """One ranker, trained and tested on one fold; its fields are the first columns."""

    dataset: str
    ranker: str
    missing: float
    repetition: int
    fold: int

    def seed(self, purpose: str, random_state: int) -> int:
        """Return a seed that does not depend on the ranker."""
        place = (self.dataset, self.repetition, self.fold, self.missing)
        return derived_seed(purpose, random_state, *place)

    def fit(
        self,
        ranker: Any,
        data: DataSet,
        train: Indices,
        random_state: int,
        *,
        use_scores: bool,
        names: Sequence[str] | None = None,
    ) -> tuple[Any, int]:
        """Return the ranker, fitted to its training rows, and how many of them there were.

        It knows the names of the labels if they are given, which needs pandas.
        """
        train, ranks = _training(data.ranks, train, self.missing, self.seed("labels", random_state))
        model = seeded(ranker, self.seed("ranker", random_state))
        target = ranks if names is None else _named(ranks, names)
        seen = data if use_scores else replace(data, scores=None)
        task_of({self.ranker: ranker}).fit(model, safe_indexing(data.X, train), target, seen, train)
        return model, len(train)


@dataclass(frozen=True)
class RunOptions:
    """The seed, whether rankers learn from scores, the caller's columns, and what is kept."""

    random_state: int
    use_scores: bool
    details: dict[str, Callable[[Any], float]]
    metrics: dict[str, Metric]
    keep_predictions: bool = True

    def values(self, model: Any, X: Any, ranks: ArrayLike) -> Values:
        """Return them for a fitted ranker and unseen rows."""
        return {
            **{name: float(function(model)) for name, function in self.details.items()},
            **{name: float(metric(model, X, ranks)) for name, metric in self.metrics.items()},
        }


class RefusedDataError(ValueError):
    """A ranker refused its data; says why, and in which run."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(where, problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.problem}"


def run_one(
    run: Run, data: DataSet, split: Split, ranker: Any, options: RunOptions
) -> tuple[Run, Values, Rows | None]:
    """Train and test a ranker, and return its metrics and predictions."""
    try:
        return run, *_measure(run, data, split, ranker, options)
    except Exception as error:
        where = (
            f"{run.ranker} failed on {run.dataset} (missing {run.missing:g}, repetition "
            f"{run.repetition}, fold {run.fold})"
        )
        if isinstance(error, ValueError):
            raise RefusedDataError(where, str(error)) from error
        raise RuntimeError(f"{where}: {error}") from error


def _measure(
    run: Run, data: DataSet, split: Split, ranker: Any, options: RunOptions
) -> tuple[Values, Rows | None]:
    train, test = split
    task = task_of({run.ranker: ranker})
    start = time.perf_counter()
    model, n_trained = run.fit(
        ranker, data, train, options.random_state, use_scores=options.use_scores
    )
    fitted = time.perf_counter()
    unseen = safe_indexing(data.X, test)
    predicted = task.predict(model, unseen, data, test)
    done = time.perf_counter()
    means, by_unit = task.metrics_of(model, unseen, predicted, data, test, train)
    values = {
        **means,
        "train_rows": float(n_trained),
        "test_rows": float(len(test)),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        **options.values(model, unseen, data.ranks[test]),
    }
    if not options.keep_predictions:
        return values, None
    rows = {name: by_unit[name].tolist() for name in by_unit}
    return values, (task.ranks_of(predicted).tolist(), rows)


def predictions_of(
    task: RankingTask, data: DataSet, split: Split, rows: Rows, options: RunOptions
) -> RunPredictions:
    """Put the predictions of a run together with the rows that they are of."""
    train, test = split
    units = task.units(data, test)
    # Of objects the queries are the groups; other rows belong to themselves if to nothing else.
    groups = units
    if data.groups is not None and len(units) == len(test):
        groups = np.unique(data.groups, return_inverse=True)[1][test]
    predicted, metrics = rows
    by_unit = {name: np.asarray(values, dtype=np.float64) for name, values in metrics.items()}
    ranks = np.asarray(predicted, dtype=np.float64)
    return RunPredictions(
        train, test, ranks, by_unit, units, groups, options.random_state, options.use_scores
    )


def _named(ranks: NDArray[np.float64], names: Sequence[str]) -> Any:
    """Ranks of labels in a frame with their names; ranks of objects as they are."""
    if ranks.ndim == 1:
        return ranks
    pandas = require("pandas", extra="study", purpose="The page")
    return pandas.DataFrame(ranks, columns=names[: ranks.shape[1]])


def _training(
    ranks: NDArray[np.float64], rows: NDArray[np.intp], rate: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Drop labels from the training rankings, and the rows that are left without any.

    Every ranker would ignore these rows itself, with a warning that is not needed here.
    """
    if rate == 0:
        return rows, ranks[rows]
    dropped = drop_labels(ranks[rows], rate, random_state=seed)
    some = ~np.isnan(dropped).all(axis=1)
    return rows[some], dropped[some]


def seeded(ranker: BaseEstimator, seed: int) -> Any:
    """Clone a ranker, with a seed wherever it would have drawn one itself."""
    model = clone(ranker)
    unset = {
        name: seed
        for name, value in model.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return model.set_params(**unset)

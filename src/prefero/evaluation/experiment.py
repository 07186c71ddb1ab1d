"""Cross-validated runs of rankers on data sets, as one tidy table."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import joblib
import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import check_cv

from prefero._progress import Progress, reporting
from prefero._sklearn import safe_indexing
from prefero.evaluation._data import DataSet, Folds, Source, Split, Splits, load_all
from prefero.evaluation._run_store import (
    CellStore,
    Values,
    code_of,
    derived_seed,
    digest,
    source_of,
)
from prefero.evaluation._tasks import first_worth, task_of
from prefero.evaluation.table import Table
from prefero.rankings import drop_labels

__all__ = ["run_experiment", "summarize"]

Details = Mapping[str, Callable[[Any], float]]
Metrics = Mapping[str, Callable[[Any, Any, ArrayLike], float]]


@dataclass(frozen=True)
class _Cell:
    """Where a row of the table comes from; its fields are the table's first columns."""

    dataset: str
    ranker: str
    missing: float
    repetition: int
    fold: int

    def seed(self, purpose: str, random_state: int) -> int:
        """Return a seed that knows nothing of the ranker."""
        place = (self.dataset, self.repetition, self.fold, self.missing)
        return derived_seed(purpose, random_state, *place)


_COSTS = ("train_rows", "test_rows", "fit_seconds", "predict_seconds")


@dataclass(frozen=True)
class _Extra:
    """The columns that the caller adds, and whether rankers learn from scores."""

    details: dict[str, Callable[[Any], float]]
    metrics: dict[str, Callable[[Any, Any, ArrayLike], float]]
    use_scores: bool = False

    def values(self, model: Any, X: Any, ranks: ArrayLike) -> Values:
        """Return them for a fitted ranker and the rows that it has not seen."""
        return {
            **{name: float(function(model)) for name, function in self.details.items()},
            **{name: float(metric(model, X, ranks)) for name, metric in self.metrics.items()},
        }


class RefusedDataError(ValueError):
    """What a ranker does not like about its data, and in which cell it met it."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(where, problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.problem}"


def run_experiment(
    rankers: Mapping[str, BaseEstimator],
    data: Mapping[str, Source],
    *,
    n_splits: int = 10,
    n_repeats: int = 1,
    groups: Mapping[str, ArrayLike] | None = None,
    cv: Any = None,
    missing: Sequence[float] = (0.0,),
    random_state: int = 0,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    details: Details | None = None,
    metrics: Metrics | None = None,
    use_scores: bool = False,
    progress: Progress = "auto",
) -> Table:
    """Cross-validate rankers on data sets, with labels missing from the training rankings.

    Every ranker sees the same folds and the same missing labels: both follow from
    ``random_state``, the name of the data set, the repetition, the fold and the rate alone.
    A ranker whose ``random_state`` is None gets a seed from them too, so that the table is
    the same on every run.

    Parameters
    ----------
    rankers : mapping of str to estimator
        Label rankers, multilabel rankers or orderers, or pipelines that end in one, by name;
        all of one task.
    data : mapping of str to tuple, Bunch or callable
        By name: ``(X, Y)``, ``(X, Y, scores)``, ``(X, Y, scores, values)``, a data set of
        `prefero.datasets`, or a function that returns one of them. ``Y`` holds ranks; for
        multilabel rankers calibrated ranks, the zero point last; for orderers one rank an
        object, whose orders ``groups`` tells apart. ``scores`` (larger is better) say what each
        label is worth, for the regret; of objects, their grades. ``values`` are further worths
        of the labels, by name: their means over the labels predicted first become columns.
    n_splits : int, default=10
        Folds of each repetition.
    n_repeats : int, default=1
        Repetitions, each with folds of its own.
    groups : mapping of str to array-like of shape (n_samples,), optional
        By data set, what each row belongs to. Rows of one group are never divided between
        training and test: reactions of one substrate are no independent witnesses.
    cv : splitter or iterable, optional
        The folds in place of ``n_splits`` and ``n_repeats``: any splitter of scikit-learn, or
        pairs of training and test rows. It is given the groups.
    missing : sequence of float, default=(0.0,)
        Probabilities with which a label is dropped from a training ranking. Test rankings
        are left whole.
    random_state : int, default=0
        The seed of folds and missing labels.
    n_jobs : int, optional
        Cells to run at a time, as for joblib.
    folder : path, optional
        Where to keep finished cells. A run that is started again in the same folder, after
        a crash or with more rankers, data sets, repetitions or rates, computes only the
        cells that are new. A cell is known by everything that determines it: the values of
        the data, the ranker's parameters, the split, the rate, the code of the ranker and of
        all that it imports of Prefero, and the version of scikit-learn.
    details : mapping of str to callable, optional
        More columns: what each function returns for the fitted ranker, such as its number
        of leaves. A function is known by its column's name and its source.
    metrics : mapping of str to callable, optional
        Further metrics: what each function returns for the fitted ranker, the instances that
        it has not seen and their ranks. A function is known in the same way.
    use_scores : bool, default=False
        Whether label rankers whose ``fit`` takes scores are trained on them too.
    progress : {"auto"}, callable or None, default="auto"
        ``"auto"`` draws a bar with the time left when standard error is a terminal; a
        function is called with the numbers of finished and of all cells.

    Returns
    -------
    Table
        One row a cell with the columns ``dataset``, ``ranker``, ``missing``,
        ``repetition``, ``fold``, the metrics, ``train_rows``, ``test_rows``,
        ``fit_seconds``, ``predict_seconds`` and the details. The metrics of label rankers are
        ``tau`` (Kendall), ``tau_x`` (Emond and Mason's, which expects ties where there are
        some: of ``predict_buckets``), ``rho`` (Spearman), ``top1`` (how often the first choice
        is right) and, NaN without scores, ``regret``, ``utility`` (what the first choice is
        worth) and ``gap_closed`` (from the label best on the training rows); those of
        multilabel rankers ``rho`` (over labels and zero point), ``average_precision``,
        ``ranking_loss``, ``one_error``,
        ``hamming_loss`` and ``subset_loss``; those of orderers, as means over groups, ``rho``,
        ``tau``, ``ndcg`` (of the first ten), ``map`` and ``mrr``.

    Examples
    --------
    >>> import numpy as np
    >>> from prefero import ConsensusLabelRanker
    >>> X, Y = np.zeros((20, 1)), np.tile([[1, 2, 3], [1, 3, 2]], (10, 1))
    >>> table = run_experiment({"baseline": ConsensusLabelRanker()}, {"toy": (X, Y)}, n_splits=2)
    >>> table["top1"]
    array([1., 1.])
    """
    folds = Folds(n_splits, n_repeats, cv if cv is None else check_cv(cv), random_state)
    extra = _Extra(dict(details or {}), dict(metrics or {}), use_scores)
    rates = [_checked_rate(rate) for rate in missing]
    if not (rankers and data and rates):
        raise ValueError("There is nothing to run: give a ranker, a data set and a rate.")
    task = task_of(rankers)
    if task.kind != "label_ranker" and any(rates):
        raise ValueError("Labels are dropped from the rankings of label rankers only.")
    sets = load_all(data, groups, n_splits if cv is None else 1, task.check)
    splits = {name: folds.of(name, one) for name, one in sets.items()}
    cells = [
        _Cell(name, ranker, rate, *place)
        for name, ranker, rate in product(data, rankers, rates)
        for place in splits[name]
    ]
    keys = _keys(cells, random_state, sets, splits, rankers, extra)
    values = dict.fromkeys(name for one in sets.values() for name in one.values)
    columns = [*task.metrics, *values, *_COSTS, *extra.details, *extra.metrics]
    store = CellStore(folder, columns)
    pending = [cell for cell in cells if keys[cell] not in store]
    jobs = (
        joblib.delayed(_run_cell)(
            cell,
            random_state,
            sets[cell.dataset],
            splits[cell.dataset][cell.repetition, cell.fold],
            rankers[cell.ranker],
            extra,
        )
        for cell in pending
    )
    # As they are done, so that they are kept; Ray's backend has them all at the end alone.
    by_and_by = joblib.parallel.get_active_backend()[0].supports_return_generator
    parallel = joblib.Parallel(n_jobs, return_as="generator_unordered" if by_and_by else "list")
    with reporting(progress, len(cells), len(cells) - len(pending), "cells") as advance:
        for cell, values in parallel(jobs):
            store.add(keys[cell], asdict(cell), values)
            advance()
    return Table(asdict(cell) | store[keys[cell]] for cell in cells)


def _keys(
    cells: list[_Cell],
    random_state: int,
    sets: Mapping[str, DataSet],
    splits: Mapping[str, Splits],
    rankers: Mapping[str, BaseEstimator],
    extra: _Extra,
) -> dict[_Cell, str]:
    """Name every cell by all that determines it."""
    fingerprints = {name: _fingerprint(ranker) for name, ranker in rankers.items()}
    rows = {
        (name, *place): joblib.hash(split)
        for name, found in splits.items()
        for place, split in found.items()
    }
    columns = sorted((extra.details | extra.metrics).items())
    shared = [
        random_state,
        [[name, source_of(function)] for name, function in columns],
        sklearn.__version__,
        *(["scores"] if extra.use_scores else []),
    ]
    return {
        cell: digest(
            [cell.dataset, cell.missing, cell.repetition, cell.fold],
            rows[cell.dataset, cell.repetition, cell.fold],
            sets[cell.dataset].fingerprint,
            fingerprints[cell.ranker],
            shared,
        )
        for cell in cells
    }


def _checked_rate(rate: float) -> float:
    if not 0 <= rate < 1:
        raise ValueError(f"missing must hold probabilities in [0, 1), got {rate!r}.")
    return float(rate)


def _fingerprint(ranker: BaseEstimator) -> str:
    """Hash what determines a ranker: its code and its parameters, not its name in the table."""
    cls = type(ranker)
    named = cls.__module__, cls.__qualname__, ranker.get_params(deep=True)
    return str(joblib.hash((named, code_of(ranker))))


def _run_cell(
    cell: _Cell,
    random_state: int,
    data: DataSet,
    split: Split,
    ranker: BaseEstimator,
    extra: _Extra,
) -> tuple[_Cell, Values]:
    try:
        return cell, _metric(cell, random_state, data, split, ranker, extra)
    except Exception as error:
        where = (
            f"{cell.ranker} failed on {cell.dataset} (missing {cell.missing:g}, repetition "
            f"{cell.repetition}, fold {cell.fold})"
        )
        if isinstance(error, ValueError):
            raise RefusedDataError(where, str(error)) from error
        raise RuntimeError(f"{where}: {error}") from error


def _metric(
    cell: _Cell,
    random_state: int,
    data: DataSet,
    split: Split,
    ranker: BaseEstimator,
    extra: _Extra,
) -> Values:
    train, test = split
    train, ranks = _training(data.ranks, train, cell.missing, cell.seed("labels", random_state))
    model = seeded(ranker, cell.seed("ranker", random_state))
    task = task_of({cell.ranker: ranker})
    data_seen = data if extra.use_scores else replace(data, scores=None)
    start = time.perf_counter()
    task.fit(model, safe_indexing(data.X, train), ranks, data_seen, train)
    fitted = time.perf_counter()
    unseen = safe_indexing(data.X, test)
    predicted = task.predict(model, unseen, data, test)
    done = time.perf_counter()
    return {
        **task.metrics_of(model, unseen, predicted, data, test, train),
        **{name: first_worth(worth[test], predicted) for name, worth in data.values.items()},
        "train_rows": float(len(train)),
        "test_rows": float(len(test)),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        **extra.values(model, unseen, data.ranks[test]),
    }


def _training(
    ranks: NDArray[np.float64], rows: NDArray[np.intp], rate: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Drop labels from the training rankings, and the rows that are left without any.

    Every ranker would leave these rows out itself, with a warning; here that is no news.
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


def summarize(results: Table, by: Sequence[str] = ("dataset", "ranker", "missing")) -> Table:
    """Return the mean and the standard deviation of every metric over folds and repetitions.

    Parameters
    ----------
    results : Table
        What `run_experiment` returned.
    by : sequence of str, default=("dataset", "ranker", "missing")
        The columns whose combinations get a row each.

    Returns
    -------
    Table
        The columns ``by``, then ``cells`` (their number), then for every metric ``m`` of
        the results ``m`` (the mean) and ``m_sd`` (the sample standard deviation, NaN for a
        single cell). Undefined metrics are left out of both.

    Examples
    --------
    >>> rows = [{"dataset": "toy", "ranker": "tree", "fold": f, "tau": f / 2} for f in range(3)]
    >>> print(summarize(Table(rows), by=("dataset", "ranker")).to_text())
    | dataset | ranker | cells |   tau | tau_sd |
    |---------|--------|------:|------:|-------:|
    | toy     | tree   |     3 | 0.500 |  0.500 |
    """
    places = (*_Cell.__dataclass_fields__, "train_rows", "test_rows")
    metrics = [name for name in results.columns if name not in places]
    rows = []
    for key, members in results.groups(*by).items():
        row = dict(zip(by, key, strict=True)) | {"cells": len(members)}
        for name in metrics:
            row[name], row[f"{name}_sd"] = _mean_and_sd(members[name])
        rows.append(row)
    return Table(rows)


def _mean_and_sd(values: ArrayLike) -> tuple[float, float]:
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not known.size:
        return float("nan"), float("nan")
    return float(known.mean()), float(known.std(ddof=1)) if known.size > 1 else float("nan")

"""Cross-validated runs of rankers on data sets, as one tidy table."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from itertools import product
from typing import Any

import joblib
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv

from prefero._progress import Progress, reporting
from prefero.evaluation._data import DataSet, Folds, Source, Splits, load_all
from prefero.evaluation._run_store import RunStore, code_of, digest, source_of
from prefero.evaluation._runs import COSTS, Metric, Run, RunOptions, predictions_of, run_one
from prefero.evaluation._tasks import task_of
from prefero.evaluation.results import ResultTable

Details = Mapping[str, Callable[[Any], float]]
Metrics = Mapping[str, Metric | tuple[Metric, bool]]


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
    keep_predictions: bool = True,
    progress: Progress = "auto",
) -> ResultTable:
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
        multilabel rankers calibrated ranks, the virtual label last; for orderers one rank per
        object, with ``groups`` naming the order that it belongs to. ``scores`` (larger is
        better) are the utilities of the labels, for the regret; for objects, their grades.
        ``values`` are further values of the labels, by name: their means over the labels
        predicted first become columns.
    n_splits : int, default=10
        Folds of each repetition.
    n_repeats : int, default=1
        Repetitions, each with folds of its own.
    groups : mapping of str to array-like of shape (n_samples,), optional
        By data set, what each row belongs to. Rows of one group are never divided between
        training and test: reactions of one substrate are not independent of each other.
    cv : splitter or iterable, optional
        The folds in place of ``n_splits`` and ``n_repeats``: any splitter of scikit-learn, or
        pairs of training and test rows. It is given the groups.
    missing : sequence of float, default=(0.0,)
        Probabilities with which a label is dropped from a training ranking. Test rankings
        are left whole.
    random_state : int, default=0
        The seed of folds and missing labels.
    n_jobs : int, optional
        Runs at a time, as for joblib.
    folder : path, optional
        Where to keep finished runs. An experiment that is started again in the same folder,
        after a crash or with more rankers, data sets, repetitions or rates, computes only the
        new runs. A run is identified by everything that determines it: the values of the data,
        the ranker's parameters, the split, the rate, the code of the ranker and of everything
        in Prefero that it imports, and the version of scikit-learn.
    details : mapping of str to callable, optional
        More columns: what each function returns for the fitted ranker, such as its number
        of leaves. A function is identified by the name of its column and its source.
    metrics : mapping of str to callable or (callable, bool), optional
        Further metrics, by column: a function of the fitted ranker, unseen instances and their
        ranks; with it, whether larger values are better, which `compare` needs to know. A
        scorer of scikit-learn knows its direction. A function is identified in the same way.
    use_scores : bool, default=False
        Whether label rankers whose ``fit`` takes scores are trained on them too.
    keep_predictions : bool, default=True
        Whether to keep the predicted ranks and the metrics of every test row: `compare` tests
        differences row by row, and a report looks at single rows. Without, a long study takes less
        memory.
    progress : {"auto"}, callable or None, default="auto"
        ``"auto"`` draws a bar with the time left when standard error is a terminal; a
        function is called with the numbers of finished and of all runs.

    Returns
    -------
    ResultTable
        One row per run with the columns ``dataset``, ``ranker``, ``missing``,
        ``repetition``, ``fold``, the metrics, ``train_rows``, ``test_rows``,
        ``fit_seconds``, ``predict_seconds`` and the details. The metrics of label rankers are
        ``tau`` (Kendall), ``tau_x`` (Emond and Mason's, which expects ties where there are
        some: of ``predict_buckets``), ``rho`` (Spearman), ``top1`` (how often the first choice
        is right) and, NaN without scores, ``regret``, ``utility`` (the mean score of
        the first choices), ``single_best_regret`` (of the label best on the training rows) and
        ``gap_closed`` (how much of that the ranker avoids); those of multilabel rankers ``rho``
        (over labels and virtual label), ``average_precision``, ``ranking_loss``, ``one_error``,
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
    own, directions = _own_metrics(metrics or {})
    options = RunOptions(random_state, use_scores, dict(details or {}), own, keep_predictions)
    rates = [float(rate) for rate in missing]
    if not all(0 <= rate < 1 for rate in rates):
        raise ValueError(f"missing must hold probabilities in [0, 1), got {missing!r}.")
    if not (rankers and data and rates):
        raise ValueError("There is nothing to run: give a ranker, a data set and a rate.")
    task = task_of(rankers)
    if task.kind != "label_ranker" and any(rates):
        raise ValueError("Labels are dropped from the rankings of label rankers only.")
    sets = load_all(data, groups, n_splits if cv is None else 1, task.check)
    splits = {name: folds.of(name, one) for name, one in sets.items()}
    runs = [
        Run(name, ranker, rate, *place)
        for name, ranker, rate in product(data, rankers, rates)
        for place in splits[name]
    ]
    keys = _keys(runs, sets, splits, rankers, options)
    values = dict.fromkeys(name for one in sets.values() for name in one.values)
    columns = [*task.metrics, *values, *COSTS, *options.details, *options.metrics]
    store = RunStore(folder, columns, keep_predictions)
    places = {
        run: (sets[run.dataset], splits[run.dataset][run.repetition, run.fold]) for run in runs
    }
    jobs = {
        run: joblib.delayed(run_one)(run, *places[run], rankers[run.ranker], options)
        for run in runs
        if keys[run] not in store
    }
    # Runs are kept as soon as they finish; Ray's backend returns them all at the end only.
    one_by_one = joblib.parallel.get_active_backend()[0].supports_return_generator
    parallel = joblib.Parallel(n_jobs, return_as="generator_unordered" if one_by_one else "list")
    with reporting(progress, len(runs), len(runs) - len(jobs), "runs") as advance:
        for run, values, of_rows in parallel(jobs.values()):
            store.add(keys[run], asdict(run), values, of_rows)
            advance()
    predictions = {
        astuple(run): predictions_of(task, *places[run], store.rows[keys[run]], options)
        for run in runs
        if keep_predictions
    }
    rows = [asdict(run) | store[keys[run]] for run in runs]
    return ResultTable(rows, greater_is_better=directions, predictions=predictions)


def _own_metrics(metrics: Metrics) -> tuple[dict[str, Metric], dict[str, bool]]:
    """Return the functions of a caller's metrics, and the directions of those that have one."""
    functions, directions = {}, {}
    for name, metric in metrics.items():
        if isinstance(metric, tuple):
            functions[name], directions[name] = metric
            continue
        functions[name] = metric
        if hasattr(metric, "_score_func"):  # a scorer of scikit-learn turns the sign of losses
            directions[name] = True
    return functions, directions


def _keys(
    runs: list[Run],
    sets: Mapping[str, DataSet],
    splits: Mapping[str, Splits],
    rankers: Mapping[str, BaseEstimator],
    options: RunOptions,
) -> dict[Run, str]:
    """Return a key for every run, made of everything that determines it."""
    fingerprints = {name: _fingerprint(ranker) for name, ranker in rankers.items()}
    rows = {
        (name, *place): joblib.hash(split)
        for name, found in splits.items()
        for place, split in found.items()
    }
    columns = sorted((options.details | options.metrics).items())
    shared = [
        options.random_state,
        [[name, source_of(function)] for name, function in columns],
        sklearn.__version__,
        *(["scores"] if options.use_scores else []),
    ]
    return {
        run: digest(
            [run.dataset, run.missing, run.repetition, run.fold],
            rows[run.dataset, run.repetition, run.fold],
            sets[run.dataset].fingerprint,
            fingerprints[run.ranker],
            shared,
        )
        for run in runs
    }


def _fingerprint(ranker: BaseEstimator) -> str:
    """Hash what determines a ranker: its code and its parameters, not its name in the table."""
    cls = type(ranker)
    named = cls.__module__, cls.__qualname__, ranker.get_params(deep=True)
    return str(joblib.hash((named, code_of(ranker))))

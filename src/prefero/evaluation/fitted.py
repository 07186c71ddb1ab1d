"""Fitted rankers, measured on rows with known rankings."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from prefero._pipelines import at_final_step, final_step, fit_final
from prefero._typing import Indices, Values
from prefero.evaluation._data import DataSet, load_data
from prefero.evaluation._tasks import RankingTask, task_of
from prefero.evaluation.baselines import ConstantOrderer
from prefero.evaluation.paired_comparison import UnitMetrics, resampled_interval
from prefero.evaluation.results import METRICS, ResultTable
from prefero.label_ranking import ConsensusLabelRanker
from prefero.metrics import pairwise_calibration_error, pairwise_log_loss
from prefero.multilabel import ConsensusMultilabelRanker

_BASELINES: dict[str, Any] = {
    "label_ranker": ConsensusLabelRanker,
    "multilabel_ranker": ConsensusMultilabelRanker,
    "orderer": ConstantOrderer,
}
_TOP_SET_ERROR = 0.1


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    scores: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> ResultTable:
    """Measure a fitted ranker on rows with known rankings, beside a baseline.

    The baseline is the consensus order of these very rows or, with scores, the label with their
    best mean score: the best that can be done without features, which no other order for everyone
    beats here. For orderers all objects are tied.

    Parameters
    ----------
    model : estimator
        A fitted label ranker, multilabel ranker or orderer, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Instances or objects.
    y : array-like of shape (n_samples, n_labels) or (n_samples,)
        Ranks; for multilabel rankers calibrated ranks, the virtual label last; for orderers the
        rank of each object.
    scores : array-like of the shape of y, optional
        Scores of the labels, larger is better; of objects, their grades.
    groups : array-like of shape (n_samples,), optional
        What each row belongs to: rows of one group count as one observation. For orderers the
        query of each object.
    level : float, default=0.95
        The coverage of the intervals.

    Returns
    -------
    ResultTable
        One row per metric: ``metric``, ``value``, ``low`` and ``high`` (an interval over new rows,
        or groups, of the same kind), ``baseline``, and ``better_by`` with ``better_low`` and
        ``better_high`` (how much better than the baseline, whatever the direction of the metric).
        NaN where it is unknown.

    See Also
    --------
    run_experiment : Train and evaluate rankers by cross-validation.

    Examples
    --------
    >>> from prefero import NeighborsLabelRanker
    >>> from prefero.datasets import load_dataset
    >>> data = load_dataset("iris")
    >>> train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    >>> ranker = NeighborsLabelRanker().fit(data.data[train], data.target[train])
    >>> found = evaluate(ranker, data.data[test], data.target[test])
    >>> found[0]["metric"], bool(found[0]["better_low"] > 0)
    ('tau', True)
    """
    task = task_of({"model": model})
    parts = (X, y) if scores is None else (X, y, scores)
    data = load_data("the rows", parts, groups=groups, check=task.check)
    rows = np.arange(len(data.ranks))
    means, own = _measured(task, model, data, rows)
    blank = replace(data, X=np.zeros((len(rows), 1)))
    base_means, base = _measured(task, _baseline(task, blank), blank, rows)
    members = _members(task, data, rows)
    found = []
    for name, value in means.items():
        repeats_tau = name == "tau_x" and value == means["tau"]
        if np.isnan(value) or name == "single_best_regret" or repeats_tau:
            continue
        sign = 1 if METRICS[name].greater_is_better else -1
        line = {"metric": name, "value": value, "baseline": base_means[name]}
        line |= _interval(name, own, members, level)
        better = {key: sign * (own[key] - base[key]) for key in {name} & own.keys()}
        ends = _interval(name, better, members, level)
        line |= {"better_by": sign * (value - base_means[name])}
        found.append(line | {"better_low": ends["low"], "better_high": ends["high"]})
    return ResultTable([*found, *_probabilities(model, data)], columns=_COLUMNS)


_COLUMNS = ("metric", "value", "low", "high", "baseline", "better_by", "better_low", "better_high")


def _measured(
    task: RankingTask, model: Any, data: DataSet, rows: Indices
) -> tuple[dict[str, float], dict[str, Values]]:
    predicted = task.predict(model, data.X, data, rows)
    return task.metrics_of(model, data.X, predicted, data, rows, rows)


def _baseline(task: RankingTask, data: DataSet) -> Any:
    """The consensus of the rows themselves."""
    baseline = _BASELINES[task.kind]()
    if data.scores is None or task.kind != "label_ranker":
        return task.fit(baseline, data.X, data.ranks, data, np.arange(len(data.ranks)))
    known = np.where(np.isnan(data.ranks), np.nan, data.scores)
    return fit_final(baseline, data.X, data.ranks, scores=known)


def _members(task: RankingTask, data: DataSet, rows: Indices) -> Indices:
    """What each unit belongs to: its group, or itself."""
    units = task.units(data, rows)
    if data.groups is None or len(units) < len(rows):
        return np.arange(len(units))
    return np.unique(data.groups, return_inverse=True)[1]


def _interval(
    name: str, by_unit: dict[str, Values], members: Indices, level: float
) -> dict[str, float]:
    """The ends of the interval of a mean over units, or of a ratio of such means."""
    if name == "gap_closed" and {"regret", "single_best_regret"} <= by_unit.keys():
        lost, single = by_unit["regret"], by_unit["single_best_regret"]
        low, high = resampled_interval(
            lambda some: 1 - np.nansum(lost[some]) / np.nansum(single[some]), members, level
        )
        return {"low": low, "high": high}
    known = ~np.isnan(by_unit.get(name, np.empty(0)))
    if len(np.unique(members[: len(known)][known])) < 2:
        return {"low": np.nan, "high": np.nan}
    values, groups = by_unit[name][known], np.unique(members[known], return_inverse=True)[1]
    # The model is what it is: no other training rows would have been drawn.
    error = UnitMetrics({name: values}, groups, trained=np.inf).standard_error(values)
    half = stats.t.ppf((1 + level) / 2, groups.max()) * error
    return {"low": float(values.mean() - half), "high": float(values.mean() + half)}


def _probabilities(model: Any, data: DataSet) -> list[dict[str, Any]]:
    """How well probabilities and sets of labels hold, for rankers that predict them."""
    ranker, X = at_final_step(model, data.X)
    blank = dict.fromkeys(_COLUMNS, float("nan"))
    found: dict[str, Any] = {}
    if hasattr(ranker, "predict_pairwise") and data.ranks.shape[-1] == len(data.labels):
        probability = ranker.predict_pairwise(X)
        found["pair_calibration_error"] = pairwise_calibration_error(data.ranks, probability)
        found["pair_log_loss"] = pairwise_log_loss(data.ranks, probability)
    if hasattr(final_step(model), "predict_top_set"):
        sets = ranker.predict_top_set(X, error=_TOP_SET_ERROR)
        known = ~np.isnan(data.ranks).all(axis=1)
        first = data.ranks[known] == np.nanmin(data.ranks[known], axis=1, keepdims=True)
        found["top_set_coverage"] = float((sets[known] & first).any(axis=1).mean())
        found["top_set_size"] = float(sets.sum(axis=1).mean())
    return [blank | {"metric": name, "value": float(value)} for name, value in found.items()]

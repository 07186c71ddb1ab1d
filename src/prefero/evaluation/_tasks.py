"""The three tasks in experiments: how models are trained, and what is measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from prefero._pipelines import at_final_step, final_step, fit_final
from prefero._typing import Indices, Values
from prefero.evaluation._data import DataSet, check_label_ranks
from prefero.metrics import (
    gap_closed,
    kendall_tau,
    ordering,
    regret,
    spearman_rho,
    top_accuracy,
    utility,
)
from prefero.metrics import multilabel as sets
from prefero.rankings import check_calibrated, label_names, split_calibrated

# The length of the head of an order that NDCG looks at.
HEAD = 10


@dataclass(frozen=True)
class RankingTask:
    """What an experiment does differently for each task, which rankers declare by their tags.

    Attributes
    ----------
    kind : str
        The ``estimator_type`` of its rankers.
    metrics : tuple of str
        The columns of results; rankers are compared by the first unless told otherwise.
    check : callable
        Takes the target and its name in errors; returns it as numbers, and the labels' names.
    fit : callable
        Trains a model on instances and their ranks; takes the data set and its rows, too.
    predict : callable
        Predicts instances, which are rows of a data set.
    metrics_of : callable
        Returns the metrics of a trained model for instances, their rows of a data set, and
        the rows that it was trained on.
    """

    kind: str
    metrics: tuple[str, ...]
    check: Callable[[Any, str], tuple[Values, NDArray[Any] | None]]
    fit: Callable[[Any, Any, Any, DataSet, Indices], Any]
    predict: Callable[[Any, Any, DataSet, Indices], Any]
    metrics_of: Callable[[Any, Any, Any, DataSet, Indices, Indices], dict[str, float]]


def task_of(rankers: Mapping[str, Any]) -> RankingTask:
    """Return the task of rankers, which all must share; label ranking if they declare none."""
    kinds = {name: _kind(ranker) for name, ranker in rankers.items()}
    first = next(iter(kinds), None)
    if first is None:
        return TASKS["label_ranker"]
    for name, kind in kinds.items():
        if kind != kinds[first]:
            raise ValueError(f"{name!r} and {first!r} do not do the same task.")
    return TASKS[kinds[first]]


def _kind(ranker: Any) -> str:
    kind = get_tags(final_step(ranker)).estimator_type
    return kind if kind in TASKS else "label_ranker"


# Label ranking


def _fit_labels(model: Any, X: Any, ranks: Values, data: DataSet, rows: Indices) -> Any:
    if data.scores is None or not has_fit_parameter(final_step(model), "scores"):
        return model.fit(X, ranks)
    known = np.where(np.isnan(ranks), np.nan, data.scores[rows])
    return fit_final(model, X, ranks, scores=known)


def _predict_labels(model: Any, X: Any, data: DataSet, rows: Indices) -> Any:
    return model.predict(X)


def _measure_labels(
    model: Any, X: Any, predicted: Any, data: DataSet, rows: Indices, train: Indices
) -> dict[str, float]:
    truth = data.ranks[rows]
    scores = None if data.scores is None else data.scores[rows]
    tied = _buckets(model, X, predicted) if data.tied else predicted
    metrics = {
        "tau": float(kendall_tau(truth, predicted)),
        "tau_x": float(kendall_tau(truth, tied, variant="x")),
        "rho": float(spearman_rho(truth, predicted)),
        "top1": float(top_accuracy(truth, predicted)),
    }
    if scores is None or data.scores is None:
        return metrics | dict.fromkeys(("regret", "utility", "gap_closed"), float("nan"))
    best = _single_best(data.scores[train])
    return metrics | {
        "regret": float(regret(scores, predicted)),
        "utility": float(utility(scores, predicted)),
        "gap_closed": float(gap_closed(scores, predicted, single_best=best)),
    }


def _single_best(scores: Values) -> int:
    """The label with the largest mean score."""
    known = ~np.isnan(scores)
    counts = known.sum(axis=0)
    sums = np.where(known, scores, 0).sum(axis=0)
    means = np.divide(sums, counts, out=np.full(len(sums), -np.inf), where=counts > 0)
    return int(np.argmax(means))


def _buckets(model: Any, X: Any, predicted: ArrayLike) -> ArrayLike:
    """Return the prediction with ties, if the ranker predicts ties."""
    ranker, inner = at_final_step(model, X)
    return ranker.predict_buckets(inner) if hasattr(ranker, "predict_buckets") else predicted


def first_choice_mean(values: Values, predicted: Any) -> float:
    """Return the mean value of the labels predicted first among those with a known value."""
    known = ~np.isnan(values)
    ranks = np.where(known, predicted, np.inf)
    chosen = np.take_along_axis(values, np.argmin(ranks, axis=1)[:, None], axis=1)[:, 0]
    some = known.any(axis=1)
    return float(chosen[some].mean()) if some.any() else float("nan")


# Multilabel ranking: the target holds calibrated ranks


def _check_calibrated(C: Any, name: str) -> tuple[Values, NDArray[Any] | None]:
    names = label_names(C)
    return check_calibrated(C, name=name), None if names is None else names[:-1]


def _fit_sets(model: Any, X: Any, ranks: Any, data: DataSet, rows: Indices) -> Any:
    relevance, inner = split_calibrated(ranks)
    names = label_names(ranks)
    if names is None:
        return fit_final(model, X, relevance, ranks=inner)
    frames = [type(ranks)(part, columns=names[:-1]) for part in (relevance, inner)]
    return fit_final(model, X, frames[0], ranks=frames[1])


def _predict_sets(model: Any, X: Any, data: DataSet, rows: Indices) -> Any:
    ranker, inner = at_final_step(model, X)
    scores = ranker.decision_function(inner)
    return scores, ranker.predict_calibrated(inner)


def _measure_sets(
    model: Any, X: Any, predicted: Any, data: DataSet, rows: Indices, train: Indices
) -> dict[str, float]:
    scores, calibrated = predicted
    truth = data.ranks[rows]
    relevance, _ = split_calibrated(truth)
    chosen = (calibrated[:, :-1] < calibrated[:, -1:]).astype(np.float64)
    return {
        "rho": float(sets.calibrated_rho(truth, calibrated)),
        "average_precision": sets.average_precision(relevance, scores),
        "ranking_loss": sets.ranking_loss(relevance, scores),
        "one_error": sets.one_error(relevance, scores),
        "hamming_loss": sets.hamming_loss(relevance, chosen),
        "subset_loss": sets.subset_loss(relevance, chosen),
    }


# Supervised ordering: one rank per object, groups in the data set; scores are grades


def _check_places(y: Any, name: str) -> tuple[Values, NDArray[Any] | None]:
    places = np.asarray(y, dtype=np.float64)
    if places.ndim != 1:
        raise ValueError(f"{name} must hold one rank per object, got shape {places.shape}.")
    return places, None


def _fit_objects(model: Any, X: Any, ranks: Values, data: DataSet, rows: Indices) -> Any:
    members = None if data.groups is None else data.groups[rows]
    return fit_final(model, X, ranks, qid=members)


def _predict_objects(model: Any, X: Any, data: DataSet, rows: Indices) -> Any:
    orderer, inner = at_final_step(model, X)
    return orderer.predict(inner, None if data.groups is None else data.groups[rows])


def _measure_objects(
    model: Any, X: Any, predicted: Any, data: DataSet, rows: Indices, train: Indices
) -> dict[str, float]:
    truth, scores = data.ranks[rows], -np.asarray(predicted, dtype=np.float64)
    members = None if data.groups is None else data.groups[rows]
    gains, relevant = gains_and_relevance(
        truth, None if data.scores is None else data.scores[rows], members
    )
    return {
        "rho": ordering.query_rho(truth, scores, members),
        "tau": ordering.query_tau(truth, scores, members),
        "ndcg": ordering.ndcg(gains, scores, members, k=HEAD),
        "map": ordering.mean_average_precision(relevant, scores, members),
        "mrr": ordering.mean_reciprocal_rank(relevant, scores, members),
    }


def gains_and_relevance(
    ranks: Values, grades: Values | None, members: NDArray[Any] | None
) -> tuple[Values, Values]:
    """Return the gain of each object for NDCG, and which objects are relevant.

    For grades that are not negative the gain is 2^grade - 1, and positive grades are relevant.
    Otherwise the gain is the number of objects behind, and the first of each group is relevant.
    """
    known = None if grades is None else grades[~np.isnan(grades)]
    if grades is not None and known is not None and known.size and 0 <= known.min():
        # Grades of a wide range are scores: as exponents they would leave only the best object.
        gains = 2**grades - 1 if known.max() <= HEAD else grades
        return gains, np.where(np.isnan(grades), np.nan, grades > 0)
    codes = (
        np.zeros(len(ranks), int) if members is None else np.unique(members, return_inverse=True)[1]
    )
    last = np.full(int(codes.max(initial=0)) + 1, -np.inf)
    np.fmax.at(last, codes, ranks)
    first = np.full(len(last), np.inf)
    np.fmin.at(first, codes, ranks)
    relevant = np.where(np.isnan(ranks), np.nan, ranks == first[codes])
    return last[codes] - ranks, relevant


TASKS = {
    task.kind: task
    for task in (
        RankingTask(
            "label_ranker",
            ("tau", "tau_x", "rho", "top1", "regret", "utility", "gap_closed"),
            *(check_label_ranks, _fit_labels, _predict_labels, _measure_labels),
        ),
        RankingTask(
            "multilabel_ranker",
            (
                *("rho", "average_precision", "ranking_loss", "one_error", "hamming_loss"),
                "subset_loss",
            ),
            *(_check_calibrated, _fit_sets, _predict_sets, _measure_sets),
        ),
        RankingTask(
            "orderer",
            ("rho", "tau", "ndcg", "map", "mrr"),
            *(_check_places, _fit_objects, _predict_objects, _measure_objects),
        ),
    )
}

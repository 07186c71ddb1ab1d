"""How good a predicted label set, or an order of labels by relevance, is.

A module of its own: a ``ranking_loss`` of multilabel ranking compares a label set with an order,
the metrics of :mod:`prefero.metrics` compare two orders.

Every metric takes the true relevance as 1, 0 or NaN, skips what is unknown, and returns the
(weighted) mean over the rows in which something is known. Where nothing is unknown, the metrics
that scikit-learn has give its values. ``predicted`` is what ``predict`` of a multilabel ranker
returns, ``scores`` what its ``decision_function`` returns.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length

from prefero._docs import documented
from prefero._sklearn import check_sample_weight
from prefero._typing import ArrayOrNone, Values
from prefero.metrics._rankings import average_rows, defined_ratio, spearman_rho
from prefero.rankings import check_calibrated, check_relevance

Metric = Callable[..., float]

__all__ = [
    "average_precision",
    "average_precision_scorer",
    "calibrated_rho",
    "coverage",
    "coverage_scorer",
    "f1_score",
    "f1_scorer",
    "hamming_loss",
    "hamming_scorer",
    "one_error",
    "one_error_scorer",
    "ranking_loss",
    "ranking_scorer",
    "subset_loss",
    "subset_scorer",
]


@documented()
def calibrated_rho(
    C_true: ArrayLike, C_pred: ArrayLike, *, average: bool = True, sample_weight: ArrayOrNone = None
) -> float | Values:
    """Generalized Spearman correlation of calibrated rankings, the virtual label included.

    Parameters
    ----------
    C_true, C_pred : array-like of shape (n_samples, n_labels + 1)
        Calibrated ranks, the virtual label in the last column.
    %(mean)s

    %(returns_mean_or_rows)s
        The correlation: 1 for equal, -1 for reversed rankings.

    References
    ----------
    Brinker & Hüllermeier (2007), section 6.

    Examples
    --------
    >>> calibrated_rho([[1, 3, 4, 2]], [[1, 2, 4, 3]])
    0.8
    """
    true, pred = check_calibrated(C_true, name="C_true"), check_calibrated(C_pred, name="C_pred")
    return spearman_rho(true, pred, average=average, sample_weight=sample_weight)


@documented()
def hamming_loss(
    relevance: ArrayLike, predicted: ArrayLike, *, sample_weight: ArrayOrNone = None
) -> float:
    """Return the share of labels on the wrong side of the virtual label.

    %(of_label_sets)s

    Examples
    --------
    >>> hamming_loss([[1, 0, 0, float("nan")]], [[1, 1, 0, 0]])
    0.33...
    """
    truth, sets, weight = _validate(relevance, _sets(predicted), sample_weight)
    known = ~np.isnan(truth)
    wrong = np.count_nonzero(known & (truth != sets), axis=1)
    return _average(defined_ratio(wrong, np.count_nonzero(known, axis=1)), weight)


@documented()
def subset_loss(
    relevance: ArrayLike, predicted: ArrayLike, *, sample_weight: ArrayOrNone = None
) -> float:
    """Return the share of rows with any label on the wrong side (subset 0/1 loss).

    %(of_label_sets)s

    Examples
    --------
    >>> subset_loss([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    truth, sets, weight = _validate(relevance, _sets(predicted), sample_weight)
    known = ~np.isnan(truth)
    wrong = (known & (truth != sets)).any(axis=1)
    return _average(np.where(known.any(axis=1), wrong, np.nan), weight)


@documented()
def f1_score(
    relevance: ArrayLike,
    predicted: ArrayLike,
    *,
    average: Literal["micro", "macro"] = "micro",
    sample_weight: ArrayOrNone = None,
) -> float:
    """Return the F1 score: twice the hits over true plus predicted labels.

    Parameters
    ----------
    %(relevance)s
    predicted : array-like of shape (n_samples, n_labels)
        The predicted label sets, 0 or 1.
    average : {"micro", "macro"}, default="micro"
        One score of all labels together, or the mean of one score per label.
    %(weights_of_rows)s

    Returns
    -------
    float
        In [0, 1], larger is better. Where no label is relevant and none is predicted, it is 0.

    Examples
    --------
    >>> f1_score([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.8
    >>> f1_score([[1, 0], [1, 1]], [[1, 0], [1, 0]], average="macro")
    0.5
    """
    if average not in ("micro", "macro"):
        raise ValueError(f"average must be 'micro' or 'macro', got {average!r}.")
    truth, sets, weight = _validate(relevance, _sets(predicted), sample_weight)
    known = ~np.isnan(truth)
    # Relevance and predictions that count, one sum per label.
    hits, sizes = (weight @ np.where(known, part, 0) for part in (truth * sets, truth + sets))
    if average == "micro":
        hits, sizes = hits.sum(keepdims=True), sizes.sum(keepdims=True)
    return float(np.mean(np.nan_to_num(defined_ratio(2 * hits, sizes))))


@documented()
def ranking_loss(
    relevance: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayOrNone = None
) -> float:
    """Return the share of pairs whose irrelevant label is not below the relevant one.

    This compares a label set with an order of the labels. To compare two orders, use
    :func:`prefero.metrics.kendall_tau`.

    %(of_label_scores)s

    Returns
    -------
    float
        In [0, 1], smaller is better. A row without such pairs counts 0.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.9, 0.1]])
    0.5
    """
    return _mean(sklearn.metrics.label_ranking_loss, relevance, scores, sample_weight)


@documented()
def one_error(
    relevance: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayOrNone = None
) -> float:
    """Return the share of rows whose best label is irrelevant.

    Parameters
    ----------
    %(relevance)s
    scores : array-like of shape (n_samples, n_labels)
        Scores, larger is better. The best label is the best of those with known relevance.
    %(weights_of_rows)s

    Returns
    -------
    float
        In [0, 1], smaller is better. A row without a relevant label counts 0.

    Examples
    --------
    >>> one_error([[1, 0, 0], [0, 1, 0]], [[0.5, 0.9, 0.1], [0.1, 0.9, 0.2]])
    0.5
    """
    return _mean(_one_error, relevance, scores, sample_weight)


@documented()
def coverage(
    relevance: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayOrNone = None
) -> float:
    """Return how far down the order one must go to meet every relevant label.

    %(of_label_scores)s

    Returns
    -------
    float
        The mean number of labels, smaller is better. Zhang & Zhou (2007) count one less.

    Examples
    --------
    >>> coverage([[1, 0, 0]], [[0.5, 0.9, 0.1]])
    2.0
    """
    return _mean(sklearn.metrics.coverage_error, relevance, scores, sample_weight)


@documented()
def average_precision(
    relevance: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayOrNone = None
) -> float:
    """Return the mean share of relevant labels among those at or above each relevant label.

    %(of_label_scores)s

    Returns
    -------
    float
        In (0, 1], larger is better.

    Examples
    --------
    >>> average_precision([[1, 0, 0]], [[0.5, 0.9, 0.1]])
    0.5
    """
    metric = sklearn.metrics.label_ranking_average_precision_score
    return _mean(metric, relevance, scores, sample_weight)


def _one_error(relevance: Values, scores: Values, sample_weight: Values) -> float:
    best = np.take_along_axis(relevance, np.argmax(scores, axis=1)[:, None], axis=1)[:, 0]
    wrong = (best == 0) & relevance.any(axis=1)
    return float(np.average(wrong, weights=sample_weight))


def _sets(predicted: ArrayLike) -> Values:
    return check_relevance(check_array(predicted, input_name="predicted"), name="predicted")


def _validate(
    relevance: ArrayLike, prediction: Values, sample_weight: ArrayOrNone
) -> tuple[Values, Values, Values]:
    """Relevance, prediction and weights, of which a row each belongs together."""
    truth = check_relevance(relevance)
    check_consistent_length(truth, prediction)
    if truth.shape != prediction.shape:
        raise ValueError(
            f"relevance has {truth.shape[1]} labels, but the prediction has {prediction.shape[1]}."
        )
    weight = check_sample_weight(sample_weight, truth, dtype=np.float64, ensure_non_negative=True)
    return truth, prediction, weight


def _average(values: Values, weight: Values) -> float:
    why = "no row of relevance with a weight knows a label"
    return float(average_rows(values, "The metric", sample_weight=weight, why_undefined=why))


def _mean(
    metric: Metric, relevance: ArrayLike, scores: ArrayLike, sample_weight: ArrayOrNone
) -> float:
    """Average a metric of complete rows over groups of rows in which the same labels are known."""
    values = check_array(scores, dtype=np.float64, input_name="scores")
    truth, values, weight = _validate(relevance, values, sample_weight)
    patterns, group = np.unique(~np.isnan(truth), axis=0, return_inverse=True)
    means, totals = np.full(len(patterns), np.nan), np.zeros(len(patterns))
    for g, labels in enumerate(patterns):
        rows = np.flatnonzero((group.ravel() == g) & (weight > 0))
        if rows.size and labels.any():
            part = np.ix_(rows, labels)
            relevant, ordered = truth[part].astype(np.int64), values[part]
            if labels.sum() == 1:
                # scikit-learn takes one label for a binary problem; an irrelevant one below
                # changes no error.
                relevant = np.column_stack([relevant, np.zeros_like(relevant)])
                ordered = np.column_stack([ordered, ordered - 1])
            means[g] = metric(relevant, ordered, sample_weight=weight[rows])
            totals[g] = weight[rows].sum()
    return _average(means, totals)


def _score(metric: Metric, method: str, sign: int, estimator: Any, X: Any, y: ArrayLike) -> float:
    return sign * metric(y, getattr(estimator, method)(X))


hamming_scorer = partial(_score, hamming_loss, "predict", -1)
f1_scorer = partial(_score, f1_score, "predict", 1)
subset_scorer = partial(_score, subset_loss, "predict", -1)
ranking_scorer = partial(_score, ranking_loss, "decision_function", -1)
one_error_scorer = partial(_score, one_error, "decision_function", -1)
coverage_scorer = partial(_score, coverage, "decision_function", -1)
average_precision_scorer = partial(_score, average_precision, "decision_function", 1)

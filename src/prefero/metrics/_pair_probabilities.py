"""Metrics of pair probabilities: whether they hold, and how much they tell."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length

from prefero._docs import documented
from prefero._sklearn import check_sample_weight
from prefero._typing import ArrayOrNone, Values
from prefero.metrics._rankings import average_rows, defined_ratio
from prefero.rankings import check_ranks


class CalibrationCurve(NamedTuple):
    """Bins of pairs that were given about the same probability.

    Examples
    --------
    >>> sure = [[[0.5, 0.8], [0.2, 0.5]]] * 4
    >>> curve = pairwise_calibration_curve([[1, 2], [1, 2], [1, 2], [2, 1]], sure)
    >>> curve.predicted, curve.observed
    (array([0.8]), array([0.75]))
    """

    predicted: Values
    observed: Values
    weight: Values


@documented()
def pairwise_calibration_curve(
    Y_true: ArrayLike,
    probability: ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: ArrayOrNone = None,
) -> CalibrationCurve:
    """Compare what pair probabilities promise with what comes true.

    Parameters
    ----------
    %(truth_and_probability)s
    n_bins : int, default=15
        Bins of equal width between 1/2 and 1. A pair is counted once, for the likelier order.
    %(weights_of_rows)s

    Returns
    -------
    CalibrationCurve
        For each bin with pairs in it: ``predicted``, the mean probability; ``observed``, the
        share of pairs that came in the likelier order; ``weight``, the number of pairs, times
        the weights of their rows.

    Examples
    --------
    >>> probability = np.array([[[0.5, 0.9], [0.1, 0.5]]])
    >>> pairwise_calibration_curve([[2, 1]], probability)
    CalibrationCurve(predicted=array([0.9]), observed=array([0.]), weight=array([1.]))
    """
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins!r}.")
    before, came = _pairs(Y_true, probability)
    weight = check_sample_weight(sample_weight, before, dtype=np.float64, ensure_non_negative=True)
    known = ~np.isnan(came)
    likelier = np.maximum(before, 1 - before)[known]
    right = np.where(before < 0.5, 1 - came, came)[known]
    mass = np.broadcast_to(weight[:, None], came.shape)[known]
    number = np.minimum((2 * likelier - 1) * n_bins, n_bins - 1).astype(np.int64)
    total, promised, kept = (
        np.bincount(number, values, minlength=n_bins).astype(np.float64)
        for values in (mass, mass * likelier, mass * right)
    )
    used = total > 0
    return CalibrationCurve(promised[used] / total[used], kept[used] / total[used], total[used])


@documented()
def pairwise_calibration_error(
    Y_true: ArrayLike,
    probability: ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: ArrayOrNone = None,
) -> float:
    """Return the expected calibration error: how far the probabilities of pairs are off.

    Parameters
    ----------
    %(truth_and_probability)s
    n_bins : int, default=15
        Bins of equal width between 1/2 and 1.
    %(weights_of_rows)s

    Returns
    -------
    float
        The mean over all pairs of the distance, in their bin, between the mean probability and
        the share that came true. 0 is best; NaN without any known pair.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017), On calibration of modern neural networks, ICML.

    Examples
    --------
    >>> probability = np.tile([[0.5, 0.75], [0.25, 0.5]], (4, 1, 1))
    >>> pairwise_calibration_error([[1, 2], [1, 2], [1, 2], [2, 1]], probability)
    0.0
    """
    curve = pairwise_calibration_curve(
        Y_true, probability, n_bins=n_bins, sample_weight=sample_weight
    )
    off = np.abs(curve.predicted - curve.observed)
    return float(average_rows(off, "The calibration error", sample_weight=curve.weight))


@documented()
def pairwise_log_loss(
    Y_true: ArrayLike,
    probability: ArrayLike,
    *,
    average: bool = True,
    sample_weight: ArrayOrNone = None,
) -> float | Values:
    """Return the mean negative logarithm of the probability of what came true.

    Parameters
    ----------
    %(truth_and_probability)s
    %(mean)s

    %(returns_mean_or_rows)s
        0 is best; log 2 = 0.693 is what knowing nothing costs.

    Examples
    --------
    >>> round(pairwise_log_loss([[1, 2]], [[[0.5, 0.9], [0.1, 0.5]]]), 3)
    0.105
    """
    before, came = _pairs(Y_true, probability)
    smallest = np.finfo(np.float64).eps
    before = np.clip(before, smallest, 1 - smallest)
    losses = -(came * np.log(before) + (1 - came) * np.log1p(-before))
    return average_rows(_row_means(losses), "The log loss", average, sample_weight)


@documented()
def pairwise_brier(
    Y_true: ArrayLike,
    probability: ArrayLike,
    *,
    average: bool = True,
    sample_weight: ArrayOrNone = None,
) -> float | Values:
    """Return the mean squared distance of pair probabilities from what came true.

    Parameters
    ----------
    %(truth_and_probability)s
    %(mean)s

    %(returns_mean_or_rows)s
        0 is best; 1/4 is what knowing nothing costs where nothing is tied.

    Examples
    --------
    >>> round(pairwise_brier([[1, 2]], [[[0.5, 0.9], [0.1, 0.5]]]), 3)
    0.01
    """
    before, came = _pairs(Y_true, probability)
    return average_rows(_row_means((before - came) ** 2), "The Brier score", average, sample_weight)


def _pairs(Y_true: ArrayLike, probability: ArrayLike) -> tuple[Values, Values]:
    """The probability of every pair, and 1, 1/2 or 0 for what came true, NaN if unknown."""
    true = check_ranks(Y_true, name="Y_true")
    given = check_array(probability, dtype=np.float64, allow_nd=True, input_name="probability")
    check_consistent_length(true, given)
    c = true.shape[1]
    if given.shape[1:] != (c, c):
        raise ValueError(
            f"probability must have shape (n_samples, {c}, {c}), as predict_pairwise gives; "
            f"got {given.shape}."
        )
    if given.min() < 0 or given.max() > 1:
        raise ValueError(f"probability must lie in [0, 1], got {given.min():g} to {given.max():g}.")
    first, second = np.triu_indices(c, 1)
    came = (1 + np.sign(true[:, second] - true[:, first])) / 2
    return given[:, first, second], came


def _row_means(losses: Values) -> Values:
    known = ~np.isnan(losses)
    return defined_ratio(np.where(known, losses, 0).sum(axis=1), known.sum(axis=1).astype(float))

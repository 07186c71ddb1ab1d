"""Metrics of two rank matrices."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_consistent_length

from prefero import _core
from prefero._docs import documented
from prefero._typing import ArrayOrNone, Mask, Values
from prefero._warnings import warn_user
from prefero.rankings import check_ranks


@documented()
def kendall_tau(
    Y_true: ArrayLike,
    Y_pred: ArrayLike,
    *,
    variant: Literal["a", "b", "x"] = "b",
    average: bool = True,
    sample_weight: ArrayOrNone = None,
) -> float | Values:
    """Kendall's rank correlation: +1 for equal orders, -1 for reversed ones.

    Parameters
    ----------
    %(two_ranks)s
    variant : {"a", "b", "x"}, default="b"
        What a tied pair counts: ``"a"`` nothing, over all pairs; ``"b"`` nothing, over the
        geometric mean of the pairs each side orders; ``"x"`` (Emond & Mason) agreement if
        both sides tie it, nothing if one does, over all pairs. Without ties all are equal.
    %(mean)s

    %(returns_mean_or_rows)s
        The correlation.

    Examples
    --------
    >>> kendall_tau([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 3, 2]], average=False)
    array([1.        , 0.33333333])
    >>> kendall_tau([[1, 2, float("nan")]], [[1, 3, 2]])
    1.0
    """
    concordant, discordant, tied_true, tied_pred, tied_both = _pair_counts(Y_true, Y_pred)
    strict = concordant + discordant
    pairs = strict + tied_true + tied_pred + tied_both
    agreement = concordant - discordant
    if variant == "a":
        values = defined_ratio(agreement, pairs)
    elif variant == "b":
        values = defined_ratio(agreement, np.sqrt((strict + tied_pred) * (strict + tied_true)))
    elif variant == "x":
        values = defined_ratio(agreement + tied_both, pairs)
    else:
        raise ValueError(f"variant must be 'a', 'b' or 'x', got {variant!r}.")
    return average_rows(values, "Kendall's tau", average, sample_weight)


@documented()
def kendall_distance(
    Y_true: ArrayLike, Y_pred: ArrayLike, *, average: bool = True, sample_weight: ArrayOrNone = None
) -> float | Values:
    """Count the pairs of labels that two rankings put in opposite orders.

    %(of_two_ranks)s

    %(returns_mean_or_rows)s
        The number of discordant pairs.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), equation 1.

    Examples
    --------
    >>> kendall_distance([[1, 2, 3]], [[3, 2, 1]])
    3.0
    """
    discordant = _pair_counts(Y_true, Y_pred)[1]
    return average_rows(discordant, "The Kendall distance", average, sample_weight)


@documented()
def spearman_rho(
    Y_true: ArrayLike, Y_pred: ArrayLike, *, average: bool = True, sample_weight: ArrayOrNone = None
) -> float | Values:
    """Spearman's rank correlation, generalized to ties by average bucket positions.

    %(of_two_ranks)s

    %(returns_mean_or_rows)s
        The correlation of the positions among the labels that both rows rank.

    References
    ----------
    Brinker & Hüllermeier (2007), section 4.

    Examples
    --------
    >>> spearman_rho([[1, 2, 3]], [[1, 3, 2]])
    0.5
    >>> round(spearman_rho([[1, 2, 2]], [[1, 2, 3]]), 3)
    0.866
    """
    true, pred = _common_positions(Y_true, Y_pred)
    middle = (_some(true).sum(axis=1, keepdims=True) + 1) / 2
    true, pred = true - middle, pred - middle
    covariance = np.nansum(true * pred, axis=1)
    scale = np.sqrt(np.nansum(true**2, axis=1) * np.nansum(pred**2, axis=1))
    return average_rows(defined_ratio(covariance, scale), "Spearman's rho", average, sample_weight)


@documented()
def footrule(
    Y_true: ArrayLike, Y_pred: ArrayLike, *, average: bool = True, sample_weight: ArrayOrNone = None
) -> float | Values:
    """Spearman's footrule: the sum of the distances between the labels' positions.

    %(of_two_ranks)s

    %(returns_mean_or_rows)s
        The distance.

    Examples
    --------
    >>> footrule([[1, 2, 3]], [[3, 2, 1]])
    4.0
    """
    true, pred = _common_positions(Y_true, Y_pred)
    return average_rows(
        np.nansum(np.abs(true - pred), axis=1), "The footrule", average, sample_weight
    )


@documented()
def top_accuracy(
    Y_true: ArrayLike,
    Y_pred: ArrayLike,
    *,
    k: int = 1,
    average: bool = True,
    sample_weight: ArrayOrNone = None,
) -> float | Values:
    """How often the label predicted first is among the first k of the true ranking.

    Parameters
    ----------
    Y_true, Y_pred : array-like of shape (n_samples, n_labels)
        Ranks. Labels that share the true k-th place all count as right.
    k : int, default=1
        How many true labels are good enough.
    %(mean)s

    %(returns_mean_or_rows)s
        The share of right first choices.

    Examples
    --------
    >>> top_accuracy([[1, 2, 3], [2, 1, 3]], [[1, 3, 2], [1, 2, 3]])
    0.5
    """
    true, pred = _common_ranks(Y_true, Y_pred)
    places = _core.bucket_positions(true, smallest=True)
    first = _first_place(pred)
    values = np.where(_some(true).any(axis=1), _chosen(places, first) <= k, np.nan)
    return average_rows(values, "Top accuracy", average, sample_weight)


def _pair_counts(Y_true: ArrayLike, Y_pred: ArrayLike) -> list[Values]:
    """Concordant, discordant, tied in truth only, in prediction only, in both; as floats."""
    true, pred = _pair(Y_true, Y_pred)
    return list(_core.count_pairs(true, pred).T.astype(np.float64))


def _pair(Y_true: ArrayLike, Y_pred: ArrayLike) -> tuple[Values, Values]:
    true = check_ranks(Y_true, name="Y_true")
    pred = check_ranks(Y_pred, name="Y_pred", n_labels=true.shape[1])
    check_consistent_length(true, pred)
    return true, pred


def _common_ranks(Y_true: ArrayLike, Y_pred: ArrayLike) -> tuple[Values, Values]:
    """Both matrices with every label blanked that one of them does not rank."""
    true, pred = _pair(Y_true, Y_pred)
    unknown = np.isnan(true) | np.isnan(pred)
    return np.where(unknown, np.nan, true), np.where(unknown, np.nan, pred)


def _common_positions(Y_true: ArrayLike, Y_pred: ArrayLike) -> tuple[Values, Values]:
    true, pred = _common_ranks(Y_true, Y_pred)
    return (
        _core.bucket_positions(true, smallest=False),
        _core.bucket_positions(pred, smallest=False),
    )


def _some(values: Values) -> Mask:
    return ~np.isnan(values)


def _first_place(ranks: Values) -> NDArray[np.intp]:
    """The index of the best label of each row; 0 in a row without any."""
    return np.argmin(np.where(np.isnan(ranks), np.inf, ranks), axis=1)


def _chosen(values: Values, index: NDArray[np.intp]) -> Values:
    return np.take_along_axis(values, index[:, None], axis=1)[:, 0]


def defined_ratio(numerator: Values, denominator: Values) -> Values:
    """Divide, giving NaN where the denominator is zero: there the metric is undefined."""
    defined = denominator > 0
    return np.where(defined, numerator / np.where(defined, denominator, 1), np.nan)


def average_rows(
    values: Values,
    metric: str,
    average: bool = True,
    sample_weight: ArrayOrNone = None,
    why_undefined: str = "no row has two labels that both sides order",
) -> float | Values:
    """Return the values a row, or their weighted mean over the rows where they are defined."""
    if not average:
        return values
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, float)
    check_consistent_length(values, weight)
    defined = ~np.isnan(values)
    total = weight[defined].sum()
    if not total > 0:
        return undefined(metric, why_undefined)
    return float(values[defined] @ weight[defined] / total)


def undefined(metric: str, why: str) -> float:
    """Warn that a metric is undefined, and return NaN."""
    warn_user(f"{metric} is undefined: {why}.", UndefinedMetricWarning)
    return float("nan")

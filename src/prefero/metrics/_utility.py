"""Metrics of the first choice, where labels have scores or run times."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from prefero._docs import documented
from prefero._typing import ArrayOrNone, Values
from prefero.metrics._rankings import average_rows, undefined
from prefero.rankings import check_ranks, strict_ranks


@documented()
def regret(
    scores: ArrayLike,
    Y_pred: ArrayLike,
    *,
    higher_is_better: bool = True,
    average: bool = True,
    sample_weight: ArrayOrNone = None,
) -> float | Values:
    """How much worse the label predicted first is than the best label.

    %(of_choices)s
    %(higher_is_better)s
    %(mean)s

    %(returns_mean_or_rows)s
        The loss, never negative, in the unit of the scores.

    Examples
    --------
    >>> regret([[0.9, 0.5, 0.7]], [[2, 3, 1]])
    0.2...
    """
    utilities, first = _choices(scores, Y_pred, higher_is_better)
    return average_rows(_losses(utilities, first), "Regret", average, sample_weight)


@documented()
def utility(
    scores: ArrayLike, Y_pred: ArrayLike, *, average: bool = True, sample_weight: ArrayOrNone = None
) -> float | Values:
    """The score of the label predicted first.

    %(of_choices)s
    %(mean)s

    %(returns_mean_or_rows)s
        In the unit of the scores.

    Examples
    --------
    >>> utility([[0.9, 0.5, 0.7], [0.3, 0.4, None]], [[2, 3, 1], [2, 3, 1]])
    0.5
    """
    utilities, first = _choices(scores, Y_pred)
    chosen = np.take_along_axis(utilities, first[:, None], axis=1)[:, 0]
    values = np.where(np.isinf(chosen), np.nan, chosen)
    return average_rows(values, "Utility", average, sample_weight)


@documented()
def gap_closed(
    scores: ArrayLike,
    Y_pred: ArrayLike,
    *,
    single_best: int | None = None,
    higher_is_better: bool = True,
    sample_weight: ArrayOrNone = None,
) -> float:
    """The share of the gap between the single best and the virtual best that a ranker closes.

    The single best is the label with the best mean score; the virtual best is the best label of
    each row. With penalized run times (`penalized_run_times`) this is the usual metric of
    algorithm selection.

    %(of_choices)s
    single_best : int, optional
        The index of the single best label, as found on training rows; by default the label with
        the best mean on these rows. Where its score is unknown, the next best label counts.
    %(higher_is_better)s
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        1 for the virtual best, 0 for the single best, negative below it; NaN if both are equal.

    Examples
    --------
    >>> gap_closed([[9, 5], [9, 5], [1, 7]], [[1, 2], [1, 2], [2, 1]])
    1.0
    >>> gap_closed([[9, 5], [9, 5], [1, 7]], [[1, 2], [1, 2], [1, 2]])
    0.0
    """
    utilities, first = _choices(scores, Y_pred, higher_is_better)
    weight = np.ones(len(utilities)) if sample_weight is None else np.asarray(sample_weight, float)
    check_consistent_length(utilities, weight)
    known = np.isfinite(utilities)
    sums = weight @ np.where(known, utilities, 0)
    seen = weight @ known
    # A label without any score here comes last.
    means = np.divide(sums, seen, out=np.full(len(sums), np.finfo(float).min), where=seen > 0)
    ranks = strict_ranks(means[None])[0]
    if single_best is not None:
        ranks[single_best] = 0
    single = np.argmin(np.where(known, ranks, len(ranks) + 1), axis=1)
    lost, gap = (_losses(utilities, choice) for choice in (first, single))
    some = ~np.isnan(gap)
    whole = float(gap[some] @ weight[some])
    if not whole > 0:
        return undefined("The closed gap", "the single best label is the best in every row")
    return 1 - float(lost[some] @ weight[some]) / whole


def penalized_run_times(times: ArrayLike, cutoff: float, *, penalty: float = 10.0) -> Values:
    """Return run times with time-outs counted as a multiple of the cut-off (PAR10).

    Parameters
    ----------
    times : array-like of shape (n_samples, n_labels)
        Run times; infinite, or not below the cut-off, where a run found no solution in time; NaN
        where unknown.
    cutoff : float
        The time after which runs were stopped.
    penalty : float, default=10
        How many times the cut-off a time-out counts.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Times, smaller is better; time-outs tie among themselves, behind all others.

    Examples
    --------
    >>> penalized_run_times([[3.0, 100.0, float("inf")]], cutoff=100)
    array([[   3., 1000., 1000.]])
    """
    if not (cutoff > 0 and penalty >= 1):
        raise ValueError(
            f"cutoff must be above 0 and penalty at least 1, got {cutoff!r} and {penalty!r}."
        )
    found = check_array(times, dtype=np.float64, ensure_all_finite=False, input_name="times")
    return np.where(found >= cutoff, penalty * cutoff, found)


def _choices(
    scores: ArrayLike, Y_pred: ArrayLike, higher_is_better: bool = True
) -> tuple[Values, NDArray[np.intp]]:
    """Scores, minus infinity where they or the rank are unknown; and the first choices."""
    utilities = check_array(
        scores, dtype=np.float64, order="C", ensure_all_finite="allow-nan", input_name="scores"
    )
    utilities = utilities if higher_is_better else -utilities
    pred = check_ranks(Y_pred, name="Y_pred", n_labels=utilities.shape[1])
    check_consistent_length(utilities, pred)
    unknown = np.isnan(utilities) | np.isnan(pred)
    first = np.argmin(np.where(unknown, np.inf, pred), axis=1)
    return np.where(unknown, -np.inf, utilities), first


def _losses(utilities: Values, choice: NDArray[np.intp]) -> Values:
    """How much worse choices are than the best; NaN in rows without any score."""
    best = utilities.max(axis=1)
    none = np.isinf(best)
    chosen = np.take_along_axis(utilities, choice[:, None], axis=1)[:, 0]
    return np.where(none, np.nan, np.where(none, 0, best) - np.where(none, 0, chosen))

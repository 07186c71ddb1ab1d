"""Metrics of partial orders: what is right among what is stated, and how much is stated."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from prefero._docs import documented
from prefero.metrics._average import Values, average_rows, defined_ratio
from prefero.rankings import check_ranks


@documented()
def correctness(
    Y_true: ArrayLike,
    before: ArrayLike,
    *,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | Values:
    """How right the pairs are that a partial order states: (C - D)/(C + D), 1 without any.

    Parameters
    ----------
    Y_true : array-like of shape (n_samples, n_labels)
        Ranks.
    before : array-like of shape (n_samples, n_labels, n_labels), dtype bool
        ``[n, i, j]`` is True where label i is put before label j, as ``predict_partial`` gives.
        Pairs that the true ranking leaves open do not count.
    %(mean)s

    Returns
    -------
    float or ndarray of shape (n_samples,)
        In [-1, 1]; Kendall's tau where every pair is stated.

    References
    ----------
    Cheng, Hüllermeier, Waegeman & Welker (2012).

    Examples
    --------
    >>> before = np.zeros((1, 3, 3), dtype=bool)
    >>> before[0, 0, [1, 2]] = True
    >>> correctness([[2, 1, 3]], before), completeness(before)
    (0.0, 0.6666666666666666)
    """
    true = check_ranks(Y_true, name="Y_true")
    stated = _relation(before, true.shape[1])
    check_consistent_length(true, stated)
    agree = np.count_nonzero(stated & (true[:, :, None] < true[:, None, :]), axis=(1, 2))
    disagree = np.count_nonzero(stated & (true[:, :, None] > true[:, None, :]), axis=(1, 2))
    values = np.nan_to_num(defined_ratio(agree - disagree, agree + disagree), nan=1.0)
    return average_rows(values, average, sample_weight, "Correctness")


@documented()
def completeness(
    before: ArrayLike, *, average: bool = True, sample_weight: ArrayLike | None = None
) -> float | Values:
    """The share of all pairs of labels that a partial order states.

    Parameters
    ----------
    before : array-like of shape (n_samples, n_labels, n_labels), dtype bool
        ``[n, i, j]`` is True where label i is put before label j.
    %(mean)s

    Returns
    -------
    float or ndarray of shape (n_samples,)
        In [0, 1]; 1 for a single label.

    Examples
    --------
    >>> completeness(np.zeros((1, 3, 3), dtype=bool))
    0.0
    """
    stated = _relation(before)
    c = stated.shape[1]
    pairs = np.count_nonzero(stated, axis=(1, 2))
    values = pairs / (c * (c - 1) / 2) if c > 1 else np.ones(len(stated))
    return average_rows(values, average, sample_weight, "Completeness")


def _relation(before: ArrayLike, n_labels: int | None = None) -> NDArray[np.bool_]:
    stated = np.asarray(before, dtype=bool)
    c = stated.shape[-1] if n_labels is None and stated.ndim else n_labels
    if stated.ndim != 3 or stated.shape[1:] != (c, c):
        raise ValueError(
            f"before must have shape (n_samples, {c}, {c}), as predict_partial gives; "
            f"got {stated.shape}."
        )
    return stated

"""Weighted sets of rankings, as the functions that aggregate many at once take them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefero._sklearn import check_sample_weight
from prefero._typing import ArrayOrNone, Values
from prefero.rankings import check_ranks


class Neighborhoods(NamedTuple):
    """Weighted sets of rows of a rank matrix, in the form the core takes."""

    ranks: Values
    starts: NDArray[np.int64]  # set q holds rows[starts[q]:starts[q + 1]]
    rows: NDArray[np.int64]
    weights: Values


def check_neighborhoods(
    Y: ArrayLike, indices: ArrayLike, weights: ArrayOrNone = None, indptr: ArrayOrNone = None
) -> Neighborhoods:
    """Validate the arguments that all batch forms share.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks.
    indices : array-like of shape (n_sets, n_members), or (n_indices,) with indptr
        The rows of Y in each set.
    weights : array-like of the shape of indices, optional
        Their weights.
    indptr : array-like of shape (n_sets + 1,), optional
        Where each set begins in indices, for sets of different sizes.

    Returns
    -------
    Neighborhoods
        The sets over those rows of Y that occur in them.

    Examples
    --------
    >>> check_neighborhoods([[1, 2], [2, 1]], [[0, 1], [1, 1]]).starts
    array([0, 2, 4])
    """
    ranks = check_ranks(Y)
    rows = np.asarray(indices)
    if rows.dtype.kind not in "iu" and rows.size:
        raise ValueError(f"indices must be integers, got dtype {rows.dtype}.")
    if rows.ndim != (2 if indptr is None else 1):
        raise ValueError(
            "indices must have two dimensions, or one together with indptr; "
            f"got an array of shape {rows.shape}."
        )
    starts = (
        np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
        if indptr is None
        else _check_indptr(indptr, rows.size)
    )
    if rows.size and not (0 <= rows.min() and rows.max() < len(ranks)):
        raise ValueError(
            f"indices must lie in 0..{len(ranks) - 1}, the rows of Y; "
            f"got {rows.min()} to {rows.max()}."
        )
    weight = _check_weights(weights, rows.shape)
    return used_rows_only(ranks, starts, rows.astype(np.int64, copy=False).ravel(), weight)


def used_rows_only(
    ranks: Values, starts: NDArray[np.int64], rows: NDArray[np.int64], weights: Values
) -> Neighborhoods:
    """Leave out the rankings that no set holds: the core decodes every row it gets."""
    if 0 < rows.size < len(ranks):
        used, rows = np.unique(rows, return_inverse=True)
        ranks = ranks[used]
    return Neighborhoods(ranks, starts, rows, weights)


def _check_indptr(indptr: ArrayLike, n_indices: int) -> NDArray[np.int64]:
    starts = np.ascontiguousarray(indptr, dtype=np.int64)
    ascending = starts.ndim == 1 and starts.size > 0 and bool(np.all(np.diff(starts) >= 0))
    if not (ascending and starts[0] == 0 and starts[-1] == n_indices):
        raise ValueError(
            f"indptr must ascend from 0 to {n_indices}, the number of indices; got {indptr!r}."
        )
    return starts


def _check_weights(weights: ArrayOrNone, shape: tuple[int, ...]) -> Values:
    if weights is None:
        return np.ones(int(np.prod(shape)))
    weight = np.ascontiguousarray(weights, dtype=np.float64)
    if weight.shape != shape:
        raise ValueError(f"weights has shape {weight.shape}, but indices has {shape}.")
    if not np.all((weight >= 0) & (weight < np.inf)):
        raise ValueError("weights must be finite and not negative.")
    return weight.ravel()


def whole_sample(Y: ArrayLike, sample_weight: ArrayOrNone = None) -> Neighborhoods:
    """Return all rows of Y as one neighbourhood: how a single form calls its batch form.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rankings.

    Returns
    -------
    Neighborhoods
        One set.

    Examples
    --------
    >>> whole_sample([[1, 2], [2, 1]]).weights
    array([1., 1.])
    """
    ranks = check_ranks(Y)
    weight = check_sample_weight(sample_weight, ranks, dtype=np.float64, ensure_non_negative=True)
    n = len(ranks)
    return Neighborhoods(ranks, np.array([0, n]), np.arange(n), np.ascontiguousarray(weight))

"""Ranks from scores, positions from ranks, and labels dropped at random."""

from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from prefero import _core
from prefero._typing import Values
from prefero.rankings._validation import check_ranks, keeps_frames


@keeps_frames
def ranks_from_scores(S: ArrayLike, *, higher_is_better: bool) -> Values:
    """Turn scores into ranks, row by row.

    Parameters
    ----------
    S : array-like or DataFrame of shape (n_samples, n_labels)
        Scores such as yields, accuracies or run times; NaN where nothing was measured.
    higher_is_better : bool
        The direction of the scores. There is no default: it cannot be guessed.

    Returns
    -------
    ndarray or DataFrame of shape (n_samples, n_labels)
        Ranks: equal scores share the smallest rank of their bucket, NaN stays NaN.

    Examples
    --------
    >>> ranks_from_scores([[0.9, 0.1, 0.9, float("nan")]], higher_is_better=True)
    array([[ 1.,  3.,  1., nan]])
    >>> import pandas as pd
    >>> times = pd.DataFrame({"fast": [3.0, 9.0], "slow": [8.0, 7.5]}, index=["u", "v"])
    >>> ranks_from_scores(times, higher_is_better=False)
       fast  slow
    u   1.0   2.0
    v   2.0   1.0
    """
    scores = check_array(
        S, dtype=np.float64, order="C", ensure_all_finite="allow-nan", input_name="S"
    )
    return smallest_positions(-scores if higher_is_better else scores)


def smallest_positions(values: Values) -> Values:
    """Rank each row ascending; a bucket's members share its smallest position."""
    return _core.bucket_positions(np.ascontiguousarray(values), smallest=True)


@keeps_frames
def bucket_positions(Y: ArrayLike) -> Values:
    """Return generalized ranks: each label's average position among the labels of its row.

    A label with ``a`` labels above it in a bucket of ``b`` tied ones gets
    ``a + (b + 1) / 2``; unknown labels stay NaN and take no position.

    Parameters
    ----------
    Y : array-like or DataFrame of shape (n_samples, n_labels)
        Ranks.

    Returns
    -------
    ndarray or DataFrame of shape (n_samples, n_labels)
        Positions.

    References
    ----------
    Brinker & Hüllermeier (2007), section 4.

    Examples
    --------
    >>> bucket_positions([[1, 2, 2, 4], [float("nan"), 4, 2, 3]])
    array([[1. , 2.5, 2.5, 4. ],
           [nan, 3. , 1. , 2. ]])
    """
    return _core.bucket_positions(check_ranks(Y), smallest=False)


@keeps_frames
def bucket_index(values: ArrayLike) -> NDArray[np.int32]:
    """Number the buckets of each row: 0 for the smallest values; -1 where NaN.

    Parameters
    ----------
    values : array-like or DataFrame of shape (n_samples, n_labels)
        Ranks, or any numbers of which smaller is better.

    Returns
    -------
    ndarray or DataFrame of shape (n_samples, n_labels), dtype int32
        0, 1, ... without gaps in each row; -1 for an unknown label.

    Examples
    --------
    >>> bucket_index([[1, 4, 4, float("nan")]])
    array([[ 0,  1,  1, -1]], dtype=int32)
    """
    matrix = np.asarray(values, dtype=np.float64)
    order = np.argsort(matrix, axis=1, kind="stable")
    rises = np.diff(np.take_along_axis(matrix, order, axis=1), axis=1) > 0
    index = np.empty(matrix.shape, dtype=np.int32)
    buckets = np.cumsum(np.insert(rises, 0, 0, axis=1), axis=1, dtype=np.int32)
    np.put_along_axis(index, order, buckets, axis=1)
    return np.where(np.isnan(matrix), np.int32(-1), index)


@keeps_frames
def strict_ranks(scores: ArrayLike) -> NDArray[np.int64]:
    """Rank each row by descending score, with no ties: equal scores go by label index.

    Parameters
    ----------
    scores : array-like or DataFrame of shape (n_samples, n_labels)
        Scores, larger is better, none missing.

    Returns
    -------
    ndarray or DataFrame of shape (n_samples, n_labels), dtype int64
        A permutation of 1..n_labels in each row.

    Examples
    --------
    >>> strict_ranks([[0.5, 2.0, 0.5]])
    array([[2, 1, 3]])
    """
    if _are_finite_floats(scores):  # check_array takes longer than one row is worth
        return _core.strict_ranks(scores).view(np.int64)
    values = check_array(scores, dtype=np.float64, order="C", input_name="scores")
    return _core.strict_ranks(values).view(np.int64)


def _are_finite_floats(scores: ArrayLike) -> TypeGuard[Values]:
    """Tell whether scores are already what the core reads."""
    return (
        type(scores) is np.ndarray
        and scores.dtype == np.float64
        and scores.ndim == 2
        and scores.size > 0
        and scores.flags.c_contiguous
        and bool(np.isfinite(scores).all())
    )


def have_ties(ranks: Values) -> bool:
    """Tell whether any row of a rank matrix holds equal ranks.

    Parameters
    ----------
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks, validated.

    Returns
    -------
    bool
        Labels that are not ranked are not tied.

    Examples
    --------
    >>> have_ties(np.array([[1.0, 2.0, 2.0]])), have_ties(np.array([[1.0, np.nan, np.nan]]))
    (True, False)
    """
    return _core.have_ties(ranks)


def pair_signs(Y: ArrayLike) -> NDArray[np.int8]:
    """Return which label of each pair stands first.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels)
        Ranks.

    Returns
    -------
    ndarray of shape (n_samples, n_labels * (n_labels - 1) / 2), dtype int8
        For the pairs (0, 1), (0, 2), ..., in the order of ``np.triu_indices(n_labels, 1)``:
        +1 where the first label stands before the second, -1 where after, 0 where they are
        tied or one is unknown.

    Examples
    --------
    >>> pair_signs([[1, 2, 3], [2, 2, 1], [float("nan"), 2, 1]])
    array([[ 1,  1,  1],
           [ 0, -1, -1],
           [ 0,  0, -1]], dtype=int8)
    """
    return _core.pair_signs(check_ranks(Y)).view(np.int8)


@keeps_frames
def drop_labels(
    Y: ArrayLike, p: float, random_state: int | np.random.RandomState | None = None
) -> Values:
    """Blank labels at random, each by an independent coin (Cheng et al. 2009, section 6.2).

    Only the relative order of the labels that are kept remains: they are ranked anew, so
    nothing can be learned from a gap.

    Parameters
    ----------
    Y : array-like or DataFrame of shape (n_samples, n_labels)
        Ranks.
    p : float
        The probability in [0, 1] that a label is dropped.
    random_state : int, RandomState or None, default=None
        The coins.

    Returns
    -------
    ndarray or DataFrame of shape (n_samples, n_labels)
        Ranks with NaN for dropped labels.

    Examples
    --------
    >>> drop_labels([[1, 2, 3, 4]], 0.5, random_state=3)
    array([[ 1.,  2., nan,  3.]])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be a probability in [0, 1], got {p!r}.")
    ranks = check_ranks(Y)
    dropped = check_random_state(random_state).random_sample(ranks.shape) < p
    return smallest_positions(np.where(dropped, np.nan, ranks))

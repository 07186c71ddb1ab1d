"""The Mallows distribution of rankings: a center, and a spread around it.

``P(ranking) = exp(-theta * D(ranking, center)) / phi(theta)`` with D Kendall's distance. At
theta 0 all rankings are equally likely; the larger theta, the closer they keep to the center.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefero import _core
from prefero.consensus import Neighborhoods, check_neighborhoods
from prefero.rankings import strict_ranks

__all__ = ["MallowsBatch", "fit_mallows_batch"]


class MallowsBatch(NamedTuple):
    """Mallows models of many sets of rankings, one a row.

    Attributes
    ----------
    centers : ndarray of shape (n_sets, n_labels), dtype int64
        Strict ranks.
    theta : ndarray of shape (n_sets,)
        Spreads: infinite where all rankings agree with the center, 0 where they scatter as
        much as random ones or a set has no weight.
    votes : ndarray of shape (n_sets, n_labels)
        The Borda votes whose descending order is the center.
    """

    centers: NDArray[np.int64]
    theta: NDArray[np.float64]
    votes: NDArray[np.float64]


def fit_mallows_batch(
    Y: ArrayLike,
    indices: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    indptr: ArrayLike | None = None,
    max_iter: int = 20,
) -> MallowsBatch:
    """Estimate one Mallows model for each of many weighted sets of rankings.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks, possibly incomplete or tied.
    indices : array-like of shape (n_sets, n_members), or (n_indices,) with indptr
        The rows of Y in each set.
    weights : array-like of the shape of indices, optional
        Their weights; zero leaves a row out.
    indptr : array-like of shape (n_sets + 1,), optional
        For sets of different sizes: set q holds ``indices[indptr[q]:indptr[q + 1]]``.
    max_iter : int, default=20
        Rounds of extension and aggregation after which a set that cycles is left as it is.
        Complete rankings need none.

    Returns
    -------
    MallowsBatch
        Centers, spreads and votes. A label that no ranking of a set holds starts with the
        middle vote and stays about there.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), Algorithm 1.

    Examples
    --------
    >>> nan = float("nan")
    >>> batch = fit_mallows_batch([[1, 2, 3], [nan, 1, 2], [2, 1, 3]], [[0, 1], [0, 2]])
    >>> batch.centers
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> batch.theta.round(3)
    array([  inf, 1.356])
    """
    return _fit(check_neighborhoods(Y, indices, weights, indptr), max_iter)


def _fit(sets: Neighborhoods, max_iter: int) -> MallowsBatch:
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter!r}.")
    votes, theta = _core.fit_mallows_batch(*sets, max_rounds=max_iter)
    return MallowsBatch(strict_ranks(votes), theta, votes)

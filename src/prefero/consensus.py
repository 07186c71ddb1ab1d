"""One ranking for many: rank aggregation."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefero import _core
from prefero.rankings import check_ranks, strict_ranks

__all__ = ["borda", "borda_votes"]


def borda_votes(Y: ArrayLike) -> NDArray[np.float64]:
    """Return the votes that each ranking gives each label in a generalized Borda count.

    In a ranking of m of n labels the label at position i gets (m - i + 1)(n + 1)/(m + 1)
    votes and each missing label (n + 1)/2; a complete ranking so gives n, n - 1, ..., 1.
    Tied labels share the mean of their positions.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks.

    Returns
    -------
    ndarray of shape (n_rankings, n_labels)
        Votes.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), Proposition 2.

    Examples
    --------
    >>> borda_votes([[1, 2, 3], [1, float("nan"), 2]])
    array([[3.        , 2.        , 1.        ],
           [2.66666667, 2.        , 1.33333333]])
    """
    positions = _core.bucket_positions(check_ranks(Y), smallest=False)
    n = positions.shape[1]
    m = np.count_nonzero(~np.isnan(positions), axis=1)[:, None]
    votes = (m + 1 - positions) * (n + 1) / (m + 1)
    return np.where(np.isnan(positions), (n + 1) / 2, votes)


def borda(Y: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]:
    """Aggregate rankings by the (generalized, weighted) Borda count.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks, possibly incomplete or tied.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rankings.

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Strict ranks; equal votes go by label index.

    Examples
    --------
    >>> borda([[1, 2, 3], [2, 1, 3], [1, 3, 2]])
    array([1, 2, 3])
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    votes = np.average(borda_votes(Y), axis=0, weights=weights)
    return strict_ranks(votes[None, :])[0]

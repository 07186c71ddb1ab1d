"""One ranking for many: rank aggregation.

Every function takes a rank matrix with ties and missing labels. Where many small sets of its
rows are to be aggregated, as nearest neighbours and trees do, the ``_batch`` form takes them
all at once; it gives exactly what the single form gives set by set.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_array

from prefero import _core
from prefero._docs import documented
from prefero._kemeny import exact_order
from prefero._sklearn import check_sample_weight
from prefero.rankings import check_ranks, strict_ranks

__all__ = ["borda", "borda_batch", "borda_votes", "extend", "footrule_order", "kemeny", "pair_sums"]


class Neighborhoods(NamedTuple):
    """Weighted sets of rows of a rank matrix, in the form the core takes."""

    ranks: NDArray[np.float64]
    starts: NDArray[np.int64]  # set q holds rows[starts[q]:starts[q + 1]]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64]


def check_neighborhoods(
    Y: ArrayLike,
    indices: ArrayLike,
    weights: ArrayLike | None = None,
    indptr: ArrayLike | None = None,
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
    ranks: NDArray[np.float64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    weights: NDArray[np.float64],
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


def _check_weights(weights: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(int(np.prod(shape)))
    weight = np.ascontiguousarray(weights, dtype=np.float64)
    if weight.shape != shape:
        raise ValueError(f"weights has shape {weight.shape}, but indices has {shape}.")
    if not np.all((weight >= 0) & (weight < np.inf)):
        raise ValueError("weights must be finite and not negative.")
    return weight.ravel()


def whole_sample(Y: ArrayLike, sample_weight: ArrayLike | None = None) -> Neighborhoods:
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
    return _core.borda_votes(check_ranks(Y))


@documented()
def borda(Y: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]:
    """Aggregate rankings by the (generalized, weighted) Borda count.

    Parameters
    ----------
    %(Y)s
    %(weights_of_rankings)s

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Strict ranks; equal votes go by label index.

    Examples
    --------
    >>> borda([[1, 2, 3], [2, 1, 3], [1, 3, 2]])
    array([1, 2, 3])
    """
    return strict_ranks(_core.borda_batch(*whole_sample(Y, sample_weight)))[0]


@documented()
def borda_batch(
    Y: ArrayLike,
    indices: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    indptr: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the mean Borda votes of many weighted sets of rankings.

    Parameters
    ----------
    %(Y)s
    %(sets)s
    %(indptr)s

    Returns
    -------
    ndarray of shape (n_sets, n_labels)
        Votes, rounded to 2**-26 so that ties do not hang on the order of summation;
        ``strict_ranks`` of a row is what ``borda`` gives. The middle vote (n + 1)/2 goes to
        labels that no ranking of the set holds, and to all labels of a set without weight.

    Examples
    --------
    >>> borda_batch([[1, 2, 3], [2, 1, 3]], [[0, 1], [0, 0]], [[1, 3], [1, 1]])
    array([[2.25, 2.75, 1.  ],
           [3.  , 2.  , 1.  ]])
    """
    return _core.borda_batch(*check_neighborhoods(Y, indices, weights, indptr))


def pair_sums(Y: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return how much weight puts one label before another, for all pairs of labels.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks; tied and missing labels prefer nothing.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rankings.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        ``[i, j]`` is the weight of the rankings with label i strictly before label j.

    Examples
    --------
    >>> pair_sums([[1, 2, 3], [2, 1, float("nan")]])
    array([[0., 1., 1.],
           [1., 0., 1.],
           [0., 0., 0.]])
    """
    sample = whole_sample(Y, sample_weight)
    return _core.pair_sums(sample.ranks, sample.weights)


def kemeny(
    Y: ArrayLike,
    method: Literal["exact", "local"] = "exact",
    sample_weight: ArrayLike | None = None,
    time_limit: float = 60.0,
) -> NDArray[np.int64]:
    """Aggregate rankings by Kemeny's rule: the least sum of Kendall distances.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks; tied and missing labels prefer nothing.
    method : {"exact", "local"}, default="exact"
        ``"exact"`` solves an integer program, which is NP-hard in general and quick where
        majorities seldom go in circles. ``"local"`` moves single labels of the Borda order
        until no move helps.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rankings.
    time_limit : float, default=60.0
        Seconds for ``"exact"``. If they do not do, the best order known is returned with a
        ``ConvergenceWarning``; without one the order is proven optimal.

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Strict ranks. Where the preferences leave a choice it follows the Borda count.

    Examples
    --------
    >>> kemeny([[1, 2, 3], [1, 2, 3], [2, 3, 1], [2, 3, 1], [3, 1, 2]])
    array([1, 2, 3])
    """
    if method not in ("exact", "local"):
        raise ValueError(f"method must be 'exact' or 'local', got {method!r}.")
    if not time_limit > 0:
        raise ValueError(f"time_limit must be positive, got {time_limit!r}.")
    sample = whole_sample(Y, sample_weight)
    sums = _core.pair_sums(sample.ranks, sample.weights)
    order = np.argsort(strict_ranks(_core.borda_batch(*sample))[0])
    order = _core.improve_order(sums, order)
    if method == "exact":
        order = exact_order(sums, order, time_limit)
    return np.argsort(order) + 1


def footrule_order(Y: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]:
    """Aggregate rankings into the order with the least sum of Spearman footrule distances.

    The footrule adds up how far each label is from its place, so the best order is an
    assignment of labels to places, found in polynomial time.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks. Tied labels share the mean of their positions, positions in an incomplete
        ranking are stretched as in the Borda count, and missing labels cost nothing.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rankings.

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Strict ranks.

    References
    ----------
    Dwork, Kumar, Naor & Sivakumar (2001), Rank aggregation methods for the Web.

    Examples
    --------
    >>> footrule_order([[1, 2, 3], [1, 2, 3], [3, 1, 2]])
    array([1, 2, 3])
    """
    sample = whole_sample(Y, sample_weight)
    n_labels = sample.ranks.shape[1]
    positions = np.where(np.isnan(sample.ranks), np.nan, n_labels + 1 - borda_votes(sample.ranks))
    cost = [
        np.nansum(np.abs(positions - place) * sample.weights[:, None], axis=0)
        for place in range(1, n_labels + 1)
    ]
    return linear_sum_assignment(np.transpose(cost))[1] + 1


def extend(Y: ArrayLike, center: ArrayLike) -> NDArray[np.float64]:
    """Complete rankings so that they come as close as possible to a center.

    Each missing label is inserted where it contradicts the center in the fewest pairs, in
    the first such gap if there are several; labels in one gap stand in the center's order.
    The result minimises Kendall's distance to the center among all rankings that keep the
    order of the given labels. Tied labels stay tied and nothing is inserted between them.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks.
    center : array-like of shape (n_labels,) or (n_rankings, n_labels)
        Complete ranks: one center for all rankings or one for each. Labels tied in it go
        by index.

    Returns
    -------
    ndarray of shape (n_rankings, n_labels)
        Complete ranks; tied labels share their mean position.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), Proposition 1.

    Examples
    --------
    >>> extend([[float("nan"), 1, 2, float("nan")]], center=[1, 2, 3, 4])
    array([[1., 2., 3., 4.]])
    """
    ranks = check_ranks(Y)
    centers = check_array(np.atleast_2d(center), dtype=np.float64, order="C", input_name="center")
    if centers.shape not in {(1, ranks.shape[1]), ranks.shape}:
        raise ValueError(
            f"center has shape {np.shape(center)}, but Y has {ranks.shape}: give one complete "
            "ranking for all rows or one for each."
        )
    return _core.extend(ranks, -centers)

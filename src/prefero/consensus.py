"""One ranking for many: rank aggregation.

Every function takes a rank matrix with ties and missing labels. Where many small sets of its
rows are to be aggregated, as nearest neighbours and trees do, the ``_batch`` form takes them
all at once; it gives exactly what the single form gives set by set.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_array

from prefero import _core
from prefero._docs import documented
from prefero._optimal_orders import cut_into_buckets, exact_buckets, exact_order, improved_buckets
from prefero._ranking_sets import check_neighborhoods, whole_sample
from prefero._typing import ArrayOrNone, Values
from prefero.rankings import check_ranks, strict_ranks

__all__ = [
    "borda",
    "borda_batch",
    "borda_votes",
    "bucket_consensus",
    "copeland",
    "extend",
    "footrule_order",
    "kemeny",
    "pair_sums",
]

# The most labels for exact bucket orders: by default, for a second; on demand, for minutes.
_EXACT_BUCKETS, _MOST_EXACT_BUCKETS = 12, 16


def borda_votes(Y: ArrayLike) -> Values:
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
def borda(Y: ArrayLike, sample_weight: ArrayOrNone = None) -> NDArray[np.int64]:
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
    Y: ArrayLike, indices: ArrayLike, weights: ArrayOrNone = None, *, indptr: ArrayOrNone = None
) -> Values:
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


def pair_sums(Y: ArrayLike, sample_weight: ArrayOrNone = None) -> Values:
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
    sample_weight: ArrayOrNone = None,
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


@documented()
def copeland(Y: ArrayLike, sample_weight: ArrayOrNone = None) -> NDArray[np.int64]:
    """Aggregate rankings by Copeland's rule: the number of labels that a majority puts behind.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks; tied and missing labels prefer nothing.
    %(weights_of_rankings)s

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Strict ranks by majorities won less majorities lost; equal ones go by the Borda count.

    Examples
    --------
    >>> copeland([[1, 2, 3], [1, 2, 3], [3, 1, 2]])
    array([1, 2, 3])
    """
    sample = whole_sample(Y, sample_weight)
    sums = _core.pair_sums(sample.ranks, sample.weights)
    majorities = np.sign(sums - sums.T).sum(axis=1)
    by_borda = strict_ranks(_core.borda_batch(*sample))[0]
    order = np.lexsort((by_borda, -majorities))
    return np.argsort(order) + 1


@documented()
def bucket_consensus(
    Y: ArrayLike,
    method: Literal["auto", "exact", "local"] = "auto",
    sample_weight: ArrayOrNone = None,
) -> NDArray[np.int64]:
    """Aggregate rankings into the ranking with ties of the greatest sum of tau-x.

    Parameters
    ----------
    Y : array-like of shape (n_rankings, n_labels)
        Ranks. Tied labels agree with labels tied in the consensus; a ranking says nothing of
        labels that it misses.
    method : {"auto", "exact", "local"}, default="auto"
        ``"exact"`` looks at all bucket orders, which takes 3^n_labels steps. ``"local"`` cuts
        the local Kemeny order into buckets and moves single labels until no move helps.
        ``"auto"`` is exact for up to 12 labels.
    %(weights_of_rankings)s

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Ranks; tied labels share the smallest position of their bucket.

    References
    ----------
    Emond & Mason (2002), A new rank correlation coefficient with application to the consensus
    ranking problem.

    Examples
    --------
    >>> bucket_consensus([[1, 2, 3], [2, 1, 3], [1, 1, 3]])
    array([1, 1, 3])
    """
    if method not in ("auto", "exact", "local"):
        raise ValueError(f"method must be 'auto', 'exact' or 'local', got {method!r}.")
    sample = whole_sample(Y, sample_weight)
    known = ~np.isnan(sample.ranks)
    count = known.sum(axis=1)
    # tau-x divides by the pairs of each ranking.
    weights = sample.weights / np.maximum(count * (count - 1) / 2, 1)
    before = _core.pair_sums(sample.ranks, weights)
    ahead = before - before.T
    tied = (known * weights[:, None]).T @ known - before - before.T
    if method == "exact" and len(ahead) > _MOST_EXACT_BUCKETS:
        raise ValueError(
            f"method='exact' takes 3^n_labels steps, too many for {len(ahead)} labels (at most "
            f"{_MOST_EXACT_BUCKETS}): use method='local'."
        )
    if method == "exact" or (method == "auto" and len(ahead) <= _EXACT_BUCKETS):
        return exact_buckets(ahead, tied)
    order = np.argsort(strict_ranks(_core.borda_batch(*sample))[0])
    order = _core.improve_order(before, order)
    return improved_buckets(cut_into_buckets(order[None], ahead[None], tied[None])[0], ahead, tied)


def footrule_order(Y: ArrayLike, sample_weight: ArrayOrNone = None) -> NDArray[np.int64]:
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


def extend(Y: ArrayLike, center: ArrayLike) -> Values:
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

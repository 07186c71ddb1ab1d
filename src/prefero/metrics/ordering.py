"""How good an order of objects is, query by query: what search engines are judged by.

Every metric takes one value per object and the query that it belongs to, computes one value per
query and returns their mean. Objects whose truth is unknown (NaN) are left out, and so are queries
that say nothing. Equal scores are a tie: no metric profits from the order of the rows.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import comb
from scipy.stats import rankdata
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from prefero._docs import documented
from prefero._sklearn import check_sample_weight
from prefero._typing import ArrayOrNone, Values
from prefero.metrics._rankings import kendall_tau, spearman_rho, undefined
from prefero.rankings import Queries

__all__ = [
    "expected_reciprocal_rank",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "ndcg",
    "query_rho",
    "query_tau",
    "rank_biased_overlap",
]


@documented()
def query_rho(
    ranks: ArrayLike,
    scores: ArrayLike,
    qid: ArrayOrNone = None,
    *,
    sample_weight: ArrayOrNone = None,
) -> float:
    """Return the mean over queries of Spearman's rho of true and predicted orders.

    %(of_query_ranks)s

    Examples
    --------
    >>> query_rho([1, 2, 3, 1, 2], [9, 5, 7, 4, 8], [0, 0, 0, 1, 1])
    -0.25
    """
    return _mean_correlation(spearman_rho, ranks, scores, qid, sample_weight)


@documented()
def query_tau(
    ranks: ArrayLike,
    scores: ArrayLike,
    qid: ArrayOrNone = None,
    *,
    sample_weight: ArrayOrNone = None,
) -> float:
    """Return the mean over queries of Kendall's tau of true and predicted orders.

    %(of_query_ranks)s

    Examples
    --------
    >>> query_tau([1, 2, 3, 1, 2], [9, 5, 7, 4, 8], [0, 0, 0, 1, 1])
    -0.33...
    """
    return _mean_correlation(kendall_tau, ranks, scores, qid, sample_weight)


@documented()
def ndcg(
    gains: ArrayLike,
    scores: ArrayLike,
    qid: ArrayOrNone = None,
    *,
    k: int | None = None,
    gain: Literal["linear", "exponential"] = "linear",
) -> float:
    """Return the mean over queries of the normalized discounted cumulative gain.

    Parameters
    ----------
    gains : array-like of shape (n_objects,)
        The gain or the grade of relevance of each object, not negative; NaN is unknown.
    %(scores_in_queries)s
    k : int, optional
        How many objects at the head of the order count; all by default.
    gain : {"linear", "exponential"}, default="linear"
        Whether an object counts what ``gains`` says, or 2 to the power of that, less 1, as in
        the LETOR collections.

    Returns
    -------
    float
        In [0, 1], larger is better. Queries without a gain or a second object are left out.

    See Also
    --------
    sklearn.metrics.ndcg_score : The value of each query.

    Examples
    --------
    >>> ndcg([3, 0, 1, 1, 0], [0.9, 0.5, 0.1, 0.2, 0.4], [0, 0, 0, 1, 1], k=1)
    0.5
    """
    from sklearn.metrics import ndcg_score  # as long to import as NumPy, and few need it

    if gain not in ("linear", "exponential"):
        raise ValueError(f"gain must be 'linear' or 'exponential', got {gain!r}.")
    values = []
    for worth, score in _matrices(gains, scores, qid):
        worth = np.exp2(worth) - 1 if gain == "exponential" else worth
        telling = (worth > 0).any(axis=1)
        if worth.shape[1] > 1:
            rows = zip(worth[telling], score[telling], strict=True)
            values += [ndcg_score(w[None], s[None], k=k) for w, s in rows]
    return _mean(values)


@documented()
def mean_average_precision(
    relevance: ArrayLike, scores: ArrayLike, qid: ArrayOrNone = None
) -> float:
    """Return the mean over queries of the average precision of the relevant objects.

    %(of_query_relevance)s

    Examples
    --------
    >>> mean_average_precision([1, 0, 0, 1], [0.5, 0.9, 0.1, 0.3], [0, 0, 0, 1])
    0.75
    """
    from sklearn.metrics import label_ranking_average_precision_score as precision  # as above

    values: list[float] = []
    for truth, score in _matrices(relevance, scores, qid):
        rows = zip(truth[truth.any(axis=1)], score[truth.any(axis=1)], strict=True)
        if truth.shape[1] == 1:  # scikit-learn takes one column for something else
            values += [1.0 for _ in rows]
        else:
            values += [precision(t[None], s[None]) for t, s in rows]
    return _mean(values)


@documented()
def mean_reciprocal_rank(relevance: ArrayLike, scores: ArrayLike, qid: ArrayOrNone = None) -> float:
    """Return the mean over queries of 1 / place of the first relevant object.

    Inside a tie it is the value to expect of a random order.

    %(of_query_relevance)s

    Examples
    --------
    >>> mean_reciprocal_rank([1, 0, 0, 1], [0.5, 0.9, 0.1, 0.3], [0, 0, 0, 1])
    0.75
    """
    values: list[float] = []
    for truth, score in _matrices(relevance, scores, qid):
        telling = truth.any(axis=1)
        values += map(_reciprocal_rank, truth[telling], score[telling])
    return _mean(values)


@documented()
def expected_reciprocal_rank(
    grades: ArrayLike,
    scores: ArrayLike,
    qid: ArrayOrNone = None,
    *,
    max_grade: float,
    k: int | None = None,
) -> float:
    """Return the mean over queries of the expected reciprocal rank (ERR).

    A user reads from the top and stops at an object of grade g with probability
    ``(2**g - 1) / 2**max_grade``. Inside a tie it is the value to expect of a random order.

    Parameters
    ----------
    grades : array-like of shape (n_objects,)
        Grades of relevance, from 0 to ``max_grade``; NaN is unknown.
    %(scores_in_queries)s
    max_grade : float
        The best grade of the scale, whether or not any object has it.
    k : int, optional
        How many objects at the head of the order count; all by default.

    Returns
    -------
    float
        In [0, 1), larger is better. Queries without a grade above 0 are left out.

    References
    ----------
    Chapelle, Metzler, Zhang & Grinspan (2009), Expected reciprocal rank for graded relevance.

    Examples
    --------
    >>> expected_reciprocal_rank([1, 0, 1], [0.9, 0.5, 0.1], max_grade=1)
    0.58...
    """
    values: list[float] = []
    for grade, score in _matrices(grades, scores, qid):
        if grade.max() > max_grade:
            raise ValueError(f"grades must not exceed max_grade={max_grade:g}: {grade.max():g}.")
        stops, telling = (np.exp2(grade) - 1) / 2.0**max_grade, (grade > 0).any(axis=1)
        for stop, own in zip(stops[telling], score[telling], strict=True):
            reads = _reading_on(stop, own)
            values.append(float((-np.diff(reads) / np.arange(1, len(reads)))[:k].sum()))
    return _mean(values)


def _reading_on(stops: Values, scores: Values) -> Values:
    """The probability to read on after 0, 1, ... objects; inside a tie, its mean over orders."""
    reads = [np.ones(1)]
    for value in np.unique(scores)[::-1]:
        means = np.ones(1)  # of the products over all subsets of one size
        for n, stop in enumerate(stops[scores == value], start=1):
            size = np.arange(n + 1)
            without, added = np.append(means, 0.0), np.append(0.0, means) * (1 - stop)
            means = ((n - size) * without + size * added) / n
        reads.append(reads[-1][-1] * means[1:])
    return np.concatenate(reads)


@documented()
def rank_biased_overlap(
    ranks: ArrayLike, scores: ArrayLike, qid: ArrayOrNone = None, *, p: float = 0.9
) -> float:
    """Return the mean over queries of the extrapolated rank-biased overlap (RBO).

    The overlap of two orders at depth d is the share of objects that both have among their first
    d, and depth d weighs ``p**(d - 1)``. Past the last object the overlap stays 1. Objects of one
    tie enter together, at the depth of the first of them.

    Parameters
    ----------
    ranks : array-like of shape (n_objects,)
        True ranks inside the queries: smaller is better, equal is tied, NaN is unknown.
    %(scores_in_queries)s
    p : float, default=0.9
        In (0, 1): the smaller, the more the head of the order counts.

    Returns
    -------
    float
        In (0, 1], larger is better.

    References
    ----------
    Webber, Moffat & Zobel (2010), A similarity measure for indefinite rankings.

    Examples
    --------
    >>> rank_biased_overlap([1, 2, 3], [7, 9, 5], p=0.5)
    0.5
    """
    if not 0 < p < 1:
        raise ValueError(f"p must lie in (0, 1), got {p!r}.")
    values: list[float] = []
    for truth, score in _matrices(ranks, scores, qid):
        n = truth.shape[1]
        weight = (1 - p) * p ** np.arange(n)
        depth = np.arange(1, n + 1)[:, None]
        for true, predicted in zip(truth, -score, strict=True):
            one = rankdata(true, method="min") <= depth
            other = rankdata(predicted, method="min") <= depth
            overlap = 2 * (one & other).sum(axis=1) / (one.sum(axis=1) + other.sum(axis=1))
            values.append(float(weight @ overlap + p**n))
    return _mean(values)


def _reciprocal_rank(relevance: Values, scores: Values) -> float:
    """The value to expect: the first relevant object is in the best bucket that has one."""
    best = scores[relevance == 1].max()
    above, bucket = int((scores > best).sum()), scores == best
    size, relevant = int(bucket.sum()), int(relevance[bucket].sum())
    places = np.arange(1, size - relevant + 2)
    chances = comb(size - places, relevant - 1) / comb(size, relevant)
    return float((chances / (above + places)).sum())


def _mean_correlation(
    metric: Callable[..., float | Values],
    ranks: ArrayLike,
    scores: ArrayLike,
    qid: ArrayOrNone,
    sample_weight: ArrayOrNone,
) -> float:
    true, score = _column(ranks, "ranks"), _column(scores, "scores")
    check_consistent_length(true, score)
    weight = check_sample_weight(sample_weight, score, ensure_non_negative=True)
    found = Queries.of(qid, len(score))
    total = total_weight = 0.0
    columns = (
        found.positions(true[found.rows]),
        found.positions(-score[found.rows]),
        weight[found.rows],
    )
    for truth, predicted, weights in found.matrices(*columns):
        defined = ~np.isnan(metric(truth, truth, average=False))
        if not defined.any():
            continue
        values = metric(truth[defined], predicted[defined], average=False)
        group_weight = weights[defined].mean(axis=1)
        total += np.nan_to_num(values) @ group_weight
        total_weight += group_weight.sum()
    if not total_weight > 0:
        name = "Spearman's rho" if metric is spearman_rho else "Kendall's tau"
        return undefined(name, "y puts no object before another in any query")
    return float(total / total_weight)


def _matrices(
    truth: ArrayLike, scores: ArrayLike, qid: ArrayOrNone
) -> Iterator[tuple[Values, ...]]:
    """Yield truth and scores of known objects, one row per query, queries of one size together."""
    true, score = _column(truth, "truth"), _column(scores, "scores")
    check_consistent_length(true, score)
    if (true < 0).any():
        raise ValueError(f"gains and relevance must not be negative, got {np.nanmin(true):g}.")
    known = ~np.isnan(true)
    names = None if qid is None else column_or_1d(qid, warn=True)[known]
    if known.any():
        found = Queries.of(names, int(known.sum()))
        yield from found.matrices(true[known][found.rows], score[known][found.rows])


def _column(values: ArrayLike, name: str) -> Values:
    missing = "allow-nan" if name != "scores" else True
    checked = check_array(
        values, ensure_2d=False, dtype=np.float64, ensure_all_finite=missing, input_name=name
    )
    return column_or_1d(checked)


def _mean(values: list[float]) -> float:
    if not values:
        return undefined("The metric", "no query tells good objects from others")
    return float(np.mean(values))

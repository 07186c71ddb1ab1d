"""Pairs of labels: which to look at, their margins, and what the rankings say of them."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._optimal_orders import cut_into_buckets
from prefero._sampling import evenly_spaced
from prefero._typing import Indices, Values
from prefero.preferences import PreferenceGraphs

# What calibration looks at: at most so many pairs of labels, in so many rows, and so many in all
# as long as a few hundred rows remain.
_MAX_PAIRS, _MAX_ROWS, _MIN_ROWS, _MAX_MARGINS = 2048, 4096, 512, 2**20
# The pairs of so many labels are kept, half a megabyte each: to list them takes longer than a
# forest thinks about one instance.
_KEPT_LABELS = 256


class LabelPairs(NamedTuple):
    """Pairs of label indices, the smaller first.

    Examples
    --------
    >>> LabelPairs(np.array([0, 0, 1]), np.array([1, 2, 2])).second
    array([1, 2, 2])
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]


def all_pairs(n_labels: int) -> LabelPairs:
    """Return the pairs (0, 1), (0, 2), ..., as ``np.triu_indices`` does; they are read only.

    Examples
    --------
    >>> all_pairs(3)
    LabelPairs(first=array([0, 0, 1]), second=array([1, 2, 2]))
    """
    return _kept_pairs(n_labels) if n_labels <= _KEPT_LABELS else _listed_pairs(n_labels)


def _listed_pairs(n_labels: int) -> LabelPairs:
    pairs = LabelPairs(*np.triu_indices(n_labels, 1))
    for labels in pairs:
        labels.flags.writeable = False
    return pairs


_kept_pairs = lru_cache(maxsize=16)(_listed_pairs)


def calibration_pairs(n_labels: int) -> LabelPairs:
    """Return all pairs of few labels, or a fixed draw from those of many.

    Examples
    --------
    >>> len(calibration_pairs(4).first), len(calibration_pairs(1000).first)
    (6, 2048)
    """
    if n_labels * (n_labels - 1) // 2 <= _MAX_PAIRS:
        return all_pairs(n_labels)
    random = np.random.default_rng(0)
    one = random.integers(n_labels, size=_MAX_PAIRS)
    other = (one + random.integers(1, n_labels, size=_MAX_PAIRS)) % n_labels
    return LabelPairs(np.minimum(one, other), np.maximum(one, other))


def pair_numbers(pairs: LabelPairs, n_labels: int) -> Indices:
    """Return where pairs stand among `all_pairs`.

    Examples
    --------
    >>> pair_numbers(LabelPairs(np.array([1]), np.array([2])), n_labels=3)
    array([2])
    """
    first, second = pairs
    return first * n_labels - first * (first + 1) // 2 + second - first - 1


def calibration_rows(n_samples: int, n_pairs: int) -> Indices:
    """Return rows spread evenly over the training data, all if they are few.

    Examples
    --------
    >>> calibration_rows(5, n_pairs=3)
    array([0, 1, 2, 3, 4])
    >>> len(calibration_rows(100_000, n_pairs=3))
    4096
    """
    most = int(np.clip(_MAX_MARGINS // max(n_pairs, 1), _MIN_ROWS, _MAX_ROWS))
    return evenly_spaced(n_samples, most)


def score_margins(scores: Values, pairs: LabelPairs) -> Values:
    """Return how far the first label of each pair is ahead: the difference of the scores.

    Examples
    --------
    >>> score_margins(np.array([[3.0, 1.0, 2.0]]), all_pairs(3))
    array([[ 2.,  1., -1.]])
    """
    return _core.score_margins(scores, *pairs)


def square(values: Values, other_way: Values, diagonal: float) -> Values:
    """Write values of all pairs, and those of the pairs turned round, as matrices.

    Parameters
    ----------
    values, other_way : ndarray of shape (n_samples, n_pairs)
        For the pairs of `all_pairs`.
    diagonal : float
        What a label is to itself.

    Returns
    -------
    ndarray of shape (n_samples, n_labels, n_labels)
        ``[n, i, j]`` is the value of the pair (i, j).

    Examples
    --------
    >>> square(np.array([[0.9]]), np.array([[0.1]]), diagonal=0.5)
    array([[[0.5, 0.9],
            [0.1, 0.5]]])
    """
    n_labels = (1 + round((1 + 8 * values.shape[1]) ** 0.5)) // 2
    first, second = all_pairs(n_labels)
    matrix = np.full((len(values), n_labels, n_labels), diagonal)
    matrix[:, first, second] = values
    matrix[:, second, first] = other_way
    return matrix


def pair_outcomes(truth: Values | PreferenceGraphs, pairs: LabelPairs) -> Values:
    """Return which label of each pair really comes first.

    Parameters
    ----------
    truth : ndarray of shape (n_samples, n_labels), or PreferenceGraphs
        Ranks, or graphs, which know no ties.
    pairs : LabelPairs
        The pairs.

    Returns
    -------
    ndarray of shape (n_samples, n_pairs)
        1 for the first label, 0 for the second, 1/2 if they are tied, NaN if nothing is known.

    Examples
    --------
    >>> pair_outcomes(np.array([[1, 2, 2], [2, np.nan, 1]]), all_pairs(3))
    array([[1. , 1. , 0.5],
           [nan, 0. , nan]])
    """
    if isinstance(truth, PreferenceGraphs):
        return _graph_outcomes(truth, pairs)
    return _core.pair_outcomes(truth, *pairs)


def _graph_outcomes(graphs: PreferenceGraphs, pairs: LabelPairs) -> Values:
    indptr, edges = graphs.compressed()
    c = graphs.n_labels
    row = np.arange(len(graphs), dtype=np.int64)
    present = (np.repeat(row, np.diff(indptr)) * c + edges[:, 0]) * c + edges[:, 1]
    forward = np.isin((row[:, None] * c + pairs.first) * c + pairs.second, present)
    backward = np.isin((row[:, None] * c + pairs.second) * c + pairs.first, present)
    return np.where(forward | backward, forward, np.nan)


def expected_tau(ranks: Indices, probability: Values) -> Values:
    """Return the Kendall tau that pair probabilities expect of orders.

    Parameters
    ----------
    ranks : ndarray of shape (n_samples, n_labels)
        Strict ranks.
    probability : ndarray of shape (n_samples, n_pairs)
        That the first label of each pair comes first, a tie being half of that.

    Returns
    -------
    ndarray of shape (n_samples,)
        Pairs in the predicted order less pairs in the other, over all pairs; 0 for one label.

    Examples
    --------
    >>> expected_tau(np.array([[1, 2, 3]]), np.array([[0.9, 0.8, 0.5]]))
    array([0.46666667])
    """
    first, second = all_pairs(ranks.shape[1])
    agreement = np.where(ranks[:, first] < ranks[:, second], 1, -1) * (2 * probability - 1)
    return agreement.sum(axis=1) / max(1, len(first))


def bucket_ranks(ranks: Indices, probability: Values, tied: Values) -> Indices:
    """Tie neighbours in orders where that raises the expected tau-x.

    An ordered pair is expected to score P(before) - P(after), a tied one P(tied). An order is cut
    into buckets where the sum over all pairs is greatest.

    Parameters
    ----------
    ranks : ndarray of shape (n_samples, n_labels)
        Strict ranks.
    probability : ndarray of shape (n_samples, n_pairs)
        That the first label of each pair comes first, a tie being half of that.
    tied : ndarray of shape (n_samples, n_pairs)
        That the two are tied.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype int64
        Ranks; tied labels share the smallest position of their bucket.

    Examples
    --------
    >>> probability, tied = np.array([[0.6, 0.9, 0.8]]), np.array([[0.5, 0.1, 0.3]])
    >>> bucket_ranks(np.array([[1, 2, 3]]), probability, tied)
    array([[1, 1, 3]])
    """
    ahead = 2 * probability - 1
    return cut_into_buckets(
        np.argsort(ranks, axis=1), square(ahead, -ahead, 0.0), square(tied, tied, 0.0)
    )

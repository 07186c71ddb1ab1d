"""What to say, given the probabilities of all pairs."""

import numpy as np

from prefero._buckets import cut_into_buckets
from prefero._typing import Indices, Values
from prefero.calibration._pairs import all_pairs, square


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

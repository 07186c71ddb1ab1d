"""Bucket orders of the greatest value, where every pair of labels is worth something.

A pair put in order is worth ``ahead[i, j]`` with label i before label j and ``-ahead[i, j]`` the
other way round; tied it is worth ``tied[i, j]``. The expected tau-x and the sum of tau-x over
rankings have this form: the correlation counts a pair +1 where both sides order it alike or both
tie it, -1 where they order it differently, 0 where only one ties it.
"""

import numpy as np

from prefero._typing import Indices, Values

# What a tie must be worth beyond an order, so that rounding makes none.
_LEAST_GAIN = 1e-9


def cut_into_buckets(order: Indices, ahead: Values, tied: Values) -> Indices:
    """Cut orders into the stretches of labels that are worth most as buckets.

    Parameters
    ----------
    order : ndarray of shape (n_samples, n_labels)
        Labels, best first.
    ahead, tied : ndarray of shape (n_samples, n_labels, n_labels)
        What a pair is worth in order, and tied.

    Returns
    -------
    ndarray of shape (n_samples, n_labels), dtype int64
        Ranks; the members of a bucket share its smallest position.
    """
    n, c = order.shape
    row = np.arange(n)
    gains = (tied - ahead)[row[:, None, None], order[:, :, None], order[:, None, :]]
    sums = np.zeros((n, c + 1, c + 1))
    sums[:, 1:, 1:] = np.triu(gains - _LEAST_GAIN, 1).cumsum(axis=1).cumsum(axis=2)
    square = np.einsum("nii->ni", sums)
    # What ties add to the first labels of each order, and where their last bucket starts.
    best, start = np.zeros((n, c + 1)), np.zeros((n, c + 1), dtype=np.int64)
    for end in range(1, c + 1):
        inside = square[:, [end]] - sums[:, :end, end] - sums[:, end, :end] + square[:, :end]
        values = best[:, :end] + inside
        start[:, end] = np.argmax(values, axis=1)
        best[:, end] = values[row, start[:, end]]
    ranks, first = np.empty((n, c), dtype=np.int64), np.full(n, c)
    for place in reversed(range(c)):
        first = np.where(place < first, start[:, place + 1], first)
        ranks[row, order[:, place]] = first + 1
    return ranks


def exact_buckets(ahead: Values, tied: Values) -> Indices:
    """Return the bucket order of the greatest value, from the best ones of all sets of labels.

    Parameters
    ----------
    ahead, tied : ndarray of shape (n_labels, n_labels)
        What a pair is worth in order, and tied.

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Ranks.
    """
    c = len(ahead)
    member = (np.arange(2**c)[:, None] >> np.arange(c)) & 1
    # What the labels of a set are worth before each label, and tied with one another.
    led = member @ ahead
    together = np.einsum("si,ij,sj->s", member, np.triu(tied - _LEAST_GAIN, 1), member)
    best, last = np.zeros(2**c), np.zeros(2**c, dtype=np.int64)
    for labels in range(1, 2**c):
        buckets = _subsets(labels)
        above = labels ^ buckets
        values = best[above] + together[buckets] + (led[above] * member[buckets]).sum(axis=1)
        chosen = np.argmax(values)
        best[labels], last[labels] = values[chosen], buckets[chosen]
    ranks, labels = np.empty(c, dtype=np.int64), 2**c - 1
    while labels:
        bucket = last[labels]
        labels ^= bucket
        ranks[member[bucket] == 1] = member[labels].sum() + 1
    return ranks


def _subsets(labels: int) -> Indices:
    """All sets of some labels but the empty one, as bits."""
    found = np.zeros(1, dtype=np.int64)
    while labels:
        lowest = labels & -labels
        found = np.concatenate([found, found | lowest])
        labels ^= lowest
    return found[1:]


def improved_buckets(ranks: Indices, ahead: Values, tied: Values) -> Indices:
    """Move single labels into or between buckets while a move helps.

    Parameters
    ----------
    ranks : ndarray of shape (n_labels,)
        A bucket order to start from.
    ahead, tied : ndarray of shape (n_labels, n_labels)
        What a pair is worth in order, and tied.

    Returns
    -------
    ndarray of shape (n_labels,), dtype int64
        Ranks that no such move improves.
    """
    # Buckets have even places; a label of its own may go to an odd one.
    place = 2 * np.unique(ranks, return_inverse=True)[1]
    c, unmoved, label = len(place), 0, 0
    while unmoved < c:
        others = np.arange(c) != label
        worth = _worth_of_places(place[others], ahead[label, others], tied[label, others])
        target = int(np.argmax(worth))
        if worth[target] > worth[place[label] + 1] + _LEAST_GAIN:
            place[label] = target - 1
            place = 2 * np.unique(place, return_inverse=True)[1]
            unmoved = 0
        unmoved, label = unmoved + 1, (label + 1) % c
    return np.searchsorted(np.sort(place), place) + 1


def _worth_of_places(place: Indices, ahead: Values, tied: Values) -> Values:
    """What a label is worth at the places -1, 0, 1, ..., 2 n_buckets + 1 among the others."""
    size = int(place.max(initial=0)) + 5
    here = np.bincount(place + 1, ahead, minlength=size)
    below = here[::-1].cumsum()[::-1] - here
    return below - (here.sum() - here - below) + np.bincount(place + 1, tied, minlength=size)

"""Optimal orders: exact Kemeny consensus, and bucket orders of the greatest value.

The exact Kemeny order is found by integer programming over which label of each pair comes first.
Bucket orders maximize a sum over pairs of labels: a pair counts ``ahead[i, j]`` with label i before
label j, ``-ahead[i, j]`` the other way round, and ``tied[i, j]`` if tied. The expected tau-x and
the sum of tau-x over rankings have this form.
"""

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from prefero._typing import Indices, Values
from prefero._warnings import warn_user

Sums = Values
Order = NDArray[np.int64]

# Cycles that one round of the solver is told about at most.
_CYCLES_A_ROUND = 5000


def exact_order(sums: Sums, start: Order, time_limit: float) -> Order:
    """Return the order that breaks the least weight of preferences, or warn that it may not.

    Labels in different strong components of the majority relation stand as the majorities
    say, so only the order inside each component is searched for.

    Parameters
    ----------
    sums : ndarray of shape (n_labels, n_labels)
        ``[i, j]`` is the weight that puts label i before label j.
    start : ndarray of shape (n_labels,)
        A good order, best label first; kept where the solver proves nothing better.
    time_limit : float
        Seconds.

    Returns
    -------
    ndarray of shape (n_labels,)
        Labels, best first.
    """
    deadline = time.monotonic() + time_limit
    pieces, proven = [], True
    for members in _majority_components(sums, start):
        if len(members) > 1:
            answer = _search(sums[np.ix_(members, members)], deadline)
            proven &= answer.proven
            if answer.order is not None:
                members = members[answer.order]
        pieces.append(members)
    order = np.concatenate(pieces)
    if not proven:
        warn_user(
            f"The Kemeny order is not proven optimal after {time_limit:g} seconds: "
            "raise time_limit, or use method='local' if a good order is enough.",
            ConvergenceWarning,
        )
    return order


def _majority_components(sums: Sums, start: Order) -> list[Order]:
    """Return the strong components in an order no strict majority speaks against.

    Where the majorities leave a choice, the component with the label first in ``start``
    comes first; inside a component labels keep the order of ``start``.
    """
    majority = sums > sums.T
    count, component = connected_components(csr_array(majority), connection="strong")
    members = [start[component[start] == k] for k in range(count)]
    place = np.argsort(start)
    beaten_by = np.zeros((count, count), dtype=bool)
    winner, loser = np.nonzero(majority)
    beaten_by[component[loser], component[winner]] = True
    np.fill_diagonal(beaten_by, False)
    first = np.array([place[labels].min() for labels in members])
    open_components = np.ones(count, dtype=bool)
    ordered = []
    for _ in range(count):
        free = open_components & ~beaten_by[:, open_components].any(axis=1)
        k = min(np.flatnonzero(free), key=lambda component: first[component])
        open_components[k] = False
        ordered.append(members[k])
    return ordered


class _Answer(NamedTuple):
    order: Order | None  # None: nothing better than the start is known
    proven: bool


def _search(sums: Sums, deadline: float) -> _Answer:
    """Order one component, its labels numbered by a good start.

    The solver decides every pair; cycles of three are forbidden as it runs into them. It is
    first asked for fractions, which is quick and often enough.
    """
    size = len(sums)
    first, second = np.triu_indices(size, 1)
    cost = (sums.T - sums)[first, second]
    cycles = np.empty((0, 3), dtype=np.int64)
    for integrality in (0, 1):
        while True:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                return _Answer(None, proven=False)
            result = milp(
                cost,
                integrality=np.full(len(cost), integrality),
                bounds=Bounds(0, 1),
                constraints=_forbid(cycles, size),
                options={"time_limit": seconds, "mip_rel_gap": 0},
            )
            if result.status != 0:
                return _Answer(None, proven=False)
            before = np.zeros((size, size))
            before[first, second] = result.x
            before[second, first] = 1 - result.x
            found = _cycles(before)
            if not len(found):
                break
            cycles = np.concatenate([cycles, found])
        if np.all(np.abs(result.x - np.round(result.x)) < 1e-6):
            break
    return _Answer(np.argsort(-before.sum(axis=1), kind="stable"), proven=True)


def _pair_number(i: NDArray[np.int64], j: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return where pair i < j stands in ``np.triu_indices(size, 1)``."""
    return i * size - i * (i + 1) // 2 + j - i - 1


def _forbid(cycles: NDArray[np.int64], size: int) -> list[LinearConstraint]:
    """For i < j < k: not i before j before k before i, nor the other way round."""
    if not len(cycles):
        return []
    i, j, k = cycles.T
    rows = np.repeat(np.arange(len(cycles)), 3)
    columns = np.column_stack(
        [_pair_number(i, j, size), _pair_number(j, k, size), _pair_number(i, k, size)]
    )
    signs = np.tile([1.0, 1.0, -1.0], len(cycles))
    shape = (len(cycles), size * (size - 1) // 2)
    return [LinearConstraint(csr_array((signs, (rows, columns.ravel())), shape=shape), 0, 1)]


def _cycles(before: Sums) -> NDArray[np.int64]:
    """Return triples i < j < k that ``before`` orders in a circle, the worst ones first."""
    found, excess = [], []
    for i in range(len(before) - 2):
        # before[i, j] + before[j, k] - before[i, k] must lie in [0, 1].
        rest = before[i + 1 :, i + 1 :]
        total = before[i, i + 1 :, None] + rest - before[i, None, i + 1 :]
        off = np.triu(np.maximum(-total, total - 1), 1)
        j, k = np.nonzero(off > 1e-6)
        found.append(np.column_stack([np.full(len(j), i), j + i + 1, k + i + 1]))
        excess.append(off[j, k])
    if not found:
        return np.empty((0, 3), dtype=np.int64)
    worst = np.argsort(-np.concatenate(excess), kind="stable")[:_CYCLES_A_ROUND]
    return np.concatenate(found)[worst]


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

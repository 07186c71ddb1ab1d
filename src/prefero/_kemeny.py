"""Exact Kemeny consensus: integer programming over which label of each pair comes first."""

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from prefero._warnings import warn_user

Sums = NDArray[np.float64]
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

"""How the rankings of many neighbourhoods become one each: validated rankings, nothing checked."""

from collections.abc import Callable

import numpy as np

from prefero import _core
from prefero._ranking_sets import Neighborhoods, used_rows_only
from prefero._typing import Indices, Values
from prefero.plackett_luce import fit_plackett_luce_batch

Aggregation = Callable[[Neighborhoods], tuple[Values, Values]]

# The weight, relative to that of the neighbours, of the assumption that a pair is open.
PRIOR = 0.05
# Rounds of Algorithm 1 for neighbourhoods whose center does not settle.
MALLOWS_ROUNDS = 20


def aggregate(name: str, ranks: Values, indices: Indices, weights: Values) -> tuple[Values, Values]:
    """Aggregate the rankings of neighbourhoods.

    Parameters
    ----------
    name : str
        One of ``AGGREGATIONS``.
    ranks : ndarray of shape (n_cases, n_labels)
        Rankings of the cases.
    indices, weights : ndarray of shape (n_queries, k)
        The neighbours of each query, and what they count.

    Returns
    -------
    votes : ndarray of shape (n_queries, n_labels)
        Larger is better.
    theta : ndarray of shape (n_queries,)
        The spread of the rankings.
    """
    starts = np.arange(len(indices) + 1, dtype=np.int64) * indices.shape[1]
    sets = used_rows_only(ranks, starts, indices.ravel(), weights.ravel())
    return AGGREGATIONS[name](sets)


def _pairs(sets: Neighborhoods) -> tuple[Values, Values]:
    return _core.pair_votes_batch(*sets, prior=PRIOR)


def _mallows(sets: Neighborhoods) -> tuple[Values, Values]:
    return _core.fit_mallows_batch(*sets, max_rounds=MALLOWS_ROUNDS)


def _borda(sets: Neighborhoods) -> tuple[Values, Values]:
    return _core.borda_batch(*sets), _pairs(sets)[1]


def _kemeny(sets: Neighborhoods) -> tuple[Values, Values]:
    return _core.kemeny_batch(*sets, prior=PRIOR), _pairs(sets)[1]


def _plackett_luce(sets: Neighborhoods) -> tuple[Values, Values]:
    votes = fit_plackett_luce_batch(sets.ranks, sets.rows, sets.weights, indptr=sets.starts)
    return votes, _pairs(sets)[1]


AGGREGATIONS: dict[str, Aggregation] = {
    "pairs": _pairs,
    "mallows": _mallows,
    "borda": _borda,
    "kemeny": _kemeny,
    "plackett_luce": _plackett_luce,
}

"""How the rankings of many neighbourhoods become one each: validated rankings, nothing checked."""

from collections.abc import Callable
from functools import partial

import numpy as np

from prefero import _core
from prefero._ranking_sets import Neighborhoods, used_rows_only
from prefero._typing import Indices, Values
from prefero.plackett_luce import fit_plackett_luce_batch

# The weight, relative to that of the neighbours, of the assumption that a pair is open.
PRIOR = 0.05
# Rounds of Algorithm 1 for neighbourhoods whose center does not settle.
MALLOWS_ROUNDS = 20

# The mean differences of scores, which are no rankings.
SCORES = "scores"


def neighborhoods(ranks: Values, indices: Indices, weights: Values) -> Neighborhoods:
    """Return the sets of rankings that queries find.

    Parameters
    ----------
    ranks : ndarray of shape (n_cases, n_labels)
        Rankings of the cases.
    indices, weights : ndarray of shape (n_queries, k)
        The neighbours of each query, and what they count.

    Returns
    -------
    Neighborhoods
        One set a query.
    """
    starts = np.arange(len(indices) + 1, dtype=np.int64) * indices.shape[1]
    return used_rows_only(ranks, starts, indices.ravel(), weights.ravel())


def _plackett_luce(sets: Neighborhoods) -> Values:
    return fit_plackett_luce_batch(sets.ranks, sets.rows, sets.weights, indptr=sets.starts)


# Name -> votes of each set, larger is better.
AGGREGATIONS: dict[str, Callable[[Neighborhoods], Values]] = {
    "pairs": lambda sets: _core.pair_votes(*sets, prior=PRIOR),
    "mallows": lambda sets: _core.fit_mallows_batch(*sets, max_rounds=MALLOWS_ROUNDS)[0],
    "borda": lambda sets: _core.borda_batch(*sets),
    "kemeny": lambda sets: _core.kemeny_batch(*sets, prior=PRIOR),
    "plackett_luce": _plackett_luce,
}


def spreads(aggregation: str, sets: Neighborhoods) -> Values:
    """Return the theta of a Mallows model of each set."""
    if aggregation == "mallows":
        return _core.fit_mallows_batch(*sets, max_rounds=MALLOWS_ROUNDS)[1]
    return _core.pair_votes_batch(*sets, prior=PRIOR)[1]


# Name -> votes of all rankings but one, for each of some: function of ranks, weights and rows.
LEFT_OUT: dict[str, Callable[[Values, Values, Indices], Values]] = {
    name: partial(_core.left_out_votes, prior=PRIOR, kemeny=name == "kemeny")
    for name in ("pairs", "kemeny")
}

"""How the rankings of many neighbourhoods become one each: validated rankings, nothing checked."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from prefero import _core
from prefero._ranking_sets import Neighborhoods, used_rows_only
from prefero._trees._shrinkage import strongest_alike
from prefero._typing import Indices, Values
from prefero.consensus import kemeny
from prefero.metrics import kendall_tau
from prefero.plackett_luce import fit_plackett_luce_batch
from prefero.rankings import strict_ranks

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
        One set per query.
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


# Rows left out one after the other to judge Kemeny's order.
KEMENY_ROWS = 500


class KemenyVotes(NamedTuple):
    """Votes by which Kemeny's order stands, from 1 down to -1.

    Attributes
    ----------
    votes : ndarray of shape (n_labels,)
        Of all rows.
    left_out : ndarray of shape (n_samples, n_labels)
        Of all rows but the own one, where that was left out; else those of all.
    """

    votes: Values
    left_out: Values


def better_kemeny(
    disorder: Values, ranks: Values, weight: Values, constant: Values
) -> KemenyVotes | None:
    """Return Kemeny's order where it beats what was chosen beyond chance.

    Parameters
    ----------
    disorder : ndarray of shape (n_samples,)
        1 - tau of what was chosen, for rows that it has not seen; NaN where it has.
    ranks : ndarray of shape (n_samples, n_labels)
        Training rankings.
    weight : ndarray of shape (n_samples,)
        Their weights.
    constant : ndarray of shape (n_labels,)
        The votes of the consensus order that the model has: nothing new if Kemeny's is the same.

    Returns
    -------
    KemenyVotes or None
        None if it does not beat it, or is the same.
    """
    center = kemeny(ranks, "local", sample_weight=weight)
    if np.array_equal(center, strict_ranks(constant[None])[0]):
        return None
    rows = np.unique(np.linspace(0, len(ranks) - 1, KEMENY_ROWS).astype(np.int64))
    order = strict_ranks(LEFT_OUT["kemeny"](ranks, weight, rows))
    own = 1 - np.asarray(kendall_tau(ranks[rows], order, average=False))
    both = np.column_stack([own, disorder[rows]])
    if strongest_alike([both], weight[rows]) != 0:
        return None
    votes = _votes(center[None])[0]
    left_out = np.tile(votes, (len(ranks), 1))
    left_out[rows] = _votes(order)
    return KemenyVotes(votes, left_out)


def _votes(ranks: Indices) -> Values:
    return np.asarray(1 - 2 * (ranks - 1) / (ranks.shape[1] - 1))

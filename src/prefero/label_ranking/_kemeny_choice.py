"""Whether Kemeny's order for everyone beats what a model has learned."""

from typing import NamedTuple

import numpy as np

from prefero._trees import strongest_alike
from prefero._typing import Indices, Values
from prefero.consensus import kemeny
from prefero.label_ranking._aggregation import LEFT_OUT
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks

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
        The votes of the constant order that the model has: nothing new if Kemeny's is the same.

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

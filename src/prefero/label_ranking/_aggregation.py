"""How the rankings of many neighbourhoods become one each."""

from collections.abc import Callable

from prefero import _core
from prefero._typing import Indices, Values
from prefero.consensus import borda_batch, check_neighborhoods
from prefero.mallows import fit_mallows_batch, fit_pairs_batch
from prefero.plackett_luce import fit_plackett_luce_batch

Aggregation = Callable[[Values, Indices, Values], tuple[Values, Values]]


def _pairs(ranks: Values, indices: Indices, weights: Values) -> tuple[Values, Values]:
    batch = fit_pairs_batch(ranks, indices, weights)
    return batch.votes, batch.theta


def _mallows(ranks: Values, indices: Indices, weights: Values) -> tuple[Values, Values]:
    batch = fit_mallows_batch(ranks, indices, weights)
    return batch.votes, batch.theta


def _borda(ranks: Values, indices: Indices, weights: Values) -> tuple[Values, Values]:
    return borda_batch(ranks, indices, weights), fit_pairs_batch(ranks, indices, weights).theta


def _kemeny(ranks: Values, indices: Indices, weights: Values) -> tuple[Values, Values]:
    votes = _core.kemeny_batch(*check_neighborhoods(ranks, indices, weights), prior=0.05)
    return votes, fit_pairs_batch(ranks, indices, weights).theta


def _plackett_luce(ranks: Values, indices: Indices, weights: Values) -> tuple[Values, Values]:
    votes = fit_plackett_luce_batch(ranks, indices, weights)
    return votes, fit_pairs_batch(ranks, indices, weights).theta


# Each takes rankings, the rows of each neighbourhood and their weights; it returns votes, larger
# is better, and the spread of the rankings.
AGGREGATIONS: dict[str, Aggregation] = {
    "pairs": _pairs,
    "mallows": _mallows,
    "borda": _borda,
    "kemeny": _kemeny,
    "plackett_luce": _plackett_luce,
}

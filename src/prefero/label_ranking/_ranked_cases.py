"""Cases with rankings: what the neighbours of a query prefer, and how well that predicts cases."""

from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._neighbors._case_base import CaseBase, largest_good_size
from prefero._neighbors._neighborhoods import Neighbors, WeightFunction, neighbor_weights
from prefero._neighbors._space import Space, nearest_in_local_metric
from prefero._ranking_sets import Neighborhoods
from prefero._typing import Indices, Values
from prefero.calibration import all_pairs, pair_outcomes
from prefero.consensus import borda_votes
from prefero.label_ranking._aggregation import (
    AGGREGATIONS,
    LEFT_OUT,
    SCORES,
    neighborhoods,
    spreads,
)
from prefero.metrics import regret
from prefero.rankings import ScoredRanks


class NeighborExplanation(NamedTuple):
    """Why some instances got their predictions: their neighbours, nearest first.

    Attributes
    ----------
    cases : ndarray of shape (n_samples, k)
        Row numbers in the case base, of ``rankings_`` for instance.
    distances, weights : ndarray of shape (n_samples, k)
        How far they are, and what their rankings count.
    rankings : ndarray of shape (n_samples, k, n_labels)
        Their ranks; NaN where unknown.
    """

    cases: Indices
    distances: Values
    weights: Values
    rankings: Values


class RankedCases(CaseBase):
    """A case base of rankings.

    Parameters
    ----------
    points : ndarray of shape (n_cases, n_features)
        The cases.
    weight : ndarray of shape (n_cases,)
        Their weights.
    rankings : ndarray of shape (n_cases, n_labels)
        Their rankings, validated.
    weights : str or callable
        What neighbours count by their distance.
    local_metric : int or None
        The number of neighbours to which a metric is fitted around each query.
    scores : ndarray of shape (n_cases, n_labels), optional
        What the labels are worth in each case, for the aggregation ``SCORES``.
    **index
        As in :func:`prefero._neighbors.build_index`.
    """

    def __init__(
        self,
        points: Values,
        weight: Values,
        rankings: Values,
        weights: str | WeightFunction,
        local_metric: int | None,
        scores: Values | None = None,
        **index: Any,
    ) -> None:
        super().__init__(points, weight, **index)
        if rankings.ndim != 2 or len(rankings) != len(points):
            raise ValueError(
                f"rankings_ has shape {rankings.shape}, where {len(points)} cases have one row "
                "each: fit again."
            )
        self.rankings, self.weights, self.local_metric = rankings, weights, local_metric
        self._votes_of_all: dict[str, Values] = {}
        self._scored = None if scores is None else ScoredRanks(rankings, scores)

    def _found(self, queries: Values, k: int) -> Neighbors:
        return super()._found(queries, max(k, self.local_metric or 0))

    def _refined(self, queries: Values, near: Neighbors, k: int) -> Neighbors:
        if self.local_metric is None:
            return near
        votes = borda_votes(self.rankings)
        return nearest_in_local_metric(queries, self.points, votes, near, k)

    def _sets(self, near: Neighbors) -> Neighborhoods:
        return neighborhoods(self.rankings, near.indices, neighbor_weights(near, self.weights))

    def votes(self, near: Neighbors, aggregation: str) -> Values:
        """Return the votes of neighbours, larger is better."""
        if aggregation == SCORES:
            weights = neighbor_weights(near, self.weights)
            won, seen = self._differences
            sums = (np.einsum("qk,qkl->ql", weights, part[near.indices]) for part in (won, seen))
            return _mean_differences(*sums)
        return AGGREGATIONS[aggregation](self._sets(near))

    def spreads(self, near: Neighbors, aggregation: str) -> Values:
        """Return the spreads of Mallows models of neighbours."""
        return spreads(aggregation, self._sets(near))

    @cached_property
    def _ties(self) -> NDArray[np.int8]:
        """Which pairs of labels each case ties: 1 yes, 0 no, -1 unknown."""
        outcomes = pair_outcomes(self.rankings, all_pairs(self.rankings.shape[1]))
        return np.where(np.isnan(outcomes), -1, outcomes == 0.5).astype(np.int8)

    @property
    def tied(self) -> bool:
        """Whether any case holds a tie."""
        return bool((self._ties == 1).any())

    def tie_shares(self, near: Neighbors, shrinkage: float) -> Values:
        """Return how often neighbours tie each pair of labels, pulled to the share of all cases."""
        weights = neighbor_weights(near, self.weights)
        shape = len(weights), self._ties.shape[1]
        everyone = self._share_of(self.weight @ (self._ties == 1), self.weight @ (self._ties >= 0))
        tied, known = np.zeros(shape), np.zeros(shape)
        for place in range(weights.shape[1]):
            facts, weight = self._ties[near.indices[:, place]], weights[:, [place]]
            tied += weight * (facts == 1)
            known += weight * (facts >= 0)
        own = np.where(known > 0, self._share_of(tied, known), everyone)
        return (1 - shrinkage) * own + shrinkage * everyone

    @staticmethod
    def _share_of(tied: Values, known: Values) -> Values:
        return np.divide(tied, known, out=np.zeros_like(tied), where=known > 0)

    def explain(self, near: Neighbors) -> NeighborExplanation:
        """Show neighbours, what they count and prefer."""
        weights = neighbor_weights(near, self.weights)
        return NeighborExplanation(
            near.indices, near.distances, weights, self.rankings[near.indices]
        )

    def votes_of_all(self, aggregation: str) -> Values:
        """Return the votes of all cases, of shape (1, n_labels)."""
        if aggregation == SCORES:
            return _mean_differences(*(self.weight @ part for part in self._differences))[None]
        if aggregation not in self._votes_of_all:
            rows = np.arange(len(self.rankings))[None]
            everyone = neighborhoods(self.rankings, rows, self.weight[None])
            self._votes_of_all[aggregation] = AGGREGATIONS[aggregation](everyone)
        return self._votes_of_all[aggregation]

    def left_out_votes(
        self, cases: Indices, near: Neighbors, shrinkage: float, aggregation: str
    ) -> Values:
        """Return what others predict for some cases, pulled to the order of all others."""
        if shrinkage == 1:
            return self._votes_of_others(cases, aggregation)
        votes = self.votes(near, aggregation)
        if shrinkage == 0:
            return votes
        return (1 - shrinkage) * votes + shrinkage * self._votes_of_others(cases, aggregation)

    def _votes_of_others(self, cases: Indices, aggregation: str) -> Values:
        if aggregation == SCORES:
            own = (self.weight[cases, None] * part[cases] for part in self._differences)
            all_ = (self.weight @ part for part in self._differences)
            return _mean_differences(*(a - o for a, o in zip(all_, own, strict=True)))
        if aggregation in LEFT_OUT:
            return LEFT_OUT[aggregation](self.rankings, self.weight, cases)
        # One case of many: not worth to aggregate them all anew for each.
        return np.tile(self.votes_of_all(aggregation), (len(cases), 1))

    def left_out_tau(
        self, near: Neighbors, sizes: list[int], shrinkages: tuple[float, ...], aggregation: str
    ) -> dict[tuple[int, float], Values]:
        """Return tau of each trial by size and shrinkage, from their nearest others.

        A shrinkage of 1 is the same for all sizes, and given with the largest. Where scores are
        aggregated, what the choice loses against the best label, negative, is in place of tau.
        """
        cases, _ = self.trials()
        truth = self.rankings[cases]
        if aggregation == SCORES and self._scored is not None:
            gain = partial(_gain_of_votes, self._scored.scores[cases])
        else:
            gain = partial(tau_of_votes, truth)
        everyone = self._votes_of_others(cases, aggregation) if any(shrinkages) else 0.0
        tau = {}
        for k in sizes:
            votes = self.votes(near.first(k), aggregation)
            for part in shrinkages if k == sizes[-1] else [s for s in shrinkages if s < 1]:
                tau[k, part] = gain((1 - part) * votes + part * everyone)
        return tau

    @cached_property
    def _differences(self) -> tuple[Values, Values]:
        """By how much each label is worth more than those it is compared with, and their number."""
        assert self._scored is not None
        known = ~np.isnan(self._scored.scores)
        present = known.sum(axis=1, keepdims=True)
        return present * self._scored.relative(), np.where(known, present - 1.0, 0.0)


def _mean_differences(won: Values, seen: Values) -> Values:
    return np.divide(won, seen, out=np.zeros_like(won), where=seen > 0)


def _gain_of_votes(scores: Values, votes: Values) -> Values:
    """What the choice of votes is worth beyond the best label: never positive."""
    return -np.asarray(regret(scores, _core.strict_ranks(votes), average=False))


def tau_of_votes(truth: Values, votes: Values) -> Values:
    """Return Kendall's tau-b of each row and the order of its votes; NaN where undefined.

    Parameters
    ----------
    truth : ndarray of shape (n_samples, n_labels)
        Ranks, validated.
    votes : ndarray of shape (n_samples, n_labels)
        Votes.

    Returns
    -------
    ndarray of shape (n_samples,)
        As :func:`prefero.metrics.kendall_tau` without a mean.
    """
    ranks = _core.strict_ranks(votes).astype(np.float64)
    concordant, discordant, tied, _, _ = _core.count_pairs(truth, ranks).T.astype(np.float64)
    strict = concordant + discordant
    with np.errstate(invalid="ignore"):
        return (concordant - discordant) / np.sqrt(strict * (strict + tied))


# What "auto" chooses from: each size is about a quarter larger than the one before.
NEIGHBORHOOD_SIZES = (1, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 25, 32, 40, 50, 65, 85, 110, 150, 200)
# How much of the consensus order joins the votes of the neighbours; 1 is the consensus order.
SHRINKAGES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Fewer cases than these cannot tell neighbours from the consensus order.
FEWEST_CASES = 10


class NeighborhoodChoiceMixin:
    """Mixin that settles the parameters of an instance-based ranker that are "auto"."""

    n_neighbors: Any
    shrinkage: Any
    aggregation: str
    n_neighbors_: int
    shrinkage_: float
    aggregation_: str
    leave_one_out_: dict[int, float]
    _cases: Any
    _enter: Any

    def _choose(
        self, spaces: list[Space], X: Values, target: Values | ScoredRanks, weight: Values
    ) -> Space:
        """Settle on what predicts the cases left out best, up to chance.

        Of choices that they cannot tell apart that one is taken which averages most: the
        consensus order, then the largest neighbourhood, the strongest shrinkage, the plainest
        space.
        """
        self.aggregation_ = "pairs" if self.aggregation == "auto" else self.aggregation
        if isinstance(target, ScoredRanks):
            self.aggregation_ = SCORES
        tau: dict[tuple[int, float, int], Values] = {}
        others: list[Neighbors] = []
        for number, space in enumerate(spaces):
            self._enter(space, X, target, weight)
            sizes = self._cases.sizes(self.n_neighbors, NEIGHBORHOOD_SIZES)
            shrinkages = self._shrinkages()
            if self.aggregation != "auto" and len(spaces) == len(sizes) == len(shrinkages) == 1:
                self.n_neighbors_, self.shrinkage_ = sizes[0], shrinkages[0]
                self.leave_one_out_ = {}
                return space
            farthest = 1 if shrinkages == (1.0,) else sizes[-1]
            others.append(self._cases.others(self._cases.trials()[0], farthest))
            of_space = self._cases.left_out_tau(others[-1], sizes, shrinkages, self.aggregation_)
            tau.update(((*choice, number), rows) for choice, rows in of_space.items())
        choices = sorted(tau, key=lambda choice: (choice[1] == 1, choice))
        best = self._best([tau[choice] for choice in choices])
        self.n_neighbors_, self.shrinkage_, number = choices[best]
        if number < len(spaces) - 1:
            self._enter(spaces[number], X, target, weight)
        self.leave_one_out_ = {k: self._mean(tau[k, shrinkages[0], number]) for k in sizes}
        if self.aggregation == "auto" and self.aggregation_ != SCORES:
            self._choose_aggregation(others[number])
        self._held_out = others[number]
        return spaces[number]

    def _shrinkages(self) -> tuple[float, ...]:
        if self.n_neighbors == "all":
            return (1.0,)
        if self.shrinkage != "auto":
            return (float(self.shrinkage),)
        enough = self._cases.n_places >= FEWEST_CASES
        return SHRINKAGES if enough and self.aggregation_ in (*LEFT_OUT, SCORES) else (0.0,)

    def _choose_aggregation(self, near: Neighbors) -> None:
        """Take Kemeny's order where it predicts the cases left out better than the votes."""
        names, choice = ("kemeny", "pairs"), (self.n_neighbors_, self.shrinkage_)
        tau = [
            self._cases.left_out_tau(near, [choice[0]], (choice[1],), name)[choice]
            for name in names
        ]
        self.aggregation_ = names[self._best(tau)]

    def _best(self, tau: list[Values]) -> int:
        """The last of some choices that is the best up to chance, or the best one."""
        if self.n_neighbors == "best":
            return int(np.argmax(np.round([self._mean(rows) for rows in tau], 12)))
        return largest_good_size(np.array(tau), self._cases.trials()[1])

    def _mean(self, tau: Values) -> float:
        weight = np.where(np.isnan(tau), 0, self._cases.trials()[1])
        return float(np.nan_to_num(tau) @ weight / (weight.sum() or 1.0))

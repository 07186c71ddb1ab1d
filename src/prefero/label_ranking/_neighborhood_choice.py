"""How many neighbours, how far to shrink, in which space: what the cases left out advise."""

from typing import Any

import numpy as np

from prefero._neighbors import Neighbors, Space, largest_good_size
from prefero._typing import Values
from prefero.label_ranking._aggregation import LEFT_OUT, SCORES
from prefero.rankings import ScoredRanks

# What "auto" chooses from: each size is about a quarter larger than the one before.
NEIGHBORHOOD_SIZES = (1, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 25, 32, 40, 50, 65, 85, 110, 150, 200)
# How much of the constant order joins the votes of the neighbours; 1 is the constant order.
SHRINKAGES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Fewer cases than these cannot tell neighbours from the constant order.
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
        constant order, then the largest neighbourhood, the strongest shrinkage, the plainest
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

"""Training rows by which members are judged: what is true of them, and who has not seen them."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_consistent_length, column_or_1d

from prefero import _core
from prefero._sampling import SAMPLE_ROWS, evenly_spaced
from prefero._solvers import case_numbers
from prefero._typing import Indices, Values
from prefero.automatic._members import HeldOut, Judged, Rows, fold_held_out, own_held_out
from prefero.automatic._pair_margins import Combination, PairLoss, combine, standard_error
from prefero.calibration import all_pairs, pair_outcomes
from prefero.consensus import borda_batch, kemeny
from prefero.label_ranking import ConsensusLabelRanker
from prefero.metrics import kendall_tau, regret, top_accuracy
from prefero.preferences import PreferenceGraphs
from prefero.rankings import strict_ranks

# Different rows, or groups, below which nothing can be told from folds.
FEWEST_CASES = 10
# Entries (rows x pairs) that members are judged by at most, as long as some rows remain.
_MOST_ENTRIES, _FEWEST_ASKED = 2**21, 64
# Standard errors by which one way to combine members must beat the plain one.
_CLEAR_ERRORS = 2.0
# The least share of the rows that all members must know to be judged by these alone.
_LEAST_KNOWN = 0.1
# Rows whose order plays no part, because folds are dealt out along their sorted features.
_MOST_SORTED = 50_000

METRICS: dict[str, Callable[..., Any]] = {
    "tau": kendall_tau,
    "tau-x": lambda truth, ranks, **more: kendall_tau(truth, ranks, variant="x", **more),
    "top1": top_accuracy,
    "regret": regret,
}
# Metrics of the label that is put first, which say little a row.
OF_FIRST = ("top1", "regret")


class Evidence:
    """Rows that members are asked about, and the folds in which they have not seen them.

    Parameters
    ----------
    rows : Rows
        All training rows; with scores if members are judged by regret.
    groups : ndarray of shape (n_samples,), optional
        Numbers of groups, which are not torn apart.
    n_folds : int
        How many folds.
    scoring : str
        One of `METRICS`.
    """

    def __init__(
        self,
        rows: Rows,
        groups: Indices | None,
        n_folds: int,
        scoring: str = "tau",
    ) -> None:
        self.rows, self.scoring = rows, scoring
        self.n_labels = rows.ranks.shape[1]
        self.pairs = all_pairs(self.n_labels)
        self.fold, n_cases = folds_of(rows, groups, n_folds)
        self.possible = n_cases >= FEWEST_CASES and self.n_labels > 1
        self.asked = evenly_spaced(len(rows.ranks), self._most_asked())
        self.truth, self.weight = rows.ranks[self.asked], rows.weight[self.asked]
        self.scores = None if rows.scores is None else rows.scores[self.asked]
        self.groups = (
            None if groups is None else np.unique(groups[self.asked], return_inverse=True)[1]
        )
        self.outcomes = pair_outcomes(self.truth, self.pairs)
        self.stakes = None if scoring != "regret" or self.scores is None else self._stakes()

    @classmethod
    def sampled(
        cls, rows: Rows, groups: Indices | None, n_folds: int, scoring: str, size: int
    ) -> "Evidence":
        """Return evidence of about so many rows, whole groups."""
        chosen = sample(len(rows.ranks), groups, size)
        if len(chosen) < len(rows.ranks):
            rows = rows.some(chosen)
            groups = None if groups is None else np.unique(groups[chosen], return_inverse=True)[1]
        return cls(rows, groups, n_folds, scoring)

    def _most_asked(self) -> int:
        by_memory = _MOST_ENTRIES // max(1, len(self.pairs.first))
        return min(SAMPLE_ROWS, max(_FEWEST_ASKED, by_memory))

    def _stakes(self) -> Values:
        """How much is at stake between the labels of each pair."""
        assert self.scores is not None
        scores = self.scores
        return np.abs(scores[:, self.pairs.first] - scores[:, self.pairs.second])

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.rows.ranks)

    def known_to_all(self, judged: Sequence[Judged]) -> "tuple[Evidence, list[Judged]]":
        """Return the evidence of the rows that every member has something to say of.

        A member that held out a part of the rows says nothing of the others, which must not
        count against it. All rows are returned if such are too few.
        """
        known = [~np.isnan(member.held_out.margins).all(axis=1) for member in judged]
        kept = np.all([np.ones(len(self.asked), dtype=bool), *known], axis=0)
        if kept.all() or kept.mean() < _LEAST_KNOWN:
            return self, list(judged)
        narrow = copy(self)
        for name in ("asked", "truth", "weight", "scores", "groups", "outcomes", "stakes"):
            part = getattr(self, name)
            setattr(narrow, name, None if part is None else part[kept])
        return narrow, [member.of_rows(kept) for member in judged]

    def best_first(self, judged: Sequence[Judged]) -> list[Judged]:
        """Return members by their weights in a stack, the largest first."""
        evidence, narrowed = self.known_to_all(judged)
        margins = [member.held_out.margins for member in narrowed]
        families = [member.family for member in judged]
        found = evidence.combine(margins, families, staked=self.stakes is not None)
        return [judged[k] for k in np.lexsort([found.losses, -found.weights])]

    def combine(
        self, margins: Sequence[Values], families: Sequence[str], *, staked: bool = False
    ) -> Combination:
        """Learn what members count, by what they say of the rows asked about.

        With ``staked`` pairs count by what is at stake between their labels.
        """
        stakes = self.stakes if staked else None
        return combine(margins, families, self.outcomes, self.weight, stakes)

    def constant(self) -> tuple[HeldOut, Indices]:
        """Return the margins of pairs over all rows but the fold's, and the constant orders."""
        rule = self.rule()
        margins = np.empty(self.outcomes.shape)
        ranks = np.empty(self.truth.shape, dtype=np.int64)
        for k in range(int(self.fold.max()) + 1):
            here = self.fold[self.asked] == k
            others = self.rows.some(self.fold != k)
            margins[here] = constant_margins(others)
            ranks[here] = strict_ranks(constant_votes(others, rule)[None])[0]
        return HeldOut(margins, 0.0), ranks

    def rule(self) -> str:
        """Return which of Borda's and Kemeny's rules suits the rankings better."""
        if not hasattr(self, "_rule"):
            part = self.rows.some(evenly_spaced(len(self.rows.ranks)))
            # The features play no part; the order of the rows must not either.
            X = np.nan_to_num(part.ranks)
            ranker = ConsensusLabelRanker()
            ranker._fit(X, part.ranks, part.weight)
            self._rule = ranker.aggregation_
        return self._rule

    def held_out(self, ranker: Any, *, own: bool, n_jobs: int | None = None) -> HeldOut:
        """Return what a ranker says of the rows asked about without having seen them.

        With ``own`` it is fitted once, if it knows that by itself; else once a fold.
        """
        if own and self.groups is None:
            found = own_held_out(ranker, self.rows, self.asked)
            if found is not None:
                return found
        return fold_held_out(ranker, self.rows, self.fold, self.asked, n_jobs)

    def values(self, ranks: Indices, scoring: str | None = None) -> Values:
        """Return the metric of each row asked about, larger is better; NaN where undefined."""
        scoring = scoring or self.scoring
        if scoring == "regret" and self.scores is not None:
            return -np.asarray(regret(self.scores, ranks, average=False))
        return np.asarray(METRICS[scoring](self.truth, ranks, average=False))

    def gain(
        self, ranks: Indices, over: Indices, scoring: str | None = None
    ) -> tuple[float, float]:
        """Return how much better orders are than others, and its standard error."""
        return self.summary(self.values(ranks, scoring) - self.values(over, scoring))

    def loss_gain(self, margins: Sequence[Values], families: Sequence[str]) -> tuple[float, float]:
        """Return how much smaller the pair loss of a stack is than its first member's alone.

        The weights of each fold are learned from the others, so that none has seen its rows.
        """
        fold = self.fold[self.asked]
        known = ~np.isnan(self.outcomes).all(axis=1)
        gains = np.full(len(fold), np.nan)
        for k in np.unique(fold[known]):
            here, others = known & (fold == k), known & (fold != k)
            if not others.any():
                continue
            found = combine(
                [part[others] for part in margins],
                families,
                self.outcomes[others],
                self.weight[others],
            )
            loss = PairLoss(self.outcomes[here], self.weight[here])
            own = np.array([loss.entries(part[here]) for part in margins])
            alone = loss.of_rows(found.scales[0] * own[0])
            stacked = loss.of_rows((found.weights * found.scales) @ own)
            gains[here] = alone - stacked
        return self.summary(gains)

    def clearly_best(self, orders: Sequence[Indices]) -> int:
        """Return the number of the first, or of the best that clearly gains over it."""
        gains = [self.gain(ranks, orders[0]) for ranks in orders]
        clear = [k for k, (gain, error) in enumerate(gains) if gain > _CLEAR_ERRORS * error]
        return max(clear, key=lambda k: gains[k][0], default=0)

    def summary(self, values: Values) -> tuple[float, float]:
        """Return the mean of values of the rows, and its standard error."""
        known = ~np.isnan(values) & (self.weight > 0)
        if not known.any():
            return float("nan"), float("inf")
        weight = self.weight[known]
        groups = None if self.groups is None else self.groups[known]
        mean = float(values[known] @ weight / weight.sum())
        return mean, standard_error(values[known], weight, groups)


def sample(n_rows: int, groups: Indices | None, size: int) -> Indices:
    """Return about so many rows, whole groups, in their order; all if there are not more."""
    if n_rows <= size:
        return np.arange(n_rows)
    random = np.random.default_rng(0)
    if groups is None:
        return np.sort(random.permutation(n_rows)[:size])
    counts = np.bincount(groups)
    order = random.permutation(len(counts))
    taken = order[: max(1, int(np.searchsorted(np.cumsum(counts[order]), size, side="right")))]
    return np.flatnonzero(np.isin(groups, taken))


def thinned(rows: Rows, size: int) -> Rows:
    """Return so many rows spread evenly, all if there are not more."""
    n = len(rows.ranks)
    return rows if n <= size else rows.some(evenly_spaced(n, size))


def constant_margins(rows: Rows) -> Values:
    """Return the log-odds of each pair over all rankings, after half a vote for either side."""
    sums = _core.pair_sums(np.ascontiguousarray(rows.ranks), np.ascontiguousarray(rows.weight))
    first, second = all_pairs(rows.ranks.shape[1])
    ahead, behind = sums[first, second] + 0.5, sums[second, first] + 0.5
    return logit(ahead / (ahead + behind))


def constant_votes(rows: Rows, rule: str) -> Values:
    """Return the votes by which the constant order stands."""
    if rule == "kemeny":
        center = kemeny(rows.ranks, "local", sample_weight=rows.weight)
        return (len(center) + 1 - center).astype(np.float64)
    return borda_batch(rows.ranks, np.arange(len(rows.ranks))[None], rows.weight[None])[0]


def folds_of(rows: Rows, groups: Indices | None, n_folds: int) -> tuple[Indices, int]:
    """Return the fold of each row, and how many witnesses there are."""
    n = len(rows.ranks)
    if groups is not None:
        count = int(groups.max()) + 1
        fold = np.zeros(n, dtype=np.int64)
        if count > 1:
            splits: Iterable[Any] = GroupKFold(min(n_folds, count)).split(rows.ranks, groups=groups)
            for k, (_, left_out) in enumerate(splits):
                fold[left_out] = k
        return fold, count
    if n > _MOST_SORTED:
        return np.random.default_rng(0).permutation(n) % n_folds, n
    case = case_numbers(rows.X, PreferenceGraphs.from_ranks(rows.ranks))
    return case % n_folds, int(case.max()) + 1


def group_numbers(groups: ArrayLike | None, used: Any) -> Indices | None:
    """Return numbers of groups, from 0 on, for the rows that a fit uses."""
    if groups is None:
        return None
    names = column_or_1d(groups, warn=True)
    check_consistent_length(used, names)
    return np.unique(names[used], return_inverse=True)[1]

"""Training rows by which members are judged: what is true of them, and who has not seen them."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.model_selection import GroupKFold

from prefero import _core
from prefero._solvers import case_numbers
from prefero._typing import Indices, Values
from prefero.automatic._members import HeldOut, Rows, fold_held_out, own_held_out
from prefero.automatic._weights import standard_error
from prefero.calibration import all_pairs, pair_outcomes
from prefero.consensus import borda_batch, kemeny
from prefero.label_ranking import ConsensusLabelRanker
from prefero.metrics import kendall_tau, regret, top_accuracy
from prefero.preferences import PreferenceGraphs
from prefero.rankings import strict_ranks

# Different rows, or groups, below which nothing can be told from folds.
FEWEST_CASES = 10
# Rows that members are judged by at most, and entries (rows x pairs) as long as some remain.
_MOST_ASKED, _MOST_ENTRIES, _FEWEST_ASKED = 20_000, 2**21, 64
# Rows whose order plays no part, because folds are dealt out along their sorted features.
_MOST_SORTED = 50_000

MEASURES: dict[str, Callable[..., Any]] = {
    "tau": kendall_tau,
    "tau-x": lambda truth, ranks, **more: kendall_tau(truth, ranks, variant="x", **more),
    "top1": top_accuracy,
    "regret": regret,
}


class Evidence:
    """Rows that members are asked about, and the folds in which they have not seen them.

    Parameters
    ----------
    rows : Rows
        All training rows.
    groups : ndarray of shape (n_samples,), optional
        Numbers of groups, which are not torn apart.
    n_folds : int
        How many folds.
    measure : str
        One of `MEASURES`.
    scores : ndarray of shape (n_samples, n_labels), optional
        What labels are worth, for the regret.
    """

    def __init__(
        self,
        rows: Rows,
        groups: Indices | None,
        n_folds: int,
        measure: str = "tau",
        scores: Values | None = None,
    ) -> None:
        self.rows, self.measure = rows, measure
        self.n_labels = rows.ranks.shape[1]
        self.pairs = all_pairs(self.n_labels)
        self.fold, n_cases = _folds(rows, groups, n_folds)
        self.possible = n_cases >= FEWEST_CASES and self.n_labels > 1
        self.asked = spread(len(rows.ranks), self._most_asked())
        self.truth, self.weight = rows.ranks[self.asked], rows.weight[self.asked]
        self.scores = None if scores is None else scores[self.asked]
        self.groups = (
            None if groups is None else np.unique(groups[self.asked], return_inverse=True)[1]
        )
        self.outcomes = pair_outcomes(self.truth, self.pairs)

    def _most_asked(self) -> int:
        by_memory = _MOST_ENTRIES // max(1, len(self.pairs.first))
        return min(_MOST_ASKED, max(_FEWEST_ASKED, by_memory))

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
            part = self.rows.some(spread(len(self.rows.ranks), _MOST_ASKED))
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

    def values(self, ranks: Indices) -> Values:
        """Return the measure of each row asked about, larger is better; NaN where undefined."""
        if self.measure == "regret" and self.scores is not None:
            return -np.asarray(regret(self.scores, ranks, average=False))
        return np.asarray(MEASURES[self.measure](self.truth, ranks, average=False))

    def summary(self, values: Values) -> tuple[float, float]:
        """Return the mean of values of the rows, and its standard error."""
        known = ~np.isnan(values) & (self.weight > 0)
        if not known.any():
            return float("nan"), float("inf")
        weight = self.weight[known]
        groups = None if self.groups is None else self.groups[known]
        mean = float(values[known] @ weight / weight.sum())
        return mean, standard_error(values[known], weight, groups)


def spread(n_rows: int, most: int) -> Indices:
    """Return rows spread evenly over so many, all if they are few."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.int64))


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


def _folds(rows: Rows, groups: Indices | None, n_folds: int) -> tuple[Indices, int]:
    """The fold of each row, and how many witnesses there are."""
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

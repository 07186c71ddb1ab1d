"""Training rows with their out-of-fold predictions, by which stacks are evaluated."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from prefero import _core
from prefero._sampling import SAMPLE_ROWS, evenly_spaced
from prefero._solvers._held_out import case_numbers
from prefero._typing import Indices, Values
from prefero.automatic._members import (
    Member,
    OutOfFoldMargins,
    TrainingRows,
    fold_held_out,
    learns_from_scores,
    own_held_out,
)
from prefero.automatic._pair_margins import (
    FEW_UNITS,
    Combination,
    PairwiseLogLoss,
    combine,
    standard_error,
)
from prefero.calibration import all_pairs, pair_outcomes, score_margins
from prefero.consensus import borda_batch, kemeny
from prefero.label_ranking import ConsensusLabelRanker
from prefero.metrics import kendall_tau, regret, top_accuracy, utility
from prefero.preferences import PreferenceGraphs
from prefero.rankings import ScoredRanks, strict_ranks

# Different rows that are needed to compare rankers; groups, which tell more, each left out once.
FEWEST_ROWS, FEWEST_GROUPS = 10, 5
# Members are evaluated on at most so many entries (rows x pairs), but on at least so many rows.
_MOST_ENTRIES, _FEWEST_ASKED = 2**21, 64
# What members that learn from scores share equally, beside the weights that were learned.
_SHARED_WEIGHT = 0.5
# The least share of rows known to all members for which members are evaluated on these alone.
_LEAST_KNOWN = 0.1
# Up to so many rows folds do not depend on the order of the rows, but on their sorted features.
_MOST_SORTED = 50_000

METRICS: dict[str, Callable[..., Any]] = {
    "tau": kendall_tau,
    "tau-x": lambda truth, ranks, **more: kendall_tau(truth, ranks, variant="x", **more),
    "top1": top_accuracy,
    "regret": regret,
    "utility": utility,
    "gap_closed": regret,  # less that of the single best label: see `StackEvaluation.values`
}
# Metrics of scores: members, weights, decoding and the baseline are then those of value.
OF_SCORES = ("regret", "utility", "gap_closed")


class StackEvaluation:
    """Training rows with the truth about their pairs, and folds for out-of-fold predictions.

    Parameters
    ----------
    rows : TrainingRows
        All training rows; with scores if members are evaluated by regret.
    groups : ndarray of shape (n_samples,), optional
        Numbers of groups, which folds do not divide.
    n_folds : int
        The number of folds.
    scoring : str
        One of `METRICS`.
    """

    def __init__(
        self, rows: TrainingRows, groups: Indices | None, n_folds: int, scoring: str = "tau"
    ) -> None:
        self.rows, self.scoring = rows, scoring
        self.n_labels = rows.ranks.shape[1]
        self.pairs = first, second = all_pairs(self.n_labels)
        self.fold, self.n_units = folds_of(rows, groups, n_folds)
        self.too_few = too_few(self.n_units, groups)
        by_memory = _MOST_ENTRIES // max(1, len(first))
        self.asked = evenly_spaced(len(rows.ranks), min(SAMPLE_ROWS, max(_FEWEST_ASKED, by_memory)))
        self.truth, self.weight = rows.ranks[self.asked], rows.weight[self.asked]
        self.scores = None if rows.scores is None else rows.scores[self.asked]
        self.groups = None if groups is None else renumbered(groups, self.asked)
        self.outcomes = pair_outcomes(self.truth, self.pairs)
        self.score_differences = None
        if scoring in OF_SCORES and self.scores is not None:
            self.score_differences = np.abs(self.scores[:, first] - self.scores[:, second])

    @property
    def possible(self) -> bool:
        """Whether rankers can be compared."""
        return not self.too_few and self.n_labels > 1

    @classmethod
    def sampled(
        cls, rows: TrainingRows, groups: Indices | None, n_folds: int, scoring: str, size: int
    ) -> "StackEvaluation":
        """Return an evaluation on about so many rows; groups are not divided."""
        chosen = sample(len(rows.ranks), groups, size)
        if len(chosen) < len(rows.ranks):
            rows = rows.some(chosen)
            groups = None if groups is None else renumbered(groups, chosen)
        return cls(rows, groups, n_folds, scoring)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.rows.ranks)

    def known_to_all(self, members: Sequence[Member]) -> "tuple[StackEvaluation, list[Member]]":
        """Return the evaluation on the rows for which every member predicts something.

        A member that held out some rows predicts nothing for the others, which must not count
        against it. All rows are kept if the common ones are too few.
        """
        known = [~np.isnan(member.held_out.margins).all(axis=1) for member in members]
        kept = np.all([np.ones(len(self.asked), dtype=bool), *known], axis=0)
        if kept.all() or kept.mean() < _LEAST_KNOWN:
            return self, list(members)
        narrow = copy(self)
        for name in ("asked", "truth", "weight", "scores", "groups", "outcomes"):
            part = getattr(self, name)
            setattr(narrow, name, None if part is None else part[kept])
        if self.score_differences is not None:
            narrow.score_differences = self.score_differences[kept]
        return narrow, [
            member._replace(held_out=own.some(kept))
            for member, own in ((member, member.held_out) for member in members)
        ]

    def best_first(self, members: Sequence[Member]) -> list[Member]:
        """Return members by their weights in a stack, the largest first."""
        evaluation, narrowed = self.known_to_all(members)
        margins = [member.held_out.margins for member in narrowed]
        found = evaluation.combine(margins, members)
        return [members[k] for k in np.lexsort([found.losses, -found.weights])]

    def combine(self, margins: Sequence[Values], members: Sequence[Member]) -> Combination:
        """Learn the weights of members.

        By value they are the mean of those with and without score differences: the former know
        what is lost, but may hang on a few rows. Members that learn from scores share some more.
        """
        given = margins, [one.family for one in members], self.outcomes, self.weight
        found = combine(*given, self.score_differences)
        if not self.by_value:
            return found
        plain = combine(*given)
        scales = np.where(found.scales > 0, found.scales, plain.scales)
        ratio = np.divide(plain.scales, scales, out=np.zeros(len(scales)), where=scales > 0)
        weights = (found.weights + plain.weights * ratio) / 2
        scored = (found.scales > 0) & [learns_from_scores(one.ranker) for one in members]
        shared = _SHARED_WEIGHT * found.weights.sum() * scored / max(1, scored.sum())
        return found._replace(scales=scales, weights=weights + shared)

    @property
    def by_value(self) -> bool:
        """Whether members are evaluated by scores."""
        return self.score_differences is not None

    def baseline(self) -> tuple[Values, Indices]:
        """Return the out-of-fold margins and orders of the baseline."""
        margins = np.empty(self.outcomes.shape)
        ranks = np.empty(self.truth.shape, dtype=np.int64)
        for k in range(int(self.fold.max()) + 1):
            here = self.fold[self.asked] == k
            margins[here], votes = self.baseline_of(self.rows.some(self.fold != k))
            ranks[here] = strict_ranks(votes[None])[0]
        return margins, ranks

    def baseline_of(self, rows: TrainingRows) -> tuple[Values, Values]:
        """Return the margins and the votes of the baseline that is learned from some rows.

        That is the consensus order; or, of scores, the order by mean score, whose first label is
        the single best.
        """
        if not self.by_value:
            return baseline_margins(rows), baseline_votes(rows, self.rule())
        votes = mean_scores(rows)
        return score_margins(votes[None], self.pairs)[0], votes

    def rule(self) -> str:
        """Return which of Borda's and Kemeny's rules suits the rankings better."""
        if not hasattr(self, "_rule"):
            part = self.rows.some(evenly_spaced(len(self.rows.ranks)))
            # Features are ignored here; with ranks in their place the order of the rows is, too.
            X = np.nan_to_num(part.ranks)
            ranker = ConsensusLabelRanker()
            ranker._fit(X, part.ranks, part.weight)
            self._rule = ranker.aggregation_
        return self._rule

    def held_out(self, ranker: Any, *, own: bool, n_jobs: int | None = None) -> OutOfFoldMargins:
        """Return the out-of-fold margins of a ranker.

        With ``own`` it is fitted only once if it has such predictions itself (out-of-bag, for
        instance); otherwise it is fitted once per fold.
        """
        if own and self.groups is None:
            found = own_held_out(ranker, self.rows, self.asked)
            if found is not None:
                return found
        return fold_held_out(ranker, self.rows, self.fold, self.asked, n_jobs)

    def values(self, ranks: Indices, scoring: str | None = None) -> Values:
        """Return the metric of each row, larger is better; NaN where undefined."""
        scoring = scoring or self.scoring
        if scoring in OF_SCORES:
            values = np.asarray(METRICS[scoring](self.scores, ranks, average=False))
            if scoring == "gap_closed" and not hasattr(self, "_gap"):
                single = self.baseline()[1]
                self._gap = -self.summary(self.values(single, "regret"))[0]
            if scoring == "gap_closed":
                return 1 - values / self._gap if self._gap > 0 else values * np.nan
            return values if scoring == "utility" else -values
        return np.asarray(METRICS[scoring](self.truth, ranks, average=False))

    def gain(
        self, ranks: Indices, over: Indices, scoring: str | None = None
    ) -> tuple[float, float]:
        """Return the mean gain of some orders over others, and its standard error."""
        return self.summary(self.values(ranks, scoring) - self.values(over, scoring))

    def loss_gain(self, margins: Sequence[Values], families: Sequence[str]) -> tuple[float, float]:
        """Return by how much a stack lowers the pair loss of its first member alone.

        The weights for each fold are learned on the other folds.
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
            loss = PairwiseLogLoss(self.outcomes[here], self.weight[here])
            own = np.array([loss.entries(part[here]) for part in margins])
            alone = loss.of_rows(found.scales[0] * own[0])
            stacked = loss.of_rows((found.weights * found.scales) @ own)
            gains[here] = alone - stacked
        return self.summary(gains)

    def summary(self, values: Values) -> tuple[float, float]:
        """Return the mean of a value per row, and its standard error."""
        known = ~np.isnan(values) & (self.weight > 0)
        if not known.any():
            return float("nan"), float("inf")
        weight = self.weight[known]
        groups = None if self.groups is None else self.groups[known]
        mean = float(values[known] @ weight / weight.sum())
        return mean, standard_error(values[known], weight, groups)


def sample(n_rows: int, groups: Indices | None, size: int) -> Indices:
    """Return about so many rows, in their order; groups are not divided."""
    if n_rows <= size:
        return np.arange(n_rows)
    random = np.random.default_rng(0)
    if groups is None:
        return np.sort(random.permutation(n_rows)[:size])
    counts = np.bincount(groups)
    order = random.permutation(len(counts))
    taken = order[: max(1, int(np.searchsorted(np.cumsum(counts[order]), size, side="right")))]
    return np.flatnonzero(np.isin(groups, taken))


def thinned(rows: TrainingRows, size: int) -> TrainingRows:
    """Return so many evenly spaced rows."""
    n = len(rows.ranks)
    return rows if n <= size else rows.some(evenly_spaced(n, size))


def mean_scores(rows: TrainingRows) -> Values:
    """Return the mean score of each label, by which the baseline of scores orders them."""
    ranker = ConsensusLabelRanker(calibrate=False)
    assert rows.scores is not None
    ranker._learn(None, ScoredRanks(rows.ranks, rows.scores), rows.weight)
    return ranker.votes_


def baseline_margins(rows: TrainingRows) -> Values:
    """Return the log-odds of each pair over all rankings, after half a vote for either side."""
    sums = _core.pair_sums(np.ascontiguousarray(rows.ranks), np.ascontiguousarray(rows.weight))
    first, second = all_pairs(rows.ranks.shape[1])
    ahead, behind = sums[first, second] + 0.5, sums[second, first] + 0.5
    return logit(ahead / (ahead + behind))


def baseline_votes(rows: TrainingRows, rule: str) -> Values:
    """Return the votes by which the consensus baseline orders labels."""
    if rule == "kemeny":
        center = kemeny(rows.ranks, "local", sample_weight=rows.weight)
        return (len(center) + 1 - center).astype(np.float64)
    return borda_batch(rows.ranks, np.arange(len(rows.ranks))[None], rows.weight[None])[0]


def folds_of(rows: TrainingRows, groups: Indices | None, n_folds: int) -> tuple[Indices, int]:
    """Return the fold of each row, and the number of independent units: groups or rows.

    A few groups are left out one by one.
    """
    n = len(rows.ranks)
    if groups is not None:
        count = int(groups.max()) + 1
        fold = np.zeros(n, dtype=np.int64)
        if count > 1:
            n_folds = count if count < FEW_UNITS else min(n_folds, count)
            for k, (_, test) in enumerate(GroupKFold(n_folds).split(rows.ranks, groups=groups)):
                fold[test] = k
        return fold, count
    if n > _MOST_SORTED:
        return np.random.default_rng(0).permutation(n) % n_folds, n
    case = case_numbers(rows.X, PreferenceGraphs.from_ranks(rows.ranks))
    return case % n_folds, int(case.max()) + 1


def too_few(n_units: int, groups: Indices | None) -> str:
    """Return why rankers cannot be compared, in words; nothing if they can."""
    least, units = (FEWEST_ROWS, "different rows")
    if groups is not None:
        least, units = FEWEST_GROUPS, "groups"
    if n_units >= least:
        return ""
    return f"{n_units} {units} are too few to compare rankers: at least {least} are needed"


def group_numbers(
    groups: ArrayLike | None, y: Any, sample_weight: ArrayLike | None
) -> Indices | None:
    """Return numbers of groups, starting at 0, for the rows that a fit uses."""
    if groups is None:
        return None
    names = column_or_1d(groups, warn=True)
    truth = check_array(y, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y")
    check_consistent_length(truth, names)
    used = ~np.isnan(truth).all(axis=1)
    if sample_weight is not None:
        used &= np.asarray(sample_weight) > 0
    return renumbered(names, used)


def renumbered(groups: NDArray[Any], chosen: Any) -> Indices:
    """Return the groups of some rows, numbered from 0 without gaps."""
    return np.unique(groups[chosen], return_inverse=True)[1]

"""What stacks share: fitted state, weights, the baseline guard, predictions."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches

from prefero._docs import documented
from prefero._pipelines import final_step
from prefero._state import (
    Array,
    Attribute,
    Each,
    FittedState,
    Flag,
    Model,
    Names,
    Number,
    State,
    Word,
)
from prefero._typing import Indices, Values
from prefero._warnings import warn_user
from prefero.automatic._conformal import ConformalMixin
from prefero.automatic._members import (
    Member,
    OutOfFoldMargins,
    TrainingRows,
    pair_margins,
    said_scores,
)
from prefero.automatic._pair_margins import (
    BLOCK_ENTRIES,
    DECODINGS,
    Combination,
    decoded,
    errors_needed,
    log_worths,
)
from prefero.automatic._screening import board, line
from prefero.automatic._stack_evaluation import (
    StackEvaluation,
    group_numbers,
)
from prefero.base import BaseLabelRanker, ExpectedScoresMixin, fitting
from prefero.calibration import (
    calibration_pairs,
    calibration_rows,
    learn_calibration,
    pair_numbers,
    pair_outcomes,
)
from prefero.rankings import strict_ranks

# Standard errors by which another way to decode margins must be better; and by which a stack must
# be worse than the single best label for that label to be predicted.
_CLEAR_ERRORS, _WORSE_BY = 2.0, 1.0
# Its name on leaderboards.
BASELINE = "consensus baseline"


def _know_all_labels(members: Any, state: State) -> bool:
    return all(
        len(getattr(m, "labels_", ())) == state.size("n_labels") for m in map(final_step, members)
    )


def _is_each_pair(margins: Any, state: State) -> bool:
    n = state.size("n_labels")
    return len(margins) == n * (n - 1) // 2


def _is_member(number: Any, state: State) -> bool:
    return isinstance(number, int) and -1 <= number < len(state.values["members_"])


def members_state(n_features: str) -> Each:
    """Declare the members of a stack, which take this number of columns."""
    rule = ("rankers of all labels", _know_all_labels)
    return Each(Model("decision_function", n_features=n_features), "n_members", rule=rule)


_STATE: FittedState = {
    "member_names_": Names("n_members"),
    "weights_": Array("f8", "n_members", low=0),
    "scales_": Array("f8", "n_members", low=0),
    "baseline_weight_": Number(0),
    "baseline_margins_": Array("f8", "n_all_pairs", rule=("one number per pair", _is_each_pair)),
    "baseline_votes_": Array("f8", "n_labels"),
    "is_baseline_": Flag(),
    "level_member_": Attribute(rule=("the number of a member, or -1", _is_member)),
    "decoding_": Word(*DECODINGS),
    "improvement_": Number(nan=True),
    "improvement_error_": Number(nan=True),
    "leaderboard_": Attribute(),
}


@documented()
class BaseStack(ConformalMixin, ExpectedScoresMixin, BaseLabelRanker):
    """Base of stacks. A stack writes ``_fit_stack``, which calls ``_settle``."""

    # Pipelines and searches pass groups on without being asked to.
    __metadata_request__fit: ClassVar = {"groups": True, "scores": True}

    # Each stack adds its members, by the columns that reach them.
    _fitted_state: ClassVar[FittedState] = _STATE

    baseline_guard: float
    n_jobs: int | None
    members_: list[Any]
    member_names_: NDArray[Any]
    weights_: Values
    scales_: Values
    baseline_weight_: float
    baseline_margins_: Values
    baseline_votes_: Values
    is_baseline_: bool
    level_member_: int
    decoding_: str
    leaderboard_: list[dict[str, Any]]

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> Self:
        """Learn from instances and their rankings.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n_samples, n_labels)
            Ranks, 1 is best; NaN where a label is not ranked, equal where labels are tied.
        %(weights_of_rows)s
        groups : array-like of shape (n_samples,), optional
            The group of each row. Rows of one group share an inner fold.
        scores : array-like of shape (n_samples, n_labels), optional
            Scores of the labels, larger is better, that agree with the ranks: members that take
            them learn from the differences.

        Returns
        -------
        self
            The fitted ranker.
        """
        self._validate_params()
        with fitting(self) as ranker:
            rows = TrainingRows.of(*ranker._validate_fit(X, y, sample_weight, scores))
            ranker._fit_stack(rows, group_numbers(groups, y, sample_weight))
        return self

    def _fit_stack(self, rows: TrainingRows, groups: Indices | None) -> None:
        raise NotImplementedError

    def _settle(
        self,
        evaluation: StackEvaluation,
        members: Sequence[Member],
        rows: TrainingRows,
        final: Callable[[Member, int], Any],
    ) -> None:
        """Weight members, compare their sum with the consensus baseline, and keep what is used.

        ``final`` returns a member fitted to all ``rows``, given how many there are still to fit.
        """
        self.baseline_margins_, self.baseline_votes_ = evaluation.baseline_of(rows)
        evaluation, members = evaluation.known_to_all(members)
        constant, order = evaluation.baseline()
        everyone = [Member(BASELINE, BASELINE, None, OutOfFoldMargins(constant, 0.0)), *members]
        margins = [member.held_out.margins for member in everyone]
        families = [member.family for member in everyone]
        found = evaluation.combine(margins, everyone)
        total = weighted_sum(found, margins)
        self.decoding_, ranks = _decoded_best(evaluation, total)
        self.is_baseline_ = not members or not (
            self._beats(evaluation, ranks, order)
            or self._has_better_probabilities(evaluation, margins, families)
        )
        orders = [order, *(strict_ranks(decoded(m, evaluation.n_labels)) for m in margins[1:])]
        self._report(evaluation, everyone, found.weights, orders, evaluation.values(ranks))
        level = _level_member(members) if evaluation.by_value else None
        self._keep(members, found, final, level)
        held_out = found.scales[0] * constant if self.is_baseline_ else total
        self._learn_probabilities(held_out, evaluation.truth, evaluation.weight)
        if evaluation.by_value and evaluation.scores is not None:
            said = log_worths(held_out, evaluation.n_labels)
            own = [] if level is None else [members[level].held_out.scores]
            self._learn_scores(
                [said, *own], said, evaluation.scores, evaluation.weight, evaluation.groups
            )

    def _beats(self, evaluation: StackEvaluation, ranks: Indices, baseline: Indices) -> bool:
        """Whether orders clearly beat those of the baseline; by value, are not clearly worse.

        The first label by mean score is one of few, and rarely far from the best of them: to
        leave it costs little if nothing was learned, and rare large losses hide what was.
        """
        gain, error = evaluation.gain(ranks, baseline)
        self.improvement_ = gain
        self.improvement_error_ = error if np.isfinite(error) else float("nan")
        if evaluation.by_value:
            return gain > -errors_needed(_WORSE_BY, evaluation.n_units) * error
        needed = errors_needed(self.baseline_guard, evaluation.n_units)
        if gain > needed * error:
            return True
        if evaluation.scoring != "top1" or not gain > -needed * error:
            return False
        gain, error = evaluation.gain(ranks, baseline, "tau")
        return gain > needed * error

    def _has_better_probabilities(
        self, evaluation: StackEvaluation, margins: Sequence[Values], families: Sequence[str]
    ) -> bool:
        """Whether probabilities clearly beat those of the baseline, and orders are no worse.

        Where rows have few pairs, their order says little; the probabilities say more.
        """
        if evaluation.by_value or not self.improvement_ > 0:
            return False
        gain, error = evaluation.loss_gain(margins, families)
        return gain > errors_needed(self.baseline_guard, evaluation.n_units) * error

    def _learn_probabilities(self, margins: Values, truth: Values, weight: Values) -> None:
        """Learn probabilities and conformal predictions from out-of-fold margins."""
        pairs = calibration_pairs(truth.shape[1])
        some = calibration_rows(len(truth), len(pairs.first))
        used = margins[some][:, pair_numbers(pairs, truth.shape[1])]
        outcomes = pair_outcomes(truth[some], pairs)
        self.calibration_ = learn_calibration(used, outcomes, weight[some])
        self._learn_conformal(margins, truth)

    def _settle_for_baseline(self, evaluation: StackEvaluation, rows: TrainingRows) -> None:
        """Predict the consensus baseline, where there are too few rows to compare rankers."""
        if evaluation.too_few:
            warn_user(f"{evaluation.too_few}. The consensus baseline is predicted.")
        self.baseline_margins_, self.baseline_votes_ = evaluation.baseline_of(rows)
        self.baseline_weight_, self.is_baseline_, self.decoding_ = 1.0, True, "kemeny"
        self.improvement_ = self.improvement_error_ = float("nan")
        self.members_, self.member_names_ = [], np.empty(0, dtype=object)
        self.level_member_ = -1
        self.weights_ = self.scales_ = np.empty(0)
        self.leaderboard_ = [line(BASELINE, BASELINE, float("nan"), float("nan"), 1.0, 0.0)]
        nothing = np.full((len(rows.ranks), len(self.baseline_margins_)), np.nan)
        self._learn_probabilities(nothing, rows.ranks, rows.weight)

    def _keep(
        self,
        members: Sequence[Member],
        found: Combination,
        final: Callable[[Member, int], Any],
        level: int | None,
    ) -> None:
        """Keep the members with a weight, and one that predicts scores, fitted to all rows."""
        own = np.zeros(len(members)) if self.is_baseline_ else found.weights[1:]
        used = [k for k in range(len(members)) if own[k] > 0 or k == level]
        self.level_member_ = -1 if level is None else used.index(level)
        self.member_names_ = np.array([members[k].name for k in used], dtype=object)
        self.weights_, self.scales_ = own[used], found.scales[1:][used]
        weight = 1.0 if self.is_baseline_ else found.weights[0]
        self.baseline_weight_ = float(found.scales[0] * weight)
        left = range(len(used), 0, -1)
        self.members_ = [final(members[k], count) for k, count in zip(used, left, strict=True)]

    def _report(
        self,
        evaluation: StackEvaluation,
        everyone: Sequence[Member],
        weights: Values,
        orders: Sequence[Indices],
        stacked: Values,
    ) -> None:
        used = np.arange(len(everyone)) == 0 if self.is_baseline_ else weights
        shares = used / used.sum()
        lines = []
        for (name, family, _, own), order, share in zip(everyone, orders, shares, strict=True):
            summary = evaluation.summary(evaluation.values(order))
            lines.append(line(name, family, *summary, float(share), own.seconds))
        total = sum(member.held_out.seconds for member in everyone)
        lines.append(line("stack", "stack", *evaluation.summary(stacked), 1.0, total))
        self.leaderboard_ = board(lines)

    # Predictions

    def _margins(self, X: Any) -> Values:
        n_labels = len(self.labels_)
        margins = np.tile(self.baseline_weight_ * self.baseline_margins_, (X.shape[0], 1))
        for member, factor in zip(self.members_, self.weights_ * self.scales_, strict=True):
            if factor > 0:
                margins += factor * np.nan_to_num(pair_margins(member, X, n_labels))
        return margins

    def _score_models(self, X: Any) -> tuple[list[Values], Values]:
        said = log_worths(self._margins(X), len(self.labels_))
        if self.level_member_ < 0:
            return [said], said
        return [said, said_scores(self.members_[self.level_member_], X)], said

    def _scores_and_margins(self, X: Any) -> tuple[Values, Values]:
        margins = self._margins(X)
        if self.is_baseline_:
            return np.tile(self.baseline_votes_, (X.shape[0], 1)), margins
        return decoded(margins, len(self.labels_), self.decoding_), margins

    def _decision(self, X: Any) -> Values:
        size = max(1, BLOCK_ENTRIES // max(1, len(self.baseline_margins_)))
        parts = gen_batches(X.shape[0], size)
        return np.concatenate([self._scores_and_margins(X[rows])[0] for rows in parts])


def _level_member(members: Sequence[Member]) -> int | None:
    """The first member that predicts scores in their own unit, so also how hard a row is."""
    found = (k for k, member in enumerate(members) if member.held_out.scores is not None)
    return next(found, None)


def weighted_sum(found: Combination, margins: Sequence[Values]) -> Values:
    """Return the weighted sum of the margins of members; a missing one adds nothing."""
    total = np.zeros(margins[0].shape)
    for factor, part in zip(found.weights * found.scales, margins, strict=True):
        total += factor * np.nan_to_num(part)
    return total


def _decoded_best(evaluation: StackEvaluation, total: Values) -> tuple[str, Indices]:
    """Return how margins become an order, and the orders.

    By value that is by mean margins; else the order of the greatest expected tau, unless the first
    label is what counts and another order is clearly better.
    """
    usual = DECODINGS if evaluation.scoring == "top1" else DECODINGS[:1]
    ways: tuple[str, ...] = DECODINGS[2:] if evaluation.by_value else usual
    orders = [strict_ranks(decoded(total, evaluation.n_labels, how)) for how in ways]
    needed = errors_needed(_CLEAR_ERRORS, evaluation.n_units)
    gains = [evaluation.gain(ranks, orders[0]) for ranks in orders]
    clear = [k for k, (gain, error) in enumerate(gains) if gain > needed * error]
    best = max(clear, key=lambda k: gains[k][0], default=0)
    return ways[best], orders[best]

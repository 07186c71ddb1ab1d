"""What stacks share: fitted state, the choice of weights, the guard, predictions."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches

from prefero._docs import documented
from prefero._pipelines import final_step
from prefero._sklearn import check_sample_weight
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
from prefero._typing import Indices, Mask, Values
from prefero.automatic._candidates import WITHOUT_SCORES
from prefero.automatic._conformal import ConformalMixin
from prefero.automatic._evidence import (
    OF_FIRST,
    Evidence,
    constant_margins,
    constant_votes,
    group_numbers,
)
from prefero.automatic._members import Judged, Rows, fitted_member, pair_margins
from prefero.automatic._pair_margins import BLOCK_ENTRIES, DECODINGS, Combination, decoded
from prefero.automatic._screening import board, line
from prefero.base import BaseLabelRanker, fitting
from prefero.calibration import (
    calibration_pairs,
    calibration_rows,
    learn_calibration,
    pair_numbers,
    pair_outcomes,
)
from prefero.rankings import check_ranks, strict_ranks

CONSTANT = "constant order"


def _know_all_labels(members: Any, state: State) -> bool:
    return all(
        len(getattr(m, "labels_", ())) == state.size("n_labels") for m in map(final_step, members)
    )


def _is_each_pair(margins: Any, state: State) -> bool:
    n = state.size("n_labels")
    return len(margins) == n * (n - 1) // 2


def members_state(n_features: str) -> Each:
    """Declare the members of a stack, which take so many columns."""
    rule = ("rankers of all labels", _know_all_labels)
    return Each(Model("decision_function", n_features=n_features), "n_members", rule=rule)


_STATE: FittedState = {
    "member_names_": Names("n_members"),
    "weights_": Array("f8", "n_members", low=0),
    "scales_": Array("f8", "n_members", low=0),
    "constant_weight_": Number(0),
    "constant_margins_": Array("f8", "n_all_pairs", rule=("a number a pair", _is_each_pair)),
    "constant_votes_": Array("f8", "n_labels"),
    "is_baseline_": Flag(),
    "decoding_": Word(*DECODINGS),
    "improvement_": Number(nan=True),
    "improvement_error_": Number(nan=True),
    "leaderboard_": Attribute(),
}


@documented()
class BaseStack(ConformalMixin, BaseLabelRanker):
    """Base of stacks. A stack writes ``_fit_stack``, which calls ``_settle``."""

    # Groups reach a stack in a pipeline and in a search without being asked for.
    __metadata_request__fit: ClassVar = {"groups": True, "scores": True}

    # Each stack adds its members, by the columns that reach them.
    _fitted_state: ClassVar[FittedState] = _STATE

    baseline_guard: float
    n_jobs: int | None
    members_: list[Any]
    member_names_: NDArray[Any]
    weights_: Values
    scales_: Values
    constant_weight_: float
    constant_margins_: Values
    constant_votes_: Values
    is_baseline_: bool
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
            Names of what rows belong to. Rows of one group share an inner fold.
        scores : array-like of shape (n_samples, n_labels), optional
            What labels are worth, larger is better, in the order of the ranks: members that
            take them learn how much is at stake.

        Returns
        -------
        self
            The fitted ranker.
        """
        self._validate_params()
        with fitting(self) as ranker:
            rows = Rows.of(*ranker._validate_fit(X, y, sample_weight, scores))
            used = None if groups is None else _used(y, sample_weight)
            ranker._fit_stack(rows, group_numbers(groups, used))
        return self

    def _fit_stack(self, rows: Rows, groups: Indices | None) -> None:
        raise NotImplementedError

    def _settle(self, evidence: Evidence, judged: Sequence[Judged], rows: Rows) -> None:
        """Weigh members, compare their sum with the constant order, and keep what is used.

        ``rows`` are those that members are fitted to in the end.
        """
        self.constant_margins_ = constant_margins(rows)
        self.constant_votes_ = constant_votes(rows, evidence.rule())
        evidence, judged = evidence.known_to_all(judged)
        constant, order = evidence.constant()
        margins = [constant.margins, *(member.held_out.margins for member in judged)]
        families = [CONSTANT, *(member.family for member in judged)]
        by_ranks = np.r_[True, [not _learns_from_scores(member.ranker) for member in judged]]
        found, total, self.decoding_, ranks = _weighed(evidence, margins, families, by_ranks)
        self.is_baseline_ = not judged or not (
            self._beats(evidence, ranks, order) or self._knows_more(evidence, margins, families)
        )
        self._report(
            evidence,
            judged,
            found.weights,
            [order, *map(_order_of(evidence), margins[1:])],
            evidence.values(ranks),
        )
        self._keep(judged, found, rows)
        held_out = found.scales[0] * constant.margins if self.is_baseline_ else total
        self._learn_probabilities(held_out, evidence.truth, evidence.weight)

    def _beats(self, evidence: Evidence, ranks: Indices, constant: Indices) -> bool:
        """Whether orders clearly beat the constant ones: by the metric, or no worse but by tau."""
        gain, error = evidence.gain(ranks, constant)
        self.improvement_, self.improvement_error_ = (
            gain,
            error if np.isfinite(error) else float("nan"),
        )
        if gain > self.baseline_guard * error:
            return True
        by_tau, error_by_tau = evidence.gain(ranks, constant, "tau")
        not_worse = gain > -self.baseline_guard * error
        return (
            evidence.scoring in OF_FIRST
            and not_worse
            and by_tau > self.baseline_guard * error_by_tau
        )

    def _knows_more(
        self, evidence: Evidence, margins: Sequence[Values], families: Sequence[str]
    ) -> bool:
        """Whether probabilities clearly beat the constant ones, and orders are no worse.

        A few pairs a row say little by their order; how sure the stack was of them says more.
        """
        if not self.improvement_ > 0:
            return False
        gain, error = evidence.loss_gain(margins, families)
        return gain > self.baseline_guard * error

    def _learn_probabilities(self, margins: Values, truth: Values, weight: Values) -> None:
        """Learn what margins of rows that the members have not seen are worth."""
        pairs = calibration_pairs(truth.shape[1])
        some = calibration_rows(len(truth), len(pairs.first))
        used = margins[some][:, pair_numbers(pairs, truth.shape[1])]
        outcomes = pair_outcomes(truth[some], pairs)
        self.calibration_ = learn_calibration(used, outcomes, weight[some])
        self._learn_conformal(margins, truth)

    def _settle_constant(self, evidence: Evidence, rows: Rows) -> None:
        """Predict the constant order, where rows are too few to judge anything else."""
        self.constant_margins_ = constant_margins(rows)
        self.constant_votes_ = constant_votes(rows, "borda")
        self.constant_weight_, self.is_baseline_, self.decoding_ = 1.0, True, "kemeny"
        self.improvement_ = self.improvement_error_ = float("nan")
        self.members_, self.member_names_ = [], np.empty(0, dtype=object)
        self.weights_ = self.scales_ = np.empty(0)
        self.leaderboard_ = [line(CONSTANT, CONSTANT, float("nan"), float("nan"), 1.0, 0.0)]
        nothing = np.full((len(rows.ranks), len(self.constant_margins_)), np.nan)
        self._learn_probabilities(nothing, rows.ranks, rows.weight)

    def _keep(self, judged: Sequence[Judged], found: Any, rows: Rows) -> None:
        """Keep members that count, fitted to all rows; and what each counts."""
        used = (
            [] if self.is_baseline_ else [k for k in range(len(judged)) if found.weights[k + 1] > 0]
        )
        self.member_names_ = np.array([judged[k].name for k in used], dtype=object)
        self.weights_ = found.weights[1:][used]
        self.scales_ = found.scales[1:][used]
        self.constant_weight_ = float(
            found.scales[0] * (1 if self.is_baseline_ else found.weights[0])
        )
        self.members_ = [self._final(judged[k], rows) for k in used]

    def _final(self, member: Judged, rows: Rows) -> Any:
        """Return a member as it predicts: fitted to all rows."""
        fitted = member.held_out.fitted
        return fitted_member(member.ranker, rows) if fitted is None else fitted

    def _report(
        self,
        evidence: Evidence,
        judged: Sequence[Judged],
        weights: Values,
        orders: Sequence[Indices],
        stacked: Values,
    ) -> None:
        shares = np.r_[1.0, np.zeros(len(judged))] if self.is_baseline_ else weights / weights.sum()
        lines = [
            line(name, family, *evidence.summary(evidence.values(order)), share, seconds)
            for name, family, order, share, seconds in zip(
                [CONSTANT, *(member.name for member in judged)],
                [CONSTANT, *(member.family for member in judged)],
                orders,
                shares.tolist(),
                [0.0, *(member.held_out.seconds for member in judged)],
                strict=True,
            )
        ]
        total = sum(member.held_out.seconds for member in judged)
        lines.append(line("stack", "stack", *evidence.summary(stacked), 1.0, total))
        self.leaderboard_ = board(lines)

    # Predictions

    def _margins(self, X: Any) -> Values:
        n_labels = len(self.labels_)
        margins = np.tile(self.constant_weight_ * self.constant_margins_, (X.shape[0], 1))
        for member, factor in zip(self.members_, self.weights_ * self.scales_, strict=True):
            margins += factor * np.nan_to_num(pair_margins(member, X, n_labels))
        return margins

    def _scores_and_margins(self, X: Any) -> tuple[Values, Values]:
        margins = self._margins(X)
        if self.is_baseline_:
            return np.tile(self.constant_votes_, (X.shape[0], 1)), margins
        return decoded(margins, len(self.labels_), self.decoding_), margins

    def _decision(self, X: Any) -> Values:
        size = max(1, BLOCK_ENTRIES // max(1, len(self.constant_margins_)))
        parts = gen_batches(X.shape[0], size)
        return np.concatenate([self._scores_and_margins(X[rows])[0] for rows in parts])


class _Weighed(NamedTuple):
    """Members weighed, the sum of their margins, and how it becomes an order of each row."""

    found: Combination
    total: Values
    decoding: str
    ranks: Indices


def _weighed(
    evidence: Evidence, margins: Sequence[Values], families: Sequence[str], by_ranks: Mask
) -> _Weighed:
    """Weigh members, with and without a look at what is at stake, and decode their sum.

    Few rows decide a regret, all of them an order: what looks at the stakes, in the members or in
    their weights, must clearly gain over what learned from ranks alone.
    """
    ways = [evidence.combine(margins, families)]
    if evidence.stakes is not None:
        ways.append(evidence.combine(margins, families, staked=True))
        if by_ranks[1:].any():
            own = [
                part if plain else 0 * part for part, plain in zip(margins, by_ranks, strict=True)
            ]
            ways.insert(0, evidence.combine(own, families))
    tried = [_decoded_best(evidence, margins, found) for found in ways]
    return tried[evidence.clearly_best([one.ranks for one in tried])]


def _decoded_best(evidence: Evidence, margins: Sequence[Values], found: Combination) -> _Weighed:
    """Take the order of the greatest expected tau, unless another clearly suits the metric."""
    total = sum(
        (
            part * np.nan_to_num(of)
            for part, of in zip(found.weights * found.scales, margins, strict=True)
        ),
        start=np.zeros(evidence.outcomes.shape),
    )
    ways = DECODINGS if evidence.scoring in OF_FIRST else DECODINGS[:1]
    orders = [strict_ranks(decoded(total, evidence.n_labels, how)) for how in ways]
    best = evidence.clearly_best(orders)
    return _Weighed(found, total, ways[best], orders[best])


def _learns_from_scores(ranker: Any) -> bool:
    """Whether a ranker looks at scores where it is given some."""
    given = final_step(ranker).get_params(deep=False)
    return any(given.get(name, plain) != plain for name, plain in WITHOUT_SCORES.items())


def _order_of(evidence: Evidence) -> Any:
    return lambda margins: strict_ranks(decoded(margins, evidence.n_labels))


def _used(y: Any, sample_weight: ArrayLike | None) -> Mask:
    """Which rows a fit uses."""
    ranks = check_ranks(y, name="y")
    weight = check_sample_weight(sample_weight, ranks, dtype=np.float64)
    return ~np.isnan(ranks).all(axis=1) & (weight > 0)

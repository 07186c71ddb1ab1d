"""The automatic label ranker."""

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from prefero._docs import documented
from prefero._sklearn import StrOptions
from prefero._state import Attribute, FittedState
from prefero._typing import Indices
from prefero.automatic._candidates import candidates, value_candidates
from prefero.automatic._members import Member, TrainingRows, fitted_member
from prefero.automatic._screening import (
    FOLDS,
    GUARD_CONSTRAINTS,
    OF_PRESET,
    PRESET_CONSTRAINTS,
    SAFE,
    Skipped,
    reported,
    screening,
)
from prefero.automatic._stack import BaseStack, members_state
from prefero.automatic._stack_evaluation import METRICS, OF_SCORES, StackEvaluation, thinned
from prefero.automatic.table import ColumnsMixin


@documented(**OF_PRESET)
class AutoLabelRanker(ColumnsMixin, BaseStack):
    """Choose, tune and combine label rankers by cross-validation.

    Columns are prepared as needed. Linear, kernel, neighbor and tree rankers are then tried on
    inner folds, on few rows first if there are many; the good ones are stacked, as in
    `StackingLabelRanker`, and fitted to all rows. The consensus baseline is predicted where
    nothing clearly beats it.

    Parameters
    ----------
    scoring : {"auto", "tau", "tau-x", "top1", "regret", "utility", "gap_closed"}, default="auto"
        What is optimised. ``"auto"``: the value of the first label (``"regret"``) if ``fit`` is
        given ``scores``, else Kendall's tau. Tau, tau-x and how often the first label is right
        look at ranks alone. ``"regret"``, ``"utility"`` and ``"gap_closed"`` need scores and are
        one aim in three units: rankers of scores are then tried too, weighed by what is lost, and
        the baseline is the order by mean score, whose first label is the single best.
    preset : {"quick", "balanced", "best"}, default="balanced"
        How much to try. ``"quick"`` fits each of a few rankers once, about three times the
        work of a random forest; ``"balanced"`` uses five inner folds and more rankers,
        ``"best"`` more settings of each.
    %(time_limit)s
    baseline_guard : float, default=2
        The consensus baseline is predicted unless the gain over it, on held-out rows, exceeds so
        many standard errors; or there is some gain, and that in the pair loss exceeds them. By
        value, the single best label is predicted only if the stack is one standard error worse.
    %(working)s

    Attributes
    ----------
    leaderboard_ : list of dict
        The consensus baseline first, then all rankers tried in the last round and the stack, by
        their metric on held-out rows: ``ranker``, ``family``, ``held_out``,
        ``standard_error``, ``weight`` (share), ``seconds``.
    %(not_used)s
    %(preparation)s
    members_, member_names_, weights_, scales_
        The rankers that count, as in `StackingLabelRanker`.
    is_baseline_ : bool
        Whether the consensus baseline is predicted.
    improvement_, improvement_error_ : float
        The gain over the consensus baseline on held-out rows, and its standard error.

    See Also
    --------
    StackingLabelRanker : Combine rankers of your own.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> Y = np.where(X[:, [0]] > 0, [[1, 2, 3]], [[3, 1, 2]])
    >>> ranker = AutoLabelRanker(preset="quick", random_state=0).fit(X, Y)
    >>> ranker.predict([[1.0, 0.0], [-1.0, 0.0]])
    array([[1, 2, 3],
           [3, 1, 2]])
    >>> ranker.leaderboard_[0]["ranker"]
    'consensus baseline'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scoring": [StrOptions({"auto", *METRICS})],
        **PRESET_CONSTRAINTS,
        **GUARD_CONSTRAINTS,
    }

    _fitted_state: ClassVar[FittedState] = {
        "members_": members_state("n_columns"),
        "skipped_": Attribute(),
    }

    skipped_: list[dict[str, str]]

    def __init__(
        self,
        scoring: Literal[
            "auto", "tau", "tau-x", "top1", "regret", "utility", "gap_closed"
        ] = "auto",
        *,
        preset: Literal["quick", "balanced", "best"] = "balanced",
        time_limit: float | None = None,
        baseline_guard: float = 2.0,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scoring = scoring
        self.preset = preset
        self.time_limit = time_limit
        self.baseline_guard = baseline_guard
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_stack(self, rows: TrainingRows, groups: Indices | None) -> None:
        scoring = self.scoring
        if scoring == "auto":
            scoring = "tau" if rows.scores is None else "regret"
        if scoring not in OF_SCORES:
            # Other metrics do not depend on score differences.
            rows = rows._replace(scores=None)
        elif rows.scores is None:
            raise ValueError(f"scoring={scoring!r} needs the scores of the labels: give scores.")
        clock, notes = self._start()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        choices = candidates if rows.scores is None else value_candidates
        tried = choices(self.preset, self._shape(rows.X, rows.ranks.shape[1]), seed)
        evaluation_of = partial(StackEvaluation.sampled, rows, groups, FOLDS, scoring)
        with screening(self, len(rows.ranks), evaluation_of, tried, clock) as screen:
            first = screen.evaluation
            if not first.possible:
                few = [Skipped("all rankers", first.too_few)] if first.too_few else []
                self.skipped_ = reported([*notes, *few], self.time_limit)
                return self._settle_for_baseline(first, rows)
            members = screen.run(tried)
            whole = screen.evaluation.n_rows == len(rows.ranks)
            most_rows = {one.name: one.most_rows for one in tried}

            def final(member: Member, left: int) -> Any:
                """Fit a member in its share of the time left, unless screening has done so."""
                if whole and member.held_out.fitted is not None:
                    return member.held_out.fitted
                seconds = SAFE * clock.left() / left
                size = screen.rows_for(member, seconds, most_rows[member.name])
                return fitted_member(member.ranker, thinned(rows, size))

            self._settle(screen.evaluation, members, rows, final)
        self.skipped_ = reported([*notes, *screen.skipped], self.time_limit)

"""The choice of one estimator by its out-of-fold metrics."""

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from prefero._sent_once import SentOnce, called
from prefero._state import Attribute, FittedState, Number, Word
from prefero._typing import Indices, Values
from prefero._warnings import silenced, warn_user
from prefero.automatic._candidates import Candidate
from prefero.automatic._members import Member
from prefero.automatic._pair_margins import standard_error
from prefero.automatic._screening import SAFE, Clock, Skipped, board, line, reported, screening

Fit = Callable[[Any, Indices], Any]
Metric = Callable[[Any, Indices], float]


class Measured(NamedTuple):
    """The out-of-fold metric of an estimator by fold, and the seconds that took."""

    values: Values
    seconds: float
    fitted: Any = None  # as of members of a stack; none is fitted on the way here


class FoldEvaluation:
    """Folds of some rows, and the metric of estimators fitted to the other folds.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        The rows to use.
    fold : ndarray of shape (n_rows,)
        The fold of each, starting at 0.
    fit : callable
        Returns a copy of an estimator, fitted to some rows.
    scoring : callable
        Returns the metric of a fitted estimator on some rows, larger is better.
    """

    def __init__(self, rows: Indices, fold: Indices, fit: Fit, scoring: Metric) -> None:
        self.rows, self.fold, self._fit, self._metric = rows, fold, fit, scoring
        self.weight = np.bincount(fold).astype(np.float64)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def held_out(self, ranker: Any, *, own: bool = False, n_jobs: int | None = None) -> Measured:
        """Return the out-of-fold metric by fold."""
        start = time.perf_counter()
        sent = SentOnce(self._of_fold)
        values = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(called)(sent, ranker, k) for k in range(len(self.weight))
        )
        return Measured(np.array(values), time.perf_counter() - start)

    def _of_fold(self, ranker: Any, k: int) -> float:
        with silenced():  # the fit to all rows shows the warnings
            model = self._fit(ranker, self.rows[self.fold != k])
            return self._metric(model, self.rows[self.fold == k])

    def summary(self, values: Values) -> tuple[float, float]:
        """Return the mean over folds where the metric is defined, and its standard error."""
        known = ~np.isnan(values)
        if not known.any():
            return float("nan"), float("inf")
        weight = self.weight[known]
        return float(values[known] @ weight / weight.sum()), standard_error(values[known], weight)

    def best_first(self, members: Sequence[Member]) -> list[Member]:
        """Return estimators by mean metric, the best first."""
        means = [self.summary(one.held_out.values)[0] for one in members]
        order = np.argsort(-np.nan_to_num(means, nan=-np.inf), kind="stable")
        return [members[k] for k in order]


# Stands for the baseline where there is none that could be predicted.
TIED = Candidate("all tied", "constant", None)


class SelectionTask(NamedTuple):
    """The rows and candidates to choose from, and the baseline, if there is one."""

    n_rows: int
    evaluation_of: Callable[[int], FoldEvaluation]
    fit: Fit
    candidates: list[Candidate]
    baseline: Candidate | None


class ChoiceMixin:
    """Mixin of estimators that choose one of several candidates.

    A class declares ``chosen_`` in its fitted state.

    Attributes
    ----------
    chosen_ : estimator
        The one that was chosen, fitted to all rows.
    chosen_name_ : str
        Its name.
    leaderboard_ : list of dict
        The baseline first, then all candidates of the last round, by out-of-fold metric.
    skipped_ : list of dict
        ``ranker`` and ``why`` of candidates that were not tried, or not fitted to all rows.
    improvement_, improvement_error_ : float
        The out-of-fold gain over the baseline, and its standard error over folds.
    """

    # Each class declares chosen_, by the columns that reach it.
    _fitted_state: ClassVar[FittedState] = {
        "chosen_name_": Word(),
        "leaderboard_": Attribute(),
        "skipped_": Attribute(),
        "improvement_": Number(nan=True),
        "improvement_error_": Number(nan=True),
    }

    preset: str
    time_limit: float | None
    baseline_guard: float
    verbose: bool
    n_jobs: int | None
    random_state: Any
    chosen_: Any
    chosen_name_: str
    leaderboard_: list[dict[str, Any]]
    skipped_: list[dict[str, str]]

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _choose(self, task: SelectionTask, clock: Clock, notes: Sequence[Skipped] = ()) -> None:
        """Screen the candidates and keep the best, or the baseline if nothing beats it."""
        tried = task.candidates
        with screening(self, task.n_rows, task.evaluation_of, tried, clock) as screen:
            members = screen.run(tried)
            evaluation = screen.evaluation
            best = self._best(evaluation, members, task.baseline)
            most = {one.name: one.most_rows for one in tried}.get(best.name)
            size = screen.rows_for(best, SAFE * clock.left(), most)
            rows = evaluation.rows if size == evaluation.n_rows else task.evaluation_of(size).rows
            self.chosen_, self.chosen_name_ = task.fit(best.ranker, rows), best.name
        self.skipped_ = reported([*notes, *screen.skipped], self.time_limit)

    def _best(
        self, evaluation: FoldEvaluation, members: Sequence[Member], baseline: Candidate | None
    ) -> Member:
        """Return the best, or the baseline unless the best clearly beats it."""
        best = evaluation.best_first(members)[0]
        base = Member(*TIED[:3], Measured(np.zeros(len(evaluation.weight)), 0.0))
        if baseline is not None:
            own = evaluation.held_out(baseline.ranker, n_jobs=self.n_jobs)
            base = Member(*baseline[:3], own)
        self.improvement_, error = evaluation.summary(best.held_out.values - base.held_out.values)
        self.improvement_error_ = error if np.isfinite(error) else float("nan")
        lines = []
        for name, family, _, own in (base, *members):
            lines.append(line(name, family, *evaluation.summary(own.values), seconds=own.seconds))
        self.leaderboard_ = board(lines)
        beaten = baseline is None or self.improvement_ > self.baseline_guard * error
        return best if beaten else base

    def _keep_untried(
        self, task: SelectionTask, only: Candidate, why: str, notes: Sequence[Skipped] = ()
    ) -> None:
        """Keep a candidate without comparing any, and say why."""
        warn_user(f"{why}. Predictions are those of: {only.name}.")
        self.improvement_ = self.improvement_error_ = float("nan")
        self.leaderboard_ = [line(only.name, only.family, float("nan"), float("nan"))]
        self.skipped_ = reported([*notes, Skipped("all others", why)], self.time_limit)
        self.chosen_ = task.fit(only.ranker, np.arange(task.n_rows))
        self.chosen_name_ = only.name

    def _decision(self, X: NDArray[Any]) -> Values:
        return np.asarray(self.chosen_.decision_function(X))

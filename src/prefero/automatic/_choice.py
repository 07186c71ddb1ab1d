"""One of some estimators, chosen by rows that they have not seen."""

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from prefero._progress import reporting
from prefero._sent_once import SentOnce, called
from prefero._state import Attribute, FittedState, Number, Word
from prefero._typing import Indices, Values
from prefero._warnings import silenced
from prefero.automatic._candidates import Candidate
from prefero.automatic._members import Judged
from prefero.automatic._pair_margins import standard_error
from prefero.automatic._screening import (
    SAFE,
    Clock,
    LeftOut,
    Screening,
    board,
    line,
    plan_for,
    told,
)

Fit = Callable[[Any, Indices], Any]
Metric = Callable[[Any, Indices], float]


class Measured(NamedTuple):
    """A metric of each fold for an estimator that has not seen it, and what that took."""

    values: Values
    seconds: float
    fitted: Any = None


class FoldMetrics:
    """Folds of some rows, and the metric of estimators that were fitted to the others.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        The rows that are used.
    fold : ndarray of shape (n_rows,)
        The fold of each, from 0 on.
    fit : callable
        Returns a copy of an estimator that is fitted to some rows.
    scoring : callable
        Returns how good a fitted estimator is on some rows, larger is better.
    """

    def __init__(self, rows: Indices, fold: Indices, fit: Fit, scoring: Metric) -> None:
        self.rows, self.fold, self._fit, self._metric = rows, fold, fit, scoring
        self.weight = np.bincount(fold).astype(np.float64)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def held_out(self, ranker: Any, *, own: bool = False, n_jobs: int | None = None) -> Measured:
        """Return the metric of each fold, for a copy that has not seen it."""
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
        """Return the mean over the folds where the metric is defined, and its standard error."""
        known = ~np.isnan(values)
        if not known.any():
            return float("nan"), float("inf")
        weight = self.weight[known]
        return float(values[known] @ weight / weight.sum()), standard_error(values[known], weight)

    def best_first(self, judged: Sequence[Judged]) -> list[Judged]:
        """Return estimators by their means, the largest first."""
        return sorted(judged, key=lambda one: -np.nan_to_num(self.mean(one), nan=-np.inf))

    def mean(self, one: Judged) -> float:
        """Return the mean of an estimator."""
        return self.summary(one.held_out.values)[0]


# What stands in place of a constant answer where there is none.
TIED = Candidate("all tied", "constant", None)


class Task(NamedTuple):
    """What is to be learned, by what, and what it is compared with: nothing if None."""

    n_rows: int
    evidence_of: Callable[[int], FoldMetrics]
    fit: Fit
    candidates: list[Candidate]
    constant: Candidate | None


class ChoiceMixin:
    """Mixin of what chooses an estimator: parameters, screening, and what is kept.

    A class declares ``chosen_``, which takes the features that it prepares.

    Attributes
    ----------
    chosen_ : estimator
        The one that was chosen, fitted to all rows.
    chosen_name_ : str
        Its name.
    leaderboard_ : list of dict
        The constant answer first, then all that were tried in the last round, by their metric
        on rows not seen.
    skipped_ : list of dict
        ``ranker`` and ``why`` of what was not tried, or not fitted to all rows.
    improvement_, improvement_error_ : float
        The gain over the constant answer on rows not seen, and its standard error over folds.
    """

    # Each class declares what it chooses, by the columns that reach it.
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

    def _choose(self, task: Task, clock: Clock, notes: Sequence[LeftOut] = ()) -> None:
        """Screen the candidates and keep the best, or the constant one if nothing beats it."""
        plan = plan_for(task.n_rows, self.preset, self.time_limit)
        steps = len(task.candidates) * len(plan.sizes) + 1
        with reporting("auto" if self.verbose else None, steps, what="Starting") as advance:
            screening = Screening(task.n_rows, task.evidence_of, plan, clock, self.n_jobs, advance)
            judged = screening.run(task.candidates)
            evidence = screening.evidence
            best = self._best(evidence, judged, task.constant)
            most = {one.name: one.most_rows for one in task.candidates}.get(best.name)
            size = screening.rows_for(best, SAFE * clock.left(), most)
            rows = evidence.rows if size == evidence.n_rows else task.evidence_of(size).rows
            self.chosen_, self.chosen_name_ = task.fit(best.ranker, rows), best.name
        self.skipped_ = told([*notes, *screening.left_out], self.time_limit)

    def _best(
        self, evidence: FoldMetrics, judged: Sequence[Judged], constant: Candidate | None
    ) -> Judged:
        """Return the best, or the constant one if it does not clearly beat that."""
        best = evidence.best_first(judged)[0]
        base = Judged(*TIED[:3], Measured(np.zeros(len(evidence.weight)), 0.0))
        if constant is not None:
            own = evidence.held_out(constant.ranker, n_jobs=self.n_jobs)
            base = Judged(*constant[:3], own)
        self.improvement_, error = evidence.summary(best.held_out.values - base.held_out.values)
        self.improvement_error_ = error if np.isfinite(error) else float("nan")
        self.leaderboard_ = board(
            [
                line(
                    *(one.name, one.family),
                    *evidence.summary(one.held_out.values),
                    seconds=one.held_out.seconds,
                )
                for one in (base, *judged)
            ]
        )
        return best if constant is None or self.improvement_ > self.baseline_guard * error else base

    def _keep(self, task: Task, only: Candidate, notes: Sequence[LeftOut] = ()) -> None:
        """Keep one untried, where rows are too few to choose by."""
        self.improvement_ = self.improvement_error_ = float("nan")
        self.leaderboard_ = [line(only.name, only.family, float("nan"), float("nan"))]
        self.skipped_ = told(notes, self.time_limit)
        self.chosen_ = task.fit(only.ranker, np.arange(task.n_rows))
        self.chosen_name_ = only.name

    def _decision(self, X: NDArray[Any]) -> Values:
        return np.asarray(self.chosen_.decision_function(X))

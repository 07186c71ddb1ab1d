"""Screening of candidates within a time limit, and what is reported of it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from prefero._progress import reporting
from prefero._sklearn import Interval, StrOptions
from prefero._warnings import warn_user
from prefero.automatic._candidates import Candidate
from prefero.automatic._members import Member

# The time of a fit grows with the number of rows to this power.
GROWTH = 1.15
# Share of the time limit that may have passed when screening ends.
_SCREENING_ENDS = 0.6
# Members that survive a round; more of them if it had few rows.
_SURVIVORS, _SURVIVORS_OF_FEW, _FEW = 6, 8, 1000


# Rows of the first round, of the round before it that measures time, and of the second.
_FIRST_ROUND, _PROBE = 4000, 500
_SECOND_ROUND = {"quick": 10_000, "balanced": 20_000, "best": 50_000}
FOLDS = 5
# The share of the time left that the final fits may take by estimate.
SAFE = 0.75


class Clock:
    """Seconds since the start, and until a time limit."""

    def __init__(self, limit: float | None) -> None:
        self.start, self.limit = time.perf_counter(), limit

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until a share of the limit has passed."""
        return float("inf") if self.limit is None else share * self.limit - self.passed


class Skipped(NamedTuple):
    """A ranker that was not used, or not on all rows, and why."""

    ranker: str
    why: str


class ScreeningPlan(NamedTuple):
    """Rows of each round, folds, and whether rankers use their own held-out predictions."""

    sizes: tuple[int, ...]
    n_folds: int
    own: bool


@contextmanager
def screening(
    ranker: Any,
    n_rows: int,
    evaluation_of: "Callable[[int], EvaluationT]",
    tried: Sequence[Candidate],
    clock: Clock,
) -> Iterator["Screening[EvaluationT]"]:
    """Screen candidates as the parameters of an automatic ranker say, and show progress."""
    plan = plan_for(n_rows, ranker.preset, ranker.time_limit)
    steps = len(tried) * len(plan.sizes) + 1
    with reporting("auto" if ranker.verbose else None, steps, what="Starting") as advance:
        yield Screening(n_rows, evaluation_of, plan, clock, ranker.n_jobs, advance)


def plan_for(n_rows: int, preset: str, time_limit: float | None) -> ScreeningPlan:
    """Return the plan for so many rows."""
    last = min(n_rows, _SECOND_ROUND[preset])
    sizes = (n_rows,) if n_rows <= 2 * _FIRST_ROUND else (_FIRST_ROUND, last)
    if time_limit is not None and n_rows > 2 * _PROBE:
        # Times are first measured on so few rows that every fit is quick.
        sizes = (_PROBE, *sizes)
    return ScreeningPlan(sizes, FOLDS, preset == "quick")


def reported(notes: Sequence[Skipped], time_limit: float | None) -> list[dict[str, str]]:
    """Return what was skipped as dicts; warn of what there was no time for."""
    late = [note for note in notes if "time" in note.why]
    if late:
        reasons: dict[str, list[str]] = {}
        for note in late:
            reasons.setdefault(note.why, []).append(note.ranker)
        said = "; ".join(f"{', '.join(who)}: {why}" for why, who in reasons.items())
        warn_user(f"time_limit={time_limit:g} was too short for some rankers: {said}.")
    return [note._asdict() for note in notes]


class Evaluation(Protocol):
    """What rankers are evaluated by."""

    @property
    def n_rows(self) -> int:
        """The number of rows, of all folds."""

    def held_out(self, ranker: Any, *, own: bool, n_jobs: int | None = None) -> Any:
        """Return the out-of-fold predictions or metrics of a ranker, and the seconds they took."""

    def best_first(self, members: Sequence[Member]) -> list[Member]:
        """Return members in order, the best first."""


EvaluationT = TypeVar("EvaluationT", bound=Evaluation)


class Screening(Generic[EvaluationT]):
    """Rounds of screening: more and more rows for fewer and fewer rankers.

    Parameters
    ----------
    n_rows : int
        The number of training rows.
    evaluation_of : callable
        Returns an evaluation on a given number of rows.
    plan : ScreeningPlan
        The rounds.
    clock : Clock
        The time.
    n_jobs : int, optional
        The number of folds to run in parallel.
    tell : callable
        Called with a description of the next step.
    """

    def __init__(
        self,
        n_rows: int,
        evaluation_of: Callable[[int], EvaluationT],
        plan: ScreeningPlan,
        clock: Clock,
        n_jobs: int | None,
        tell: Callable[[str], None],
    ) -> None:
        self.n_rows, self.evaluation_of = n_rows, evaluation_of
        self.plan, self.clock, self.n_jobs, self.tell = plan, clock, n_jobs, tell
        self.skipped: list[Skipped] = []
        self.evaluation = evaluation_of(plan.sizes[0])

    def run(self, candidates: Sequence[Candidate]) -> list[Member]:
        """Return the surviving members, with their results in the last round."""
        by_name = {candidate.name: candidate for candidate in candidates}
        members = self._round(candidates, self._ends(0))
        for number, size in enumerate(self.plan.sizes[1:], start=1):
            survivors = self._survivors(members)
            affordable = self._affordable(survivors, size, self._ends(number))
            if not affordable:
                break
            self._leave(members, survivors, affordable, size)
            self.evaluation = self.evaluation_of(size)
            members = self._round([by_name[name] for name in affordable], self._ends(number))
        return members

    def _ends(self, number: int) -> float:
        """The share of the time limit after which a round starts nothing new."""
        return _SCREENING_ENDS * (number + 1) / len(self.plan.sizes)

    def _round(self, candidates: Sequence[Candidate], ends: float) -> list[Member]:
        members: list[Member] = []
        n = self.evaluation.n_rows
        for candidate in candidates:
            if members and self.clock.left(ends) <= 0:
                self.skipped.append(Skipped(candidate.name, "no time was left to try it"))
                continue
            self.tell(f"{candidate.name}, {n} rows")
            own = self.plan.own or candidate.own
            held_out = self.evaluation.held_out(candidate.ranker, own=own, n_jobs=self.n_jobs)
            members.append(Member(candidate.name, candidate.family, candidate.ranker, held_out))
        return members

    def _survivors(self, members: list[Member]) -> list[Member]:
        few = self.evaluation.n_rows <= _FEW
        return self.evaluation.best_first(members)[: _SURVIVORS_OF_FEW if few else _SURVIVORS]

    def _leave(
        self, members: Sequence[Member], survivors: Sequence[Member], kept: list[str], size: int
    ) -> None:
        """Note who is dropped, and whether for lack of merit or of time."""
        good, n = {member.name for member in survivors}, self.evaluation.n_rows
        for member in members:
            if member.name not in good:
                self.skipped.append(Skipped(member.name, f"added little on {n} rows"))
            elif member.name not in kept:
                why = f"no time was left to try it on {size} rows"
                self.skipped.append(Skipped(member.name, why))

    def _affordable(self, members: Sequence[Member], size: int, ends: float) -> list[str]:
        """The names of the members for which there is time to try so many rows."""
        left, names = self.clock.left(ends), []
        for member in members:
            seconds = self._scaled(member.held_out.seconds, size)
            if seconds <= left:
                names.append(member.name)
                left -= seconds
        return names

    def _scaled(self, seconds: float, size: int) -> float:
        return seconds * (size / self.evaluation.n_rows) ** GROWTH

    def rows_for(self, member: Member, seconds: float, most: int | None) -> int:
        """Return to how many rows a member can be fitted in so many seconds; note if not all."""
        n, here = self.n_rows, self.evaluation.n_rows
        size = bound = n if most is None else min(n, most)
        fits = 1 if member.held_out.fitted is not None else self.plan.n_folds
        once = max(member.held_out.seconds / fits, 1e-3)
        if np.isfinite(seconds):
            affordable = here * (max(seconds, 0) / once) ** (1 / GROWTH)
            size = int(np.clip(affordable, min(here, bound), bound))
        if size < n:
            why = "for lack of time" if size < bound else "because it stores them"
            note = f"fitted to {size} of {n} rows, {why}"
            self.skipped.append(Skipped(member.name, note))
        self.tell(f"{member.name}, {size} rows")
        return size


PRESET_CONSTRAINTS: dict[str, list[Any]] = {
    "preset": [StrOptions({"quick", "balanced", "best"})],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "verbose": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}
GUARD_CONSTRAINTS: dict[str, list[Any]] = {
    "baseline_guard": [Interval(Real, 0, None, closed="left")]
}

# Parts of docstrings, by the names of what they describe.
OF_PRESET = {
    "time_limit": """
        time_limit : float, optional
            Seconds. What there is no time for is skipped, with a warning.
        """,
    "working": """
        verbose : bool, default=False
            Whether to show progress and the remaining time on a terminal.
        n_jobs : int, optional
            The number of folds to run in parallel, as in joblib.
        random_state : int, RandomState or None, default=None
            The seed of trees and kernels. Folds do not depend on it.
        """,
    "not_used": """
        skipped_ : list of dict
            ``ranker`` (or column) and ``why`` of what was not used, or not for all rows.
        """,
    "preparation": """
        preparation_ : TableTransformer
            Turns columns into numbers.
        """,
}


def line(
    name: str,
    family: str,
    mean: float,
    error: float,
    share: float | None = None,
    seconds: float = 0.0,
) -> dict[str, Any]:
    """Return a line of a leaderboard; without a share if nothing is stacked."""
    weight = {} if share is None else {"weight": share}
    return {
        "ranker": name,
        "family": family,
        "held_out": mean,
        "standard_error": error if np.isfinite(error) else float("nan"),
        **weight,
        "seconds": round(seconds, 3),
    }


def board(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort lines, the best first, except for the baseline, which stays on top."""
    head, *rest = lines
    return [head, *sorted(rest, key=lambda one: -_known(one["held_out"]))]


def _known(value: float) -> float:
    return -np.inf if np.isnan(value) else value

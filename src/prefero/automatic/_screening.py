"""Which rankers are worth their time: more and more rows for fewer and fewer of them."""

import time
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from prefero._sklearn import Interval, StrOptions
from prefero._warnings import warn_user
from prefero.automatic._candidates import Candidate
from prefero.automatic._members import Judged

# A fit to k times the rows takes about k to this power times the time.
GROWTH = 1.15
# Share of the time limit that may have passed when screening ends.
_SCREENING_ENDS = 0.6
# Members that a round leaves: the more, the fewer rows it had seen.
_SURVIVORS, _SURVIVORS_OF_FEW, _FEW = 6, 8, 1000


# Rows of the first round where there are more than twice as many, and of the second.
_FIRST_ROUND, _PROBE = 4000, 500
_SECOND_ROUND = {"quick": 10_000, "balanced": 20_000, "best": 50_000}
_FOLDS = 5
# Of the time that is left, what the last fits may take: they are estimated, not known.
SAFE = 0.75


class Clock:
    """The time since a start, and what is left of a limit."""

    def __init__(self, limit: float | None) -> None:
        self.start, self.limit = time.perf_counter(), limit

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until a share of the limit has passed."""
        return float("inf") if self.limit is None else share * self.limit - self.passed


class LeftOut(NamedTuple):
    """A ranker that was not used, or not on all rows, and why."""

    ranker: str
    why: str


class Plan(NamedTuple):
    """How to screen: on how many rows, in how many folds, or by what rankers know themselves."""

    sizes: tuple[int, ...]
    n_folds: int
    own: bool


def plan_for(n_rows: int, preset: str, time_limit: float | None) -> Plan:
    """Return how so many rows are screened."""
    last = min(n_rows, _SECOND_ROUND[preset])
    sizes = (n_rows,) if n_rows <= 2 * _FIRST_ROUND else (_FIRST_ROUND, last)
    if time_limit is not None and n_rows > 2 * _PROBE:
        # What a fit takes is first seen on so few rows that any is quick.
        sizes = (_PROBE, *sizes)
    return Plan(sizes, _FOLDS, preset == "quick")


def told(notes: Sequence[LeftOut], time_limit: float | None) -> list[dict[str, str]]:
    """Return notes as they are kept; warn of what there was no time for."""
    late = [note for note in notes if "time" in note.why]
    if late:
        reasons: dict[str, list[str]] = {}
        for note in late:
            reasons.setdefault(note.why, []).append(note.ranker)
        said = "; ".join(f"{', '.join(who)}: {why}" for why, who in reasons.items())
        warn_user(f"time_limit={time_limit:g} left these out or short: {said}.")
    return [note._asdict() for note in notes]


class Evidence(Protocol):
    """What members are judged by."""

    @property
    def n_rows(self) -> int:
        """How many rows members are fitted to, folds left out."""

    def held_out(self, ranker: Any, *, own: bool, n_jobs: int | None = None) -> Any:
        """Return what a member says of rows it has not seen, and the seconds that took."""

    def best_first(self, judged: Sequence[Judged]) -> list[Judged]:
        """Return members by what they are worth, the best first."""


EvidenceT = TypeVar("EvidenceT", bound=Evidence)


class Screening(Generic[EvidenceT]):
    """Rounds of screening.

    Parameters
    ----------
    n_rows : int
        How many training rows there are.
    evidence_of : callable
        Returns, for a number of rows, what members are judged by: some rows, and who has not
        seen them.
    plan : Plan
        How.
    clock : Clock
        The time.
    n_jobs : int, optional
        Folds at the same time.
    tell : callable
        Told what is done next.
    """

    def __init__(
        self,
        n_rows: int,
        evidence_of: Callable[[int], EvidenceT],
        plan: Plan,
        clock: Clock,
        n_jobs: int | None,
        tell: Callable[[str], None],
    ) -> None:
        self.n_rows, self.evidence_of = n_rows, evidence_of
        self.plan, self.clock, self.n_jobs, self.tell = plan, clock, n_jobs, tell
        self.left_out: list[LeftOut] = []
        self.evidence = evidence_of(plan.sizes[0])

    def run(self, candidates: Sequence[Candidate]) -> list[Judged]:
        """Return the members that are left, judged by ``evidence``."""
        by_name = {candidate.name: candidate for candidate in candidates}
        judged = self._round(candidates, self._ends(0))
        for number, size in enumerate(self.plan.sizes[1:], start=1):
            survivors = self._survivors(judged)
            affordable = self._affordable(survivors, size, self._ends(number))
            if not affordable:
                break
            self._leave(judged, survivors, affordable, size)
            self.evidence = self.evidence_of(size)
            judged = self._round([by_name[name] for name in affordable], self._ends(number))
        return judged

    def _ends(self, number: int) -> float:
        """The share of the time limit after which a round begins nothing new."""
        return _SCREENING_ENDS * (number + 1) / len(self.plan.sizes)

    def _round(self, candidates: Sequence[Candidate], ends: float) -> list[Judged]:
        judged: list[Judged] = []
        n = self.evidence.n_rows
        for candidate in candidates:
            if judged and self.clock.left(ends) <= 0:
                self.left_out.append(LeftOut(candidate.name, "no time was left to try it"))
                continue
            self.tell(f"{candidate.name}, {n} rows")
            own = self.plan.own or candidate.own
            held_out = self.evidence.held_out(candidate.ranker, own=own, n_jobs=self.n_jobs)
            judged.append(Judged(candidate.name, candidate.family, candidate.ranker, held_out))
        return judged

    def _survivors(self, judged: list[Judged]) -> list[Judged]:
        few = self.evidence.n_rows <= _FEW
        return self.evidence.best_first(judged)[: _SURVIVORS_OF_FEW if few else _SURVIVORS]

    def _leave(
        self, judged: Sequence[Judged], survivors: Sequence[Judged], kept: list[str], size: int
    ) -> None:
        """Note who goes, and whether for want of merit or of time."""
        good, n = {member.name for member in survivors}, self.evidence.n_rows
        for member in judged:
            if member.name not in good:
                self.left_out.append(LeftOut(member.name, f"added little on {n} rows"))
            elif member.name not in kept:
                why = f"no time was left to try it on {size} rows"
                self.left_out.append(LeftOut(member.name, why))

    def _affordable(self, judged: Sequence[Judged], size: int, ends: float) -> list[str]:
        """The names of the members that a round of so many rows has time for."""
        left, names = self.clock.left(ends), []
        for member in judged:
            seconds = self._scaled(member.held_out.seconds, size)
            if seconds <= left:
                names.append(member.name)
                left -= seconds
        return names

    def _scaled(self, seconds: float, size: int) -> float:
        return seconds * (size / self.evidence.n_rows) ** GROWTH

    def rows_for(self, member: Judged, seconds: float, most: int | None) -> int:
        """Return how many rows a member can be fitted to in so many seconds; note if not all."""
        n, here = self.n_rows, self.evidence.n_rows
        size = bound = n if most is None else min(n, most)
        fits = 1 if member.held_out.fitted is not None else self.plan.n_folds
        once = max(member.held_out.seconds / fits, 1e-3)
        if np.isfinite(seconds):
            affordable = here * (max(seconds, 0) / once) ** (1 / GROWTH)
            size = int(np.clip(affordable, min(here, bound), bound))
        if size < n:
            why = "for want of time" if size < bound else "because it stores them"
            note = f"fitted to {size} of {n} rows, {why}"
            self.left_out.append(LeftOut(member.name, note))
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
            Seconds. What there is no time for is left out, and said.
        """,
    "working": """
        verbose : bool, default=False
            Whether to show on a terminal what is done and the time left.
        n_jobs : int, optional
            How many folds to run at the same time, as in joblib.
        random_state : int, RandomState or None, default=None
            Where trees and kernels draw from.
        """,
    "not_used": """
        skipped_ : list of dict
            ``ranker`` (or column) and ``why`` of what was not used, or not on all rows.
        """,
    "preparation": """
        preparation_ : TableTransformer
            How columns become numbers.
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
    """Return a line of a leaderboard; without a share where nothing is stacked."""
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
    """Leave the constant answer first and sort the others, the best first."""
    head, *rest = lines
    return [head, *sorted(rest, key=lambda one: -_known(one["held_out"]))]


def _known(value: float) -> float:
    return -np.inf if np.isnan(value) else value

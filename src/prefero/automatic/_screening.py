"""Which rankers are worth their time: more and more rows for fewer and fewer of them."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prefero._typing import Indices, Values
from prefero.automatic._candidates import Candidate
from prefero.automatic._evidence import Evidence, spread
from prefero.automatic._members import Rows
from prefero.automatic._stack import Judged
from prefero.automatic._weights import combine

# A fit to k times the rows takes about k to this power times the time.
GROWTH = 1.15
# Share of the time limit that may have passed when screening ends.
_SCREENING_ENDS = 0.6
# Members that a round leaves: the more, the fewer rows it had seen.
_SURVIVORS, _SURVIVORS_OF_FEW, _FEW = 4, 8, 1000


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


class Screening:
    """Rounds of screening.

    Parameters
    ----------
    rows : Rows
        All training rows.
    groups : ndarray of shape (n_samples,), optional
        Numbers of groups.
    measure : str
        What members are judged by.
    plan : Plan
        How.
    clock : Clock
        The time.
    n_jobs : int, optional
        Folds at the same time.
    tell : callable
        Told what is done next.
    scores : ndarray of shape (n_samples, n_labels), optional
        What labels are worth, for the regret.
    """

    def __init__(
        self,
        rows: Rows,
        groups: Indices | None,
        measure: str,
        plan: Plan,
        clock: Clock,
        n_jobs: int | None,
        tell: Callable[[str], None],
        scores: Values | None = None,
    ) -> None:
        self.rows, self.groups, self.measure, self.scores = rows, groups, measure, scores
        self.plan, self.clock, self.n_jobs, self.tell = plan, clock, n_jobs, tell
        self.left_out: list[LeftOut] = []
        self.evidence = self._evidence(plan.sizes[0])

    def _evidence(self, size: int) -> Evidence:
        chosen = sample(len(self.rows.ranks), self.groups, size)
        whole = len(chosen) == len(self.rows.ranks)
        rows = self.rows if whole else self.rows.some(chosen)
        groups = None
        if self.groups is not None:
            groups = np.unique(self.groups[chosen], return_inverse=True)[1]
        scores = None if self.scores is None else self.scores[chosen]
        return Evidence(rows, groups, self.plan.n_folds, self.measure, scores)

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
            self.evidence = self._evidence(size)
            judged = self._round([by_name[name] for name in affordable], self._ends(number))
        return judged

    def _ends(self, number: int) -> float:
        """The share of the time limit after which a round begins nothing new."""
        return _SCREENING_ENDS * (number + 1) / len(self.plan.sizes)

    def _round(self, candidates: Sequence[Candidate], ends: float) -> list[Judged]:
        judged: list[Judged] = []
        n = len(self.evidence.rows.ranks)
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
        """Those with the largest weights in a stack, the largest first."""
        margins = [member.held_out.margins for member in judged]
        families = [member.family for member in judged]
        found = combine(margins, families, self.evidence.outcomes, self.evidence.weight)
        order = np.lexsort([found.losses, -found.weights])
        few = len(self.evidence.rows.ranks) <= _FEW
        return [judged[k] for k in order][: _SURVIVORS_OF_FEW if few else _SURVIVORS]

    def _leave(
        self, judged: Sequence[Judged], survivors: Sequence[Judged], kept: list[str], size: int
    ) -> None:
        """Note who goes, and whether for want of merit or of time."""
        good, n = {member.name for member in survivors}, len(self.evidence.rows.ranks)
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
        return seconds * (size / len(self.evidence.rows.ranks)) ** GROWTH

    def rows_for(self, member: Judged, seconds: float, most: int | None) -> int:
        """Return how many rows a member can be fitted to in so many seconds."""
        n, here = len(self.rows.ranks), len(self.evidence.rows.ranks)
        bound = n if most is None else min(n, most)
        fits = 1 if member.held_out.fitted is not None else self.plan.n_folds
        once = max(member.held_out.seconds / fits, 1e-3)
        if not np.isfinite(seconds):
            return bound
        return int(
            np.clip(here * (max(seconds, 0) / once) ** (1 / GROWTH), min(here, bound), bound)
        )


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
    return rows if n <= size else rows.some(spread(n, size))

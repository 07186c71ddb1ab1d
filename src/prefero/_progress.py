"""How far a long run is: a bar with the time left on a terminal, lines elsewhere if asked."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Progress = Literal["auto"] | Callable[[int, int], None] | None
# Seconds before the first line, and between lines.
_FIRST_LINE, _BETWEEN_LINES = 10.0, 30.0


@contextmanager
def reporting(
    progress: Progress | Literal["lines"], total: int, done: int = 0, what: str = ""
) -> Iterator[Callable[..., None]]:
    """Yield a function to call after each step; ``done`` of ``total`` steps are behind us.

    It may be told what is done next. With "lines" a line is printed every half minute where there
    is no terminal to draw a bar on.
    """
    if progress == "lines" and not sys.stderr.isatty():
        yield _counter(_Lines(what), total, done)
    elif progress in ("auto", "lines"):
        with _bar(total, done, what) as advance:
            yield advance
    elif callable(progress):
        yield _counter(progress, total, done)
    elif progress is None:
        yield lambda *_: None
    else:
        raise ValueError(f"progress must be 'auto', None or a function, got {progress!r}.")


def _counter(report: Callable[[int, int], None], total: int, done: int) -> Callable[..., None]:
    def advance(*_: str) -> None:
        nonlocal done
        done += 1
        report(done, total)

    return advance


class _Lines:
    """Prints how far a run is, and how long the rest will take, now and then."""

    def __init__(self, what: str) -> None:
        self._what, self._start = what, time.monotonic()
        self._next = self._start + _FIRST_LINE
        self._before: int | None = None

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        self._before = done - 1 if self._before is None else self._before
        if now < self._next or done >= total:
            return
        self._next = now + _BETWEEN_LINES
        left = (now - self._start) / (done - self._before) * (total - done)
        time_left = f"{left:.0f} seconds" if left < 90 else f"{left / 60:.0f} minutes"
        print(f"{self._what}: {done} of {total}, about {time_left} left.", file=sys.stderr)


@contextmanager
def _bar(total: int, done: int, what: str) -> Iterator[Callable[..., None]]:
    try:
        if not sys.stderr.isatty():
            raise ImportError
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    except ImportError:
        yield lambda *_: None
        return
    columns = (
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        "time left",
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, completed=done)

        def advance(*following: str) -> None:
            bar.advance(task)
            for text in following:
                bar.update(task, description=escape(text))

        yield advance


class RowProgress:
    """How far passes over many rows are: rows a second, and the time left.

    Parameters
    ----------
    report : callable or None
        Called with the rows that were passed, the rows that are expected in all, and the rows a
        second.
    """

    def __init__(self, report: Callable[[int, int, float], None] | None) -> None:
        self._report, self._start = report, time.perf_counter()
        self._done, self._expected, self._rows = 0, 0, 0

    def expect(self, steps: int, rows: int) -> None:
        """Say how many steps there will be, about, and how many rows each passes."""
        self._expected, self._rows = steps, rows

    def __call__(self) -> None:
        """Tell that a step is done."""
        self._done += 1
        if self._report is None or not self._rows:
            return
        expected = max(self._expected, self._done + 1)
        passed = self._done * self._rows
        speed = passed / max(time.perf_counter() - self._start, 1e-9)
        self._report(passed, expected * self._rows, speed)


@contextmanager
def row_progress(progress: Progress, what: str) -> Iterator[RowProgress]:
    """Yield what counts passes over rows, with a bar on a terminal if progress is "auto"."""
    if callable(progress):
        yield RowProgress(lambda done, total, _: progress(done, total))
    elif progress is None or not sys.stderr.isatty():
        yield RowProgress(None)
    else:
        with _row_bar(what) as report:
            yield RowProgress(report)


@contextmanager
def _row_bar(what: str) -> Iterator[Callable[[int, int, float], None] | None]:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield None
        return
    speed = TextColumn("{task.fields[speed]:,.0f} rows a second")
    columns = ("{task.description}", BarColumn(), speed, "time left", TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, speed=0.0)
        yield lambda done, total, rows: bar.update(task, completed=done, total=total, speed=rows)

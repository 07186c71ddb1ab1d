"""How far a long run is: a bar with the time left, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Progress = Literal["auto"] | Callable[[int, int], None] | None


@contextmanager
def reporting(
    progress: Progress, total: int, done: int = 0, what: str = ""
) -> Iterator[Callable[..., None]]:
    """Yield a function to call after each step; ``done`` of ``total`` steps are behind us.

    It may be told what is done next.
    """
    if progress == "auto":
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

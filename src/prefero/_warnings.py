"""Warnings that name the user's line, however deep inside the package they arise."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

_PACKAGE = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if the first caller outside of this package had.

    Parameters
    ----------
    message : str
        One sentence: what, where, what to do.
    category : type, default=UserWarning
        The kind of warning.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class _Silence:
    """The one change of the process's warning filters, and how many threads need it."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.caught = warnings.catch_warnings()


_SILENCE = _Silence()


@contextmanager
def silenced() -> Iterator[None]:
    """Ignore warnings, and leave the filters as they were, also if several threads do this.

    Filters belong to the process: threads that enter and leave ``warnings.catch_warnings`` in
    turn restore each other's. Here the first thread sets them, and the last restores them.

    Examples
    --------
    >>> with silenced():
    ...     warn_user("not shown")
    """
    with _SILENCE.lock:
        if _SILENCE.users == 0:
            _SILENCE.caught = warnings.catch_warnings()
            _SILENCE.caught.__enter__()
            warnings.simplefilter("ignore")
        _SILENCE.users += 1
    try:
        yield
    finally:
        with _SILENCE.lock:
            _SILENCE.users -= 1
            if _SILENCE.users == 0:
                _SILENCE.caught.__exit__(None, None, None)

"""Warnings that name the user's line, however deep inside the package they arise."""

import sys
import warnings
from pathlib import Path

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

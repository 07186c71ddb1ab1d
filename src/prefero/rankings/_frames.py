"""Frames in, frames out: what a function makes of a table keeps the table's names."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def keeps_frames(function: F) -> F:
    """Make a function that turns a matrix into one of the same shape do so with tables too.

    Parameters
    ----------
    function : callable
        Its first argument is the matrix.

    Returns
    -------
    callable
        The same; a pandas table gives one with its columns and index, a polars table one with
        its columns.
    """
    name = next(iter(signature(function).parameters))

    @wraps(function)
    def wrapped(*given: Any, **options: Any) -> Any:
        values = function(*given, **options)
        matrix = given[0] if given else options[name]
        columns = getattr(matrix, "columns", None)
        if columns is None:
            return values
        if hasattr(matrix, "index"):
            return type(matrix)(values, index=matrix.index, columns=columns)
        return type(matrix)(values, schema=list(columns))

    return wrapped  # type: ignore[return-value]

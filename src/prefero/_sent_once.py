"""Functions with large data inside, which joblib's backends send to a worker once."""

from collections.abc import Callable
from typing import Any


class SentOnce:
    """A function that parallel tasks share: large, so that Dask sends it once, not a task a time.

    Parameters
    ----------
    function : callable
        For instance a method of what holds the data, or a partial function of it.

    Examples
    --------
    >>> from joblib import Parallel, delayed
    >>> sent = SentOnce([3, 1, 2].index)
    >>> Parallel()(delayed(called)(sent, value) for value in (1, 2))
    [1, 2]
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __sizeof__(self) -> int:
        return 2**20


def called(sent: SentOnce, *arguments: Any) -> Any:
    """Call the function."""
    return sent.function(*arguments)

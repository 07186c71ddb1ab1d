"""How public names and parameters go: two minor releases of warnings, then they are gone."""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def deprecated(*, since: str, instead: str) -> Callable[[Function], Function]:
    """Mark a public function or method that will be removed.

    Parameters
    ----------
    since : str
        The version that says so first.
    instead : str
        What to use.

    Returns
    -------
    callable
        A decorator: calls warn by a ``FutureWarning``, which users see, where they are made.

    Examples
    --------
    >>> @deprecated(since="0.4", instead="predict_order")
    ... def order(x):
    ...     return sorted(x)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     order([2, 1])
    [1, 2]
    >>> print(told[0].message)
    order is deprecated since 0.4 and goes two minor releases later: use predict_order.
    """

    def decorate(function: Function) -> Function:
        message = (
            f"{function.__name__} is deprecated since {since} and goes two minor releases later: "
            f"use {instead}."
        )

        @wraps(function)
        def warning(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(message, FutureWarning, stacklevel=2)
            return function(*args, **kwargs)

        return warning  # type: ignore[return-value]

    return decorate

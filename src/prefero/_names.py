"""Names: which one somebody may have meant, what tells one from another, and missing ones."""

import difflib
from collections.abc import Iterable
from itertools import takewhile
from typing import Any


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """Return words to follow a name that nobody knows; none if no known name is near it.

    Parameters
    ----------
    typed : str
        The name.
    known : iterable of str
        Those there are.

    Returns
    -------
    str
        Such as ``" (did you mean 'forest'?)"``, or nothing.

    Examples
    --------
    >>> did_you_mean("forrest", ["tree", "forest"])
    " (did you mean 'forest'?)"
    >>> did_you_mean("apple", ["tree", "forest"])
    ''
    """
    names = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(typed.casefold(), names, n=1, cutoff=0.6)
    return f" (did you mean {names[near[0]]!r}?)" if near else ""


# Where one word of a name ends and the next begins.
_BREAKS = "_-. :/|"


def without_common_start(names: Iterable[Any]) -> tuple[str, list[str]]:
    """Return the words that all names begin with, and what is left of each name.

    Parameters
    ----------
    names : iterable
        Such as the columns of a table.

    Returns
    -------
    start : str
        Whole words with the sign after them; empty if the names share none.
    names : list of str
        The names without it, none of them empty.

    Examples
    --------
    >>> without_common_start(["yield_of_rye", "yield_of_oats", "yield_of_winter_oats"])
    ('yield_of_', ['rye', 'oats', 'winter_oats'])
    >>> without_common_start(["rye", "rice"])
    ('', ['rye', 'rice'])
    """
    written = [str(name) for name in names]
    # What the least and the greatest share, all between them share.
    ends_of = zip(min(written, default=""), max(written, default=""), strict=False)
    shared = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], ends_of))
    ends = [i + 1 for i, sign in enumerate(shared) if sign in _BREAKS]
    least = min(map(len, written), default=0)
    start = next((shared[:end] for end in reversed(ends) if end < least), "")
    if len(written) < 2 or not start.strip(_BREAKS):
        return "", written
    return start, [name[len(start) :] for name in written]


def is_known(value: Any) -> bool:
    """Tell whether a cell of a table holds something: not None, nor any kind of NaN or NA.

    Examples
    --------
    >>> [is_known(value) for value in ("", 0.0, None, float("nan"))]
    [True, True, False, False]
    """
    try:
        return value is not None and bool(value == value)
    except (TypeError, ValueError):  # the NA of pandas has no truth value
        return False

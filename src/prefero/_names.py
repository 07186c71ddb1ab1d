"""Names that somebody may have meant who typed another."""

import difflib
from collections.abc import Iterable


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

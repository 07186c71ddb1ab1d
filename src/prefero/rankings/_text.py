"""Orders as text: ``b > a ~ c`` puts b first and ties a with c."""

import re
from collections.abc import Iterable
from typing import Any

Order = list[Any]

_TOKEN = re.compile(r'\s*(?:(?P<mark>[>~])|"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^>~"]+))\s*')
_NEEDS_QUOTES = re.compile(r'[][>~"]|^\s|\s$|^$')


def parse_order(text: str) -> Order:
    """Read an order written as text.

    Parameters
    ----------
    text : str
        Names, best first, with ``>`` between places and ``~`` between tied names. Blanks
        around names do not count. A name that holds ``>``, ``~``, a double quote or blanks at
        its ends stands in double quotes, in which a double quote is doubled; a name may always
        do so. Text without any name is the order of no label.

    Returns
    -------
    list
        One item a place: the name, or the tuple of the names that share the place.

    See Also
    --------
    format_order : The inverse.

    Examples
    --------
    >>> parse_order("b > a ~ c")
    ['b', ('a', 'c')]
    >>> parse_order('"<script>" > New York > NA')
    ['<script>', 'New York', 'NA']
    """
    if not text.strip():
        return []
    places: list[list[str]] = [[]]
    awaits_name = True
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError(
                f"a double quote at character {position + 1} of {text!r} is not closed."
            )
        if awaits_name == (token["mark"] is not None):
            break
        if token["mark"] == ">":
            places.append([])
        elif token["mark"] is None:
            places[-1].append(_name(token))
        awaits_name = token["mark"] is not None
        position = token.end()
    if awaits_name or position < len(text):
        raise ValueError(
            f"a {'name' if awaits_name else 'mark > or ~'} is missing at character {position + 1} "
            f"of {text!r}; write names that hold > or ~ in double quotes."
        )
    return [_item(place) for place in places]


def format_order(order: Iterable[Any]) -> str:
    """Write an order as text.

    Parameters
    ----------
    order : iterable
        Labels, best first; a tuple or list holds the labels that share a place.

    Returns
    -------
    str
        The text, in which names stand in double quotes where they must.

    See Also
    --------
    parse_order : The inverse.

    Examples
    --------
    >>> format_order(["b", ("a", "c")])
    'b > a ~ c'
    >>> format_order(["<script>", "New York"])
    '"<script>" > New York'
    """
    return " > ".join(" ~ ".join(_written(name) for name in place_labels(item)) for item in order)


def place_labels(item: Any) -> tuple[Any, ...]:
    """The labels at one place of an order: those of a tuple, list or set, or the item itself."""
    return tuple(item) if isinstance(item, tuple | list | set | frozenset) else (item,)


def _name(token: re.Match[str]) -> str:
    quoted = token["quoted"]
    return token["plain"].strip() if quoted is None else quoted.replace('""', '"')


def _item(names: list[str]) -> Any:
    return names[0] if len(names) == 1 else tuple(names)


def _written(label: Any) -> str:
    name = str(label)
    return '"' + name.replace('"', '""') + '"' if _NEEDS_QUOTES.search(name) else name

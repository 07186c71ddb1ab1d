"""Ranks from orders and orders from ranks."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefero._typing import Values
from prefero.exceptions import RowError
from prefero.rankings._ranks import smallest_positions
from prefero.rankings._validation import all_labels, check_ranks, column_of, is_empty, names_of

Order = list[Any]


def ranks_from_orders(
    orders: Iterable[Any],
    labels: Sequence[Any] | None = None,
    *,
    unranked: Literal["unknown", "below"] = "unknown",
) -> tuple[Values, NDArray[Any]]:
    """Turn orders into ranks.

    Parameters
    ----------
    orders : iterable
        One order per row: text such as ``"b > a ~ c"``, or labels, best first, in which a tuple
        or list holds the labels that share a place. None and NaN among them mark positions
        that were left empty.
    labels : sequence, optional
        All labels, in the order of the columns. By default those that occur, sorted.
    unranked : {"unknown", "below"}, default="unknown"
        What the labels that a row does not name are: unknown (NaN), or tied below those it
        names, as in a top-k list.

    Returns
    -------
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks; labels that share a place share its smallest rank.
    labels : ndarray of shape (n_labels,)
        The labels, in the order of the columns.

    See Also
    --------
    orders_from_ranks : The inverse.

    Examples
    --------
    >>> ranks, labels = ranks_from_orders(["b > a ~ c", "c > b"])
    >>> ranks, labels
    (array([[ 2., 1., 2.],
            [nan, 2., 1.]]), array(['a', 'b', 'c'], dtype=object))
    >>> ranks_from_orders([["c"], ["b", ("a", "c")]], unranked="below")[0]
    array([[2., 2., 1.],
           [2., 1., 2.]])
    """
    if unranked not in ("unknown", "below"):
        raise ValueError(f"unranked must be 'unknown' or 'below', got {unranked!r}.")
    rows = [_places(order, row) for row, order in enumerate(orders)]
    names = all_labels((label for row in rows for place in row for label in place), labels)
    column = {name: index for index, name in enumerate(names)}
    below = np.nan if unranked == "unknown" else len(names) + 1
    values = np.full((len(rows), len(names)), below)
    for row, places in enumerate(rows):
        seen: set[Any] = set()
        for position, place in enumerate(places):
            for label in place:
                if label in seen:
                    raise RowError(f"label {label!r} occurs twice.", "orders", row)
                seen.add(label)
                values[row, column_of(label, column, "orders", row)] = position
    return smallest_positions(values), names


def orders_from_ranks(
    Y: ArrayLike, labels: Sequence[Any] | None = None, top: int | None = None
) -> list[Order]:
    """Turn ranks into orders.

    Parameters
    ----------
    Y : array-like or DataFrame of shape (n_samples, n_labels)
        Ranks.
    labels : sequence of length n_labels, optional
        Label names. By default the columns of the DataFrame, else 0, 1, ...
    top : int, optional
        How many labels to keep; a place that begins among them is kept whole.

    Returns
    -------
    list of list
        One order per row: labels, best first; a tuple holds the labels that share a place.
        Labels of unknown rank are left out.

    See Also
    --------
    ranks_from_orders : The inverse.
    format_order : Writes an order as text.

    Examples
    --------
    >>> orders_from_ranks([[2, 1, 2], [float("nan"), 2, 1]], labels=["a", "b", "c"])
    [['b', ('a', 'c')], ['c', 'b']]
    >>> orders_from_ranks([[2, 1, 3]], top=2)
    [[1, 0]]
    """
    ranks = check_ranks(Y)
    if top is not None and top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}.")
    names = names_of(Y, labels, ranks.shape[1])
    return [_order(row, names, top) for row in ranks]


def _places(order: Any, row: int) -> list[tuple[Any, ...]]:
    """The labels at each place of one order, without the positions left empty."""
    if isinstance(order, str):
        try:
            order = parse_order(order)
        except ValueError as error:
            raise RowError(str(error), "orders", row) from error
    elif order is None or isinstance(order, float):
        order = [order]
    places = (tuple(x for x in place_labels(item) if not is_empty(x)) for item in order)
    return [place for place in places if place]


def _order(ranks: Values, names: NDArray[Any], top: int | None) -> Order:
    by_rank = np.argsort(ranks, kind="stable")[: np.count_nonzero(~np.isnan(ranks))]
    starts = np.flatnonzero(np.diff(ranks[by_rank], prepend=np.nan))
    places = np.split(by_rank, starts[1:])
    kept = [place for start, place in zip(starts, places, strict=False) if start < (top or np.inf)]
    return [names[place[0]] if len(place) == 1 else tuple(names[place]) for place in kept]


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

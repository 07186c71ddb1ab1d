"""Calibrated rankings as text: ``[pol > eco][edu > spo]``, the relevant labels in front."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefero.exceptions import RowError
from prefero.rankings._calibrated import check_calibrated
from prefero.rankings._labels import all_labels, names_of
from prefero.rankings._orders import orders_from_ranks, ranks_from_orders
from prefero.rankings._text import Order, format_order, parse_order, place_labels

_PART = r'\s*\[((?:[^]["]|"(?:[^"]|"")*")*)\]\s*'
_TWO_PARTS = re.compile(_PART + _PART)


class _ZeroPoint:
    """Stands for the virtual label among names, and is equal to none of them."""

    def __repr__(self) -> str:
        return "the zero point"


_ZERO = _ZeroPoint()


def calibrated_from_text(
    texts: Iterable[str], labels: Sequence[Any] | None = None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Read calibrated rankings written as text.

    Parameters
    ----------
    texts : iterable of str
        One text a row: the order of the relevant labels and that of the irrelevant ones, each
        in square brackets, with ``>`` between places and ``~`` between tied labels. A name that
        holds one of these characters stands in double quotes. Labels that are not named are
        unknown.
    labels : sequence, optional
        All labels, in the order of the columns. By default those that occur, sorted.

    Returns
    -------
    C : ndarray of shape (n_samples, n_labels + 1)
        Calibrated ranks, the virtual label in the last column.
    labels : ndarray of shape (n_labels,)
        The labels, in the order of the columns.

    See Also
    --------
    text_from_calibrated : The inverse.

    Examples
    --------
    >>> C, labels = calibrated_from_text(["[pol > eco][edu ~ spo]", "[][spo > pol]"])
    >>> C
    array([[ 2.,  4.,  1.,  4.,  3.],
           [nan, nan,  3.,  2.,  1.]])
    >>> labels
    array(['eco', 'edu', 'pol', 'spo'], dtype=object)
    """
    parts = [_parse(text, row) for row, text in enumerate(texts)]
    found = (
        name for pair in parts for part in pair for place in part for name in place_labels(place)
    )
    names = all_labels(found, labels)
    orders = [[*relevant, _ZERO, *irrelevant] for relevant, irrelevant in parts]
    return ranks_from_orders(orders, [*names, _ZERO])[0], names


def text_from_calibrated(C: ArrayLike, labels: Sequence[Any] | None = None) -> list[str]:
    """Write calibrated rankings as text.

    Parameters
    ----------
    C : array-like of shape (n_samples, n_labels + 1)
        Calibrated ranks, the virtual label in the last column.
    labels : sequence of length n_labels, optional
        Label names; 0, 1, ... by default.

    Returns
    -------
    list of str
        One text a row; labels whose side is unknown are left out.

    See Also
    --------
    calibrated_from_text : The inverse.

    Examples
    --------
    >>> text_from_calibrated([[2, 4, 1, 4, 3]], labels=["eco", "edu", "pol", "spo"])
    ['[pol > eco][edu ~ spo]']
    """
    calibrated = check_calibrated(C)
    names = names_of(None, labels, calibrated.shape[1] - 1)
    return [_format(order) for order in orders_from_ranks(calibrated, [*names, _ZERO])]


def _parse(text: str, row: int) -> tuple[Order, Order]:
    parts = _TWO_PARTS.fullmatch(text)
    if parts is None:
        raise RowError(
            f"expected two orders in square brackets, as in '[a > b][c]', got {text!r}; write "
            "names that hold brackets in double quotes.",
            "texts",
            row,
        )
    try:
        return parse_order(parts[1]), parse_order(parts[2])
    except ValueError as error:
        raise RowError(str(error), "texts", row) from error


def _format(order: Order) -> str:
    zero = next(i for i, place in enumerate(order) if place is _ZERO)
    return f"[{format_order(order[:zero])}][{format_order(order[zero + 1 :])}]"

"""Calibrated rankings: ranks of the labels and of a virtual label between relevant and irrelevant.

The matrix has one column more than there are labels: the last one is the virtual label. Labels
before it are relevant, labels after it irrelevant, and a label whose side is unknown is NaN.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from prefero._typing import ArrayOrNone, Mask, Values
from prefero.exceptions import RowError
from prefero.rankings import _orders, _ranks
from prefero.rankings._validation import all_labels, check_ranks, label_names, names_of


def check_relevance(relevance: ArrayLike, *, name: str = "relevance") -> Values:
    """Return a relevance indicator as a float64 matrix, or explain what is wrong with it.

    Parameters
    ----------
    relevance : array-like or DataFrame of shape (n_samples, n_labels)
        1 for relevant, 0 for irrelevant, NaN for unknown.
    name : str, default="relevance"
        What error sentences call the matrix.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The indicator.

    Examples
    --------
    >>> check_relevance([[1, 0, None]])
    array([[ 1.,  0., nan]])
    >>> check_relevance([[1, 2, 0]])
    Traceback (most recent call last):
        ...
    prefero.exceptions.RowError: relevance[0]: label 1 is 2, but relevance is 1, 0
    or NaN (unknown); for signed scores use calibrated_from_scores.
    """
    known = check_array(
        relevance, dtype=np.float64, order="C", ensure_all_finite="allow-nan", input_name=name
    )
    bad = ~((known == 0) | (known == 1) | np.isnan(known))
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise RowError(
            f"label {_label(relevance, column)!r} is {known[row, column]:g}, but relevance is 1, 0 "
            "or NaN (unknown); for signed scores use calibrated_from_scores.",
            name,
            row,
        )
    return known


def calibrated_from_relevance(relevance: ArrayLike, ranks: ArrayOrNone = None) -> Values:
    """Put the virtual label between the relevant and the irrelevant labels.

    Parameters
    ----------
    relevance : array-like of shape (n_samples, n_labels)
        1 for relevant, 0 for irrelevant, NaN for unknown.
    ranks : array-like of shape (n_samples, n_labels), optional
        Ranks of the labels, which refine the order inside both parts. No relevant label may
        stand after an irrelevant one. A label of known relevance without a rank stands in the
        middle of its part; without any rank each part is one bucket. The rank of a label of
        unknown relevance is not used. If both are tables, columns are matched by name.

    Returns
    -------
    ndarray of shape (n_samples, n_labels + 1)
        Calibrated ranks, the virtual label in the last column.

    References
    ----------
    Brinker & Hüllermeier (2007), section 4.

    Examples
    --------
    >>> calibrated_from_relevance([[1, 0, 0, 1], [0, float("nan"), 0, 0]])
    array([[ 1.,  4.,  4.,  1.,  3.],
           [ 2., nan,  2.,  2.,  1.]])
    >>> calibrated_from_relevance([[1, 0, 0, 1]], ranks=[[1, 4, 3, 2]])
    array([[1., 5., 4., 2., 3.]])
    """
    known = check_relevance(relevance)
    c = known.shape[1]
    inner = np.full_like(known, np.nan) if ranks is None else _ranks_of(relevance, ranks, c)
    check_consistent_length(known, inner)
    _refuse_inconsistent(known, inner, relevance)
    levels = np.full((len(known), c + 1), c + 1.0)
    levels[:, :-1] = np.where(known == 1, _places(inner, known == 1), np.nan)
    irrelevant = known == 0
    levels[:, :-1][irrelevant] = (c + 1 + _places(inner, irrelevant))[irrelevant]
    return _ranks.smallest_positions(levels)


def _ranks_of(relevance: Any, ranks: Any, n_labels: int) -> Values:
    """Ranks in the order of the relevance columns: two tables are matched by name."""
    inner = check_ranks(ranks, name="ranks", n_labels=n_labels)
    labels, columns = label_names(relevance), label_names(ranks)
    if labels is None or columns is None:
        return inner
    if set(labels) != set(columns):
        raise ValueError(
            f"The columns of ranks are {list(columns)}, but those of the relevance are "
            f"{list(labels)}: give both the same labels."
        )
    place = {name: column for column, name in enumerate(columns)}
    return np.ascontiguousarray(inner[:, [place[name] for name in labels]])


def _places(ranks: Values, part: Mask) -> Values:
    """Places of the labels of one part; those without a rank stand in its middle."""
    places = _ranks.bucket_positions(np.where(part, ranks, np.nan))
    ranked = np.count_nonzero(~np.isnan(places), axis=1)[:, None]
    return np.where(np.isnan(places), (ranked + 1) / 2, places)


def _refuse_inconsistent(relevance: Values, ranks: Values, source: Any) -> None:
    """Raise for the first relevant label that stands after an irrelevant one."""
    lowest = np.where((relevance == 1) & (ranks > 0), ranks, -np.inf)
    highest = np.where((relevance == 0) & (ranks > 0), ranks, np.inf)
    wrong = lowest.max(axis=1) > highest.min(axis=1)
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    last, first = int(np.argmax(lowest[row])), int(np.argmin(highest[row]))
    raise RowError(
        f"the relevant label {_label(source, last)!r} has rank {ranks[row, last]:g}, after the "
        f"irrelevant label {_label(source, first)!r} with rank {ranks[row, first]:g}; relevant "
        "labels come first.",
        "ranks",
        row,
    )


def calibrated_from_scores(S: ArrayLike) -> Values:
    """Rank signed scores around zero: positive is relevant, larger is better.

    Parameters
    ----------
    S : array-like of shape (n_samples, n_labels)
        Scores such as expression levels, whose sign is the virtual label. NaN is unknown, and so
        is 0: such a label is on neither side.

    Returns
    -------
    ndarray of shape (n_samples, n_labels + 1)
        Calibrated ranks, the virtual label in the last column.

    Examples
    --------
    >>> calibrated_from_scores([[0.5, -1.0, 2.0, 0.0]])
    array([[ 2.,  4.,  1., nan,  3.]])
    """
    scores = check_array(S, dtype=np.float64, ensure_all_finite="allow-nan", input_name="S")
    zero = np.zeros((len(scores), 1))
    sided = np.where(scores == 0, np.nan, scores)
    return _ranks.ranks_from_scores(np.hstack([sided, zero]), higher_is_better=True)


def check_calibrated(C: ArrayLike, *, name: str = "C") -> Values:
    """Return calibrated ranks as a float64 matrix, or explain what is wrong with them.

    Parameters
    ----------
    C : array-like of shape (n_samples, n_labels + 1)
        Ranks, the virtual label in the last column. The virtual label is always ranked, and no
        label is tied with it: a label whose side is unknown is NaN.
    name : str, default="C"
        What error sentences call the matrix.

    Returns
    -------
    ndarray of shape (n_samples, n_labels + 1)
        The calibrated ranks.

    Examples
    --------
    >>> check_calibrated([[1, 2, 2]])
    Traceback (most recent call last):
        ...
    prefero.exceptions.RowError: C[0]: label 1 is tied with the virtual label, so it is
    neither relevant nor irrelevant; use NaN for a label whose side is unknown.
    """
    calibrated = check_ranks(C, name=name)
    zero = calibrated[:, -1:]
    if np.isnan(zero).any():
        row = int(np.argmax(np.isnan(zero)))
        raise RowError(
            "the virtual label (last column) has no rank, but it always needs one.", name, row
        )
    tied = calibrated[:, :-1] == zero
    if tied.any():
        row, column = (int(i) for i in np.argwhere(tied)[0])
        raise RowError(
            f"label {_label(C, column)!r} is tied with the virtual label, so it is neither "
            "relevant nor irrelevant; use NaN for a label whose side is unknown.",
            name,
            row,
        )
    return calibrated


def split_calibrated(C: ArrayLike) -> tuple[Values, Values]:
    """Split calibrated ranks into the relevance indicator and the ranks of the labels.

    Parameters
    ----------
    C : array-like of shape (n_samples, n_labels + 1)
        Calibrated ranks.

    Returns
    -------
    relevance : ndarray of shape (n_samples, n_labels)
        1 for relevant, 0 for irrelevant, NaN for unknown.
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks without the virtual label.

    Examples
    --------
    >>> relevance, ranks = split_calibrated(calibrated_from_scores([[0.5, -1.0, 2.0, 0.0]]))
    >>> relevance
    array([[ 1.,  0.,  1., nan]])
    >>> ranks
    array([[ 2.,  3.,  1., nan]])
    """
    calibrated = check_calibrated(C)
    labels, zero = calibrated[:, :-1], calibrated[:, -1:]
    relevance = np.where(np.isnan(labels), np.nan, labels < zero)
    return relevance, _ranks.smallest_positions(labels)


def strict_calibrated(scores: ArrayLike) -> NDArray[np.int64]:
    """Rank scores and the virtual label between positive and other ones, with no ties.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores, larger is better, none missing. A score of 0 stands after the virtual label.

    Returns
    -------
    ndarray of shape (n_samples, n_labels + 1), dtype int64
        A permutation of 1..n_labels + 1 in each row, the virtual label in the last column.

    Examples
    --------
    >>> strict_calibrated([[0.5, -1.0, 0.0]])
    array([[1, 4, 3, 2]])
    """
    values = check_array(scores, dtype=np.float64, input_name="scores")
    # Equal scores go by index: put first, the virtual label wins against labels that reach it.
    ranks = _ranks.strict_ranks(np.column_stack([np.zeros(len(values)), values]))
    return np.roll(ranks, -1, axis=1)


def virtual_label_offsets(C: Values) -> tuple[Values, Values]:
    """Return how far each label stands from the virtual label, and where the virtual label stands.

    The offset counts the labels between, the own one half (its whole bucket half): -1/2 is the
    last relevant label, +1/2 the first irrelevant one. A row of m of c labels is stretched by
    (c + 1)/(m + 1), as in the generalized Borda count. A virtual label of width p, that is p
    virtual labels in one bucket, puts a label p/2 farther away; its generalized rank is then
    ``place + (p + 1) / 2 + offset + side * p / 2``.

    Parameters
    ----------
    C : ndarray of shape (n_samples, n_labels + 1)
        Calibrated ranks.

    Returns
    -------
    offsets : ndarray of shape (n_samples, n_labels)
        Negative for relevant labels, positive for irrelevant ones, NaN for unknown ones.
    places : ndarray of shape (n_samples,)
        The number of relevant labels, stretched.

    References
    ----------
    Brinker & Hüllermeier (2007), section 5.

    Examples
    --------
    >>> virtual_label_offsets(np.array([[1.0, 3.0, 4.0, 4.0, 2.0]]))
    (array([[-0.5,  0.5,  2. ,  2. ]]), array([1.]))
    """
    positions = _ranks.bucket_positions(C)
    offsets = positions[:, :-1] - positions[:, -1:]
    known = np.count_nonzero(~np.isnan(offsets), axis=1)
    stretch = C.shape[1] / (known + 1)
    offsets = (offsets - np.sign(offsets) / 2) * stretch[:, None]
    return np.ascontiguousarray(offsets), (positions[:, -1] - 1) * stretch


def _label(source: Any, column: int) -> Any:
    """The name of a column in the table the user gave, or its index."""
    names = label_names(source)
    return column if names is None else names[column]


_PART = r'\s*\[((?:[^]["]|"(?:[^"]|"")*")*)\]\s*'
_TWO_PARTS = re.compile(_PART + _PART)


class _ZeroPoint:
    """Stands for the virtual label among names, and is equal to none of them."""

    def __repr__(self) -> str:
        return "the virtual label"


_ZERO = _ZeroPoint()


def calibrated_from_text(
    texts: Iterable[str], labels: Sequence[Any] | None = None
) -> tuple[Values, NDArray[Any]]:
    """Read calibrated rankings written as text.

    Parameters
    ----------
    texts : iterable of str
        One text per row: the order of the relevant labels and that of the irrelevant ones, each
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
        name
        for pair in parts
        for part in pair
        for place in part
        for name in _orders.place_labels(place)
    )
    names = all_labels(found, labels)
    orders = [[*relevant, _ZERO, *irrelevant] for relevant, irrelevant in parts]
    return _orders.ranks_from_orders(orders, [*names, _ZERO])[0], names


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
        One text per row; labels whose side is unknown are left out.

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
    return [_format(order) for order in _orders.orders_from_ranks(calibrated, [*names, _ZERO])]


def _parse(text: str, row: int) -> tuple[_orders.Order, _orders.Order]:
    parts = _TWO_PARTS.fullmatch(text)
    if parts is None:
        raise RowError(
            f"expected two orders in square brackets, as in '[a > b][c]', got {text!r}; write "
            "names that hold brackets in double quotes.",
            "texts",
            row,
        )
    try:
        return _orders.parse_order(parts[1]), _orders.parse_order(parts[2])
    except ValueError as error:
        raise RowError(str(error), "texts", row) from error


def _format(order: _orders.Order) -> str:
    zero = next(i for i, place in enumerate(order) if place is _ZERO)
    return f"[{_orders.format_order(order[:zero])}][{_orders.format_order(order[zero + 1 :])}]"

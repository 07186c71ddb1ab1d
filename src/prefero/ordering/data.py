"""From what users hold (orders, pairs, clicks, grades) to rows, ranks and queries."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d

from prefero._docs import documented
from prefero._typing import ArrayOrNone, Values
from prefero.rankings import Queries


class OrderedObjects(NamedTuple):
    """One row per object in one order; ``orderer.fit(*objects)`` learns from it.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        Ranks inside the query, 1 is best.
    qid : ndarray of shape (n_rows,)
        The number of the order each row belongs to.

    Examples
    --------
    >>> objects = objects_from_orders([[0.2], [0.9], [0.7]], [[1, 0], [2, 0, 1]])
    >>> objects.y
    array([1., 2., 1., 2., 3.])
    >>> from prefero import ExpectedRankOrderer
    >>> ExpectedRankOrderer().fit(*objects).predict([[0.1], [0.8]]).shape
    (2,)
    """

    X: Any
    y: Values
    qid: NDArray[np.int64]


@documented()
def objects_from_orders(
    table: Any, orders: Iterable[Sequence[Any]], *, names: Sequence[Hashable] | None = None
) -> OrderedObjects:
    """Join a table of objects with sample orders of some of them.

    Parameters
    ----------
    %(object_table)s
    orders : iterable of sequences
        Each lists objects, best first; a list or tuple in place of an object is a bucket of
        tied ones.
    %(object_names)s

    Returns
    -------
    OrderedObjects
        One row per object in one order.

    Examples
    --------
    >>> objects = objects_from_orders([[0.0], [1.0], [2.0]], ["ca", ["b", ["a", "c"]]], names="abc")
    >>> objects.y, objects.qid
    (array([1., 2., 1., 2., 2.]), array([0, 0, 1, 1, 1]))
    """
    features = check_array(
        table, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
    )
    index = _index(features.shape[0], names)
    rows: list[int] = []
    ranks: list[int] = []
    qid: list[int] = []
    for group, order in enumerate(orders):
        rank, seen = 1, len(rows)
        for place in order:
            bucket = place if isinstance(place, list | tuple) else [place]
            rows.extend(_find(index, name, f"order {group}") for name in bucket)
            ranks.extend([rank] * len(bucket))
            rank += len(bucket)
        if len(set(rows[seen:])) < rank - 1:
            raise ValueError(f"order {group} lists an object twice: {list(order)!r}.")
        qid.extend([group] * (rank - 1))
    return OrderedObjects(features[rows], np.array(ranks, float), np.array(qid, np.int64))


@documented()
def objects_from_pairs(
    table: Any, pairs: Iterable[tuple[Any, Any]], *, names: Sequence[Hashable] | None = None
) -> OrderedObjects:
    """Join a table of objects with pairs (preferred, other): each is an order of two.

    Parameters
    ----------
    %(object_table)s
    pairs : iterable of pairs
        The preferred object first. Pairs may contradict each other.
    %(object_names)s

    Returns
    -------
    OrderedObjects
        Two rows per pair.

    Examples
    --------
    >>> objects_from_pairs([[0.0], [1.0], [2.0]], [(2, 0), (1, 0)]).X.T
    array([[2., 0., 1., 0.]])
    """
    checked = []
    for number, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ValueError(f"pair {number} holds {len(pair)} objects, not 2: {pair!r}.")
        checked.append(list(pair))
    return objects_from_orders(table, checked, names=names)


@documented()
def objects_from_clicks(
    table: Any,
    shown: Iterable[Sequence[Any]],
    clicked: Iterable[Iterable[Any]],
    *,
    names: Sequence[Hashable] | None = None,
) -> OrderedObjects:
    """Read preferences from clicks: a clicked object is preferred to those skipped above it.

    Parameters
    ----------
    %(object_table)s
    shown : iterable of sequences
        The lists as they were shown, top first.
    clicked : iterable of iterables
        The objects clicked in each list.
    %(object_names)s

    Returns
    -------
    OrderedObjects
        One order a click: the clicked object before a bucket of the skipped ones. Clicks with
        nothing skipped above say nothing and are left out.

    References
    ----------
    Joachims (2002).

    Examples
    --------
    >>> objects = objects_from_clicks([[0.0], [1.0], [2.0], [3.0]], [[3, 1, 2, 0]], [[2]])
    >>> objects.X.T, objects.y
    (array([[2., 3., 1.]]), array([1., 2., 2.]))
    """
    lists, clicks_of = list(shown), list(clicked)
    if len(lists) != len(clicks_of):
        raise ValueError(f"{len(lists)} lists were shown, but clicked has {len(clicks_of)}.")
    orders: list[list[Any]] = []
    for number, (listed, clicks) in enumerate(zip(lists, clicks_of, strict=True)):
        chosen = set(clicks)
        unknown = chosen.difference(listed)
        if unknown:
            raise ValueError(f"list {number} does not show {unknown.pop()!r}, which was clicked.")
        for place, name in enumerate(listed):
            skipped = [above for above in listed[:place] if above not in chosen]
            if name in chosen and skipped:
                orders.append([name, skipped])
    return objects_from_orders(table, orders, names=names)


def ranks_in_queries(
    values: ArrayLike, qid: ArrayOrNone = None, *, higher_is_better: bool
) -> Values:
    """Turn grades or scores into ranks inside each query.

    Parameters
    ----------
    values : array-like of shape (n_objects,)
        Grades of relevance, scores, times; NaN where unknown.
    qid : array-like of shape (n_objects,), optional
        Names the set each object belongs to; by default all are one set.
    higher_is_better : bool
        The direction of the values. There is no default: it cannot be guessed.

    Returns
    -------
    ndarray of shape (n_objects,)
        Ranks: equal values share the smallest rank of their bucket, NaN stays NaN.

    Examples
    --------
    >>> ranks_in_queries([2, 0, 0, 1, 3], ["a", "a", "a", "b", "b"], higher_is_better=True)
    array([1., 2., 2., 2., 1.])
    """
    numbers = column_or_1d(
        check_array(values, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan")
    )
    found = Queries.of(qid, len(numbers))
    arranged = numbers[found.rows]
    ranks = np.empty(len(numbers))
    ranks[found.rows] = found.ranks(-arranged if higher_is_better else arranged)
    return np.where(np.isnan(numbers), np.nan, ranks)


def _index(n_objects: int, names: Sequence[Hashable] | None) -> dict[Hashable, int]:
    listed = range(n_objects) if names is None else names
    if len(listed) != n_objects:
        raise ValueError(f"names has {len(listed)} entries, but the table has {n_objects} rows.")
    index: dict[Hashable, int] = {}
    for row, name in enumerate(listed):
        if index.setdefault(name, row) != row:
            raise ValueError(f"names[{row}] is {name!r}, as is names[{index[name]}].")
    return index


def _find(index: dict[Hashable, int], name: Hashable, where: str) -> int:
    if name not in index:
        raise ValueError(f"{where} lists {name!r}, which is not an object of the table.")
    return index[name]

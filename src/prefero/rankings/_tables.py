"""Ranks from pairs, from best and worst choices and from long tables; pairs from ranks."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from prefero._typing import Mask, Values
from prefero.exceptions import RowError
from prefero.rankings._ranks import ranks_from_scores, smallest_positions
from prefero.rankings._validation import all_labels, check_ranks, column_of, is_empty, names_of

Pair = tuple[Any, Any]


def ranks_from_pairs(
    pairs: Iterable[Iterable[Pair]], labels: Sequence[Any] | None = None
) -> tuple[Values, NDArray[Any]]:
    """Turn pairwise preferences into ranks where they are an order with ties.

    Parameters
    ----------
    pairs : iterable of iterables of (preferred, other)
        The preferences of each row. What follows from them by transitivity need not be given.
    labels : sequence, optional
        All labels, in the order of the columns. By default those that occur, sorted.

    Returns
    -------
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks. Labels that a row does not name are NaN; two that it names and does not order
        are tied.
    labels : ndarray of shape (n_labels,)
        The labels, in the order of the columns.

    Raises
    ------
    RowError
        If the pairs of a row hold a cycle, or leave open how labels of different places
        compare. Preference graphs (`prefero.PreferenceGraphs`) keep such pairs as they are.

    See Also
    --------
    pairs_from_ranks : The inverse.

    Examples
    --------
    >>> ranks_from_pairs([[("b", "a"), ("b", "c")], [("c", "b"), ("b", "a")]])
    (array([[2., 1., 2.],
            [3., 2., 1.]]), array(['a', 'b', 'c'], dtype=object))
    """
    rows = [list(row) for row in pairs]
    names = all_labels((label for row in rows for pair in row for label in pair), labels)
    column = {name: index for index, name in enumerate(names)}
    values = np.full((len(rows), len(names)), np.nan)
    for i, row in enumerate(rows):
        edges = np.array(
            [[column_of(label, column, "pairs", i) for label in pair] for pair in row],
            dtype=np.intp,
        ).reshape(-1, 2)
        itself = np.flatnonzero(edges[:, 0] == edges[:, 1])
        if len(itself):
            raise RowError(f"label {row[itself[0]][0]!r} is paired with itself.", "pairs", i)
        known, before = _closure(edges)
        above = before.sum(axis=0)
        _refuse_non_order(before, above, names[known], i)
        values[i, known] = above
    return smallest_positions(values), names


def pairs_from_ranks(Y: ArrayLike, labels: Sequence[Any] | None = None) -> list[list[Pair]]:
    """Turn ranks into pairwise preferences.

    Parameters
    ----------
    Y : array-like or DataFrame of shape (n_samples, n_labels)
        Ranks.
    labels : sequence of length n_labels, optional
        Label names. By default the columns of the DataFrame, else 0, 1, ...

    Returns
    -------
    list of list of (preferred, other)
        The pairs of each row; none for tied labels, nor for labels of unknown rank.

    See Also
    --------
    ranks_from_pairs : The inverse, save that labels tied with all others become unknown.

    Examples
    --------
    >>> pairs_from_ranks([[2, 1, 2]], labels=["a", "b", "c"])
    [[('b', 'a'), ('b', 'c')]]
    """
    ranks = check_ranks(Y)
    names = names_of(Y, labels, ranks.shape[1])
    return [
        [(names[i], names[j]) for i, j in np.argwhere(row[:, None] < row[None, :])] for row in ranks
    ]


def ranks_from_best_worst(
    best: Sequence[Any],
    worst: Sequence[Any],
    shown: Iterable[Iterable[Any]] | None = None,
    labels: Sequence[Any] | None = None,
) -> tuple[Values, NDArray[Any]]:
    """Turn best and worst choices into ranks.

    Parameters
    ----------
    best, worst : sequence of length n_samples
        The label that each row chose as best and as worst; None or NaN where it chose none.
    shown : iterable of iterables, optional
        The labels that each row chose from. By default all of them.
    labels : sequence, optional
        All labels, in the order of the columns. By default those that occur, sorted.

    Returns
    -------
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks: the best first, the worst last, the others shown tied between them, those not
        shown NaN.
    labels : ndarray of shape (n_labels,)
        The labels, in the order of the columns.

    Examples
    --------
    >>> ranks_from_best_worst(["a", "d"], ["c", "b"], [["a", "b", "c"], ["b", "c", "d"]])
    (array([[ 1.,  2.,  3., nan],
            [nan,  3.,  2.,  1.]]), array(['a', 'b', 'c', 'd'], dtype=object))
    """
    choices = list(zip(best, worst, strict=True))
    sets = None if shown is None else [list(row) for row in shown]
    found = (label for row in (*choices, *(sets or ())) for label in row)
    names = all_labels((label for label in found if not is_empty(label)), labels)
    sets = [list(names)] * len(choices) if sets is None else sets
    check_consistent_length(choices, sets)
    column = {name: index for index, name in enumerate(names)}
    values = np.full((len(choices), len(names)), np.nan)
    for row, ((first, last), offered) in enumerate(zip(choices, sets, strict=True)):
        _refuse_choice(first, last, offered, row)
        for place, placed in ((2, offered), (1, [first]), (3, [last])):
            for label in placed:
                if not is_empty(label):
                    values[row, column_of(label, column, "shown", row)] = place
    return smallest_positions(values), names


def ranks_from_long(
    instances: Sequence[Hashable],
    names: Sequence[Any],
    values: ArrayLike,
    *,
    higher_is_better: bool,
    labels: Sequence[Any] | None = None,
    order_of_instances: Sequence[Hashable] | None = None,
) -> tuple[Values, NDArray[Any]]:
    """Turn a long table, one line per instance and label, into ranks.

    Parameters
    ----------
    instances : sequence of length n_lines
        The instance of each line.
    names : sequence of length n_lines
        The label of each line.
    values : array-like of shape (n_lines,)
        Its rank or score; NaN is unknown.
    higher_is_better : bool
        The direction of the values: False for ranks, positions and run times. There is no
        default: it cannot be guessed.
    labels : sequence, optional
        All labels, in the order of the columns. By default those that occur, sorted.
    order_of_instances : sequence, optional
        The instances in the order of the rows wanted, such as the index of X. By default in
        the order in which they first occur.

    Returns
    -------
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks; what has no line is NaN.
    labels : ndarray of shape (n_labels,)
        The labels, in the order of the columns.

    Examples
    --------
    >>> ranks_from_long([7, 7, 9, 9], ["b", "a", "a", "c"], [0.9, 0.1, 0.4, 0.8],
    ...                 higher_is_better=True)
    (array([[ 2.,  1., nan],
            [ 2., nan,  1.]]), array(['a', 'b', 'c'], dtype=object))
    """
    numbers = column_or_1d(np.asarray(values, dtype=np.float64))
    check_consistent_length(instances, names, numbers)
    columns = all_labels(names, labels)
    column = {name: index for index, name in enumerate(columns)}
    rows = list(dict.fromkeys(instances if order_of_instances is None else order_of_instances))
    row_of = {instance: index for index, instance in enumerate(rows)}
    scores = np.full((len(rows), len(columns)), np.nan)
    seen: set[tuple[int, int]] = set()
    for line, (instance, name, number) in enumerate(zip(instances, names, numbers, strict=True)):
        if instance not in row_of:
            raise RowError(f"{instance!r} is not in order_of_instances.", "instances", line)
        cell = row_of[instance], column_of(name, column, "names", line)
        if cell in seen:
            raise RowError(f"instance {instance!r} has label {name!r} twice.", "names", line)
        seen.add(cell)
        scores[cell] = number
    return ranks_from_scores(scores, higher_is_better=higher_is_better), columns


def _closure(edges: NDArray[np.intp]) -> tuple[NDArray[np.intp], Mask]:
    """The labels that edges name, and which stands before which by transitivity."""
    known, compact = np.unique(edges, return_inverse=True)
    before = np.zeros((len(known), len(known)), dtype=bool)
    before[tuple(compact.reshape(edges.shape).T)] = True
    for via in range(len(known)):
        before |= before[:, via, None] & before[None, via, :]
    return known, before


def _refuse_non_order(before: Mask, above: NDArray[np.intp], names: NDArray[Any], row: int) -> None:
    """Raise unless ``before`` is an order with ties, which the counts ``above`` then describe."""
    keep = "keep them as prefero.PreferenceGraphs, which need no order."
    cyclic = np.argwhere(np.triu(before & before.T, 1))
    if len(cyclic):
        first, second = names[cyclic[0]]
        raise RowError(f"{first!r} and {second!r} each come before the other: {keep}", "pairs", row)
    undecided = np.argwhere((above[:, None] < above[None, :]) & ~before)
    if len(undecided):
        first, second = names[undecided[0]]
        raise RowError(
            f"the pairs are no ranking, for they leave open how {first!r} and {second!r} "
            f"compare: {keep}",
            "pairs",
            row,
        )


def _refuse_choice(best: Any, worst: Any, shown: Sequence[Any], row: int) -> None:
    if not is_empty(best) and best == worst:
        raise RowError(f"label {best!r} is also the worst.", "best", row)
    for label, name in ((best, "best"), (worst, "worst")):
        if not is_empty(label) and label not in shown:
            raise RowError(f"label {label!r} is not among those shown.", name, row)

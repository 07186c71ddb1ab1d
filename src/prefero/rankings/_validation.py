"""The questions every function and estimator asks of a rank matrix, and their error sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from prefero._sklearn import in_one_sentence
from prefero._typing import Mask, Values
from prefero.exceptions import RowError


def label_names(Y: Any) -> NDArray[Any] | None:
    """Return the names of the columns of a table, or None if it has no names.

    Parameters
    ----------
    Y : array-like or DataFrame of shape (n_samples, n_labels)
        A pandas, polars or other table with ``columns``, or any array.

    Returns
    -------
    ndarray of shape (n_labels,) or None
        Names as they stand in the table; object dtype, so that they keep their type.

    Examples
    --------
    >>> import pandas as pd
    >>> label_names(pd.DataFrame({"a": [1], "b": [2]}))
    array(['a', 'b'], dtype=object)
    >>> label_names([[1, 2]]) is None
    True
    """
    columns = getattr(Y, "columns", None)
    if columns is None:
        return None
    return check_label_names(list(columns))


def check_label_names(labels: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return label names as a one-dimensional object array, refusing duplicates.

    Parameters
    ----------
    labels : sequence of hashable
        The names.

    Returns
    -------
    ndarray of shape (n_labels,), dtype object
        The names.

    Examples
    --------
    >>> check_label_names(["a", "b"])
    array(['a', 'b'], dtype=object)
    """
    names = np.empty(len(labels), dtype=object)
    names[:] = list(labels)
    seen: set[Any] = set()
    for position, name in enumerate(names):
        if name in seen:
            raise ValueError(
                f"Label {name!r} occurs twice, again at position {position}: "
                "give every label a name of its own."
            )
        seen.add(name)
    return names


def check_ranks(Y: ArrayLike, *, name: str = "Y", n_labels: int | None = None) -> Values:
    """Return Y as a C-contiguous float64 matrix of ranks, or explain what is wrong with it.

    Parameters
    ----------
    Y : array-like or DataFrame of shape (n_samples, n_labels)
        Ranks: smaller is better, equal means tied, NaN means unknown. Values lie in
        1..n_labels; gaps and average ranks such as 2.5 are legal. A single column holds no
        order, so its values are not checked.
    name : str, default="Y"
        What error sentences call the matrix.
    n_labels : int, optional
        The number of columns to insist on.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The ranks.

    Examples
    --------
    >>> check_ranks([[1, 2, None], [2, 1, 3]])
    array([[ 1.,  2., nan],
           [ 2.,  1.,  3.]])
    >>> check_ranks([[0.3, 0.7]])
    Traceback (most recent call last):
        ...
    prefero.exceptions.RowError: Y[0]: label 0 has rank 0.3, outside 1..2; this looks like
    scores: use ranks_from_scores.
    """
    if _are_plain(Y, n_labels):
        return Y
    options: Any = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}
    with in_one_sentence(name):
        ranks = check_array(Y, **options, input_name=name)
    c = ranks.shape[1]
    if n_labels is not None and c != n_labels:
        raise ValueError(f"{name} has {c} labels, but {n_labels} were expected.")
    if c > 1:
        _refuse_values_outside(ranks, label_names(Y), name)
    return ranks


def _are_plain(Y: ArrayLike, n_labels: int | None) -> TypeGuard[Values]:
    """Whether validation would return Y as it is: asking costs less, which counts for few rows."""
    return (
        type(Y) is np.ndarray
        and Y.dtype == np.float64
        and Y.ndim == 2
        and len(Y) > 0
        and Y.shape[1] > 1
        and Y.shape[1] == (n_labels or Y.shape[1])
        and Y.flags.c_contiguous
        and not _outside(Y).any()
    )


def _outside(ranks: Values) -> Mask:
    return (ranks < 1) | (ranks > ranks.shape[1])


def _refuse_values_outside(ranks: Values, names: NDArray[Any] | None, name: str) -> None:
    """Raise for the first rank outside 1..c: scores passed as ranks are the usual slip."""
    c = ranks.shape[1]
    outside = _outside(ranks)
    if not outside.any():
        return
    row, column = (int(i) for i in np.argwhere(outside)[0])
    label = column if names is None else names[column]
    raise RowError(
        f"label {label!r} has rank {ranks[row, column]:g}, outside 1..{c}; "
        "this looks like scores: use ranks_from_scores.",
        name,
        row,
    )


def is_empty(label: Any) -> bool:
    return label is None or (isinstance(label, float) and np.isnan(label))


def all_labels(found: Iterable[Any], labels: Sequence[Any] | None) -> NDArray[Any]:
    """The given labels, checked, or else those found, sorted (by text if they do not compare)."""
    if labels is not None:
        return check_label_names(labels)
    distinct = dict.fromkeys(found)
    try:
        return check_label_names(sorted(distinct))
    except TypeError:
        return check_label_names(sorted(distinct, key=str))


def names_of(Y: Any, labels: Sequence[Any] | None, c: int) -> NDArray[Any]:
    """The names of c columns: the given ones, those of a table, or 0, 1, ..."""
    names = label_names(Y) if labels is None else check_label_names(labels)
    if names is None:
        return check_label_names(range(c))
    if len(names) != c:
        raise ValueError(f"labels holds {len(names)} names for {c} columns of Y.")
    return names


def column_of(label: Any, column: Mapping[Any, int], name: str, row: int) -> int:
    """The column of a label that a row of the argument ``name`` holds."""
    if label in column:
        return column[label]
    shown = [repr(known) for known in column]
    more = ", ..." if len(shown) > 10 else ""
    raise RowError(f"label {label!r} is not one of {', '.join(shown[:10])}{more}.", name, row)


F = TypeVar("F", bound=Callable[..., Any])


def keeps_frames(function: F) -> F:
    """Make a function that turns a matrix into one of the same shape do so with tables too.

    Parameters
    ----------
    function : callable
        Its first argument is the matrix.

    Returns
    -------
    callable
        The same; a pandas table gives one with its columns and index, a polars table one with
        its columns.
    """
    name = next(iter(signature(function).parameters))

    @wraps(function)
    def wrapped(*given: Any, **options: Any) -> Any:
        values = function(*given, **options)
        matrix = given[0] if given else options[name]
        columns = getattr(matrix, "columns", None)
        if columns is None:
            return values
        if hasattr(matrix, "index"):
            return type(matrix)(values, index=matrix.index, columns=columns)
        return type(matrix)(values, schema=list(columns))

    return wrapped  # type: ignore[return-value]

"""Rows that stand for all where there are many: a sample without chance."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from prefero._typing import Indices, Mask, Values

# What parameters are chosen and probabilities are learned by, at most.
SAMPLE_ROWS = 20_000
_MOST_ENTRIES = 2**24
_FOLDS, _FEWEST_ROWS = 5, 30


def evenly_spaced(n_rows: int, most: int = SAMPLE_ROWS) -> Indices:
    """Return the numbers of rows spread evenly over so many, all if they are few.

    Examples
    --------
    >>> evenly_spaced(10, 4)
    array([0, 3, 6, 9])
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.int64)  # at least 1 apart


def numbered_rows(X: Any, beside: Any) -> Indices:
    """Return the number of each row among the different ones, in the order of the features.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Instances.
    beside : array of shape (n_samples, n_columns)
        What else tells rows apart, without NaN.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0 on; equal rows share a number.

    Examples
    --------
    >>> numbered_rows(np.array([[7.0], [5.0], [7.0]]), np.zeros((3, 1)))
    array([1, 0, 1])
    """
    if issparse(X):  # where it is too large to write out, two numbers tell the rows apart
        large = X.shape[0] * X.shape[1] > _MOST_ENTRIES
        X = X @ np.vander(np.arange(X.shape[1]), 2) if large else X.toarray()
    keys = np.column_stack([X, beside])
    order = np.lexsort(keys.T[::-1])
    before, after = keys[order][:-1], keys[order][1:]
    differs: Mask = ((before != after) & ~((before != before) & (after != after))).any(axis=1)
    case = np.empty(len(order), dtype=np.int64)
    case[order] = np.concatenate([[0], np.cumsum(differs)])
    return case


def held_out_rows(
    X: Any, beside: Values, groups: Indices | None = None
) -> list[tuple[Indices, Indices]]:
    """Return pairs of rows to learn from and rows left out; none if there are fewer than thirty.

    Equal rows share a fold, and neither their order nor their weights play a part; rows of one
    group share a fold too, if there are groups. Other parameters as for `numbered_rows`.

    Examples
    --------
    >>> X = np.arange(30.0)[:, None]
    >>> [len(left_out) for _, left_out in held_out_rows(X, X)]
    [6, 6, 6, 6, 6]
    """
    rows = evenly_spaced(X.shape[0])
    case = numbered_rows(X[rows], np.nan_to_num(beside[rows]))
    if case.max() + 1 < _FEWEST_ROWS:
        return []
    fold = (case if groups is None else np.unique(groups[rows], return_inverse=True)[1]) % _FOLDS
    return [(rows[fold != k], rows[fold == k]) for k in range(_FOLDS) if len(set(fold)) == _FOLDS]

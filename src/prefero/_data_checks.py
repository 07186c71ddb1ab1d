"""What about a data set should make its owner wonder, before figures are believed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import issparse

from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero.metrics import kendall_tau
from prefero.rankings import ranks_from_scores

__all__ = ["Leak", "leaks", "repeated_rows"]

# A real cause is rarely so strong; a copy of a label, with noise or in other units, is.
_TELLING = 0.98
_FEWEST_ROWS = 20
# How much more often rows are alike than their columns, if unrelated, would make them.
_NO_CHANCE = 100.0
_FEW_TWINS = 0.1
# So many rows say enough.
_MOST_ROWS = 5000


class Leak(NamedTuple):
    """Features that nearly say the order that they are to predict.

    Attributes
    ----------
    features : tuple of str
        Their names.
    what : str
        What they say, as the end of a sentence.
    """

    features: tuple[str, ...]
    what: str

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.features))
        verb = "says" if len(self.features) == 1 else "say"
        return f"{names} {verb} {self.what}"


def leaks(X: Any, ranks: Values, labels: Any) -> list[Leak]:
    """Find features that nearly determine a label's rank, the first label or the whole order.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features: a table whose columns may hold text, or numbers.
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks.
    labels : sequence
        The names of the labels.

    Returns
    -------
    list of Leak
        Empty if nothing looks too good.

    Examples
    --------
    >>> ranks = np.array([np.random.default_rng(i).permutation(4) + 1.0 for i in range(40)])
    >>> X = np.column_stack([np.arange(40) % 7, 100 - ranks[:, 2]])
    >>> [str(leak) for leak in leaks(X, ranks, ["a", "b", "c", "d"])]
    ["'x1' says the rank of 'c' (-1.00 correlated)"]
    """
    if issparse(X) or len(ranks) < _FEWEST_ROWS:
        return []
    rows = np.linspace(0, len(ranks) - 1, min(len(ranks), _MOST_ROWS)).astype(int)
    ranks = ranks[rows]
    columns = {name: column[rows] for name, column in _columns(X)}
    names = [name for name, column in columns.items() if column.dtype.kind == "f"]
    numbers = np.array([columns.pop(name) for name in names]).reshape(len(names), len(rows)).T
    table = _correlations(numbers, ranks)
    found = []
    for name, row in zip(names, table, strict=True):
        j = int(np.argmax(np.abs(row)))
        if abs(row[j]) > _TELLING:
            found.append(
                Leak((name,), f"the rank of {str(labels[j])!r} ({row[j]:+.2f} correlated)")
            )
    found += _of_texts(columns, ranks, labels)
    return found or _of_scores(names, numbers, table, ranks)


def _columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the columns by name: of floats, or of objects."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    names = getattr(X, "columns", [f"x{j}" for j in range(X.shape[1])])
    for j, name in enumerate(names):
        column = np.asarray(safe_indexing(X, j, axis=1))
        yield str(name), column.astype(float if column.dtype.kind in "biuf" else object)


def _correlations(numbers: Values, ranks: Values) -> Values:
    """Spearman's correlation of every column with every label's rank; 0 where few rows tell."""
    table = np.zeros((numbers.shape[1], ranks.shape[1]))
    for j, rank in enumerate(ranks.T):
        for i, column in enumerate(numbers.T):
            known = ~(np.isnan(column) | np.isnan(rank))
            if np.count_nonzero(known) >= _FEWEST_ROWS:
                places = stats.rankdata([column[known], rank[known]], axis=1)
                if (np.ptp(places, axis=1) > 0).all():
                    table[i, j] = np.corrcoef(places)[0, 1]
    return table


def _of_texts(texts: dict[str, NDArray[Any]], ranks: Values, labels: Any) -> list[Leak]:
    """Look for columns that name the label that comes first."""
    known = ~np.isnan(ranks).all(axis=1)
    best = np.argmin(np.where(np.isnan(ranks), np.inf, ranks), axis=1)[known]
    first = np.array([str(label) for label in labels], dtype=object)[best]
    found = []
    for name, column in texts.items():
        share = np.mean(column[known].astype(str) == first) if len(set(first)) > 1 else 0
        if share > _TELLING:
            found.append(Leak((name,), f"which label comes first ({share:.0%} of the rows)"))
    return found


def _of_scores(names: list[str], numbers: Values, table: Values, ranks: Values) -> list[Leak]:
    """Look for one column a label that, read side by side, give the order."""
    c = ranks.shape[1]
    if len(names) < c or c < 2:
        return []
    best = np.argmax(np.abs(table), axis=0)
    signs = np.sign(table[best, np.arange(c)])
    if len(set(best.tolist())) < c or abs(signs.sum()) < c:
        return []
    scores = np.where(np.isnan(ranks), np.nan, numbers[:, best])
    order = ranks_from_scores(scores, higher_is_better=bool(signs[0] < 0))
    tau = np.asarray(kendall_tau(ranks, order, average=False))
    tau = tau[~np.isnan(tau)]
    if len(tau) < _FEWEST_ROWS or tau.mean() <= _TELLING:
        return []
    return [Leak(tuple(names[i] for i in best), "the whole order, read side by side")]


def repeated_rows(X: Any) -> int:
    """Count the rows that repeat the features of another row beyond chance.

    Rows of few and coarse features are alike by chance; rows of many measurements are alike
    because they belong to one subject, and such rows are no independent witnesses.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.

    Returns
    -------
    int
        How many rows have a twin; 0 if they are few, or chance alone could make so many.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> repeated_rows(X), repeated_rows(np.repeat(X, 5, axis=0))
    (0, 100)
    """
    if issparse(X) or np.shape(X)[0] < 2:
        return 0
    if np.shape(X)[0] > _MOST_ROWS:
        X = safe_indexing(X, np.arange(_MOST_ROWS))
    codes = [_codes(column) for _, column in _columns(X)]
    rows = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()
    expected = sum(np.log(_share_alike(code)) for code in codes)
    if not _share_alike(rows, others=True) > _NO_CHANCE * np.exp(expected):
        return 0
    size = np.bincount(rows)
    twins = int(size[size > 1].sum())
    return twins if twins >= _FEW_TWINS * len(rows) else 0


def _codes(column: NDArray[Any]) -> NDArray[Any]:
    values = column if column.dtype.kind == "f" else column.astype(str)
    return np.unique(values, return_inverse=True)[1].ravel()


def _share_alike(codes: NDArray[Any], *, others: bool = False) -> float:
    """The share of pairs of rows with equal codes; with ``others``, of different rows only."""
    size, n = np.bincount(codes).astype(float), len(codes)
    if others:
        return float((size * (size - 1)).sum() / (n * (n - 1)))
    return float((size**2).sum() / n**2)

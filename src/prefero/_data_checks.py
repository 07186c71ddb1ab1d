"""Checks of a data set: features that leak the target, and rows that belong together."""

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

# A real cause is rarely so strong; a copy of a label, with noise or in other units, is.
_LEAKING = 0.98
_FEWEST_ROWS = 20
# Rows are equal this many times more often than independent columns would make them.
_BEYOND_CHANCE = 100.0
_FEWEST_COPIES = 0.1
# Things that rows share are so many, each in so many rows on average.
_FEWEST_ENTITIES, _ROWS_OF_ENTITY = 4, 4
# A sample of so many rows, or of fewer where there are many columns, is enough.
_MOST_ROWS, _ENOUGH_ROWS, _MOST_CELLS = 5000, 500, 5_000_000


class Leak(NamedTuple):
    """Features that nearly determine the order that they are to predict.

    Attributes
    ----------
    features : tuple of str
        Their names.
    what : str
        What they determine, as the end of a sentence.
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
    X = X if hasattr(X, "shape") else np.asarray(X)
    most = min(_MOST_ROWS, max(_ENOUGH_ROWS, _MOST_CELLS // max(1, X.shape[1])))
    rows = np.linspace(0, len(ranks) - 1, min(len(ranks), most)).astype(int)
    ranks, columns = ranks[rows], dict(_columns(safe_indexing(X, rows)))
    names = [name for name, column in columns.items() if column.dtype.kind == "f"]
    numbers = np.array([columns.pop(name) for name in names]).reshape(len(names), len(rows)).T
    outcomes = _outcomes(ranks)
    table = _correlations(numbers, np.column_stack([ranks, *outcomes.values()]))
    found = []
    for i, name in enumerate(names):
        j = int(np.argmax(np.abs(table[i])))
        # Where cells are missing, ranks among those that both columns know decide.
        if abs(table[i, j]) > _LEAKING - 0.1:
            what, target = (
                list(outcomes.items())[j - len(labels)]
                if j >= len(labels)
                else (f"the rank of {str(labels[j])!r}", ranks[:, j])
            )
            correlation = _correlation(numbers[:, i], target)
            if abs(correlation) > _LEAKING:
                found.append(Leak((name,), f"{what} ({correlation:+.2f} correlated)"))
    found += _of_texts(columns, ranks, labels)
    return found or _of_scores(names, numbers, table[:, : len(labels)], ranks)


def _outcomes(ranks: Values) -> dict[str, Values]:
    """What is known of a row once its labels were tried: how many count, and how many do not."""
    known = (~np.isnan(ranks)).sum(axis=1)
    last = np.nanmax(np.where(known[:, None] > 0, ranks, 0), axis=1, keepdims=True, initial=0)
    return {
        "how many labels are ranked": known.astype(float),
        "how many labels tie for the last place": (ranks == last).sum(axis=1).astype(float),
    }


def _columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the columns by name: of floats, or of objects."""
    names = getattr(X, "columns", [f"x{j}" for j in range(X.shape[1])])
    for j, name in enumerate(names):
        column = np.asarray(safe_indexing(X, j, axis=1))
        yield str(name), column.astype(float if column.dtype.kind in "biuf" else object)


def _correlations(numbers: Values, ranks: Values) -> Values:
    """Spearman's correlation of every column with every label's rank, by a few matrix products.

    Each column is ranked once, among the rows that it knows. 0 where too few rows know both.
    """
    (x, known_x), (y, known_y) = _centered_places(numbers), _centered_places(ranks)
    n = known_x.T @ known_y
    sum_x, sum_y = x.T @ known_y, known_x.T @ y
    square_x, square_y = n * (x.T**2 @ known_y), n * (known_x.T @ y**2)
    var_x, var_y = square_x - sum_x**2, square_y - sum_y**2
    varies = (n >= _FEWEST_ROWS) & (var_x > 1e-9 * square_x) & (var_y > 1e-9 * square_y)
    scale = np.sqrt(np.where(varies, var_x * var_y, 1.0))
    return np.where(varies, (n * (x.T @ y) - sum_x * sum_y) / scale, 0.0)


def _centered_places(columns: Values) -> tuple[Values, Values]:
    """The ranks inside each column less their mean, 0 where unknown; and 1 where known, else 0."""
    known = ~np.isnan(columns)
    places = np.where(known, stats.rankdata(np.where(known, columns, np.inf), axis=0), 0.0)
    means = places.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, places - means, 0.0), known.astype(float)


def _correlation(column: Values, rank: Values) -> float:
    """Spearman's correlation of two columns over the rows that both know."""
    known = ~(np.isnan(column) | np.isnan(rank))
    return float(np.corrcoef(stats.rankdata([column[known], rank[known]], axis=1))[0, 1])


def _of_texts(texts: dict[str, NDArray[Any]], ranks: Values, labels: Any) -> list[Leak]:
    """Look for columns that name the label that comes first."""
    known = ~np.isnan(ranks).all(axis=1)
    best = np.argmin(np.where(np.isnan(ranks), np.inf, ranks), axis=1)[known]
    first = np.array([str(label) for label in labels], dtype=object)[best]
    found = []
    for name, column in texts.items():
        share = np.mean(column[known].astype(str) == first) if len(set(first)) > 1 else 0
        if share > _LEAKING:
            found.append(Leak((name,), f"which label comes first ({share:.0%} of the rows)"))
    return found


def _of_scores(names: list[str], numbers: Values, table: Values, ranks: Values) -> list[Leak]:
    """Look for one column per label that, side by side, give the order."""
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
    if len(tau) < _FEWEST_ROWS or tau.mean() <= _LEAKING:
        return []
    return [Leak(tuple(names[i] for i in best), "the whole order, read side by side")]


def repeated_rows(X: Any) -> int:
    """Count the rows that repeat the features of another row beyond chance.

    Rows of few and coarse features are equal by chance; rows of many measurements are equal
    because they belong to one subject, and such rows are not independent.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.

    Returns
    -------
    int
        How many rows have a copy; 0 if they are few, or chance alone could make so many.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> repeated_rows(X), repeated_rows(np.repeat(X, 5, axis=0))
    (0, 100)
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    if issparse(X) or len(X) < 2:
        return 0
    if len(X) > _MOST_ROWS:
        X = safe_indexing(X, np.arange(_MOST_ROWS))
    codes = [_codes(column) for _, column in _columns(X)]
    rows = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()
    expected = sum(np.log(_share_alike(code)) for code in codes)
    if not _share_alike(rows, others=True) > _BEYOND_CHANCE * np.exp(expected):
        return 0
    size = np.bincount(rows)
    copies = int(size[size > 1].sum())
    return copies if copies >= _FEWEST_COPIES * len(rows) else 0


class Entities(NamedTuple):
    """Columns that describe things which many rows share.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    n_entities, n_rows : int
        How many different combinations of values they take, and in how many rows.
    """

    columns: tuple[str, ...]
    n_entities: int
    n_rows: int

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.columns[:3]))
        more = f" and {len(self.columns) - 3} more" if len(self.columns) > 3 else ""
        return (
            f"columns {shown}{more} take only {self.n_entities} different combinations of values "
            f"in {self.n_rows} rows"
        )


def shared_entities(X: Any) -> list[Entities]:
    """Find measurements that always change together and take few values over many rows.

    Such columns describe things, such as substrates, and rows of one thing are not independent.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.

    Returns
    -------
    list of Entities
        One for each kind of thing, the most frequent in rows first.

    Examples
    --------
    >>> substrates = np.random.default_rng(0).normal(size=(6, 3))
    >>> print(*shared_entities(np.tile(substrates, (10, 1))))
    columns 'x0', 'x1', 'x2' take only 6 different combinations of values in 60 rows
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    if issparse(X) or len(X) < _FEWEST_ROWS:
        return []
    kinds: dict[bytes, list[str]] = {}
    for name, column in _columns(X):
        # Counts, codes and indicators take few values in any data.
        if column.dtype.kind != "f" or not np.any(column[np.isfinite(column)] % 1):
            continue
        _, first, codes = np.unique(column, return_index=True, return_inverse=True)
        if _FEWEST_ENTITIES <= len(first) <= len(X) / _ROWS_OF_ENTITY:
            # The same rows get the same numbers, whatever the values.
            kinds.setdefault(np.argsort(np.argsort(first))[codes].tobytes(), []).append(name)
    found = [
        Entities(tuple(names), len(set(np.frombuffer(key, dtype=np.int64).tolist())), len(X))
        for key, names in kinds.items()
        if len(names) > 1
    ]
    return sorted(found, key=lambda one: one.n_entities)


def _codes(column: NDArray[Any]) -> NDArray[Any]:
    values = column if column.dtype.kind == "f" else column.astype(str)
    return np.unique(values, return_inverse=True)[1].ravel()


def _share_alike(codes: NDArray[Any], *, others: bool = False) -> float:
    """The share of pairs of rows with equal codes; with ``others``, of different rows only."""
    size, n = np.bincount(codes).astype(float), len(codes)
    if others:
        return float((size * (size - 1)).sum() / (n * (n - 1)))
    return float((size**2).sum() / n**2)

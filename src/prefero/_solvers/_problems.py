"""The losses of many logistic regressions on one design matrix."""

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._solvers._lbfgs import Float32Problems, unpacked
from prefero._typing import Indices, Mask, Values

# The rows of a batch are few enough for its arrays to stay in the cache.
_BATCH_ENTRIES = 2**15
# Some rows tell how the loss bends: so many rows a column, then more, at last all of them. A
# problem has to have so many rows among them, else all are asked.
_HESSIAN_ROWS_A_COLUMN, _LEAST_ROWS_A_COLUMN, _LEAST_SAMPLE = (100, 300), 10, 256


def _total(signs: NDArray[np.int8], weight: Values) -> Values:
    """Return the weight of the rows of each problem."""
    return _core.sign_weights(signs, weight).sum(axis=0)


class _Columns:
    """Some columns of a matrix, which are copied when they are asked for as a whole."""

    def __init__(self, matrix: NDArray[Any], chosen: Indices | None = None) -> None:
        self._matrix, self._chosen = matrix, chosen

    def __getitem__(self, chosen: Mask) -> "_Columns":
        places = np.flatnonzero(chosen)
        return _Columns(self._matrix, places if self._chosen is None else self._chosen[places])

    @property
    def values(self) -> NDArray[Any]:
        """All rows, one after the other."""
        if self._chosen is not None:
            self._matrix, self._chosen = self.every(1), None
        return self._matrix

    def every(self, step: int) -> NDArray[Any]:
        """Rows that are so many apart."""
        rows = self._matrix[::step]
        return np.ascontiguousarray(rows if self._chosen is None else rows[:, self._chosen])


class LogisticProblems:
    """Penalised logistic losses of many problems on the same dense rows.

    The penalty of a problem grows with its share of the weight: that of a sample of the rows
    is the one that makes its solution that of all rows, up to chance.
    """

    def __init__(
        self,
        X: Values,
        signs: NDArray[np.int8],
        weight: Values,
        ridge: Values,
        total: Values | None = None,
    ) -> None:
        self._X, self._columns = X, _Columns(signs)
        self._weights = weight if weight.ndim == 1 else _Columns(weight)
        self._ridge = ridge
        self.total = _total(signs, weight) if total is None else total

    @property
    def n_rows(self) -> int:
        """How many rows the problems share."""
        return len(self._X)

    @property
    def _signs(self) -> NDArray[np.int8]:
        return self._columns.values

    @property
    def _weight(self) -> Values:
        weights = self._weights
        return weights.values if isinstance(weights, _Columns) else weights

    def __getitem__(self, chosen: Mask) -> "LogisticProblems":
        if chosen.all():
            return self
        some = copy(self)
        some._columns, some.total = self._columns[chosen], self.total[chosen]
        if isinstance(self._weights, _Columns):
            some._weights = self._weights[chosen]
        if self._ridge.ndim == 2:
            some._ridge = self._ridge[chosen]
        return some

    def sample(self, size: int) -> "LogisticProblems | None":
        """Return the same problems on evenly spaced rows; None if they are too few."""
        step = len(self._X) // max(size, _LEAST_SAMPLE)
        if step < 2:
            return None
        signs = self._columns.every(step)
        if (np.count_nonzero(signs, axis=0) < _LEAST_ROWS_A_COLUMN * self._X.shape[1]).any():
            return None
        weights = self._weights
        weight = weights.every(step) if isinstance(weights, _Columns) else weights[::step].copy()
        total = _total(signs, weight)
        ridge = (total / self.total)[:, None] * self._ridge
        return LogisticProblems(np.ascontiguousarray(self._X[::step]), signs, weight, ridge, total)

    def to_float32(self) -> Float32Problems:
        """Return the same problems in single precision."""
        fewer = self.sample(_HESSIAN_ROWS_A_COLUMN[0] * self._X.shape[1])
        bends = None if fewer is None else Float32Problems(*fewer._parts())
        return Float32Problems(*self._parts(), bends)

    def _parts(self) -> tuple[Values, NDArray[np.int8], Values, Values, Values]:
        return self._X, self._signs, self._weight, self._ridge, self.total

    def slopes(self, beta: Values) -> tuple[Values, Values]:
        """Return the losses and the gradients."""
        loss, gradient = (beta**2 * self._ridge).sum(axis=1) / 2, beta * self._ridge
        for batch in self._batches():
            part = self._X[batch]
            scores = part @ beta.T
            loss += _core.logistic_derivatives(scores, self._signs[batch], self._weight[batch])
            gradient -= scores.T @ part
        return loss, gradient

    def hessians(self, beta: Values, tries: Indices) -> Values:
        """Return the Hessians, by more rows where others came right before them."""
        found = np.empty((*beta.shape, beta.shape[1]))
        tries = np.minimum(tries, len(_HESSIAN_ROWS_A_COLUMN))
        for count in np.unique(tries):
            own = tries == count
            found[own] = self[own]._sampled_hessians(beta[own], int(count))
        return found

    def _sampled_hessians(self, beta: Values, tries: int) -> Values:
        """Return the Hessians by a sample of many rows, unless that was tried too often."""
        if tries < len(_HESSIAN_ROWS_A_COLUMN):
            fewer = self.sample(_HESSIAN_ROWS_A_COLUMN[tries] * beta.shape[1])
            if fewer is not None:
                return fewer.exact_hessians(beta) * (self.total / fewer.total)[:, None, None]
        return self.exact_hessians(beta)

    def exact_hessians(self, beta: Values) -> Values:
        """Return the Hessians by all rows."""
        n_problems, columns = beta.shape
        rows, cols = np.triu_indices(columns)
        packed = np.zeros((n_problems, len(rows)))
        for batch in self._batches():
            part = self._X[batch]
            scores = part @ beta.T
            curvature = np.empty_like(scores)
            _core.logistic_derivatives(scores, self._signs[batch], self._weight[batch], curvature)
            packed += curvature.T @ (part[:, rows] * part[:, cols])
        # A column without curvature (constant zero, or all instances far from the boundary)
        # must not make the system singular.
        floor = 1e-10 * (1 + packed.max(axis=1, keepdims=True))
        return unpacked(packed, self._ridge + floor)

    def _batches(self) -> Iterator[slice]:
        widest = max(self._signs.shape[1], self._X.shape[1])
        size = max(1, _BATCH_ENTRIES // widest)
        return (slice(begin, begin + size) for begin in range(0, len(self._X), size))

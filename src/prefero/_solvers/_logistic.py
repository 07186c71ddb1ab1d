"""Many logistic regressions on one design matrix, solved together.

A pairwise decomposition trains one binary model a pair of labels on the same instances. All
of them share their matrix products, so one BLAS call serves every pair: Newton's method
where the features are few and dense, L-BFGS otherwise. The problem of each pair is the one
that :class:`sklearn.linear_model.LogisticRegression` solves.
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from prefero import _core
from prefero._solvers._lbfgs import Lbfgs
from prefero._typing import Indices, Mask, Values

# Up to this many columns a Newton step for every pair costs less than the many gradients of
# L-BFGS; the rows of a batch are few enough for its arrays to stay in the cache.
_NEWTON_COLUMNS = 100
_BATCH_ENTRIES = 2**15
# Rows that are added up at least at a time: with fewer, calls would cost more than sums.
_LEAST_ADDED = 256
# Of many rows evenly spaced ones show most of the way, more of them nearly all of it, and others
# how the loss bends: so many rows a column, then more, at last all of them, where the gradient no
# longer falls that much in a step along how they bend now. A problem has to have so many rows
# among them, else all are asked.
_PILOT_ROWS_A_COLUMN, _HESSIAN_ROWS_A_COLUMN, _LEAST_ROWS_A_COLUMN = (50, 250), (100, 300), 10
# Where some of the rows have a say, so many times the tolerance is near enough, or such a part of
# what chance does to the mean of so many rows.
_PILOT_TOLERANCE, _PILOT_CHANCE = 5, 0.1
_LEAST_SAMPLE, _GOOD_STEP = 256, 2
_SUFFICIENT_DECREASE = 1e-4


def solve_logistic(
    X: Any,
    signs: NDArray[np.int8],
    weight: Values,
    *,
    C: float,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    start: tuple[Values, Values] | None = None,
) -> tuple[Values, Values, bool]:
    """Minimise the penalised logistic loss of every column of signs.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The shared features.
    signs : ndarray of shape (n_samples, n_problems), dtype int8
        +1 and -1 for the two classes, 0 where a row takes no part in a problem.
    weight : ndarray of shape (n_samples,) or (n_samples, n_problems)
        Weights of the rows, in each problem if they differ.
    C, fit_intercept, tol, max_iter
        As in :class:`~sklearn.linear_model.LogisticRegression`; an infinite C means no
        penalty.
    start : tuple of ndarrays, optional
        Coefficients and intercepts to start from; zero if None.

    Returns
    -------
    coef : ndarray of shape (n_problems, n_features)
        Coefficients.
    intercept : ndarray of shape (n_problems,)
        Intercepts.
    converged : bool
        False if a problem was stopped by max_iter.

    Examples
    --------
    >>> X, signs = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[1], [1], [-1], [-1]])
    >>> coef, intercept, _ = solve_logistic(X, signs.astype(np.int8), np.ones(4), C=1.0,
    ...                                     fit_intercept=True, tol=1e-8, max_iter=100)
    >>> coef.round(3), intercept.round(3)
    (array([[-0.958]]), array([1.437]))
    """
    n_features, n_problems = X.shape[1], signs.shape[1]
    ridge, beta = ridge_and_start(n_features, n_problems, C, fit_intercept, start)
    converged = True
    if n_problems > 0:
        solve = _newton if not issparse(X) and by_newton(len(ridge)) else _lbfgs
        beta, converged = solve(X, signs, weight, ridge, beta, tol, max_iter)
    return *split_intercept(beta, n_features), converged


def by_newton(n_columns: int) -> bool:
    """Tell whether so few dense columns are better solved by Newton's method."""
    return n_columns <= _NEWTON_COLUMNS


def ridge_and_start(
    n_features: int,
    n_problems: int,
    C: float,
    fit_intercept: bool,
    start: tuple[Values, Values] | None = None,
) -> tuple[Values, Values]:
    """Return the penalty of each column, and where to start, for `solve_logistic`."""
    ridge = np.full(n_features + fit_intercept, 1 / C)
    ridge[n_features:] = 0
    if start is None:
        return ridge, np.zeros((n_problems, len(ridge)))
    return ridge, np.column_stack(start)[:, : len(ridge)]


def split_intercept(beta: Values, n_features: int) -> tuple[Values, Values]:
    """Return coefficients and intercepts, which are zero if there is no column of them."""
    intercept = beta[:, n_features] if beta.shape[1] > n_features else np.zeros(len(beta))
    return np.ascontiguousarray(beta[:, :n_features]), intercept.copy()


def weight_sums(chosen: NDArray[Any], weight: Values) -> Values:
    """Return the weight of the chosen rows of each problem.

    Parameters
    ----------
    chosen : ndarray of shape (n_samples, n_problems)
        Zero where a row is left out.
    weight : ndarray of shape (n_samples,) or (n_samples, n_problems)
        Weights of the rows, in each problem if they differ.

    Returns
    -------
    ndarray of shape (n_problems,)
        Sums.
    """
    sums = np.zeros(chosen.shape[1])
    size = max(_LEAST_ADDED, _BATCH_ENTRIES // max(1, chosen.shape[1]))
    for batch in gen_batches(len(chosen), size):
        part, own = chosen[batch].astype(float), weight[batch]
        sums += own @ part if own.ndim == 1 else np.einsum("np,np->p", own, part)
    return sums


def _newton(
    X: Values,
    signs: NDArray[np.int8],
    weight: Values,
    ridge: Values,
    beta: Values,
    tol: float,
    max_iter: int,
) -> tuple[Values, bool]:
    """Newton's method for every problem, each with its own step length.

    A round evaluates all unfinished problems at once. A problem whose loss did not fall enough
    goes halfway back; the others step on along a new Newton direction. Of many rows a sample
    shows the way; where it ends, all have a say.
    """
    if len(ridge) > X.shape[1]:
        X = np.hstack([X, np.ones((len(X), 1))])
    problems = LogisticProblems(X, signs, weight, ridge)
    inverse = None
    for rows in _PILOT_ROWS_A_COLUMN:
        fewer = problems.sample(rows * len(ridge))
        if fewer is None:  # most of the way costs a fraction on some of the rows
            continue
        near = max(_PILOT_TOLERANCE * tol, _PILOT_CHANCE / np.sqrt(fewer.n_rows))
        beta, _, inverse = _descend(fewer, beta, near, max_iter, inverse)
        inverse *= (fewer.total / problems.total)[:, None, None]
    return _descend(problems, beta, tol, max_iter, inverse)[:2]


def descend(problems: Any, beta: Values, tol: float, max_iter: int) -> tuple[Values, bool]:
    """Go down from where problems stand.

    Parameters
    ----------
    problems : LogisticProblems
        Or what answers as they do.
    beta : ndarray of shape (n_problems, n_columns)
        The start.
    tol, max_iter
        As in `solve_logistic`.

    Returns
    -------
    beta : ndarray of shape (n_problems, n_columns)
        The solution.
    converged : bool
        False if a problem was stopped by max_iter.
    """
    return _descend(problems, beta, tol, max_iter, None)[:2]


def _descend(
    problems: Any, beta: Values, tol: float, max_iter: int, inverse: Values | None
) -> tuple[Values, bool, Values]:
    """Descend, given how the loss bends or None, and return that too: inverse Hessians."""
    beta = beta.copy()
    direction, base = np.zeros_like(beta), np.zeros_like(beta)
    base_loss, decrement = np.full(len(beta), np.inf), np.zeros(len(beta))
    step, steepest = np.ones(len(beta)), np.full(len(beta), np.inf)
    if inverse is None:
        inverse = np.full((*beta.shape, beta.shape[1]), np.nan)
    tries = np.zeros(len(beta), dtype=np.int64)  # Hessians in a row so far
    goal = tol * problems.total
    open_ = np.arange(len(beta))
    for _ in range(max_iter + 1):
        loss, gradient = problems.slopes(beta[open_])
        going = np.abs(gradient).max(axis=1) > goal[open_]
        if not going.any():
            return beta, True, inverse
        if not going.all():
            open_, problems = open_[going], problems[going]
            loss, gradient = loss[going], gradient[going]
        fell = _SUFFICIENT_DECREASE * step[open_] * decrement[open_]
        good = loss <= base_loss[open_] - fell + 1e-12 * np.abs(loss)
        new, slope = open_[good], gradient[good]
        # As long as the gradient falls, the loss bends as it did.
        slow = ~(np.abs(slope).max(axis=1) <= steepest[new] / _GOOD_STEP)
        bent = slow | np.isnan(inverse[new, 0, 0])
        steepest[new] = np.abs(slope).max(axis=1)
        if bent.any():
            again = good.copy()
            again[good] = bent
            hessians = problems[again].hessians(beta[new[bent]], tries[new[bent]])
            inverse[new[bent]] = np.linalg.inv(hessians)
        tries[new] = np.where(bent, tries[new] + 1, 0)
        direction[new] = -(inverse[new] @ slope[:, :, None])[:, :, 0]
        decrement[new] = -(direction[new] * slope).sum(axis=1)
        base[new], base_loss[new] = beta[new], loss[good]
        step[open_] = np.where(good, 1, step[open_] / 2)
        beta[open_] = base[open_] + step[open_, None] * direction[open_]
    return beta, False, inverse


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
        self.total = weight_sums(np.abs(signs), weight) if total is None else total

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
        total = weight_sums(np.abs(signs), weight)
        ridge = (total / self.total)[:, None] * self._ridge
        return LogisticProblems(np.ascontiguousarray(self._X[::step]), signs, weight, ridge, total)

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
        hessian = np.empty((n_problems, columns, columns))
        hessian[:, rows, cols] = hessian[:, cols, rows] = packed
        diagonal = np.arange(columns)
        # A column without curvature (constant zero, or all instances far from the boundary)
        # must not make the system singular.
        floor = 1e-10 * (1 + packed.max(axis=1, keepdims=True))
        hessian[:, diagonal, diagonal] += self._ridge + floor
        return hessian

    def _batches(self) -> Iterator[slice]:
        widest = max(self._signs.shape[1], self._X.shape[1])
        return gen_batches(len(self._X), max(1, _BATCH_ENTRIES // widest))


def _lbfgs(
    X: Any,
    signs: NDArray[np.int8],
    weight: Values,
    ridge: Values,
    start: Values,
    tol: float,
    max_iter: int,
) -> tuple[Values, bool]:
    """L-BFGS on features that are sparse or many."""
    n_features = X.shape[1]

    def slopes(beta: Values) -> tuple[Values, Values]:
        scores = safe_sparse_dot(X, beta[:, :n_features].T) + _intercept(beta, n_features)
        residual = np.ascontiguousarray(scores)  # which the core replaces
        loss = _core.logistic_derivatives(residual, signs, weight) + (beta**2 @ ridge) / 2
        gradient = beta * ridge
        gradient[:, :n_features] -= safe_sparse_dot(X.T, residual).T
        gradient[:, n_features:] -= residual.sum(axis=0)[:, None]
        return loss, gradient

    return descend_together(slopes, weight_sums(np.abs(signs), weight), start, tol, max_iter)


def descend_together(
    slopes: Callable[[Values], tuple[Values, Values]],
    total: Values,
    start: Values,
    tol: float,
    max_iter: int,
) -> tuple[Values, bool]:
    """L-BFGS on all problems as one, each scaled by its number of instances.

    Parameters
    ----------
    slopes : callable
        Returns the losses and the gradients of all problems.
    total : ndarray of shape (n_problems,)
        The weight of the rows of each.
    start, tol, max_iter
        As in `descend`.

    Returns
    -------
    beta, converged
        As of `descend`.
    """
    scale = 1 / total

    def objective(flat: Values) -> tuple[float, Values]:
        loss, gradient = slopes(flat.reshape(start.shape))
        return float(loss @ scale), (gradient * scale[:, None]).ravel()

    search = Lbfgs(start.ravel(), scale=1.0)
    converged = search.run(objective, tol=tol, max_iter=max_iter)
    return search.x.reshape(start.shape), converged


def _intercept(beta: Values, n_features: int) -> Values | float:
    return beta[:, n_features] if beta.shape[1] > n_features else 0.0

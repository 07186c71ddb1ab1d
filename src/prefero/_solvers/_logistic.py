"""Many logistic regressions on one design matrix, solved together.

A pairwise decomposition trains one binary model a pair of labels on the same instances. All
of them share their matrix products, so one BLAS call serves every pair: Newton's method
where the features are few and dense, L-BFGS otherwise. The problem of each pair is the one
that :class:`sklearn.linear_model.LogisticRegression` solves.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.extmath import safe_sparse_dot

from prefero import _core
from prefero._solvers._lbfgs import Lbfgs, approach
from prefero._solvers._problems import LogisticProblems
from prefero._typing import Values

# Up to this many columns a Newton step for every pair costs less than the many gradients of
# L-BFGS.
_NEWTON_COLUMNS = 100
# Of many rows evenly spaced ones show most of the way, more of them nearly all of it: so many rows
# a column.
_PILOT_ROWS_A_COLUMN = (50, 250)
# Where some of the rows have a say, so many times the tolerance is near enough, or such a part of
# what chance does to the mean of so many rows.
_PILOT_TOLERANCE, _PILOT_CHANCE = 5, 0.1
# Nearer than asked for, so that double precision finds what single precision has found.
_NEARER = 0.9
_GOOD_STEP = 2
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
    shows the way; where it ends, all have a say, in single precision first.
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
        beta, inverse = approach(fewer.to_float32(), beta, near, max_iter)
        inverse *= (fewer.total / problems.total)[:, None, None]
    if inverse is not None:
        beta, inverse = approach(problems.to_float32(), beta, _NEARER * tol, max_iter, inverse)
    return _descend(problems, beta, tol, max_iter, inverse)


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
    return _descend(problems, beta, tol, max_iter, None)


def _descend(
    problems: Any, beta: Values, tol: float, max_iter: int, inverse: Values | None
) -> tuple[Values, bool]:
    """Descend, given how the loss bends, that is inverse Hessians, or None."""
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
            return beta, True
        if not going.all():
            open_, problems = open_[going], problems[going]
            loss, gradient = loss[going], gradient[going]
        fell = _SUFFICIENT_DECREASE * step[open_] * decrement[open_]
        good = loss <= base_loss[open_] - fell + 1e-12 * np.abs(loss)
        new, slope = open_[good], gradient[good]
        # As long as the gradient falls, the loss bends as it did; it never bends down.
        slow = ~(np.abs(slope).max(axis=1) <= steepest[new] / _GOOD_STEP)
        bent = slow | ~(np.einsum("ni,nij,nj->n", slope, inverse[new], slope) > 0)
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
    return beta, False


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

    return descend_together(
        slopes, _core.sign_weights(signs, weight).sum(axis=0), start, tol, max_iter
    )


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

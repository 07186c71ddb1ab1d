"""Many logistic regressions on one design matrix, solved together.

A pairwise decomposition trains one binary model a pair of labels on the same instances. All
of them share their matrix products, so one BLAS call serves every pair: Newton's method
where the features are few and dense, L-BFGS otherwise. The problem of each pair is the one
that :class:`sklearn.linear_model.LogisticRegression` solves.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit, log_expit
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from prefero._solvers._lbfgs import Lbfgs
from prefero._typing import Indices, Values

# Up to this many columns a Newton step for every pair costs less than the many gradients of
# L-BFGS; the rows of a batch are few enough for its arrays to stay in the cache.
_NEWTON_COLUMNS = 100
_BATCH_ENTRIES = 2**15
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
    problems = LogisticProblems(X, signs, weight, fit_intercept)
    return minimize_logistic(problems, C=C, tol=tol, max_iter=max_iter, start=start)


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
    if weight.ndim == 1:
        return np.asarray(chosen.T.astype(float) @ weight)
    return np.asarray(np.einsum("np,np->p", chosen.astype(float), weight))


class LogisticProblems:
    """Logistic losses on one design matrix, or on some of its rows: then they can be added up.

    Parameters
    ----------
    X, signs, weight, fit_intercept
        As in `solve_logistic`.
    """

    def __init__(
        self, X: Any, signs: NDArray[np.int8], weight: Values, fit_intercept: bool
    ) -> None:
        self.n_features, self.fit_intercept = X.shape[1], fit_intercept
        self.n_problems = signs.shape[1]
        self.dense = not issparse(X)
        self._X, self._signs, self._weight = X, signs, weight
        self._narrow: tuple[Any, NDArray[np.int8], Values] | None = None

    @cached_property
    def _with_ones(self) -> Values:
        return np.hstack([self._X, np.ones((len(self._X), 1))]) if self.fit_intercept else self._X

    def sizes(self) -> Values:
        """The weight of the rows of each problem."""
        return weight_sums(np.abs(self._signs), self._weight)

    def weight_of(self, sign: int) -> Values:
        """The weight of the rows of each problem that have this sign."""
        return weight_sums(self._signs == sign, self._weight)

    def derivatives(self, beta: Values, which: Indices) -> tuple[Values, Values, Values]:
        """Loss, gradient and packed Hessian of some problems, without a penalty."""
        signs, weight = self._some(which)
        X, (n_problems, columns) = self._with_ones, beta.shape
        rows, cols = np.triu_indices(columns)
        loss, gradient = np.zeros(n_problems), np.zeros_like(beta)
        packed = np.zeros((n_problems, len(rows)))
        for batch in gen_batches(len(X), max(1, _BATCH_ENTRIES // max(n_problems, columns))):
            part, sign = X[batch], signs[batch]
            share = weight[batch] if weight.ndim == 2 else weight[batch, None]
            value, probability = _logistic(sign * (part @ beta.T))
            loss += (share * value).sum(axis=0)
            gradient -= (share * sign * probability).T @ part
            curvature = share * np.abs(sign) * (probability * (1 - probability))
            packed += curvature.T @ (part[:, rows] * part[:, cols])
        return loss, gradient, packed

    def _some(self, which: Indices) -> tuple[NDArray[np.int8], Values]:
        """The signs and weights of some problems; the same are often asked for again."""
        if self._narrow is None or not np.array_equal(which, self._narrow[0]):
            whole = len(which) == self.n_problems
            signs = self._signs if whole else np.ascontiguousarray(self._signs[:, which])
            plain = whole or self._weight.ndim == 1
            weight = self._weight if plain else np.ascontiguousarray(self._weight[:, which])
            self._narrow = which, signs, weight
        return self._narrow[1:]

    def gradient(self, beta: Values) -> tuple[Values, Values]:
        """Loss and gradient of all problems, without a penalty; X may be sparse."""
        n, signs = self.n_features, self._signs
        share = (self._weight if self._weight.ndim == 2 else self._weight[:, None]) * signs
        scores = safe_sparse_dot(self._X, beta[:, :n].T) + _intercept(beta, n)
        value, probability = _logistic(signs * scores)
        residual = share * probability
        gradient = np.zeros_like(beta)
        gradient[:, :n] -= safe_sparse_dot(self._X.T, residual).T
        gradient[:, n:] -= residual.sum(axis=0)[:, None]
        return (np.abs(share) * value).sum(axis=0), gradient


def minimize_logistic(
    problems: Any,
    *,
    C: float,
    tol: float,
    max_iter: int,
    start: tuple[Values, Values] | None = None,
) -> tuple[Values, Values, bool]:
    """Minimise the penalised losses of problems.

    Parameters
    ----------
    problems : LogisticProblems
        Or anything that answers the same.
    C, tol, max_iter, start
        As in `solve_logistic`.

    Returns
    -------
    coef, intercept, converged
        As in `solve_logistic`.
    """
    n_features, n_problems = problems.n_features, problems.n_problems
    ridge = np.full(n_features + problems.fit_intercept, 1 / C)
    ridge[n_features:] = 0
    beta = np.zeros((n_problems, len(ridge)))
    if start is not None:
        beta = np.column_stack(start)[:, : len(ridge)]
    converged = True
    if n_problems > 0:
        solve = _newton if problems.dense and len(ridge) <= _NEWTON_COLUMNS else _lbfgs
        beta, converged = solve(problems, ridge, beta, tol, max_iter)
    intercept = beta[:, n_features] if problems.fit_intercept else np.zeros(n_problems)
    return np.ascontiguousarray(beta[:, :n_features]), intercept.copy(), converged


def _newton(
    problems: Any, ridge: Values, beta: Values, tol: float, max_iter: int
) -> tuple[Values, bool]:
    """Newton's method for every problem, each with its own step length.

    A round evaluates all unfinished problems at once. A problem whose loss did not fall enough
    goes halfway back; the others step on along a new Newton direction.
    """
    beta = beta.copy()
    direction, base = np.zeros_like(beta), np.zeros_like(beta)
    base_loss, decrement = np.full(len(beta), np.inf), np.zeros(len(beta))
    step = np.ones(len(beta))
    goal = tol * problems.sizes()
    open_ = np.arange(len(beta))
    for _ in range(max_iter + 1):
        sums = problems.derivatives(beta[open_], open_)
        loss, gradient, hessian = _penalized(sums, ridge, beta[open_])
        going = np.abs(gradient).max(axis=1) > goal[open_]
        if not going.any():
            return beta, True
        open_, loss, gradient, hessian = open_[going], loss[going], gradient[going], hessian[going]
        fell = _SUFFICIENT_DECREASE * step[open_] * decrement[open_]
        good = loss <= base_loss[open_] - fell + 1e-12 * np.abs(loss)
        new = open_[good]
        direction[new] = -np.linalg.solve(hessian[good], gradient[good][:, :, None])[:, :, 0]
        decrement[new] = -(direction[new] * gradient[good]).sum(axis=1)
        base[new], base_loss[new] = beta[new], loss[good]
        step[open_] = np.where(good, 1, step[open_] / 2)
        beta[open_] = base[open_] + step[open_, None] * direction[open_]
    return beta, False


def _penalized(
    sums: tuple[Values, Values, Values], ridge: Values, beta: Values
) -> tuple[Values, Values, Values]:
    """Loss (up to a constant), gradient and Hessian of every problem."""
    loss, gradient, packed = sums
    columns = beta.shape[1]
    rows, cols = np.triu_indices(columns)
    hessian = np.empty((len(beta), columns, columns))
    hessian[:, rows, cols] = hessian[:, cols, rows] = packed
    diagonal = np.arange(columns)
    # A column without curvature (constant zero, or all instances far from the boundary) must
    # not make the system singular.
    hessian[:, diagonal, diagonal] += ridge + 1e-10 * (1 + packed.max(axis=1, keepdims=True))
    return loss + (beta**2 @ ridge) / 2, gradient + beta * ridge, hessian


def _logistic(margin: Values) -> tuple[Values, Values]:
    """The loss log(1 + exp(-margin)) and the probability 1 / (1 + exp(margin)) of an error."""
    return -log_expit(margin), expit(-margin)


def _lbfgs(
    problems: Any, ridge: Values, start: Values, tol: float, max_iter: int
) -> tuple[Values, bool]:
    """L-BFGS on all problems as one, each scaled by its number of instances."""
    scale = 1 / problems.sizes()

    def objective(flat: Values) -> tuple[float, Values]:
        beta = flat.reshape(start.shape)
        loss, gradient = problems.gradient(beta)
        loss, gradient = loss + (beta**2 @ ridge) / 2, gradient + beta * ridge
        return float(loss @ scale), (gradient * scale[:, None]).ravel()

    search = Lbfgs(start.ravel(), scale=1.0)
    converged = search.run(objective, tol=tol, max_iter=max_iter)
    return search.x.reshape(start.shape), converged


def _intercept(beta: Values, n_features: int) -> Values | float:
    return beta[:, n_features] if beta.shape[1] > n_features else 0.0

"""L-BFGS for smooth functions of very many variables.

SciPy's L-BFGS-B keeps bounds and copies of everything: with hundreds of thousands of variables
that costs more than a gradient of sparse data. This is the same method without bounds.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, ddot, dscal
from sklearn.exceptions import ConvergenceWarning

from prefero import _core
from prefero._typing import Indices, Values
from prefero._warnings import warn_user

Function = Callable[[Values], tuple[float, Values]]

# Pairs of steps and gradients that are remembered: more save iterations where variables are few,
# and cost more time than they save where they are many.
_MEMORY, _MEMORY_OF_MANY, _MANY = 10, 3, 50_000
_SUFFICIENT_DECREASE, _SUFFICIENT_SLOPE = 1e-4, 0.9
_MOST_TRIALS = 30
# A smaller relative decrease of the function is rounding error.
_LEAST_DECREASE = 64 * np.finfo(float).eps


class _Point(NamedTuple):
    x: Values
    value: float
    gradient: Values


class Lbfgs:
    """A search for the minimum of a function, which may be refined in between.

    Parameters
    ----------
    start : ndarray of shape (n,)
        The first point.
    scale : float, optional
        The unit of the tolerance; the largest derivative at the start if None.

    Attributes
    ----------
    x : ndarray of shape (n,)
        The best point so far.
    curve : list of float
        The value at the start and after each iteration; it never rises.

    Examples
    --------
    >>> search = Lbfgs(np.array([3.0, -4.0]))
    >>> search.run(lambda x: (x @ x, 2 * x), tol=1e-8, max_iter=10)
    True
    >>> search.x.round(6) + 0.0
    array([0., 0.])
    """

    def __init__(self, start: Values, scale: float | None = None) -> None:
        self.x, self.scale = start, scale
        self.curve: list[float] = []
        memory = _MEMORY if start.size < _MANY else _MEMORY_OF_MANY
        self._history: deque[tuple[Values, Values, float]] = deque(maxlen=memory)

    def run(self, function: Function, *, tol: float, max_iter: int) -> bool:
        """Go on until no derivative exceeds tol times the scale, or the value falls no more.

        Parameters
        ----------
        function : callable
            Maps a point to the value and the gradient, a new array.
        tol : float
            The largest derivative to accept, in units of the scale.
        max_iter : int
            The most iterations, earlier runs included.

        Returns
        -------
        bool
            False if stopped by max_iter.
        """
        here = _Point(self.x, *function(self.x))
        self.curve[-1:] = [here.value]
        if self.scale is None:
            self.scale = _largest(here.gradient)
        while _largest(here.gradient) > tol * self.scale:
            if len(self.curve) > max_iter:
                return False
            there = _search(function, here, self._direction(here.gradient), not self._history)
            if there is None and not self._history:
                break
            if there is None:
                self._history.clear()  # the curvature learned so far misleads: start afresh
                continue
            self._learn(there.x - here.x, there.gradient - here.gradient)
            fell, here = here.value - there.value, there
            self.x = here.x
            self.curve.append(here.value)
            if fell <= _LEAST_DECREASE * abs(here.value):
                break
        return True

    def _learn(self, step: Values, change: Values) -> None:
        """Remember the curvature along a step, if it is positive."""
        curvature = ddot(step, change)
        if curvature > 0:
            self._history.append((step, change, curvature))

    def _direction(self, gradient: Values) -> Values:
        """Minus the inverse Hessian, as the history suggests it, times the gradient."""
        direction = -gradient
        shares = []
        for step, change, curvature in reversed(self._history):
            shares.append(ddot(step, direction) / curvature)
            daxpy(change, direction, a=-shares[-1])
        if self._history:
            _, change, curvature = self._history[-1]
            dscal(curvature / ddot(change, change), direction)
        for (step, change, curvature), share in zip(self._history, reversed(shares), strict=True):
            daxpy(step, direction, a=share - ddot(change, direction) / curvature)
        return direction


def _largest(gradient: Values) -> float:
    return max(float(gradient.max(initial=0)), -float(gradient.min(initial=0)))


def _search(function: Function, here: _Point, direction: Values, first: bool) -> _Point | None:
    """A point along the direction that is low and flat enough (Wolfe), or just lower, or None."""
    slope = ddot(here.gradient, direction)
    low, high = 0.0, np.inf
    size = 1 / np.sqrt(ddot(direction, direction)) if first else 1.0
    best: _Point | None = None
    for _ in range(_MOST_TRIALS):
        x = daxpy(direction, here.x.copy(), a=size)
        there = _Point(x, *function(x))
        if not there.value <= here.value + _SUFFICIENT_DECREASE * size * slope:
            high = size
            size = low + _shrink(there.value - here.value, slope, size - low, low)
        elif ddot(there.gradient, direction) < _SUFFICIENT_SLOPE * slope:
            best = there
            low = size
            size = 4 * size if np.isinf(high) else (low + high) / 2
        else:
            return there
    return best


def _shrink(rise: float, slope: float, size: float, low: float) -> float:
    """The least point of the parabola through what is known, not too near either end."""
    if low > 0 or not np.isfinite(rise):
        return size / 2
    return float(np.clip(-slope * size / (2 * (rise - slope * size)), 0.1, 0.5)) * size


def warn_unconverged(solver: str, max_iter: int) -> None:
    """Warn that a solver did not converge, which the solver itself must know.

    Parameters
    ----------
    solver : str
        What did not converge, the beginning of the sentence.
    max_iter : int
        How many iterations it was allowed.
    """
    warn_user(
        f"{solver} did not converge in max_iter={max_iter} iterations: scale the features, or "
        "raise max_iter, tol or the penalty.",
        ConvergenceWarning,
    )


# The loss bends anew where a step leaves more than that of the gradient.
_SLOW = 0.7
# Against rounding each column bends that much more, as a part of how it bends.
_DAMPING = 1e-6


class Float32Problems:
    """Penalised logistic losses of many problems on the same dense rows.

    Parameters
    ----------
    X, signs, weight, ridge, total
        As of `LogisticProblems`.
    bends : Float32Problems, optional
        The same problems on fewer rows, which tell how the loss bends; all rows if None.
    """

    def __init__(
        self,
        X: Values,
        signs: NDArray[np.int8],
        weight: Values,
        ridge: Values,
        total: Values,
        bends: "Float32Problems | None" = None,
    ) -> None:
        self._X, self._signs, self._weight = X.astype(np.float32), signs, weight
        self._ridge = np.broadcast_to(ridge, (len(total), X.shape[1]))
        self.total, self._bends = total, bends

    def gradients(self, beta: Values, which: Indices) -> Values:
        """Return the gradients of some problems."""
        return self._of_core(_core.logistic_gradients, beta, which) + beta * self._ridge[which]

    def inverse_hessians(self, beta: Values, which: Indices) -> Values:
        """Return the inverse Hessians of some problems."""
        if self._bends is not None:
            share = self._bends.total[which] / self.total[which]
            return self._bends.inverse_hessians(beta, which) * share[:, None, None]
        packed = self._of_core(_core.logistic_hessians, beta, which)
        hessian = unpacked(packed, self._ridge[which])
        diagonal = np.arange(beta.shape[1])
        floor = 1e-10 * (1 + packed.max(axis=1, keepdims=True))
        hessian[:, diagonal, diagonal] += floor + _DAMPING * hessian[:, diagonal, diagonal]
        return np.asarray(np.linalg.inv(hessian), dtype=np.float64)

    def _of_core(self, kernel: Callable[..., Values], beta: Values, which: Indices) -> Values:
        return kernel(self._X, self._signs, self._weight, which, beta.astype(np.float32))


def unpacked(packed: Values, diagonal: Values) -> Values:
    """Return symmetric matrices, given their upper triangles and what to add to the diagonals.

    Parameters
    ----------
    packed : ndarray of shape (n, columns * (columns + 1) / 2)
        The triangles, row by row.
    diagonal : ndarray of shape (columns,) or (n, columns)
        What is added.

    Returns
    -------
    ndarray of shape (n, columns, columns)
        The matrices.
    """
    columns = diagonal.shape[-1]
    rows, cols = np.triu_indices(columns)
    matrices = np.empty((len(packed), columns, columns))
    matrices[:, rows, cols] = matrices[:, cols, rows] = packed
    matrices[:, range(columns), range(columns)] += diagonal
    return matrices


def approach(
    problems: Float32Problems,
    beta: Values,
    near: float,
    max_iter: int,
    inverse: Values | None = None,
) -> tuple[Values, Values]:
    """Take Newton steps as long as they make gradients smaller.

    How a loss bends is learnt from each step (BFGS), and asked anew where that helps too little.

    Parameters
    ----------
    problems : Float32Problems
        What to minimise.
    beta : ndarray of shape (n_problems, n_columns)
        The start.
    near : float
        The gradient that is small enough, a unit of weight.
    max_iter : int
        The most steps.
    inverse : ndarray of shape (n_problems, n_columns, n_columns), optional
        How the losses bend: inverse Hessians. They are asked for if None.

    Returns
    -------
    beta : ndarray of shape (n_problems, n_columns)
        The point with the smallest gradient on the way of each problem.
    inverse : ndarray of shape (n_problems, n_columns, n_columns)
        How the losses bend there; NaN where the way was given up.
    """
    # What single precision cannot hold becomes infinite or NaN, and is no progress.
    with np.errstate(over="ignore", invalid="ignore"):
        return _approach(problems, beta.copy(), near, max_iter, inverse)


def _approach(
    problems: Float32Problems, beta: Values, near: float, max_iter: int, inverse: Values | None
) -> tuple[Values, Values]:
    every, goal = np.arange(len(beta)), near * problems.total
    inverse = problems.inverse_hessians(beta, every) if inverse is None else inverse.copy()
    slope = problems.gradients(beta, every)
    steep, asked = np.abs(slope).max(axis=1), np.zeros(len(beta), dtype=bool)
    open_ = every[steep > goal]
    for _ in range(max_iter):
        if len(open_) == 0:
            break
        step = -(inverse[open_] @ slope[open_, :, None])[:, :, 0]
        there = problems.gradients(beta[open_] + step, open_)
        left = np.abs(there).max(axis=1) / steep[open_]
        nearer = left < 1  # others stay where they are, and so do those without a number
        open_, step, there, left = open_[nearer], step[nearer], there[nearer], left[nearer]
        _learn(inverse, open_, step, there - slope[open_])
        beta[open_] += step
        slope[open_], steep[open_] = there, np.abs(there).max(axis=1)
        slow = left > _SLOW
        going = (steep[open_] > goal[open_]) & ~(slow & asked[open_])
        asked[open_] = slow
        again, open_ = open_[going & slow], open_[going]
        inverse[again] = problems.inverse_hessians(beta[again], again)
    inverse[~(steep <= goal)] = np.nan
    return beta, inverse


def _learn(inverse: Values, which: Indices, step: Values, change: Values) -> None:
    """Change inverse Hessians so that they take the changes of the gradients to the steps."""
    curved = (step * change).sum(axis=1)
    up = curved > 0
    which, step, change, curved = which[up], step[up], change[up], curved[up, None]
    old = inverse[which]
    wrong = (old @ change[:, :, None])[:, :, 0]
    across = (1 + (change * wrong).sum(axis=1, keepdims=True) / curved) / 2 * step - wrong
    product = (step / curved)[:, :, None] * across[:, None, :]
    inverse[which] = old + product + product.transpose(0, 2, 1)

"""L-BFGS for smooth functions of very many variables.

SciPy's L-BFGS-B keeps bounds and copies of everything: with hundreds of thousands of variables
that costs more than a gradient of sparse data. This is the same method without bounds.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy, ddot, dscal

from prefero._typing import Values

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

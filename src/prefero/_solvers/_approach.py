"""Newton's method for many logistic regressions in single precision: most of the way.

Nothing here decides where a solution is: whoever asks goes on in double precision from where
this ends.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._typing import Indices, Values

# The loss bends anew where a step leaves more than that of the gradient.
_SLOW = 0.7
# Against rounding each column bends that much more, as a part of how it bends.
_DAMPING = 1e-6


class RoughProblems:
    """Penalised logistic losses of many problems on the same dense rows.

    Parameters
    ----------
    X, signs, weight, ridge, total
        As of `LogisticProblems`.
    bends : RoughProblems, optional
        The same problems on fewer rows, which tell how the loss bends; all rows if None.
    """

    def __init__(
        self,
        X: Values,
        signs: NDArray[np.int8],
        weight: Values,
        ridge: Values,
        total: Values,
        bends: "RoughProblems | None" = None,
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
    problems: RoughProblems,
    beta: Values,
    near: float,
    max_iter: int,
    inverse: Values | None = None,
) -> tuple[Values, Values]:
    """Take Newton steps as long as they make gradients smaller.

    How a loss bends is learnt from each step (BFGS), and asked anew where that helps too little.

    Parameters
    ----------
    problems : RoughProblems
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
    problems: RoughProblems, beta: Values, near: float, max_iter: int, inverse: Values | None
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

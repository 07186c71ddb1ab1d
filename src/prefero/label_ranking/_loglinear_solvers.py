"""The convex loss of a log-linear ranker, and two ways to its minimum."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy
from scipy.special import expit

from prefero._solvers import Lbfgs
from prefero._typing import Values
from prefero.label_ranking._base_functions import GivenFunctions, LinearFunctions
from prefero.preferences import Choices, Decomposition

# Added to W+ and W- where no penalty keeps them from zero: it bounds the step of Figure 3 and,
# as the step only gets shorter, leaves the loss falling.
_SMOOTHING = 1e-10

# Down to this tolerance the decrease of the loss stands far above the errors of rough products.
_ROUGH_TOL = 1e-3


class Penalty(NamedTuple):
    """Strength times a convex function of each parameter; its derivative, to be added."""

    value: Callable[[Values], float]
    add_slope: Callable[[Values, Values], Any]


def l2(alpha: float) -> Penalty:
    """Alpha / 2 times the sum of squares."""
    return Penalty(
        lambda w: alpha / 2 * float(np.vdot(w, w)),
        lambda w, gradient: daxpy(w.ravel(), gradient.ravel(), a=alpha),
    )


def smooth_l1(alpha: float) -> Penalty:
    """Alpha times the sum of log((1 + exp(w)) (1 + exp(-w)) / 4): about |w| for large w.

    It is the loss of two more instances a base function that disagree about its sign, which is
    how boosting can hold it.
    """
    return Penalty(
        lambda w: alpha * float((2 * np.logaddexp(0, w) - w).sum() - 2 * np.log(2) * w.size),
        lambda w, gradient: np.add(gradient, alpha * np.tanh(w / 2), out=gradient),
    )


class Solution(NamedTuple):
    """Parameters, the objective at the start and after each iteration, and whether it is least."""

    parameters: Values
    loss_curve: list[float]
    converged: bool


class Objective:
    """Weighted mean loss of the instances plus a penalty.

    With ``total``, the weight of all instances, these may be some of them: then the loss is their
    share in the mean.
    """

    def __init__(
        self,
        functions: LinearFunctions | GivenFunctions,
        loss: Decomposition | Choices,
        weight: Values,
        penalty: Penalty,
        total: float | None = None,
    ) -> None:
        self.functions, self.penalty = functions, penalty
        self.cut: Any = loss if isinstance(loss, Choices) else functions.decompose(loss)
        self.weight = weight / (weight.sum() if total is None else total)

    def value(self, parameters: Values) -> float:
        """The objective."""
        loss = self.cut.loss(self.functions.scores(parameters)).loss
        return float(self.weight @ loss) + self.penalty.value(parameters)

    def value_and_gradient(
        self, parameters: Values, *, rough: bool = False
    ) -> tuple[float, Values]:
        """The objective and its gradient; rough ones have relative errors of about 1e-7."""
        loss, gradient = self.loss_and_gradient(parameters, rough=rough)
        self.penalty.add_slope(parameters, gradient)
        return loss + self.penalty.value(parameters), gradient

    def loss_and_gradient(self, parameters: Values, *, rough: bool = False) -> tuple[float, Values]:
        """The same without the penalty: what adds up over instances."""
        scores = self.functions.scores(parameters, rough=rough)
        loss, by_scores = self.cut.gradient(scores, self.weight)
        return float(loss), self.functions.gradient(by_scores, rough=rough)


def solve_lbfgs(objective: Objective, start: Values, tol: float, max_iter: int) -> Solution:
    """Minimise by L-BFGS until no derivative exceeds tol times the largest at zero."""
    unit = objective.functions.unit

    def scaled(point: Values, rough: bool) -> tuple[float, Values]:
        parameters = point.reshape(start.shape) * unit
        value, gradient = objective.value_and_gradient(parameters, rough=rough)
        gradient *= unit
        return value, gradient.ravel()

    scale = _largest_slope_at_zero(objective, start, unit) if start.any() else None
    search = Lbfgs((start / unit).ravel(), scale)
    rough, converged = objective.functions.has_rough, True
    if rough:
        rough_tol = max(tol, _ROUGH_TOL)
        converged = search.run(partial(scaled, rough=True), tol=rough_tol, max_iter=max_iter)
    if converged and (not rough or tol < _ROUGH_TOL):
        converged = search.run(partial(scaled, rough=False), tol=tol, max_iter=max_iter)
    return Solution(search.x.reshape(start.shape) * unit, search.curve, converged)


def solve_boosting(
    objective: Objective, alpha: float, start: Values, tol: float, max_iter: int
) -> Solution:
    """Minimise by the parallel updates of Figure 3, to the same tolerance."""
    rho = boosting_rho(objective, alpha)
    parameters = start.copy()
    value, plus, minus = boosting_sums(objective, alpha, parameters)
    goal = tol * _largest_slope_at_zero(objective, start, 1.0)
    curve = [value]
    while np.abs(plus - minus).max(initial=0) > goal:
        if len(curve) > max_iter:
            return Solution(parameters, curve, False)
        parameters = parameters - boosting_step(plus, minus, alpha) / rho
        value, plus, minus = boosting_sums(objective, alpha, parameters)
        curve.append(value)
    return Solution(parameters, curve, True)


def boosting_rho(objective: Objective, alpha: float) -> float:
    """Rho of Figure 3; the instances that stand for the penalty have a sum of 1."""
    rho = objective.functions.rho(objective.cut)
    return max(rho, 1.0) if alpha > 0 or rho == 0 else rho


def boosting_sums(
    objective: Objective, alpha: float, parameters: Values
) -> tuple[float, Values, Values]:
    """The objective, and W+ and W- of Figure 3 with the share of the penalty."""
    scores = objective.functions.scores(parameters)
    loss, plus, minus = objective.functions.boosting_sums(objective.cut, scores, objective.weight)
    value = float(objective.weight @ loss) + objective.penalty.value(parameters)
    share = expit(parameters)
    return value, plus + alpha * share, minus + alpha * (1 - share)


def boosting_step(plus: Values, minus: Values, alpha: float) -> Values:
    """Lambda of Figure 3, half the logarithm of W+ / W-."""
    smoothing = 0 if alpha > 0 else _SMOOTHING
    return np.log((plus + smoothing) / (minus + smoothing)) / 2


def _largest_slope_at_zero(objective: Objective, start: Values, unit: Values | float) -> float:
    """The scale of the gradient, the same whether the solver starts cold or warm."""
    gradient = objective.value_and_gradient(np.zeros_like(start))[1]
    return float(np.abs(gradient * unit).max(initial=0))

"""The convex loss of a log-linear ranker, and two ways to its minimum."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy
from scipy.sparse import issparse
from scipy.special import expit

from prefero._products import FeatureProducts
from prefero._solvers._lbfgs import Lbfgs
from prefero._typing import Values
from prefero.preferences import (
    Choices,
    Decomposition,
    PreferenceGraphs,
    SignedFeatures,
    Subgraphs,
    WeightedEdges,
    decompose,
)

# Added to W+ and W- where no penalty keeps them from zero: it bounds the step of Figure 3 and,
# as the step only gets shorter, leaves the loss falling.
_SMOOTHING = 1e-10

# Down to this tolerance the decrease of the loss stands far above the errors of float32 products.
_FLOAT32_TOL = 1e-3


# Edges times functions that one step of the search for rho holds.
_BATCH_ENTRIES = 2**21


class LinearFunctions:
    """One linear utility per label: h_(y', d)(x, y) is x_d if y = y', else 0.

    The parameters are a matrix of shape (n_features, n_labels), with one more row for the
    intercepts if there are any: the weights of a constant feature. The larger the constant, the
    less a penalty on the weights holds the intercepts back.
    """

    def __init__(
        self,
        X: Any,
        graphs: PreferenceGraphs,
        fit_intercept: bool,
        constant: float = 1.0,
        weight: Values | None = None,
    ) -> None:
        self._X, self._fit_intercept = X, fit_intercept
        self.n_features, self.constant = X.shape[1], constant if fit_intercept else 0.0
        self._products = FeatureProducts(X)
        self._graphs = graphs
        self.shape = (X.shape[1] + fit_intercept, graphs.n_labels)
        # A constant 1 beside features as small as those of text bends the loss far more than
        # they do; in units of their size it costs L-BFGS fewer iterations.
        self.unit = np.ones((self.shape[0], 1))
        self.set_size(*sum_of_squares(X, weight))

    def set_size(self, squares: float, entries: float) -> None:
        """Take the size of features that have this sum of squares."""
        size = np.sqrt(squares / entries) if squares > 0 else 1.0
        self.unit[self.n_features :] = size / (self.constant or 1.0)

    def decompose(self, decomposition: Decomposition) -> Any:
        """Cut the graphs; layers need no edge to be written out."""
        return decompose(self._graphs, decomposition)

    @property
    def has_float32(self) -> bool:
        """Whether float32 scores and gradients, in single precision, are faster."""
        return self._products.has_float32

    def scores(self, parameters: Values, *, float32: bool = False) -> Values:
        """f(x, y) for all instances and labels."""
        n_features = self._X.shape[1]
        scores = self._products.times(parameters[:n_features], float32=float32)
        if self._fit_intercept:
            scores += self.constant * parameters[n_features]
        return scores

    def gradient(self, by_scores: Values, *, float32: bool = False) -> Values:
        """The gradient by the parameters, from the one by the scores."""
        slopes = self._products.transposed_times(by_scores, float32=float32)
        if not self._fit_intercept:
            return slopes
        return np.vstack([slopes, self.constant * by_scores.sum(axis=0)])

    @cached_property
    def _signed(self) -> SignedFeatures:
        return SignedFeatures(self._X)

    def boosting_sums(
        self, cut: Any, scores: Values, weight: Values
    ) -> tuple[Values, Values, Values]:
        """Losses of the instances, and W+ and W- of Figure 3."""
        sums = cut.loss(scores)
        incoming, outgoing = sums.incoming * weight[:, None], sums.outgoing * weight[:, None]
        plus, minus = self._signed.boosting_sums(incoming, outgoing)
        if not self._fit_intercept:
            return sums.loss, plus, minus
        plus = np.vstack([plus, self.constant * incoming.sum(axis=0)])
        return sums.loss, plus, np.vstack([minus, self.constant * outgoing.sum(axis=0)])

    def rho(self, cut: Any) -> float:
        """The largest sum over j of |h_j(x, other) - h_j(x, preferred)| of any edge."""
        some = self._graphs.edge_counts() > 0
        size = np.asarray(abs(self._X).sum(axis=1)).ravel()[some] + self.constant
        return 2 * float(size.max(initial=0))


class GivenFunctions:
    """Any base functions, by their values for all instances and labels.

    The parameters are a vector of shape (n_functions,).
    """

    has_float32 = False

    def __init__(self, values: Values, graphs: PreferenceGraphs) -> None:
        self._values, self._graphs = values, graphs
        self.shape: tuple[int, ...] = (values.shape[2],)
        self.unit = np.ones(1)

    def decompose(self, decomposition: Decomposition) -> Subgraphs:
        """Cut the graphs edge by edge: h_j may change in its own way along each."""
        if self._graphs.weights is not None:
            return WeightedEdges(self._graphs)
        return Subgraphs(self._graphs, decomposition)

    def scores(self, parameters: Values, *, float32: bool = False) -> Values:
        """f(x, y) for all instances and labels."""
        return np.ascontiguousarray(self._values @ parameters)

    def gradient(self, by_scores: Values, *, float32: bool = False) -> Values:
        """The gradient by the parameters, from the one by the scores."""
        return np.tensordot(by_scores, self._values, axes=2)

    def boosting_sums(
        self, cut: Subgraphs, scores: Values, weight: Values
    ) -> tuple[Values, Values, Values]:
        """Losses of the instances, and W+ and W-, edge by edge."""
        loss, of_edges = cut.edge_weights(scores)
        of_edges = of_edges * weight[self._instance_of_edges(cut)]
        return loss, *cut.boosting_sums(self._values, of_edges)

    def rho(self, cut: Subgraphs) -> float:
        """The largest sum over j of |h_j(x, other) - h_j(x, preferred)| of any edge."""
        instance, largest = self._instance_of_edges(cut), 0.0
        size = max(1, _BATCH_ENTRIES // max(1, self.shape[0]))
        for begin in range(0, len(instance), size):
            part = slice(begin, begin + size)
            other = self._values[instance[part], cut.other[part]]
            preferred = self._values[instance[part], cut.preferred[part]]
            largest = max(largest, float(np.abs(other - preferred).sum(axis=1).max()))
        return largest

    @staticmethod
    def _instance_of_edges(cut: Subgraphs) -> NDArray[np.intp]:
        counts = np.diff(cut.subgraph_begin[cut.row_begin])
        return np.repeat(np.arange(len(counts)), counts)


def sum_of_squares(X: Any, weight: Values | None) -> tuple[float, float]:
    """The sum of the squared features, and how many there are, each as often as its row weighs."""
    squares = np.ravel(X.multiply(X).sum(axis=1)) if issparse(X) else np.einsum("ij,ij->i", X, X)
    weight = np.ones(len(squares)) if weight is None else weight
    return float(weight @ squares), float(weight.sum()) * X.shape[1]


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
    share on average.
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
        self, parameters: Values, *, float32: bool = False
    ) -> tuple[float, Values]:
        """The objective and its gradient; float32 ones have relative errors of about 1e-7."""
        loss, gradient = self.loss_and_gradient(parameters, float32=float32)
        self.penalty.add_slope(parameters, gradient)
        return loss + self.penalty.value(parameters), gradient

    def loss_and_gradient(
        self, parameters: Values, *, float32: bool = False
    ) -> tuple[float, Values]:
        """The same without the penalty: what adds up over instances."""
        scores = self.functions.scores(parameters, float32=float32)
        loss, by_scores = self.cut.gradient(scores, self.weight)
        return float(loss), self.functions.gradient(by_scores, float32=float32)


def solve_lbfgs(objective: Objective, start: Values, tol: float, max_iter: int) -> Solution:
    """Minimise by L-BFGS until no derivative exceeds tol times the largest at zero."""
    unit = objective.functions.unit

    def scaled(point: Values, float32: bool) -> tuple[float, Values]:
        parameters = point.reshape(start.shape) * unit
        value, gradient = objective.value_and_gradient(parameters, float32=float32)
        gradient *= unit
        return value, gradient.ravel()

    scale = _largest_slope_at_zero(objective, start, unit) if start.any() else None
    search = Lbfgs((start / unit).ravel(), scale)
    float32, converged = objective.functions.has_float32, True
    if float32:
        float32_tol = max(tol, _FLOAT32_TOL)
        converged = search.run(partial(scaled, float32=True), tol=float32_tol, max_iter=max_iter)
    if converged and (not float32 or tol < _FLOAT32_TOL):
        converged = search.run(partial(scaled, float32=False), tol=tol, max_iter=max_iter)
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

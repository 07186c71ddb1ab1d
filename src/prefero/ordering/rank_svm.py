"""The ranking SVM, in the primal and without a list of pairs."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import minimize
from sklearn.kernel_approximation import Nystroem

from prefero import _core
from prefero._products import row_products
from prefero._sklearn import Interval, StrOptions
from prefero._solvers._lbfgs import warn_unconverged
from prefero._state import Array, Count, FittedState, Model, State
from prefero._typing import Values
from prefero.base import BaseOrderer, SampleOrders


def _fits_map(coef: Values, state: State) -> bool:
    feature_map = state.values["feature_map_"]
    width = state.sizes["n_features"] if feature_map is None else len(feature_map.normalization_)
    return len(coef) == width


class RankSVMOrderer(BaseOrderer):
    """Order objects along the direction of largest margin between ordered pairs (SVOR).

    Minimizes ||w||^2 / 2 plus C times the sum, over all pairs that an order puts one before
    the other, of max(0, 1 - w.(x_better - x_worse))^2, by a truncated Newton method. Each step
    takes O(n log n) for n objects: sums over pairs come from sorted scores.

    Parameters
    ----------
    C : float, default=0.01
        Weight of the pairs against the norm of the model. Pairs are many: n objects in one
        query make up to n (n - 1) / 2.
    kernel : {"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"}, default="linear"
        Kernels other than the linear one are approximated by Nyström's method.
    gamma, degree, coef0 : float, optional
        Parameters of the kernel, as in ``sklearn.kernel_approximation.Nystroem``.
    n_components : int, default=100
        How many training objects span the approximation.
    tol : float, default=1e-4
        Stop when the gradient is smaller than this share of the one at w = 0.
    max_iter : int, default=100
        Newton steps at most.
    random_state : int, RandomState or None, default=None
        Which objects span the approximation.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_components,)
        Weights of the features, or of the components of the approximation.
    n_iter_ : int
        Newton steps taken.
    feature_map_ : Nystroem or None
        The kernel approximation; None for the linear kernel.

    References
    ----------
    Herbrich, Graepel & Obermayer (1999); Joachims (2002); Lee & Lin (2014).

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = RankSVMOrderer().fit(X, [1, 3, 2, 2, 1], qid=[0, 0, 0, 1, 1])
    >>> orderer.predict([[1.0], [9.0], [4.0]])
    array([3, 1, 2])
    """

    _input_tags: ClassVar[dict[str, bool]] = {"sparse": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"})],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="neither"), None],
        "coef0": [Real, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "feature_map_": Model("transform", none=True),
        "coef_": Array("f8", "n_coefficients", rule=("one weight a mapped feature", _fits_map)),
        "n_iter_": Count(),
    }

    def __init__(
        self,
        C: float = 0.01,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"] = "linear",
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        n_components: int = 100,
        tol: float = 1e-4,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, orders: SampleOrders) -> None:
        self.feature_map_ = self._fit_feature_map(orders.X)
        if self.feature_map_ is not None:
            orders = orders._replace(X=self.feature_map_.transform(orders.X))
        self._minimize(PairLoss(orders), orders.X.shape[1])

    def _minimize(self, loss: Any, n_weights: int) -> None:
        objective, start = _PrimalObjective(loss, self.C), np.zeros(n_weights)
        gradient = float(np.linalg.norm(objective(start)[1]))
        result = minimize(
            objective,
            start,
            jac=True,
            hessp=objective.hessian_product,
            method="trust-ncg",
            options={"gtol": self.tol * max(gradient, 1e-300), "maxiter": self.max_iter},
        )
        self.coef_ = result.x
        self.n_iter_ = max(int(result.nit), 1)
        if result.status == 1:  # the others say that the gradient, or the decrease, is zero
            warn_unconverged("RankSVMOrderer", self.max_iter)

    def _fit_feature_map(self, X: Any) -> Nystroem | None:
        if self.kernel == "linear":
            return None
        return Nystroem(
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            n_components=min(self.n_components, X.shape[0]),
            random_state=self.random_state,
        ).fit(X)

    def _decision(self, X: Any) -> Values:
        mapped = X if self.feature_map_ is None else self.feature_map_.transform(X)
        return row_products(mapped, self.coef_[:, None])[:, 0]


class _PrimalObjective:
    """Half the squared norm plus C times a loss that tells its derivatives."""

    def __init__(self, loss: Any, C: float) -> None:
        self._loss, self._C = loss, C

    def __call__(self, w: Values) -> tuple[float, Values]:
        loss, gradient = self._loss.gradient(w)
        return w @ w / 2 + self._C * loss, w + self._C * gradient

    def hessian_product(self, w: Values, vector: Values) -> Values:
        return vector + self._C * self._loss.hessian_product(w, vector)


class PairLoss:
    """The squared hinge loss of all ordered pairs, which adds up over orders.

    Keeps the order of the scores between calls.

    Parameters
    ----------
    orders : SampleOrders
        The orders, with features as the model is linear in.
    """

    def __init__(self, orders: SampleOrders) -> None:
        self._X = orders.X
        self._levels = orders.queries.levels(orders.positions)
        self._starts, self._weight = orders.queries.starts, orders.weight
        self._at: Values | None = None

    def gradient(self, w: Values) -> tuple[float, Values]:
        """Return the loss at some weights, and its gradient."""
        self._move(w)
        return self._loss, self._X.T @ self._by_score

    def hessian_product(self, w: Values, vector: Values) -> Values:
        """Return the Hessian at some weights times a vector."""
        self._move(w)
        by_score = _core.pair_hinge_hessian(*self._state, self._active, self._X @ vector)
        return np.asarray(self._X.T @ by_score)

    def _move(self, w: Values) -> None:
        if self._at is not None and np.array_equal(w, self._at):
            return
        scores = self._X @ w
        by_score = _core.sort_by_score(scores, self._starts)
        self._state = (scores, self._levels, self._weight, by_score, self._starts)
        self._loss, self._by_score, self._active = _core.pair_hinge(*self._state)
        self._at = w.copy()

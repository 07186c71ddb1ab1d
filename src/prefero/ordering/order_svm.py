"""Order SVM: near-parallel hyperplanes, one between every two places of an order."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from prefero._products import row_products
from prefero._sklearn import Interval
from prefero._solvers._lbfgs import Lbfgs, warn_unconverged
from prefero._state import Array, Count, FittedState
from prefero._typing import Values
from prefero.base import BaseOrderer, SampleOrders


class OrderSVMOrderer(BaseOrderer):
    """Separate the first t objects of the orders from the rest, for every t at once.

    Cut t has the hyperplane (w + v_t).x + b_t = 0: a direction w that all cuts share and a
    deviation of its own. The squared norm of w, ``deviation`` times those of the deviations,
    and C times the squared hinge losses of all cuts are minimized together; objects are
    sorted along w.

    Parameters
    ----------
    C : float, default=0.01
        Weight of the losses against the norms.
    deviation : float, default=1.0
        Price of a cut's deviation from the shared direction.
    max_cuts : int, default=20
        Cuts at most. Cut t of m lies at the share t / (m + 1) of every order, so orders may
        differ in length; with orders of one length L <= max_cuts + 1 there is one cut after
        each place, as published.
    tol : float, default=1e-4
        Stop when no entry of the gradient exceeds this share of the largest at the start.
    max_iter : int, default=500
        Steps of the optimizer at most.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The shared direction w.
    deviations_ : ndarray of shape (n_cuts, n_features)
        The deviations v_t.
    intercepts_ : ndarray of shape (n_cuts,)
        The offsets b_t.
    n_iter_ : int
        Steps taken.

    References
    ----------
    Kazawa, Hirao & Maeda (2005).

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = OrderSVMOrderer().fit(X, [1, 3, 2, 2, 1], qid=[0, 0, 0, 1, 1])
    >>> orderer.predict([[1.0], [9.0], [4.0]])
    array([3, 1, 2])
    """

    _input_tags: ClassVar[dict[str, bool]] = {"sparse": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "deviation": [Interval(Real, 0, None, closed="neither")],
        "max_cuts": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    _fitted_state: ClassVar[FittedState] = {
        "coef_": Array("f8", "n_features"),
        "deviations_": Array("f8", "n_cuts", "n_features"),
        "intercepts_": Array("f8", "n_cuts"),
        "n_iter_": Count(),
    }

    def __init__(
        self,
        C: float = 0.01,
        *,
        deviation: float = 1.0,
        max_cuts: int = 20,
        tol: float = 1e-4,
        max_iter: int = 500,
    ) -> None:
        self.C = C
        self.deviation = deviation
        self.max_cuts = max_cuts
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, orders: SampleOrders) -> None:
        objective = _CutObjective(orders, _sides(orders, self.max_cuts), self.C, self.deviation)
        search = Lbfgs(np.zeros(objective.size))
        converged = search.run(objective, tol=self.tol, max_iter=self.max_iter)
        self.coef_, self.deviations_, self.intercepts_ = objective.unpack(search.x)
        self.n_iter_ = max(len(search.curve) - 1, 1)
        if not converged:
            warn_unconverged("OrderSVMOrderer", self.max_iter)

    def _decision(self, X: Any) -> Values:
        return row_products(X, self.coef_[:, None])[:, 0]


def _sides(orders: SampleOrders, max_cuts: int) -> Values:
    """For each object and cut +1 if it stands above, -1 below, 0 on the cut.

    All 0 where the cut does not split the order. Tied objects stand at their mean place.
    """
    lengths, sizes = orders.lengths, orders.queries.sizes
    n_cuts = int(min(max_cuts, max(lengths.max() - 1, 1)))
    # Place p of L lies at the share (p - 1/2) / L: whole numbers keep the comparison exact.
    places = (2 * orders.positions - 1) * (n_cuts + 1)
    cuts = 2 * np.arange(1, n_cuts + 1) * lengths[:, None]
    sides = np.sign(cuts - places[:, None])
    starts = orders.queries.starts[:-1]
    splits = np.logical_or.reduceat(sides > 0, starts) & np.logical_or.reduceat(sides < 0, starts)
    return sides * np.repeat(splits, sizes, axis=0)


class _CutObjective:
    """Value and gradient over (w, v_1, ..., v_m, b_1, ..., b_m), packed in one vector."""

    def __init__(self, orders: SampleOrders, sides: Values, C: float, deviation: float) -> None:
        self._X = orders.X
        self._sides = sides
        self._C, self._weight = C, orders.weight[:, None]
        self._deviation = deviation
        self._n_features, self._n_cuts = orders.X.shape[1], sides.shape[1]
        self.size = self._n_features * (self._n_cuts + 1) + self._n_cuts

    def unpack(self, packed: Values) -> tuple[Values, ...]:
        w, v, b = np.split(packed, [self._n_features, self.size - self._n_cuts])
        return w, v.reshape(self._n_cuts, self._n_features), b

    def __call__(self, packed: Values) -> tuple[float, Values]:
        w, v, b = self.unpack(packed)
        margins = self._sides * (self._X @ (w + v).T + b)
        slack = np.maximum(0, 1 - margins) * (self._sides != 0)
        value = (w @ w + self._deviation * np.sum(v**2)) / 2 + self._C * np.sum(
            self._weight * slack**2
        )
        by_score = -2 * self._C * self._weight * slack * self._sides
        by_plane = (self._X.T @ by_score).T
        gradient = [w + by_plane.sum(axis=0), (self._deviation * v + by_plane).ravel()]
        return float(value), np.concatenate([*gradient, by_score.sum(axis=0)])

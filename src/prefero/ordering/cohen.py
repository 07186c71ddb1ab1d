"""Learning to order things: a weighted vote of attributes, ordered greedily."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from prefero import _core
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, FittedState
from prefero._typing import Values
from prefero.base import BaseOrderer, SampleOrders
from prefero.rankings import Queries


class CohenOrderer(BaseOrderer):
    """Weigh attributes by how well they order pairs, and order each set greedily.

    Every attribute votes for the object with the larger value, and a reversed copy of it for
    the other. Hedge multiplies a voter's weight by ``beta`` to the power of its loss, the
    share of pairs of a sample order it gets wrong (a tie is half wrong). The preference of u
    to v is the weight of the votes for u minus those for v; a set is ordered by repeatedly
    taking the object most preferred to the rest. There is no score of an object by itself,
    so there is no ``decision_function``.

    Parameters
    ----------
    beta : float or "auto", default="auto"
        Hedge's factor in (0, 1); ``"auto"`` is 1 / (1 + sqrt(2 ln(2 K) / N)) for K attributes
        and N orders, the value of the bound on Hedge's regret.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weight of each attribute minus that of its reversed copy; all 2 K weights sum to 1.

    References
    ----------
    Cohen, Schapire & Singer (1999); Freund & Schapire (1997).

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = CohenOrderer().fit(X, [1, 3, 2, 2, 1], qid=[0, 0, 0, 1, 1])
    >>> orderer.predict([[1.0], [9.0], [4.0]])
    array([3, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "beta": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})]
    }

    _fitted_state: ClassVar[FittedState] = {"weights_": Array("f8", "n_features")}

    _takes_weights: ClassVar[bool] = False

    def __init__(self, beta: float | Literal["auto"] = "auto") -> None:
        self.beta = beta

    def _fit(self, orders: SampleOrders) -> None:
        n_features = orders.X.shape[1]
        agreement = _core.concordance(
            orders.X,
            orders.positions,
            orders.queries.starts,
            np.zeros(n_features),
            correlation="tau-a",
        )
        # An attribute's losses over all orders add up to (N - agreement) / 2, those of its
        # reversed copy to (N + agreement) / 2: the order of Hedge's trials does not matter.
        n_orders = len(orders.queries.sizes)
        power = np.log(self._factor(n_features, n_orders)) / 2 * agreement
        votes = np.exp(-np.abs(power).max() - power), np.exp(-np.abs(power).max() + power)
        self.weights_ = (votes[0] - votes[1]) / (votes[0] + votes[1]).sum()

    def _factor(self, n_features: int, n_orders: int) -> float:
        if self.beta != "auto":
            return self.beta
        return 1 / (1 + np.sqrt(2 * np.log(2 * n_features) / n_orders))

    def _query_scores(self, X: Any, queries: Queries) -> Values:
        if not self.weights_.any():
            return np.zeros(len(X))
        return -_core.greedy_order(X, self.weights_, queries.starts).astype(np.float64)

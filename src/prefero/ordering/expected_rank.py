"""Expected rank regression: predict where an object would stand among all objects."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags

from prefero._pipelines import fit_final, takes_weights
from prefero._sklearn import HasMethods, Interval
from prefero._state import FittedState, Model
from prefero._typing import Values
from prefero.base import BaseOrderer, SampleOrders

_PENALTIES = tuple(10.0**power for power in range(-2, 5))


def expected_ranks(orders: SampleOrders) -> Values:
    """Return where each object is expected in the order of all objects, as a share of it."""
    return orders.positions / (orders.lengths + 1)


class ExpectedRankOrderer(BaseOrderer):
    """Regress the expected rank of an object on its features (ERR).

    An object at place r of an order of L objects is expected at the share r / (L + 1) of the
    order of all objects; any regressor learns that number, and objects are sorted by it.

    Parameters
    ----------
    regressor : regressor, default=None
        What learns the expected ranks; by default ridge regression whose penalty is chosen by
        leave-one-out, ``RidgeCV`` over seven powers of ten from 0.01.
    degree : int, default=1
        Degree of the polynomial features the regressor gets; 1 for the features themselves,
        2 for the second-order model of the literature.

    Attributes
    ----------
    regressor_ : regressor
        The fitted regressor (a pipeline if ``degree`` exceeds 1).

    References
    ----------
    Kamishima, Kazawa & Akaho (2005); Kamishima & Akaho (2006), section 2.1.

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = ExpectedRankOrderer().fit(X, [1, 3, 2, 2, 1], qid=[0, 0, 0, 1, 1])
    >>> orderer.predict([[1.0], [9.0], [4.0]])
    array([3, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "regressor": [HasMethods(["fit", "predict"]), None],
        "degree": [Interval(Integral, 1, None, closed="left")],
    }

    _fitted_state: ClassVar[FittedState] = {"regressor_": Model("predict")}

    def __init__(self, regressor: Any = None, degree: int = 1) -> None:
        self.regressor = regressor
        self.degree = degree

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        regressor = get_tags(self._unfitted_regressor())
        tags.input_tags.sparse = regressor.input_tags.sparse
        tags.input_tags.allow_nan = regressor.input_tags.allow_nan and self.degree == 1
        return tags

    def _unfitted_regressor(self) -> Any:
        return RidgeCV(_PENALTIES) if self.regressor is None else self.regressor

    def _fit(self, orders: SampleOrders) -> None:
        regressor = clone(self._unfitted_regressor())
        given = {"sample_weight": orders.weight} if takes_weights(regressor, orders.weight) else {}
        if self.degree > 1:
            regressor = make_pipeline(
                PolynomialFeatures(self.degree, include_bias=False), regressor
            )
        self.regressor_ = fit_final(regressor, orders.X, expected_ranks(orders), **given)

    def _decision(self, X: Any) -> Values:
        return -np.asarray(self.regressor_.predict(X), dtype=np.float64)

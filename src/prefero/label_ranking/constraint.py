"""Constraint classification: one linear utility per label, learned online."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.utils import check_random_state

from prefero import _core
from prefero._products import row_products
from prefero._sklearn import Interval, StrOptions
from prefero._solvers._scaling import FeatureScale
from prefero._state import Array, Count, FittedState
from prefero._typing import Values
from prefero.base import BaseLabelRanker, GraphRankerMixin
from prefero.label_ranking._tie_models import TieModelsMixin
from prefero.preferences import PreferenceGraphs, by_layer


class ConstraintLabelRanker(TieModelsMixin, GraphRankerMixin, BaseLabelRanker):
    """Constraint classification (CC) with a noise-tolerant perceptron.

    Every label has a linear utility. Each known preference of an instance x, i before j, is a
    constraint w_i . x > w_j . x; where it fails, x is added to w_i and taken from w_j, times the
    weight of the instance.

    Parameters
    ----------
    alpha_bound : int or None, default=500
        A preference that has caused this many updates is taken for noise and ignored from then
        on; None never gives up.
    alpha_per : {"example", "pair"}, default="pair"
        Whether alpha_bound counts the updates of all preferences of an instance together, or
        of each preference by itself.
    max_iter : int, default=1000
        How often to go through the instances. Learning stops when no preference fails that is
        not taken for noise. Far fewer passes than alpha_bound leave noise its say.
    margin : float, default=0.0
        How much a preference must hold by, in units of the mean squared length of an instance.
    average : bool, default=True
        Whether to predict with the average of the weights over all visits, which is far more
        stable than the last weights.
    fit_intercept : bool, default=True
        Whether the utilities have intercepts.
    shuffle : bool, default=True
        Whether each epoch visits the instances in a new random order.
    random_state : int, RandomState or None, default=None
        The orders.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, from some more fits.
    scale : bool, default=True
        Whether features are standardized inside, so that neither their units nor their zero
        matter; sparse ones are not centred. ``coef_`` and ``intercept_`` are of the features
        as given. False is the algorithm as in the paper.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    n_iter_ : int
        The number of passes run.
    violations_ : ndarray of shape (n_iter,)
        Preferences that failed in each epoch.

    Notes
    -----
    All failed preferences of an instance are judged by the weights before its visit and moved
    together, so that the order of the labels does not matter. A sample weight scales the steps.

    References
    ----------
    Har-Peled, Roth & Zimak (2003), Constraint classification for multiclass classification and
    ranking, NIPS 15. Khardon & Wachman (2007), Noise tolerant variants of the perceptron
    algorithm, JMLR 8. Cheng, Hühn & Hüllermeier (2009), section 6.

    Examples
    --------
    >>> X = [[-2.0], [-1.0], [1.0], [2.0]]
    >>> Y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> ConstraintLabelRanker(random_state=0).fit(X, Y).predict([[-3.0], [3.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha_bound": [Interval(Integral, 1, None, closed="left"), None],
        "alpha_per": [StrOptions({"example", "pair"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "average": ["boolean"],
        "fit_intercept": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "calibrate": ["boolean"],
        "scale": ["boolean"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "coef_": Array("f8", "n_labels", "n_features"),
        "intercept_": Array("f8", "n_labels"),
        "n_iter_": Count(size="n_iter"),
        "violations_": Array("if", "n_iter", low=0),
    }

    def __init__(
        self,
        alpha_bound: int | None = 500,
        *,
        alpha_per: str = "pair",
        max_iter: int = 1000,
        margin: float = 0.0,
        average: bool = True,
        fit_intercept: bool = True,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        calibrate: bool = True,
        scale: bool = True,
    ) -> None:
        self.alpha_bound = alpha_bound
        self.alpha_per = alpha_per
        self.max_iter = max_iter
        self.margin = margin
        self.average = average
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.calibrate = calibrate
        self.scale = scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Any, graphs: PreferenceGraphs, weight: Values) -> None:
        scale = FeatureScale.of(X, weight, wanted=self.scale, centered=self.fit_intercept)
        X = scale.apply(X)
        weights = self._train(
            _with_constant(X) if self.fit_intercept else csr_array(X), graphs, weight
        )
        self.coef_ = np.ascontiguousarray(weights[: X.shape[1]].T)
        self.intercept_ = np.zeros(graphs.n_labels)
        if self.fit_intercept:
            self.intercept_ = weights[X.shape[1]].copy()
        self.coef_, self.intercept_ = scale.to_users(self.coef_, self.intercept_)

    def _train(self, X: csr_array, graphs: PreferenceGraphs, weight: Values) -> Values:
        """Run the passes; weights of shape (n_columns, n_labels)."""
        per_edge = self.alpha_per == "pair"
        weights = np.zeros((X.shape[1], graphs.n_labels))
        drift = np.zeros_like(weights)
        n_edges = int(graphs.edge_counts().sum())
        updates = np.zeros(n_edges if per_edge else len(graphs), dtype=np.int64)
        rng = check_random_state(self.random_state)
        order, steps, violations = np.arange(len(graphs)), 0, []
        rows = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data
        epoch, preferences = _preferences(graphs)
        margin = self.margin * float(X.multiply(X).sum() / len(graphs))
        for _ in range(self.max_iter):
            violated, steps = epoch(
                *rows,
                *preferences,
                weight,
                rng.permutation(order) if self.shuffle else order,
                margin,
                np.iinfo(np.int64).max if self.alpha_bound is None else self.alpha_bound,
                per_edge,
                weights,
                drift,
                updates,
                steps,
            )
            violations.append(violated)
            if violated == 0:
                break
        self.violations_ = np.array(violations)
        self.n_iter_ = len(violations)
        return weights - drift / steps if self.average else weights

    def _decision(self, X: Any) -> Values:
        return row_products(X, self.coef_.T) + self.intercept_


def _preferences(graphs: PreferenceGraphs) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of the core for graphs, and what it takes of them; layers stay layers."""
    if graphs.layers is not None:
        order, layer = by_layer(graphs.layers)
        return _core.perceptron_layers_epoch, (order.astype(np.int32), layer)
    indptr, edges = graphs.compressed()
    preferred, other = np.ascontiguousarray(edges.T)
    return _core.perceptron_epoch, (indptr, preferred, other)


def _with_constant(X: Any) -> csr_array:
    return csr_array(hstack([csr_array(X), np.ones((X.shape[0], 1))], format="csr"))

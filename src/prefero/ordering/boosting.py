"""Boosted trees on the ordered pairs: the strong learner of the family."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from prefero import _core
from prefero._sklearn import Interval, RealNotInt, StrOptions
from prefero._state import Count, FittedState, Number
from prefero._trees._arrays import Trees
from prefero._trees._bins import n_features_to_try
from prefero._trees._keeping import TreesMixin, trees_state
from prefero._typing import Values
from prefero.base import BaseOrderer, SampleOrders


class BoostingOrderer(TreesMixin, BaseOrderer):
    """Add regression trees, each a Newton step on the pair loss of the ranking SVM.

    The loss, max(0, 1 - (s_better - s_worse))^2 over all ordered pairs, has its gradient and
    the diagonal of its Hessian in O(n log n) for n objects; a tree fits their ratio, weighted
    by the latter. Trees see at most 255 bins of an attribute.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    learning_rate : float, default=0.1
        Shrinks every tree.
    max_leaf_nodes : int, default=16
        Leaves of a tree at most.
    min_samples_leaf : int, default=20
        Objects in a leaf at least.
    max_features : float, int, {"sqrt", "log2"} or None, default=0.5
        Attributes tried at a node: a share of them, a number, their root or logarithm, or all.
    random_state : int, RandomState or None, default=None
        Which attributes are tried.

    Attributes
    ----------
    n_estimators_ : int
        The number of trees grown; fewer than asked for once no pair is closer than the margin.
    learning_rate_ : float
        The learning rate of the fit.
    feature_importances_ : ndarray of shape (n_features,)
        The share of an attribute in what the tests of a tree gain, mean over the trees.
    trees_ : dict of str to ndarray
        The trees as flat arrays of the core.
    bin_edges_ : ndarray of shape (n_edges,)
        Where the bins of all attributes end, attribute after attribute.
    bin_starts_ : ndarray of shape (n_features + 1,)
        Where the edges of each attribute start.
    nominal_features_ : ndarray of shape (n_features,), dtype bool
        Which attributes are nominal: none.

    References
    ----------
    Friedman (2001); Burges (2010) for trees on pair losses.

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = BoostingOrderer(min_samples_leaf=1, random_state=0)
    >>> orderer.fit(X, [1, 3, 2, 2, 1], qid=[0, 0, 0, 1, 1]).predict([[1.0], [9.0], [2.4]])
    array([3, 1, 2])
    """

    _fitted_state: ClassVar[FittedState] = {
        **trees_state(1),
        "n_estimators_": Count(),
        "learning_rate_": Number(0),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 16,
        min_samples_leaf: int = 20,
        max_features: float | int | str | None = 0.5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state

    @property
    def _n_scores(self) -> int:
        return 1

    def _fit(self, orders: SampleOrders) -> None:
        seeds = check_random_state(self.random_state).randint(2**32, size=self.n_estimators)
        arrays, _ = _core.boost_pairs(
            self._learn_bins(orders.X),
            orders.queries.levels(orders.positions),
            orders.weight,
            orders.queries.starts,
            seeds.astype(np.uint64),
            learning_rate=self.learning_rate,
            max_features=n_features_to_try(self.max_features, self.n_features_in_),
            max_leaves=self.max_leaf_nodes,
            min_leaf=self.min_samples_leaf,
        )
        self._keep(Trees(arrays, self.n_features_in_, 1))
        self.n_estimators_, self.learning_rate_ = self._trees.n_trees, self.learning_rate

    def _decision(self, X: Any) -> Values:
        if not self.n_estimators_:
            return np.zeros(len(X))
        scores = self._trees.walker.scores(self._feature_bins.apply(X))[:, 0]
        return self.learning_rate_ * self.n_estimators_ * scores

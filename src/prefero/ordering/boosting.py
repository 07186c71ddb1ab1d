"""Boosted trees on the ordered pairs: the strong learner of the family."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_random_state

from prefero import _core
from prefero.base import BaseOrderer, check_sample_orders

# Rows times trees that are walked down at once.
_BLOCK = 1 << 19


class BoostingOrderer(BaseOrderer):
    """Add regression trees, each a Newton step on the pair loss of the ranking SVM.

    The loss, max(0, 1 - (s_better - s_worse))^2 over all ordered pairs, has its gradient and
    the diagonal of its Hessian in O(n log n) for n objects; a tree fits their ratio, weighted
    by the latter.

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
    max_features : float, int, str or None, default=0.5
        Attributes tried at a node, as in ``sklearn.tree.DecisionTreeRegressor``.
    random_state : int, RandomState or None, default=None
        Which attributes are tried.

    Attributes
    ----------
    n_estimators_ : int
        The number of trees grown; fewer than asked for once no pair is closer than the margin.
    feature_importances_ : ndarray of shape (n_features,)
        Mean impurity-based importance over the trees.
    nodes_ : dict of ndarrays
        The trees as flat arrays: ``feature``, ``threshold``, ``left``, ``right``,
        ``missing_left`` and ``value`` of every node, and the ``root`` of every tree. A leaf is
        its own child.
    depth_ : int
        The depth of the deepest tree.

    References
    ----------
    Friedman (2001); Burges (2010) for trees on pair losses.

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = BoostingOrderer(min_samples_leaf=1, random_state=0)
    >>> orderer.fit(X, [1, 3, 2, 2, 1], groups=[0, 0, 0, 1, 1]).predict([[1.0], [9.0], [2.4]])
    array([3, 1, 2])
    """

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None) -> Self:
        """Learn from sample orders.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            One row an object in one order; NaN where an attribute is missing.
        y : array-like of shape (n_objects,)
            Ranks inside the group: smaller is better, equal is tied, NaN is unknown.
        groups : array-like of shape (n_objects,), optional
            Names the order each row belongs to; by default all rows are one order.

        Returns
        -------
        self
            The fitted orderer.
        """
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators must be at least 1, got {self.n_estimators!r}.")
        orders = check_sample_orders(self, X, y, groups)
        random_state = check_random_state(self.random_state)
        levels, starts = orders.groups.levels(orders.positions), orders.groups.starts
        scores = np.zeros(len(levels))
        trees = []
        for _ in range(self.n_estimators):
            by_score = _core.sort_by_score(scores, starts)
            _, gradient, active = _core.pair_hinge(scores, levels, by_score, starts)
            used = active > 0
            if not used.any():
                break
            tree = self._tree(random_state.randint(np.iinfo(np.int32).max))
            # Half the ratio is the Newton step of one object alone; both objects of a pair move.
            step = -gradient[used] / (4 * active[used])
            tree.fit(orders.X[used], step, sample_weight=active[used])
            scores += self.learning_rate * tree.predict(orders.X)
            trees.append(tree)
        self.n_estimators_ = len(trees)
        self.nodes_ = _flatten([tree.tree_ for tree in trees])
        self.depth_ = max((tree.get_depth() for tree in trees), default=0)
        importances = [tree.feature_importances_ for tree in trees]
        self.feature_importances_ = np.sum(importances, axis=0) / max(len(trees), 1)
        return self

    def _tree(self, seed: int) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            random_state=seed,
        )

    def _decision(self, X: Any) -> NDArray[np.float64]:
        if not self.n_estimators_:
            return np.zeros(len(X))
        blocks = np.array_split(X, max(len(X) * self.n_estimators_ // _BLOCK, 1))
        return self.learning_rate * np.concatenate([self._tree_sums(block) for block in blocks])

    def _tree_sums(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Walk down all trees at once, a level at a time."""
        nodes = self.nodes_
        X = X.astype(np.float32)  # what the thresholds were chosen on
        at = np.tile(nodes["root"], (len(X), 1))
        rows = np.arange(len(X))[:, None]
        for _ in range(self.depth_):
            values = X[rows, nodes["feature"][at]]
            left = (values <= nodes["threshold"][at]) | (
                np.isnan(values) & nodes["missing_left"][at]
            )
            at = np.where(left, nodes["left"][at], nodes["right"][at])
        return nodes["value"][at].sum(axis=1)


def _flatten(trees: list[Any]) -> dict[str, NDArray[Any]]:
    """The nodes of all trees one after the other; children are counted from the first tree."""
    sizes = np.array([tree.node_count for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    own = np.arange(sizes.sum())
    first = np.repeat(roots, sizes)

    def join(attribute: str, dtype: type) -> NDArray[Any]:
        parts = [getattr(tree, attribute) for tree in trees]
        return np.concatenate(parts).astype(dtype) if parts else np.empty(0, dtype)

    left, right = join("children_left", np.int64), join("children_right", np.int64)
    leaf = left < 0
    return {
        "feature": np.where(leaf, 0, join("feature", np.int64)),
        "threshold": join("threshold", np.float64),
        "left": np.where(leaf, own, first + left),
        "right": np.where(leaf, own, first + right),
        "missing_left": join("missing_go_to_left", np.bool_),
        "value": join("value", np.float64).reshape(-1),
        "root": roots,
    }

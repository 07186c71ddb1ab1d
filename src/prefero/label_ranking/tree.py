"""Label ranking trees: LRT, RT and ERT."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, FittedState, Number
from prefero._typing import Values
from prefero.base import twin_of
from prefero.label_ranking._tree_arrays import (
    LEAF,
    leaf_nodes,
    node_depths,
    node_parents,
    nodes_of,
    walker,
)
from prefero.label_ranking._tree_base import BaseTreeRanker
from prefero.label_ranking._tree_effects import PathStep
from prefero.label_ranking._tree_leaves import NodeModels, node_models
from prefero.label_ranking._tree_pruning import (
    chosen_alpha,
    leaves_when_pruned,
    pruned,
    pruning_path,
)
from prefero.label_ranking._tree_text import path_steps, tree_text
from prefero.mallows import pairwise_batch
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks


class TreeLabelRanker(BaseTreeRanker):
    """Label ranking tree: the Mallows model of the leaf that an instance reaches.

    ``TreeLabelRanker.lrt()``, ``.rt()`` and ``.ert()`` are the trees of the papers.

    Parameters
    ----------
    criterion : {"mallows", "kendall", "spearman", "entropy"}, default="mallows"
        What a split improves: the spread theta of the Mallows models of the two children, the
        mean Kendall or Spearman correlation in them, weighted by size, or their entropy.
    splitter : {"best", "random"}, default="best"
        The best cut of each feature, or one at random.
    max_depth : int, optional
        The longest path.
    min_samples_split : int or float, optional
        Examples a node must have to be split, or their share. By default twice the number of
        labels.
    min_samples_leaf : int or float, default=1
        Examples a leaf must have, or their share.
    max_features : int, float, "sqrt", "log2" or None, default=None
        How many features to try at a node; all by default.
    max_leaf_nodes : int, optional
        The most leaves; the best nodes are then split first.
    min_impurity_decrease : float, default=0
        What a split must improve, weighted by the share of the examples in its node.
    gamma : float, optional
        Split only if gamma (1 + similarity in the children) > 1 + similarity in the node.
        With the Kendall and Spearman criteria.
    mdlpc : bool, default=False
        With the entropy criterion: split only if the description length gets shorter.
    ccp_alpha : float or "auto", default=0
        Prune subtrees that improve the criterion, as a share of the root's examples, by less
        than this a leaf. ``"auto"`` chooses it by five-fold cross-validation.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Nominal features: columns of pandas' category dtype; or their indices, names or mask.
    category_splits : {"sets", "one"}, default="sets"
        Tests on sets of categories, or on one against the rest.
    random_state : int, RandomState or None, default=None
        Used if features or cuts are drawn, and for the folds of ``ccp_alpha="auto"``.

    Attributes
    ----------
    trees_ : dict of str to ndarray
        The tree as plain arrays.
    votes_ : ndarray of shape (n_nodes, n_labels)
        Borda votes of each node, 0 is the root; their descending order is its center ranking.
        Equal ones are told apart, by a billionth, as the node above does.
    theta_ : ndarray of shape (n_nodes,)
        Its spread. A node whose rankings all agree has the theta of half a discordant pair.
    n_node_samples_ : ndarray of shape (n_nodes,)
        Its training rows.
    ccp_alpha_ : float
        The strength of pruning that was used.
    feature_importances_ : ndarray of shape (n_features,)
        How much the tests on each feature improve the criterion.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), Decision tree and instance-based learning for label
    ranking, ICML, section 5. de Sá, Soares, Knobbe & Cortez (2017), Label Ranking Forests.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [20, 25, 31, 47, 52, 60]})
    >>> Y = pd.DataFrame({"tea": [2, 2, 2, 1, 1, 1], "milk": [1, 1, 1, 2, 2, 2]})
    >>> tree = TreeLabelRanker(min_samples_split=2).fit(X, Y)
    >>> print(tree.export_text())
    age <= 39
    |   milk > tea  (3 rows, theta 1.6)
    age > 39
    |   tea > milk  (3 rows, theta 1.6)
    >>> tree.predict_order(pd.DataFrame({"age": [30]}))
    array([['milk', 'tea']], dtype=object)
    """

    _fitted_state: ClassVar[FittedState] = {
        "ccp_alpha_": Number(0),
        "votes_": Array("f8", "n_nodes", "n_labels"),
        "theta_": Array("f8", "n_nodes", low=0, infinite=True),
        "n_node_samples_": Array("if", "n_nodes", low=0),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTreeRanker._parameter_constraints,
        "ccp_alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        criterion: str = "mallows",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float | None = None,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        gamma: float | None = None,
        mdlpc: bool = False,
        ccp_alpha: float | str = 0.0,
        categorical_features: Any = "from_dtype",
        category_splits: str = "sets",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.gamma = gamma
        self.mdlpc = mdlpc
        self.ccp_alpha = ccp_alpha
        self.categorical_features = categorical_features
        self.category_splits = category_splits
        self.random_state = random_state

    @classmethod
    def lrt(cls, **parameters: Any) -> Self:
        """Return the label ranking tree of Cheng et al. (2009).

        Parameters
        ----------
        **parameters
            Parameters to change.

        Returns
        -------
        TreeLabelRanker
            Splits by theta, stops when a node is pure or has fewer than 2 n_labels examples; no
            leaf of one example, as in the authors' program.
        """
        own = {"criterion": "mallows", "min_samples_split": None, "min_samples_leaf": 2}
        return cls(**{**own, **parameters})

    @classmethod
    def rt(cls, **parameters: Any) -> Self:
        """Return the ranking tree (RT) of de Sá et al. (2017).

        Parameters
        ----------
        **parameters
            Parameters to change.

        Returns
        -------
        TreeLabelRanker
            Splits by mean Kendall correlation with gamma = 0.98; no leaf of one example.
        """
        own = {
            "criterion": "kendall",
            "gamma": 0.98,
            "min_samples_split": 2,
            "min_samples_leaf": 2,
            "category_splits": "one",
        }
        return cls(**{**own, **parameters})

    @classmethod
    def ert(cls, **parameters: Any) -> Self:
        """Return the entropy ranking tree (ERT) of de Sá et al. (2017).

        Parameters
        ----------
        **parameters
            Parameters to change.

        Returns
        -------
        TreeLabelRanker
            Splits by the entropy of rankings while the description length gets shorter.
        """
        own = {"criterion": "entropy", "mdlpc": True, "min_samples_split": 2}
        return cls(**{**own, **parameters})

    def _fit(self, X: Values, ranks: Values, weight: Values) -> None:
        bins = self._learn_bins(X)
        arrays = self._grow_one(bins, ranks, weight)
        self.ccp_alpha_ = (
            chosen_alpha(self, arrays, X, ranks, weight)
            if isinstance(self.ccp_alpha, str)
            else float(self.ccp_alpha)
        )
        if self.ccp_alpha_ > 0:
            arrays = pruned(arrays, self.ccp_alpha_)
        self._set_trees(arrays)
        leaves = self._walker.apply(bins)[:, 0]
        models = node_models(self._nodes, leaves, ranks, weight)
        self.votes_, self.theta_, self.n_node_samples_ = models

    def _grow_one(
        self, bins: NDArray[np.uint8], ranks: Values, weight: Values
    ) -> dict[str, NDArray[Any]]:
        options = self._grow_options(len(bins), ranks.shape[1])
        grower = self._grower(bins, ranks, weight)
        return self._grow(grower, self._draw_seeds(1), {"bootstrap": False, **options}, None)

    def _pruned_taus(
        self,
        X: Values,
        ranks: Values,
        weight: Values,
        train: NDArray[np.int64],
        test: NDArray[np.int64],
        alphas: Values,
    ) -> Values:
        """Return the mean tau on test rows of trees from the others, pruned by each alpha."""
        bins = self._feature_bins.apply(X)
        arrays = self._grow_one(bins[train], ranks[train], weight[train])
        nodes, trees = nodes_of(arrays), walker(arrays, self.n_features_in_, ranks.shape[1])
        reached = trees.apply(bins[train])[:, 0]
        predicted = strict_ranks(node_models(nodes, reached, ranks[train], weight[train]).votes)
        leaves = leaf_nodes(nodes)[trees.apply(bins[test])[:, 0]]
        return np.array(
            [
                kendall_tau(ranks[test], predicted[at], sample_weight=weight[test])
                for at in leaves_when_pruned(arrays, leaves, alphas)
            ]
        )

    @property
    def _nodes(self) -> NDArray[Any]:
        return nodes_of(self.trees_)

    @property
    def node_models_(self) -> NodeModels:
        """Votes, spreads and numbers of training rows of all nodes."""
        check_is_fitted(self)
        return NodeModels(self.votes_, self.theta_, self.n_node_samples_)

    def get_depth(self) -> int:
        """Return the length of the longest path.

        Returns
        -------
        int
            0 if the tree is one leaf.
        """
        check_is_fitted(self)
        return int(node_depths(self._nodes).max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            At least 1.
        """
        check_is_fitted(self)
        return int(np.count_nonzero(self._nodes["flags"] & LEAF))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each instance reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of nodes, rows of ``votes_`` and ``theta_``.
        """
        return self._leaves(self._bins(X))

    def _leaves(self, bins: NDArray[np.uint8]) -> NDArray[np.int64]:
        return leaf_nodes(self._nodes)[self._walker.apply(bins)[:, 0]]

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each instance passes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        csr_matrix of shape (n_samples, n_nodes)
            1 where an instance passes a node.
        """
        at, parent = self.apply(X), node_parents(self._nodes)
        rows, columns, row = [], [], np.arange(len(at))
        while len(at):
            rows.append(row)
            columns.append(at)
            inside = parent[at] >= 0
            at, row = parent[at[inside]], row[inside]
        where = (np.concatenate([*rows, []]), np.concatenate([*columns, []]))
        shape = (len(self.apply(X)), len(parent))
        return csr_matrix((np.ones(len(where[0])), where), shape=shape)

    def _scores_of_nodes(self) -> list[Values]:
        return [self.votes_]

    def explain_path(self, X: Any) -> list[list[PathStep]]:
        """Return the nodes that each instance passes, with the tests that led there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        list of list of PathStep
            Root first, leaf last.
        """
        arrays = self.trees_, self._feature_bins, self.node_models_
        names: dict[str, Any] = {"feature_names": self._feature_names()}
        names["categories"] = self.categories_
        return [path_steps(*arrays, int(leaf), **names) for leaf in self.apply(X)]

    def _decision(self, X: NDArray[Any]) -> Values:
        return self.votes_[self._leaves(self._feature_bins.apply(X))]

    def predict_pairwise(self, X: Any) -> Values:
        """Return the pair probabilities of the Mallows model of the leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``[n, i, j]`` is P(label i before label j); 0.5 on the diagonal.
        """
        leaves = self.apply(X)
        return pairwise_batch(self.predict(X), self.theta_[leaves])

    def predict_reliability(self, X: Any) -> Values:
        """Return theta of the leaf times its share of the training rows (Cheng et al. 2009).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples,)
            Larger is more reliable.
        """
        leaves = self.apply(X)
        return self.theta_[leaves] * self.n_node_samples_[leaves] / self.n_node_samples_[0]

    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[Values, NDArray[np.int64]]:
        """Return the strengths of pruning at which the tree changes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples, n_labels)
            Ranks.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        ccp_alphas : ndarray of shape (n_steps,)
            Ascending from 0.
        n_leaves : ndarray of shape (n_steps,)
            The leaves that remain at each.
        """
        self._validate_params()
        twin = twin_of(self)
        X, ranks, weight = twin._validate_fit(X, y, sample_weight)
        return pruning_path(twin._grow_one(twin._learn_bins(X), ranks, weight))

    def export_text(self, max_depth: int | None = None, decimals: int = 4) -> str:
        """Return the tree as indented text: tests, and in the leaves order, rows and theta.

        Parameters
        ----------
        max_depth : int, optional
            The depth to show; all by default.
        decimals : int, default=4
            Significant digits of thresholds.

        Returns
        -------
        str
            Lines.
        """
        check_is_fitted(self)
        return tree_text(
            self.trees_,
            self._feature_bins,
            self.node_models_,
            feature_names=self._feature_names(),
            categories=self.categories_,
            labels=self.labels_,
            max_depth=max_depth,
            digits=decimals,
        )

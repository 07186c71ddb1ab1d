"""Label ranking trees: LRT, RT and ERT."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, FittedState, Number
from prefero._trees._arrays import Trees
from prefero._trees._models import NodeModels, node_models
from prefero._trees._pruning import candidate_alphas, pruned, pruning_path
from prefero._trees._reading import TreeNode, TreeReader
from prefero._trees._shrinkage import STRENGTH, STRENGTHS, HeldOut, shrunk_models, strongest_alike
from prefero._typing import Indices, Values
from prefero.base import copy_of
from prefero.label_ranking._tree_base import TREE_PARTS, BaseTreeRanker

FOLDS = 5
# The papers' trees have no pair probabilities, for which more trees are grown.
_AS_PRINTED: dict[str, Any] = {"calibrate": False}


@documented(**TREE_PARTS)
class TreeLabelRanker(BaseTreeRanker):
    """Label ranking tree: the Mallows model of the leaf that an instance reaches.

    ``TreeLabelRanker.lrt()``, ``.rt()`` and ``.ert()`` are the trees of the papers; they have pair
    probabilities if given ``calibrate=True``.

    Parameters
    ----------
    criterion : {"mallows", "mallows_em", "kendall", "spearman", "entropy"}, default="mallows"
        What a split improves: the spread theta of the Mallows models of the two children, the
        mean Kendall or Spearman correlation in them, weighted by size, or their entropy. Where
        labels are missing, ``"mallows"`` takes the spread from the pairs that were observed;
        ``"mallows_em"`` runs the paper's approximate EM for every cut, which is far slower.
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
    min_similarity_ratio : float, optional
        Split only if gamma (1 + similarity in the children) > 1 + similarity in the node; above
        1 purity need not rise. With the Kendall and Spearman criteria.
    mdl_stopping : bool, default=False
        With the entropy criterion: split only if the description length gets shorter.
    ccp_alpha : float or "auto", default=0
        Prune subtrees that improve the criterion, as a share of the root's examples, by less
        than this a leaf. ``"auto"`` chooses it by five-fold cross-validation.
    shrinkage : float or "auto", default=0
        How strongly nodes are drawn towards those above them: a step from a node to its child
        is divided by 1 + shrinkage / (weight of the node's rows); infinity gives the constant
        order. ``"auto"`` takes the strongest whose tau in the same cross-validation is within
        a standard error of the best, after pruning.
    calibrate : bool, default=True
        Whether pair probabilities are learned, from trees grown without some of the rows.
    %(categories)s
    random_state : int, RandomState or None, default=None
        Used if features or cuts are drawn.

    Attributes
    ----------
    trees_ : dict of str to ndarray
        The tree as plain arrays.
    votes_ : ndarray of shape (n_nodes, n_labels)
        Borda votes of each node, 0 is the root; their descending order is its center ranking.
        Equal ones are told apart, by a billionth, as the node above does; then shrunk.
    theta_ : ndarray of shape (n_nodes,)
        Its spread. A node whose rankings all agree has the theta of half a discordant pair.
    n_node_samples_ : ndarray of shape (n_nodes,)
        Its training rows.
    ccp_alpha_ : float
        The strength of pruning that was used.
    shrinkage_ : float
        The strength of shrinkage that was used.
    feature_importances_ : ndarray of shape (n_features,)
        How much the tests on each feature improve the criterion.
    leaf_ties_, leaf_pairs_ : ndarray of shape (n_leaves, n_pairs)
        Where training rankings hold ties: how often each pair of labels is tied in the rows of a
        leaf that rank both, and the share of these rows.

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
        "shrinkage_": STRENGTH,
        "votes_": Array("f8", "n_nodes", "n_labels"),
        "theta_": Array("f8", "n_nodes", low=0, infinite=True),
        "n_node_samples_": Array("if", "n_nodes", low=0),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTreeRanker._parameter_constraints,
        "ccp_alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "shrinkage": [Interval(Real, 0, np.inf, closed="both"), StrOptions({"auto"})],
        "calibrate": ["boolean"],
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
        min_similarity_ratio: float | None = None,
        mdl_stopping: bool = False,
        ccp_alpha: float | str = 0.0,
        shrinkage: float | str = 0.0,
        calibrate: bool = True,
        categorical_features: Any = "from_dtype",
        category_splits: str = "partition",
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
        self.min_similarity_ratio = min_similarity_ratio
        self.mdl_stopping = mdl_stopping
        self.ccp_alpha = ccp_alpha
        self.shrinkage = shrinkage
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.category_splits = category_splits
        self.random_state = random_state

    @classmethod
    def lrt(cls, **parameters: Any) -> Self:
        """Return the label ranking tree of Cheng et al. (2009).

        %(of_preset)s

        Returns
        -------
        TreeLabelRanker
            Splits by theta, stops when a node is pure or has fewer than 2 n_labels examples; no
            leaf of one example, as in the authors' program.
        """
        own = {"criterion": "mallows", "min_samples_split": None, "min_samples_leaf": 2}
        return cls(**{**own, **_AS_PRINTED, **parameters})

    @classmethod
    def rt(cls, **parameters: Any) -> Self:
        """Return the ranking tree (RT) of de Sá et al. (2017).

        %(of_preset)s

        Returns
        -------
        TreeLabelRanker
            Splits by mean Kendall correlation with gamma = 0.98; no leaf of one example.
        """
        own = {
            "criterion": "kendall",
            "min_similarity_ratio": 0.98,
            "min_samples_split": 2,
            "min_samples_leaf": 2,
            "category_splits": "one",
        }
        return cls(**{**own, **_AS_PRINTED, **parameters})

    @classmethod
    def ert(cls, **parameters: Any) -> Self:
        """Return the entropy ranking tree (ERT) of de Sá et al. (2017).

        %(of_preset)s

        Returns
        -------
        TreeLabelRanker
            Splits by the entropy of rankings while the description length gets shorter.
        """
        own = {"criterion": "entropy", "mdl_stopping": True, "min_samples_split": 2}
        return cls(**{**own, **_AS_PRINTED, **parameters})

    def _fit(self, X: Values, ranks: Values, weight: Values) -> None:
        bins = self._learn_bins(X, self.nominal_features_)
        tree = self._grow(bins, ranks, weight, self._draw_seeds(1))
        self._choose(tree, bins, ranks, weight)
        self._keep(pruned(tree, self.ccp_alpha_) if self.ccp_alpha_ > 0 else tree)
        models = node_models(self._trees, self._trees.reached(bins)[:, 0], ranks, weight)
        self.votes_, self.theta_, self.n_node_samples_ = shrunk_models(
            self._trees, models, self.shrinkage_
        )
        if self.calibrate:
            self._learn_ties(bins, None, ranks, weight)

    def _choose(self, tree: Trees, bins: NDArray[np.uint8], ranks: Values, weight: Values) -> None:
        """Choose the strengths of pruning and shrinkage, by cross-validation where asked to."""
        prune, shrink = (isinstance(value, str) for value in (self.ccp_alpha, self.shrinkage))
        self.ccp_alpha_ = 0.0 if prune else float(self.ccp_alpha)
        self.shrinkage_ = 0.0 if shrink else float(self.shrinkage)
        if len(bins) < 2 or not (prune or shrink):
            return
        splits = KFold(min(FOLDS, len(bins)), shuffle=True, random_state=0).split(bins)
        folds = [self._fold(bins, ranks, weight, *split) for split in splits]
        if prune:
            alphas = candidate_alphas(tree)
            taus = np.sum([fold.pruned_taus(alphas) for fold in folds], axis=0)
            self.ccp_alpha_ = float(alphas[taus >= taus.max() - 1e-12][-1])  # or its equal
        if shrink:
            disorder = np.vstack([1 - fold.shrunk_taus(self.ccp_alpha_) for fold in folds])
            held_out = np.concatenate([fold.weight for fold in folds])
            self.shrinkage_ = float(STRENGTHS[strongest_alike([disorder], held_out)])

    def _fold(
        self,
        bins: NDArray[np.uint8],
        ranks: Values,
        weight: Values,
        train: Indices,
        test: Indices,
    ) -> HeldOut:
        known = ranks[train], weight[train]
        tree = self._grow(bins[train], *known, self._draw_seeds(1))
        models = node_models(tree, tree.reached(bins[train])[:, 0], *known)
        return HeldOut(tree, models, tree.reached(bins[test])[:, 0], ranks[test], weight[test])

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
        return len(self._trees.inner_levels)

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            At least 1.
        """
        check_is_fitted(self)
        return len(self._trees.leaves)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each instance reaches.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of nodes, rows of ``votes_`` and ``theta_``.
        """
        return self._trees.reached(self._bins(X))[:, 0]

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each instance passes.

        %(of_X)s

        Returns
        -------
        csr_matrix of shape (n_samples, n_nodes)
            1 where an instance passes a node.
        """
        reached = self.apply(X)
        rows, nodes = self._trees.passed(reached)
        shape = len(reached), len(self._trees.nodes)
        return csr_matrix((np.ones(len(rows)), (rows, nodes)), shape=shape)

    def _scores_of_nodes(self) -> Values:
        return self.votes_

    def _reader(self, digits: int = 4) -> TreeReader:
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{i}" for i in range(self.n_features_in_)] if names is None else names
        bins, categories = self._feature_bins, self.categories_
        return TreeReader(self._trees, self.node_models_, bins, names, categories, digits)

    def explain_path(self, X: Any) -> list[list[TreeNode]]:
        """Return the nodes that each instance passes, with the tests that led there.

        %(of_X)s

        Returns
        -------
        list of list of TreeNode
            Root first, leaf last.
        """
        leaves, reader = self.apply(X), self._reader()
        return [reader.path(leaf) for leaf in leaves.tolist()]

    def _decision(self, X: NDArray[Any]) -> Values:
        return self.votes_[self._trees.reached(self._feature_bins.apply(X))[:, 0]]

    def predict_spread(self, X: Any) -> Values:
        """Return the spread theta of the Mallows model of the leaf.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples,)
            The larger, the more the rankings in the leaf agree.
        """
        return self.theta_[self.apply(X)]

    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[Values, NDArray[np.int64]]:
        """Return the strengths of pruning at which the tree changes.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n_samples, n_labels)
            Ranks.
        %(weights_of_rows)s

        Returns
        -------
        ccp_alphas : ndarray of shape (n_steps,)
            Ascending from 0.
        n_leaves : ndarray of shape (n_steps,)
            The leaves that remain at each.
        """
        self._validate_params()
        copied = copy_of(self)
        X, ranks, weight = copied._validate_fit(X, y, sample_weight)
        bins = copied._learn_bins(X, copied.nominal_features_)
        return pruning_path(copied._grow(bins, ranks, weight, copied._draw_seeds(1)))

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
        return self._reader(decimals).text(self.labels_, max_depth)

    def export_nodes(self, decimals: int = 4) -> list[TreeNode]:
        """Return all nodes, 0 is the root: the test that leads to each, its children and model.

        Parameters
        ----------
        decimals : int, default=4
            Significant digits of thresholds.

        Returns
        -------
        list of TreeNode
            In the order of ``votes_``.
        """
        check_is_fitted(self)
        reader = self._reader(decimals)
        return [reader.node(at) for at in range(len(self.theta_))]

"""Label ranking forests: the mean of many trees."""

from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import gen_even_slices
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, Attribute, FittedState, Number
from prefero._trees._arrays import Trees
from prefero._trees._shrinkage import (
    STRENGTH,
    STRENGTHS,
    OutOfBagRows,
    counts_in_samples,
    leaf_votes,
    mean_loss,
    mean_votes,
    out_of_bag_path,
    shrunk,
    shrunk_means,
    strongest_alike,
    with_rankings,
)
from prefero._trees._values import SCORE_CRITERIA, criterion_values, leaf_kind
from prefero._typing import Indices, Values
from prefero._warnings import warn_user
from prefero.base import ScoredRankerMixin
from prefero.label_ranking._aggregation import better_kemeny
from prefero.label_ranking._tree_base import CRITERIA, TREE_PARTS, BaseTreeRanker
from prefero.metrics import kendall_tau
from prefero.rankings import ScoredRanks, have_ties, ranks_of, strict_ranks

# More of them have too many pairs for a criterion that sums one number per pair.
_MANY_LABELS = 30


@documented(**TREE_PARTS)
class ForestLabelRanker(ScoredRankerMixin, BaseTreeRanker):
    """Label ranking forest (LRF): trees on bootstrap samples and random features.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"auto", "kendall", "spearman", "mallows", "mallows_em", "entropy", \
"raw_scores", "relative_scores", "log_regret"}, default="auto"
        What a split improves, as in :class:`TreeLabelRanker`. ``"auto"`` is ``"spearman"``, the
        fastest, for rankings with ties or more than 30 labels, else ``"kendall"``. The last three
        need scores and reduce their variance, summed over the labels: of the scores as they are,
        as scikit-learn's forest does; less the mean of their row; or of -log(1 + regret / q), q
        the 10 % quantile of the positive regrets.
    splitter : {"best", "random"}, default="best"
        The best cut of each feature, or one at random (extra-trees).
    max_depth : int, optional
        The longest path.
    min_samples_split : int or float, default=2
        Examples a node must have to be split, or their share. None means twice the number of
        labels.
    min_samples_leaf : int or float, default=1
        Examples a leaf must have, or their share.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        How many features to try at a node. If none of those drawn for the root can be split,
        the others are tried too.
    max_leaf_nodes : int, optional
        The most leaves of a tree; the best nodes are then split first.
    min_impurity_decrease : float, default=0
        What a split must improve, weighted by the share of the examples in its node.
    min_similarity_ratio : float, optional
        Split only if gamma (1 + similarity in the children) > 1 + similarity in the node.
    mdl_stopping : bool, default=False
        With the entropy criterion: split only if the description length gets shorter.
    shrinkage : float or "auto", default="auto"
        How strongly leaves are drawn towards the nodes above them: a step from a node to its
        child is divided by 1 + shrinkage / (weight of the node's rows); infinity gives the
        consensus order. ``"auto"`` chooses among ``shrinkage_path_`` by out-of-bag predictions
        of at most 20,000 rows, evenly spaced; without ``bootstrap``, where there are none, it
        means 0.
    leaf_values : {"auto", "ranks", "scores", "blend"}, default="auto"
        What leaves average of their rows: the votes of the rankings; the scores that ``fit`` was
        given, which say how much is at stake; or half of each, both as large over all rows.
        ``"auto"`` is what a criterion of scores splits by; else the blend if there are scores, and
        the ranks if not.
    aggregation : {"votes", "rankings"}, default="votes"
        What is averaged over the trees: the votes of their leaves, where a clear order counts
        more than a close one; or their rankings, as de Sá et al. (2017) print it.
    bootstrap : bool, default=True
        Whether each tree sees a sample drawn with replacement, or all rows.
    oob_score : bool, default=False
        Whether to predict each training row by the trees that have not seen it.
    %(categories)s
    warm_start : bool, default=False
        Whether a further fit keeps the trees and adds new ones up to ``n_estimators``.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, from out-of-bag predictions.
    n_jobs : int, optional
        Threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Where bootstrap samples and features are drawn from.

    Attributes
    ----------
    trees_ : dict of str to ndarray
        The trees as plain arrays, as they were grown: leaves are shrunk at first use.
    shrinkage_ : float
        The strength of shrinkage that was used.
    shrinkage_path_ : dict of str to ndarray of shape (n_strengths,)
        With ``shrinkage="auto"``: ``"shrinkage"``, 0 to infinity, and at each the
        out-of-bag ``"squared_error"`` of the votes, ``"tau"`` unless leaves hold scores alone,
        and ``"regret"`` if they hold scores.
    mean_votes_ : ndarray of shape (n_labels,)
        The mean votes of all training rows, whose order is the consensus order; or those of
        Kemeny's order, if that orders rows left out better than any shrinkage, beyond chance.
    leaf_ties_, leaf_pairs_ : ndarray of shape (n_leaves, n_pairs)
        Where training rankings hold ties: how often each pair of labels is tied in the rows of a
        leaf that rank both, and the share of these rows.
    seeds_ : ndarray of shape (n_estimators,)
        What each tree's random choices were made from.
    feature_importances_ : ndarray of shape (n_features,)
        How much the tests on each feature improve the criterion.
    oob_score_ : float
        With ``oob_score``: mean Kendall tau of the out-of-bag predictions.
    oob_decision_function_ : ndarray of shape (n_samples, n_labels)
        With ``oob_score``: their scores; NaN for a row that every tree has seen.

    Notes
    -----
    A leaf holds the mean votes of its rankings: how many labels each label beats, minus how
    many beat it. The forest's scores are their mean over the trees. With incomplete rankings
    a vote is the share of the comparisons that were seen, and counts by their number.

    Shrinkage is the strongest that differs by no more than a standard error from the best:
    best by the squared error of the votes, which is far less noisy than tau, and alike by both.
    Where features say little, the forest so becomes the consensus order; elsewhere it is
    hardly changed.

    References
    ----------
    de Sá, Soares, Knobbe & Cortez (2017), Label Ranking Forests, Expert Systems. Agarwal, Tan,
    Ronen, Singh & Yu (2022), Hierarchical shrinkage, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> Y = np.where(X < 0.5, [[1, 2, 3]], [[3, 1, 2]])
    >>> forest = ForestLabelRanker(20, random_state=0).fit(X, Y)
    >>> forest.predict([[0.1], [0.9]])
    array([[1, 2, 3],
           [3, 1, 2]])
    """

    seeds_: NDArray[np.uint64]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTreeRanker._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "criterion": [StrOptions({"auto", *CRITERIA, *SCORE_CRITERIA})],
        "shrinkage": [Interval(Real, 0, np.inf, closed="both"), StrOptions({"auto"})],
        "leaf_values": [StrOptions({"auto", "ranks", "scores", "blend"})],
        "aggregation": [StrOptions({"votes", "rankings"})],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean"],
        "warm_start": ["boolean"],
        "calibrate": ["boolean"],
        "n_jobs": [Integral, None],
    }

    _fitted_state: ClassVar[FittedState] = {
        "seeds_": Array("u8", "n_seeds"),
        "shrinkage_": STRENGTH,
        "shrinkage_path_": Attribute(optional=True),
        "mean_votes_": Array("f8", "n_labels"),
        "oob_score_": Number(-1, 1, nan=True, when={"oob_score": True}),
        "oob_decision_function_": Array(
            "f8", "n_rows", "n_labels", nan=True, when={"oob_score": True}
        ),
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "auto",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float | None = 2,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_similarity_ratio: float | None = None,
        mdl_stopping: bool = False,
        shrinkage: float | str = "auto",
        leaf_values: str = "auto",
        aggregation: str = "votes",
        bootstrap: bool = True,
        oob_score: bool = False,
        categorical_features: Any = "from_dtype",
        category_splits: str = "partition",
        warm_start: bool = False,
        calibrate: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
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
        self.shrinkage = shrinkage
        self.leaf_values = leaf_values
        self.aggregation = aggregation
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.category_splits = category_splits
        self.warm_start = warm_start
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Values, target: Values | ScoredRanks, weight: Values) -> None:
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score=True needs bootstrap=True: without it no row is left out.")
        leaf = leaf_kind(self.leaf_values, self.criterion, target)
        adding = self.warm_start and hasattr(self, "trees_")
        bins = (
            self._feature_bins.apply(X) if adding else self._learn_bins(X, self.nominal_features_)
        )
        old = self.seeds_ if adding else np.empty(0, dtype=np.uint64)
        new = self._next_seeds(len(old))
        self.seeds_ = np.concatenate([old, new])
        votes, evidence = leaf_votes(target, weight, leaf)
        constant, judged = mean_votes(votes, evidence, weight), None
        if isinstance(self.shrinkage, str) and self.bootstrap:
            of_all = OutOfBagRows(bins, target, weight, self.seeds_, votes, evidence)
            judged = of_all.evenly_spaced()
            del of_all
        own = None if leaf == "ranks" else votes
        del votes, evidence  # those of many rows would stay beside the trees
        ranks = ranks_of(target)
        if len(new):
            values = criterion_values(target, self.criterion, weight)
            run: Any = {"votes": own, "values": values} | {
                name: getattr(self, name) for name in ("bootstrap", "n_jobs")
            }
            grown = self._grow(bins, ranks, weight, new, **run)
            if adding:
                grown = Trees.joined([self.trees_, grown.arrays], *grown.shape)
        else:
            grown = self._grown
        self.trees_, self.mean_votes_ = grown.arrays, constant
        self._choose_shrinkage(grown, judged, leaf)
        if judged is not None and len(judged.weight) < len(weight):
            self.__dict__.pop("_held_out", None)  # of others than calibration asks about
        self._learn_ties(bins, self.seeds_ if self.bootstrap else None, ranks, weight)
        if self.oob_score:
            self._predict_out_of_bag(bins, ranks)

    def _criterion(self, ranks: Values) -> str:
        if self.criterion != "auto":
            return self.criterion
        many = ranks.shape[1] > _MANY_LABELS
        return "spearman" if many or have_ties(ranks) else "kendall"

    def _choose_shrinkage(self, grown: Trees, rows: OutOfBagRows | None, leaf: str) -> None:
        """Choose by what is said of rows that samples lack, if any; keep it for calibration."""
        self.shrinkage_ = 0.0 if isinstance(self.shrinkage, str) else float(self.shrinkage)
        self.__dict__.pop("shrinkage_path_", None)
        if isinstance(self.shrinkage, str) and rows is not None:
            scores, losses = out_of_bag_path(grown, rows, leaf)
            by_value = leaf in SCORE_CRITERIA
            judges = [losses["squared_error"]] if by_value else list(losses.values())
            chosen = strongest_alike(judges, rows.weight, errors=0.0 if by_value else 1.0)
            self.shrinkage_, self._held_out = float(STRENGTHS[chosen]), scores[chosen]
            path = {name: mean_loss(loss, rows.weight) for name, loss in losses.items()}
            if "disorder" in path:
                path["tau"] = 1 - path.pop("disorder")
            # Where scores say what is at stake, no order may win by tau alone.
            if "tau" in path and "regret" not in path:
                self._try_kemeny(losses["disorder"][:, chosen], rows)
            self.shrinkage_path_ = {"shrinkage": STRENGTHS, **path}
        self._trees = self._aggregated(grown)
        if self.aggregation == "rankings":
            self.__dict__.pop("_held_out", None)

    def _try_kemeny(self, disorder: Values, rows: OutOfBagRows) -> None:
        """Take Kemeny's order for everyone where it beats what was chosen beyond chance."""
        found = better_kemeny(disorder, ranks_of(rows.target), rows.weight, self.mean_votes_)
        if found is not None:
            self.shrinkage_, self.mean_votes_ = np.inf, found.votes
            del self._held_out

    @cached_property
    def _trees(self) -> Trees:
        return self._aggregated(self._grown)

    def _aggregated(self, grown: Trees) -> Trees:
        """The trees with what is averaged in their leaves."""
        trees = shrunk(grown, self.shrinkage_, self.mean_votes_)
        return with_rankings(trees) if self.aggregation == "rankings" else trees

    def _scores_of_nodes(self) -> Values:
        if self.aggregation == "rankings":
            return self._trees.node_means()[0]
        if np.isinf(self.shrinkage_):
            return np.tile(self.mean_votes_, (len(self._trees.nodes), 1))
        grown = self._grown
        return shrunk_means(grown, grown.node_means(), self.shrinkage_)[0]

    def _next_seeds(self, grown: int) -> NDArray[np.uint64]:
        if self.n_estimators < grown:
            raise ValueError(
                f"n_estimators={self.n_estimators} is less than the {grown} trees already grown: "
                "with warm_start=True it must not shrink."
            )
        if grown and self.n_estimators == grown:
            warn_user("Warm-start fitting without increasing n_estimators adds no trees.")
        return self._draw_seeds(self.n_estimators)[grown:]

    def _predict_out_of_bag(self, bins: NDArray[np.uint8], ranks: NDArray[np.float64]) -> None:
        scores, trees = self._trees.walker.out_of_bag(bins, self.seeds_)
        left_out = trees > 0
        if not left_out.all():
            warn_user(
                f"{np.count_nonzero(~left_out)} of {len(trees)} rows were in the sample of every "
                "tree and have no out-of-bag prediction: grow more trees.",
            )
        self.oob_decision_function_ = np.where(left_out[:, None], scores, np.nan)
        self.oob_score_ = float(
            kendall_tau(ranks[left_out], strict_ranks(scores[left_out]))
            if left_out.any()
            else np.nan
        )

    def _held_out_scores(
        self, X: Values, target: Any, weight: Values, rows: Indices
    ) -> Values | None:
        if not self.bootstrap:
            return None
        if hasattr(self, "_held_out"):
            return self._held_out[rows]
        return self._out_of_bag(self._trees, X, rows)

    def _held_out_tie_shares(
        self, X: Values, target: Values, weight: Values, rows: Indices
    ) -> Values | None:
        if not (self.bootstrap and hasattr(self, "leaf_ties_")):
            return None
        return self._out_of_bag(self._tie_trees, X, rows)

    def _out_of_bag(self, trees: Trees, X: Values, rows: Indices) -> Values:
        """What trees say of some training rows that they have not seen; else NaN."""
        some = len(rows) < len(X)
        samples = counts_in_samples(self.seeds_, len(X), rows) if some else self.seeds_
        bins = self._feature_bins.apply(X[rows] if some else X)
        said, seen = trees.walker.out_of_bag(bins, samples)
        return np.where(seen[:, None] > 0, said, np.nan)

    def _over_rows(self, method: str, bins: NDArray[np.uint8]) -> NDArray[Any]:
        """Call a method of the walker on slices of rows; each row passes all trees in order."""
        call = getattr(self._trees.walker, method)
        most = -(-len(bins) // 1000)
        jobs = min(effective_n_jobs(self.n_jobs), most) if most > 1 else 1
        if jobs <= 1:
            return call(bins)
        slices = gen_even_slices(len(bins), jobs)
        return np.concatenate(
            Parallel(n_jobs=jobs, require="sharedmem")(delayed(call)(bins[part]) for part in slices)
        )

    def _decision(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return self._over_rows("scores", self._feature_bins.apply(X))

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf that each instance reaches in each tree.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
            Numbers of leaves, counted in each tree from 0.
        """
        return self._over_rows("apply", self._bins(X))

    def get_depths(self) -> NDArray[np.int64]:
        """Return the length of the longest path of each tree.

        Returns
        -------
        ndarray of shape (n_estimators,)
            0 for a tree that is one leaf.
        """
        check_is_fitted(self)
        return self._grown.depths()

    def proximity(self, X: Any, X_train: Any) -> NDArray[np.float64]:
        """Return the share of trees in which two instances reach the same leaf.

        Parameters
        ----------
        %(X)s
        X_train : array-like of shape (n_others, n_features)
            The instances to compare them with, for instance the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
            In [0, 1].
        """
        here, there = self.apply(X), self.apply(X_train)
        shares = np.zeros((len(here), len(there)))
        for tree in range(here.shape[1]):
            shares += here[:, tree, None] == there[None, :, tree]
        return shares / here.shape[1]

    def predict_votes(self, X: Any) -> NDArray[np.float64]:
        """Return the share of trees that put one label before another.

        Trees that agree need not be right: see ``predict_pairwise`` for probabilities.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``[n, i, j]`` is the share for label i before label j; 0.5 on the diagonal.
        """
        shares = self._over_rows("pair_shares", self._bins(X))
        diagonal = np.arange(shares.shape[1])
        shares[:, diagonal, diagonal] = 0.5
        return shares

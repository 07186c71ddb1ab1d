"""What a tree and a forest share: parameters, features, growing."""

from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from prefero import _core
from prefero._docs import documented
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, FittedState, State
from prefero._trees._arrays import ScoreEffects, Trees
from prefero._trees._bins import n_features_to_try
from prefero._trees._categories import CATEGORIES_STATE, CategoryEncoder
from prefero._trees._keeping import TreesMixin, trees_state
from prefero._trees._shrinkage import TieShares, tie_shares
from prefero._trees._values import standardized
from prefero._typing import Values
from prefero.base import BaseLabelRanker
from prefero.rankings import have_ties

CRITERIA = {"mallows", "mallows_em", "kendall", "spearman", "entropy"}
NO_BOUND = 2**31 - 1

# Parts of docstrings, by the names of what they describe.
TREE_PARTS = {
    "categories": """
        categorical_features : "from_dtype", array-like or None, default="from_dtype"
            Nominal features: columns of pandas' category dtype and columns that hold words; or
            their indices, names or mask.
        category_splits : {"partition", "one"}, default="partition"
            Tests on sets of categories, or on one against the rest.
        """
}


def _are_of_leaves(shares: Values, state: State) -> bool:
    n_labels, leaves = state.size("n_labels"), state.values["trees_"]["value_starts"][-1]
    return shares.shape == (leaves, n_labels * (n_labels - 1) // 2)


_SHARES = Array(
    "f4",
    "n_leaves",
    "n_pairs",
    low=0,
    high=1,
    optional=True,
    rule=("one share per leaf and pair of labels", _are_of_leaves),
)


@documented()
class BaseTreeRanker(TreesMixin, BaseLabelRanker):
    """Base of the rankers that grow trees."""

    _bins_features: ClassVar[bool] = True

    criterion: str
    splitter: str
    max_depth: int | None
    min_samples_split: int | float | None
    min_samples_leaf: int | float
    max_features: int | float | str | None
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    min_similarity_ratio: float | None
    mdl_stopping: bool
    categorical_features: Any
    category_splits: str
    random_state: Any
    shrinkage_: float
    leaf_ties_: NDArray[np.float32]
    leaf_pairs_: NDArray[np.float32]

    _fitted_state: ClassVar[FittedState] = {
        **CATEGORIES_STATE,
        **trees_state("n_labels"),
        "leaf_ties_": _SHARES,
        "leaf_pairs_": _SHARES,
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [StrOptions(CRITERIA)],
        "splitter": [StrOptions({"best", "random"})],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_impurity_decrease": [Interval(Real, 0, None, closed="left")],
        "min_similarity_ratio": [Interval(Real, 0, None, closed="neither"), None],
        "mdl_stopping": ["boolean"],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "category_splits": [StrOptions({"partition", "one"})],
        "random_state": ["random_state"],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _validate_X(self, X: Any, *, reset: bool) -> NDArray[Any]:
        if issparse(X):
            raise TypeError(
                f"X is a sparse matrix, which {type(self).__name__} does not take: give "
                "X.toarray(), or a few dimensions of it (sklearn.decomposition.TruncatedSVD), or "
                "use a linear ranker such as PairwiseLabelRanker."
            )
        if reset:
            encoder = CategoryEncoder.learn(X, self.categorical_features)
            self.nominal_features_ = encoder.nominal
            self.categories_ = encoder.categories
        encoder = CategoryEncoder(self.nominal_features_, self.categories_)
        checked = super()._validate_X(encoder.encode(X), reset=reset)
        if reset and not self.categories_:
            self.nominal_features_ = np.zeros(checked.shape[1], dtype=bool)
        return checked

    def _bins(self, X: Any) -> NDArray[np.uint8]:
        """Validate new instances and return their bins."""
        check_is_fitted(self)
        return self._feature_bins.apply(self._validate_X(X, reset=False))

    def _grow(
        self,
        bins: NDArray[np.uint8],
        ranks: Values,
        weight: Values,
        seeds: NDArray[np.uint64],
        *,
        votes: Values | None = None,
        values: Values | None = None,
        bootstrap: bool = False,
        n_jobs: int | None = None,
    ) -> Trees:
        """Grow one tree per seed; the result does not depend on the number of jobs.

        Leaves average the votes, by default those of the rankings. Splits are of the values, if
        given, without gaps.
        """
        weights = None if (weight == 1).all() else weight
        own = None if votes is None else votes.astype(np.float32)
        criterion = self._criterion(ranks) if values is None else "scores"
        vectors = None if values is None else standardized(values, weight).astype(np.float32)
        data = bins, self.nominal_features_, ranks, weights, criterion, own, vectors
        grower = _core.TreeGrower(*data)
        options = {"bootstrap": bootstrap, **self._grow_options(*ranks.shape)}
        jobs = min(effective_n_jobs(n_jobs), len(seeds))
        if jobs <= 1:
            parts = [grower.grow(seeds, **options)]
        else:
            try:
                parts = Parallel(n_jobs=jobs, require="sharedmem")(
                    delayed(grower.grow)(part, **options)
                    for part in np.array_split(seeds, 4 * jobs)
                )
            except BaseException:  # Ctrl-C reaches the main thread alone
                grower.stop()
                raise
        return Trees.joined(parts, bins.shape[1], ranks.shape[1])

    def _criterion(self, ranks: Values) -> str:
        return self.criterion

    def _grow_options(self, n_samples: int, n_labels: int) -> dict[str, Any]:
        return {
            "random_cuts": self.splitter == "random",
            "category_sets": self.category_splits == "partition",
            "max_features": n_features_to_try(self.max_features, self.n_features_in_),
            "max_depth": NO_BOUND if self.max_depth is None else self.max_depth,
            "min_split": self._examples(self.min_samples_split, n_samples, 2 * n_labels),
            "min_leaf": self._examples(self.min_samples_leaf, n_samples, 1),
            "max_leaves": self.max_leaf_nodes or 0,
            "min_decrease": float(self.min_impurity_decrease),
            "gamma": float(self.min_similarity_ratio or 0),
            "description_length": self.mdl_stopping,
        }

    @staticmethod
    def _examples(bound: int | float | None, n_samples: int, default: int) -> int:
        if bound is None:
            return default
        return int(bound) if isinstance(bound, Integral) else int(np.ceil(bound * n_samples))

    def _draw_seeds(self, count: int) -> NDArray[np.uint64]:
        random = check_random_state(self.random_state)
        return random.randint(0, 2**63 - 1, size=count, dtype=np.int64).astype(np.uint64)

    # Ties

    @property
    def _grown(self) -> Trees:
        """The trees before their leaves are shrunk."""
        return Trees(self.trees_, self.n_features_in_, len(self.labels_))

    def _learn_ties(
        self,
        bins: NDArray[np.uint8],
        seeds: NDArray[np.uint64] | None,
        ranks: Values,
        weight: Values,
    ) -> None:
        """Keep how often pairs are tied in each leaf, if any are."""
        for name in ("leaf_ties_", "leaf_pairs_", "_tie_trees"):
            self.__dict__.pop(name, None)
        found = tie_shares(self._grown, bins, seeds, ranks, weight) if have_ties(ranks) else None
        if found is not None:
            self.leaf_ties_, self.leaf_pairs_ = found

    @cached_property
    def _tie_trees(self) -> Trees:
        """The same trees with a share of ties a pair in their leaves."""
        return TieShares(self.leaf_ties_, self.leaf_pairs_).trees(self._grown, self.shrinkage_)

    def _tie_shares(self, X: Values) -> Values | None:
        if not hasattr(self, "leaf_ties_"):
            return None
        return self._tie_trees.walker.scores(self._feature_bins.apply(X))

    def explain_scores(self, X: Any) -> ScoreEffects:
        """Say what each feature adds to the scores of a few instances.

        On its way down a tree, an instance meets tests; the effect of a test is by how much
        the mean votes change from the node above it to the node below.

        %(of_X)s

        Returns
        -------
        ScoreEffects
            ``base`` and ``effects``, whose sum is the decision function.
        """
        return self._trees.effects(self._bins(X), self._scores_of_nodes())

    def _scores_of_nodes(self) -> Values:
        return self._trees.node_means()[0]

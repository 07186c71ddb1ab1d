"""Gradient boosting on the pairs of labels: one tree for all labels a round."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from prefero._docs import documented
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, Count, FittedState
from prefero._trees._arrays import ScoreEffects
from prefero._trees._bins import n_features_to_try
from prefero._typing import Indices, Values
from prefero.base import PairWeightMixin
from prefero.label_ranking._aggregation import better_kemeny
from prefero.label_ranking._boosting_rounds import (
    N_FOLDS,
    Boosting,
    Cases,
    HeldOutRounds,
    constant_scores,
)
from prefero.label_ranking._tree_base import NO_BOUND, TREE_PARTS, BaseTreeRanker
from prefero.metrics import kendall_tau
from prefero.rankings import ScoredRanks, strict_ranks

# Up to so many cases every fold is held out in turn; more tell enough by a fifth of them.
_MOST_FOR_FOLDS = 10_000


@documented(**TREE_PARTS)
class BoostingLabelRanker(PairWeightMixin, BaseTreeRanker):
    """Boost the scores of all labels, by trees whose leaves are steps of all of them.

    The pairwise logistic loss is that of the probabilities 1 / (1 + exp(s_j - s_i)) that label
    i comes before label j, over the pairs that a row ranks; a tie counts half for either order.
    Boosting starts at the constant scores of the smallest loss, which order the labels for
    everyone. Each round adds a tree of Newton steps. How many rounds there are is decided by
    rows that were held out; none, which leaves the consensus order, unless it is worse by two
    standard errors. Where Kemeny's order for everyone beats all that beyond chance, it is taken.

    Parameters
    ----------
    n_estimators : int, default=1000
        Rounds at most.
    learning_rate : float, default=0.1
        The part of each step that is made.
    max_leaf_nodes : int or None, default=10
        The most leaves of a tree; the best nodes are split first.
    max_depth : int, optional
        The longest path.
    min_samples_leaf : int or float, default=5
        Examples a leaf must have, or their share.
    l2_regularization : float, default=1.0
        What is added to the second derivatives: it shortens the steps of small leaves.
    subsample : float, default=0.6
        The share of the rows that each tree is grown from.
    max_features : int, float, "sqrt", "log2" or None, default=0.6
        How many features each tree is grown from.
    validation : {"auto", "folds", "part"} or None, default="auto"
        How the number of rounds is found: by five folds, by a fifth of the rows, or not at
        all, then there are ``n_estimators``. ``"auto"`` is by folds up to 10000 different rows.
        The model itself is fitted to all rows.
    n_iter_no_change : int, default=30
        The search for the number of rounds ends when so many have not lowered the loss.
    %(categories)s
    pair_weight : {"auto", "score_difference"} or None, default="auto"
        What a pair counts in the loss: the difference of the scores that ``fit`` was given, or 1.
        ``"auto"`` is the former where there are scores; rounds are then judged by regret in place
        of tau.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, from the folds or from more fits.
    n_jobs : int, optional
        Threads, for the folds. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Where the rows and features of each tree are drawn from.

    Attributes
    ----------
    n_estimators_ : int
        The number of rounds.
    start_scores_ : ndarray of shape (n_labels,)
        What all instances start with; its order is the consensus order.
    trees_ : dict of str to ndarray
        The trees as plain arrays. The scores of an instance are the start and what its leaves
        add.
    validation_path_ : ndarray of shape (n_rounds + 1,)
        The mean loss of the rows held out after 0, 1, ... rounds; empty without validation.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in what the tests of a tree gain, mean over the trees.

    Notes
    -----
    Equal rows are one row with their weights added up, and rows are dealt into folds in the
    order of their features. So the order of the rows does not matter, and a row of weight two
    is the row twice.

    References
    ----------
    Friedman (2001), Greedy function approximation. Chen & Guestrin (2016), XGBoost, for Newton
    steps. Bradley & Terry (1952), Rank analysis of incomplete block designs, for the start.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> Y = np.where(X < 0.5, [[1, 2, 3]], [[3, 1, 2]])
    >>> ranker = BoostingLabelRanker(random_state=0).fit(X, Y)
    >>> ranker.predict([[0.1], [0.9]])
    array([[1, 2, 3],
           [3, 1, 2]])
    """

    n_estimators_: int
    start_scores_: Values

    _score_unit: ClassVar[str] = "log-odds"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: BaseTreeRanker._parameter_constraints[name]
            for name in (
                *("max_depth", "max_leaf_nodes", "min_samples_leaf", "max_features"),
                *("categorical_features", "category_splits", "random_state"),
            )
        },
        **PairWeightMixin._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "l2_regularization": [Interval(Real, 0, None, closed="neither")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "validation": [StrOptions({"auto", "folds", "part"}), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "calibrate": ["boolean"],
        "n_jobs": [Integral, None],
    }

    _fitted_state: ClassVar[FittedState] = {
        "n_estimators_": Count(),
        "start_scores_": Array("f8", "n_labels"),
        "validation_path_": Array("f8", "n_steps"),
    }

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 10,
        max_depth: int | None = None,
        min_samples_leaf: int | float = 5,
        l2_regularization: float = 1.0,
        subsample: float = 0.6,
        max_features: int | float | str | None = 0.6,
        validation: str | None = "auto",
        n_iter_no_change: int = 30,
        categorical_features: Any = "from_dtype",
        category_splits: str = "partition",
        pair_weight: str | None = "auto",
        calibrate: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.subsample = subsample
        self.max_features = max_features
        self.validation = validation
        self.n_iter_no_change = n_iter_no_change
        self.categorical_features = categorical_features
        self.category_splits = category_splits
        self.pair_weight = pair_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Values, target: Values | ScoredRanks, weight: Values) -> None:
        bins = self._learn_bins(X, self.nominal_features_)
        cases, case = Cases.of(bins, target, weight)
        boosting = self._boosting(len(weight))
        self.n_estimators_ = self._choose_rounds(boosting, cases, case)
        self._keep(boosting.trees(cases, self.start_scores_, self.n_estimators_))

    def _boosting(self, n_samples: int) -> Boosting:
        return Boosting(
            self.nominal_features_,
            self._boost_options(n_samples),
            self._draw_seeds(self.n_estimators),
            self.n_jobs,
        )

    def _choose_rounds(self, boosting: Boosting, cases: Cases, case: Indices) -> int:
        """Return how many rounds folds want; keep the start and what is said of held-out rows."""
        self.start_scores_, self.validation_path_ = constant_scores(cases), np.empty(0)
        folds = cases.folds(self._n_folds(len(cases.weight)))
        if not folds:
            return self.n_estimators
        found = boosting.held_out(cases, folds, self.n_iter_no_change)
        return self._settle(found, cases, case)

    def _settle(self, found: HeldOutRounds, cases: Cases, case: Indices) -> int:
        self.validation_path_, self._held_out = found.path, found.scores[case]
        return 0 if self._try_kemeny(cases, case, found.scores) else found.rounds

    def _try_kemeny(self, cases: Cases, case: Indices, scores: Values) -> bool:
        """Start, and end, at Kemeny's order where it beats what was learned beyond chance."""
        if cases.scaled_scores is not None:
            return False
        known = ~np.isnan(scores).any(axis=1)
        disorder = np.full(len(scores), np.nan)
        order = strict_ranks(scores[known])
        disorder[known] = 1 - np.asarray(kendall_tau(cases.ranks[known], order, average=False))
        found = better_kemeny(disorder, cases.ranks, cases.weight, self.start_scores_)
        if found is None:
            return False
        self.start_scores_, self._held_out = found.votes, found.left_out[case]
        return True

    def _n_folds(self, n_cases: int) -> int:
        if self.validation is None:
            return 0
        by_part = self.validation == "part" or (
            self.validation == "auto" and n_cases > _MOST_FOR_FOLDS
        )
        return 1 if by_part else N_FOLDS

    def _boost_options(self, n_samples: int) -> dict[str, Any]:
        return {
            "learning_rate": float(self.learning_rate),
            "penalty": float(self.l2_regularization),
            "row_share": float(self.subsample),
            "tree_features": n_features_to_try(self.max_features, self.n_features_in_),
            "category_sets": self.category_splits == "partition",
            "max_depth": NO_BOUND if self.max_depth is None else self.max_depth,
            "min_leaf": self._examples(self.min_samples_leaf, n_samples, 1),
            "max_leaves": self.max_leaf_nodes or 0,
        }

    def _held_out_scores(
        self, X: Values, target: Any, weight: Values, rows: Indices
    ) -> Values | None:
        held_out = vars(self).get("_held_out")
        return None if held_out is None else held_out[rows]

    def _decision(self, X: NDArray[Any]) -> Values:
        return self.start_scores_ + self._trees.sums(self._feature_bins.apply(X))

    def explain_scores(self, X: Any) -> ScoreEffects:
        """Say what each feature adds to the scores of a few instances.

        On its way down a tree, an instance meets tests; the effect of a test is by how much
        the mean step of the training rows changes from the node above it to the node below.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        ScoreEffects
            ``base`` and ``effects``, whose sum is the decision function.
        """
        bins = self._bins(X)
        if not self.n_estimators_:
            base = np.tile(self.start_scores_, (len(bins), 1))
            return ScoreEffects(base, np.zeros((len(bins), bins.shape[1], base.shape[1])))
        base, effects = self._trees.effects(bins, self._scores_of_nodes())
        return ScoreEffects(
            self.start_scores_ + base * self._trees.n_trees, effects * self._trees.n_trees
        )

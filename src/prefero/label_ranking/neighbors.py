"""Instance-based label ranking: predict what the nearest cases prefer."""

from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._neighbors._case_base import INDEX_DOCS, CaseRankerMixin, in_chunks
from prefero._neighbors._neighborhoods import WeightFunction
from prefero._neighbors._space import Space, candidate_spaces, selected_cases
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, Attribute, FittedState, Number, Word
from prefero._typing import Indices, Mask, Values
from prefero.base import BaseLabelRanker, PairWeightMixin, fitting
from prefero.label_ranking._aggregation import AGGREGATIONS, SCORES
from prefero.label_ranking._ranked_cases import (
    NeighborExplanation,
    NeighborhoodChoiceMixin,
    RankedCases,
)
from prefero.rankings import ScoredRanks, ranks_of, strict_ranks

# Fewer neighbours than these say nothing of how much rankings spread, and of how often they tie.
SPREAD_NEIGHBORS = 10
# Neighbours that must agree with a case before it is redundant.
CONDENSING_NEIGHBORS = 3


_COORDINATES = (
    "the features and the directions of each case",
    lambda points, state: points.shape[1] == state.size("n_features") + state.size("n_directions"),
)
_WORTH = (
    "a score where there is a rank",
    lambda scores, state: bool(
        state.values["aggregation_"] == SCORES
        and (np.isnan(scores) == np.isnan(state.values["rankings_"])).all()
    ),
)


@documented(index=INDEX_DOCS)
class NeighborsLabelRanker(
    NeighborhoodChoiceMixin, PairWeightMixin, CaseRankerMixin, BaseLabelRanker
):
    """Instance-based label ranking (IBLR): aggregate the rankings of the nearest cases.

    Parameters
    ----------
    n_neighbors : int, "auto", "best" or "all", default="auto"
        The size of the neighbourhood. ``"auto"`` chooses it among twenty sizes by leaving out
        one case after the other, from a single neighbour query; of sizes within one standard
        error of the best the largest. ``"best"`` takes the best of all choices itself.
        ``"all"`` is the consensus order: that of all cases, however far.
    weights : {"dudani", "uniform", "distance"} or callable, default="dudani"
        What a neighbour counts: (d_k - d_i)/(d_k - d_1); 1; 1/d; or what a function of the
        distances (n_queries, k) returns.
    aggregation : {"auto", "pairs", "mallows", "borda", "kemeny", "plackett_luce"}, \
default="auto"
        How the rankings of the neighbours become one. ``"pairs"`` judges each pair of labels
        by the neighbours that order it; ``"mallows"`` is the paper's Algorithm 1. Both are
        the same Borda count where no labels are missing. ``"auto"`` takes ``"pairs"`` unless
        ``"kemeny"`` predicts the cases left out better by more than a standard error.
    shrinkage : float or "auto", default="auto"
        The share of the consensus order, that of all cases, in the votes; 1 means the same
        order for everyone. ``"auto"`` chooses it with the size, the stronger the rather; with
        fewer than ten cases, and an aggregation other than ``"pairs"`` and ``"kemeny"``, it is 0.
    scale : bool, default=True
        Whether to standardise the features. False leaves X alone.
    feature_weights : {"auto", "learned", "equal"} or array-like of shape (n_features,), \
default="auto"
        What features count in the distance. ``"learned"`` finds weights that make near cases
        have like rankings; ``"auto"`` does so if ``scale`` is true, unless equal weights
        predict the cases left out as well.
    n_directions : int, default=3
        With learned weights: the number of linear directions, along which the rankings
        change most, that join the features.
    instance_selection : {"edit", "condense"} or None, default=None
        Shrink the case base: ``"edit"`` drops cases that contradict what the others predict,
        ``"condense"`` cases that say the same as their nearest neighbours.
    local_metric : int or None, default=None
        The number of neighbours to which a metric is fitted around each query; the nearest by
        that metric are used. None means one metric everywhere.
    pair_weight : {"auto", "score_difference"} or None, default="auto"
        What neighbours say of a pair of labels: the difference of the scores that ``fit`` was
        given, or which comes first. ``"auto"`` is the former where there are scores, unless
        another aggregation than ``"pairs"`` is asked for. The neighbourhood is then chosen by
        the regret of the cases left out in place of tau.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, from the cases left out.
    %(index)s

    Attributes
    ----------
    n_neighbors_ : int
        The size of the neighbourhood.
    shrinkage_ : float
        The share of the consensus order in the votes.
    aggregation_ : str
        How the rankings of the neighbours become one.
    feature_weights_ : ndarray of shape (n_features,)
        By what the scaled features are multiplied.
    rankings_ : ndarray of shape (n_cases, n_labels)
        The rankings of the case base.
    points_ : ndarray of shape (n_cases, n_coordinates)
        The cases as the metric sees them.
    case_weight_ : ndarray of shape (n_cases,)
        Their weights.
    recall_ : float
        The share of true neighbours that the index finds on a sample: 1 unless it is
        approximate.
    leave_one_out_ : dict
        Tau of the cases left out for each size tried, without shrinkage; empty if nothing was
        to be chosen.

    Notes
    -----
    A case of weight 2 takes two places among the k, so it counts as the case twice; a weight
    below 1 takes one place and a smaller vote.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), Decision tree and instance-based learning for label
    ranking, ICML, section 4.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.4], [3.0], [3.3], [3.4]]
    >>> nan = float("nan")
    >>> Y = [[1, 2, 3], [1, nan, 2], [1, 2, 3], [3, 2, 1], [2, nan, 1], [3, 2, 1]]
    >>> ranker = NeighborsLabelRanker(n_neighbors=3).fit(X, Y)
    >>> ranker.predict([[0.1], [3.1]])
    array([[1, 2, 3],
           [3, 2, 1]])
    >>> ranker.predict_spread([[0.1], [1.7]]).round(1)
    array([2.1, 0. ])
    """

    _fitted_state: ClassVar[FittedState] = {
        "center_": Array("f8", "n_features"),
        "feature_weights_": Array("f8", "n_features"),
        "feature_scale_": Array("f8", "n_features"),
        "directions_": Array("f8", "n_features", "n_directions"),
        "points_": Array("f8", "n_cases", "n_coordinates", rule=_COORDINATES),
        "rankings_": Array("f8", "n_cases", "n_labels", low=1, high="n_labels", nan=True),
        "recall_": Number(0, 1),
        "shrinkage_": Number(0, 1),
        "aggregation_": Word(*AGGREGATIONS, SCORES),
        "case_scores_": Array("f8", "n_cases", "n_labels", nan=True, optional=True, rule=_WORTH),
        "leave_one_out_": Attribute(),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto", "best", "all"}),
        ],
        "weights": [StrOptions({"dudani", "uniform", "distance"}), callable],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "aggregation": [StrOptions({"auto", *AGGREGATIONS})],
        "scale": ["boolean"],
        "feature_weights": [StrOptions({"auto", "learned", "equal"}), "array-like"],
        "n_directions": [Interval(Integral, 0, None, closed="left")],
        "instance_selection": [StrOptions({"edit", "condense"}), None],
        "local_metric": [Interval(Integral, 1, None, closed="left"), None],
        "calibrate": ["boolean"],
        **PairWeightMixin._parameter_constraints,
        **CaseRankerMixin._case_constraints,
    }

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        weights: str | WeightFunction = "dudani",
        aggregation: str = "auto",
        shrinkage: float | str = "auto",
        scale: bool = True,
        feature_weights: str | ArrayLike = "auto",
        n_directions: int = 3,
        instance_selection: str | None = None,
        local_metric: int | None = None,
        pair_weight: str | None = "auto",
        calibrate: bool = True,
        algorithm: Any = "auto",
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.aggregation = aggregation
        self.shrinkage = shrinkage
        self.scale = scale
        self.feature_weights = feature_weights
        self.n_directions = n_directions
        self.instance_selection = instance_selection
        self.local_metric = local_metric
        self.pair_weight = pair_weight
        self.calibrate = calibrate
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @classmethod
    def iblr(cls, **parameters: Any) -> Self:
        """Return the instance-based label ranker of Cheng et al. (2009), as printed.

        %(of_preset)s

        Returns
        -------
        NeighborsLabelRanker
            Algorithm 1 on standardised features: neighbours weighed by distance as Dudani does
            and by the share of labels that they rank, the size that is best in training.

        Examples
        --------
        >>> NeighborsLabelRanker.iblr(n_neighbors=5)
        NeighborsLabelRanker(aggregation='mallows', feature_weights='equal',
                             n_neighbors=5, shrinkage=0)
        """
        own: dict[str, Any] = {"n_neighbors": "best", "aggregation": "mallows"}
        own |= {"shrinkage": 0, "feature_weights": "equal"}
        return cls(**{**own, **parameters})

    def _fit(self, X: Values, target: Values | ScoredRanks, weight: Values) -> None:
        target = self._usable(target)
        spaces = candidate_spaces(
            X, ranks_of(target), weight, self.scale, self.feature_weights, self.n_directions
        )
        space = self._choose(spaces, X, target, weight)
        if self.instance_selection is not None:
            kept = self._select_cases(self.instance_selection)
            self._choose([space], X[kept], target[kept], weight[kept])
        self.recall_ = self._cases.recall(self.n_neighbors_)

    def _usable(self, target: Values | ScoredRanks) -> Values | ScoredRanks:
        """Scores are aggregated in place of pairs; other aggregations are of rankings."""
        if not isinstance(target, ScoredRanks) or self.aggregation in ("auto", "pairs"):
            return target
        if self.pair_weight == "score_difference":
            raise ValueError(
                f"aggregation={self.aggregation!r} has no pairs to weigh: pair_weight="
                "'score_difference' goes with 'pairs' or 'auto'."
            )
        return target.ranks

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Add cases. What was learned of features and neighbourhoods stays as it is.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n_samples, n_labels)
            Ranks of the same labels as before.
        %(weights_of_rows)s

        Returns
        -------
        self
            The ranker; on the first call the same as ``fit``.
        """
        if not hasattr(self, "n_neighbors_"):
            return self.fit(X, y, sample_weight)
        if hasattr(self, "case_scores_"):
            raise ValueError("The cases have scores, which partial_fit does not take: fit again.")
        with fitting(self, anew=False) as ranker:
            X, ranks, weight = ranker._validate_fit(X, y, sample_weight, reset=False)
            ranker._store(
                np.concatenate([ranker.points_, ranker._place(X)]),
                np.concatenate([ranker.rankings_, ranks]),
                np.concatenate([ranker.case_weight_, weight]),
            )
        return self

    def _place(self, X: Values) -> Values:
        """Return instances as the metric sees them."""
        if not (self.scale or self.directions_.size or np.any(self.feature_scale_ != 1)):
            return X
        offset = X - self.center_
        points = offset * self.feature_scale_
        # A matrix product would depend on the number of rows: equal cases would be apart.
        along = [(offset * direction).sum(axis=1) for direction in self.directions_.T]
        return np.column_stack([points, *along]) if along else points

    def _enter(self, space: Space, X: Values, target: Values | ScoredRanks, weight: Values) -> None:
        """Make the case base of instances in a space."""
        self.center_, self.feature_weights_ = space.center, space.factors
        self.feature_scale_ = space.factors / space.scale
        self.directions_ = space.directions / space.scale[:, None]
        if isinstance(target, ScoredRanks):
            self.case_scores_ = target.scores
        self._store(self._place(X), ranks_of(target), weight)

    def _store(self, points: Values, ranks: Values, weight: Values) -> None:
        self.points_, self.rankings_, self.case_weight_ = points, ranks, weight
        self.__dict__.pop("_cases", None)

    def _held_out_scores(self, X: Values, target: Any, weight: Values, rows: Indices) -> Any:
        """Votes for training rows by all others; none where some cases were dropped."""
        if self.instance_selection is not None:
            return None
        k = 1 if self.shrinkage_ == 1 else self.n_neighbors_
        asked = np.array_equal(rows, self._cases.trials()[0]) and hasattr(self, "_held_out")
        near = self._held_out if asked else self._cases.others(rows, k)
        return self._cases.left_out_votes(rows, near.first(k), self.shrinkage_, self.aggregation_)

    def _held_out_tie_shares(
        self, X: Values, ranks: Values, weight: Values, rows: Indices
    ) -> Values | None:
        if self.instance_selection is not None or not self._cases.tied:
            return None
        k = self._tie_neighbors
        return self._cases.tie_shares(self._cases.others(rows, k).first(k), self.shrinkage_)

    def _tie_shares(self, X: Values) -> Values | None:
        return in_chunks(self._shares, X, self.n_jobs)[0] if self._cases.tied else None

    def _shares(self, X: Values) -> tuple[Values]:
        k = self._tie_neighbors
        near = self._cases.nearest(self._place(X), k).first(k)
        return (self._cases.tie_shares(near, self.shrinkage_),)

    @property
    def _tie_neighbors(self) -> int:
        return max(self.n_neighbors_, SPREAD_NEIGHBORS)

    def _select_cases(self, how: str) -> Mask:
        everyone = np.arange(len(self.points_))
        k = self.n_neighbors_ if how == "edit" else CONDENSING_NEIGHBORS
        near = self._cases.others(everyone, k).first(k)
        predicted = strict_ranks(self._cases.votes(near, self.aggregation_))
        return selected_cases(near, self.rankings_, predicted, how)

    @cached_property
    def _cases(self) -> RankedCases:
        """The cases, whose index is made at the first query."""
        cases = self.points_, self.case_weight_, self.rankings_
        options = {"scores": getattr(self, "case_scores_", None), **self._index_options()}
        return RankedCases(*cases, self.weights, self.local_metric, **options)

    def _votes(self, X: Values) -> tuple[Values]:
        if self.shrinkage_ == 1:
            return (np.tile(self._cases.votes_of_all(self.aggregation_), (len(X), 1)),)
        near = self._cases.nearest(self._place(X), self.n_neighbors_).first(self.n_neighbors_)
        votes = self._cases.votes(near, self.aggregation_)
        if self.shrinkage_ > 0:
            everyone = self._cases.votes_of_all(self.aggregation_)
            votes = (1 - self.shrinkage_) * votes + self.shrinkage_ * everyone
        return (votes,)

    def _spreads(self, X: Values) -> tuple[Values]:
        """Spreads of the rankings of enough neighbours to have one."""
        enough = max(self.n_neighbors_, SPREAD_NEIGHBORS)
        near = self._cases.nearest(self._place(X), enough).first(enough)
        return (self._cases.spreads(near, self.aggregation_),)

    def _decision(self, X: Values) -> Values:
        return in_chunks(self._votes, X, self.n_jobs)[0]

    def predict_spread(self, X: Any) -> Values:
        """Say how much the neighbours of each instance agree: the spread θ of a Mallows model.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples,)
            0 for neighbours that scatter at random; the larger, the more they agree. A smaller
            neighbourhood is widened to ten for this. With ``aggregation="mallows"`` infinite
            where all agree.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return in_chunks(self._spreads, X, self.n_jobs)[0]

    def explain_neighbors(self, X: Any) -> NeighborExplanation:
        """Show the cases behind each prediction.

        %(of_X)s

        Returns
        -------
        NeighborExplanation
            Which cases, how far, what they count, and their rankings.

        Examples
        --------
        >>> ranker = NeighborsLabelRanker(n_neighbors=2, weights="uniform", scale=False)
        >>> ranker = ranker.fit([[0.0], [1.0], [5.0]], [[1, 2], [1, 2], [2, 1]])
        >>> why = ranker.explain_neighbors([[2.0]])
        >>> why.cases, why.distances, why.rankings
        (array([[1, 0]]), array([[1., 2.]]), array([[[1., 2.],
                [1., 2.]]]))
        """
        check_is_fitted(self)
        k = self.n_neighbors_
        near = self._cases.nearest(self._place(self._validate_X(X, reset=False)), k).first(k)
        return self._cases.explain(near)

"""Instance-based label ranking: predict what the nearest cases prefer."""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from prefero._cases import (
    CaseRankerMixin,
    Neighbors,
    WeightFunction,
    in_chunks,
    largest_good_size,
    learned_space,
    nearest_in_local_metric,
    neighbor_weights,
    selected_cases,
)
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, Attribute, FittedState, Number
from prefero._typing import Indices, Mask, Values
from prefero.base import BaseLabelRanker, fitting, unseen_labels
from prefero.consensus import borda_votes
from prefero.label_ranking._aggregation import AGGREGATIONS, aggregate
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks

# What "auto" chooses from: each size is about a quarter larger than the one before.
NEIGHBORHOOD_SIZES = (1, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 25, 32, 40, 50, 65, 85, 110, 150, 200)
# Fewer neighbours than these say nothing of how much rankings spread.
SPREAD_NEIGHBORS = 10
# Neighbours that must agree with a case before it is redundant.
CONDENSING_NEIGHBORS = 3


class NeighborExplanation(NamedTuple):
    """Why some instances got their predictions: their neighbours, nearest first.

    Attributes
    ----------
    cases : ndarray of shape (n_samples, k)
        Row numbers in the case base, of ``rankings_`` for instance.
    distances, weights : ndarray of shape (n_samples, k)
        How far they are, and what their rankings count.
    rankings : ndarray of shape (n_samples, k, n_labels)
        Their ranks; NaN where unknown.
    """

    cases: NDArray[np.int64]
    distances: Values
    weights: Values
    rankings: Values


_COORDINATES = (
    "the features and the directions of each case",
    lambda points, state: points.shape[1] == state.size("n_features") + state.size("n_directions"),
)


class NeighborsLabelRanker(CaseRankerMixin, BaseLabelRanker):
    """Instance-based label ranking (IBLR): aggregate the rankings of the nearest cases.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        The size of the neighbourhood. ``"auto"`` chooses it among twenty sizes by leaving out
        one case after the other, from a single neighbour query.
    weights : {"dudani", "uniform", "distance"} or callable, default="dudani"
        What a neighbour counts: (d_k - d_i)/(d_k - d_1); 1; 1/d; or what a function of the
        distances (n_queries, k) returns.
    aggregation : {"pairs", "mallows", "borda", "kemeny", "plackett_luce"}, default="pairs"
        How the rankings of the neighbours become one. ``"pairs"`` judges each pair of labels
        by the neighbours that order it; ``"mallows"`` is the paper's Algorithm 1. Both are
        the same Borda count where no labels are missing.
    scale : bool, default=True
        Whether to standardise the features. False leaves X alone.
    feature_weights : {"auto", "learned", "equal"} or array-like of shape (n_features,), \
default="auto"
        What features count in the distance. ``"learned"`` finds weights that make near cases
        have like rankings; ``"auto"`` does so if ``scale`` is true.
    n_directions : int, default=3
        With learned weights: the number of linear directions, along which the rankings
        change most, that join the features.
    instance_selection : {"edit", "condense"} or None, default=None
        Shrink the case base: ``"edit"`` drops cases that contradict what the others predict,
        ``"condense"`` cases that say the same as their nearest neighbours.
    local_metric : int or None, default=None
        The number of neighbours to which a metric is fitted around each query; the nearest by
        that metric are used. None means one metric everywhere.
    algorithm : str or object, default="auto"
        ``"auto"``, ``"brute"``, ``"kd_tree"`` or ``"ball_tree"`` of scikit-learn;
        ``"approximate"`` for large case bases (needs the ``ann`` extra); or an object with
        ``fit(X)`` and ``kneighbors(X, n_neighbors)``, which gets the scaled cases.
    metric : str or callable, default="minkowski"
    p : float, default=2
    metric_params : dict, optional
        As in :class:`sklearn.neighbors.NearestNeighbors`.
    n_jobs : int, optional
        Chunks of queries to answer at a time, as in joblib. Results do not depend on it.

    Attributes
    ----------
    n_neighbors_ : int
        The size of the neighbourhood.
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
        With ``n_neighbors="auto"``: tau for each size tried.

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
        "leave_one_out_": Attribute(optional=True),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "weights": [StrOptions({"dudani", "uniform", "distance"}), callable],
        "aggregation": [StrOptions(set(AGGREGATIONS))],
        "scale": ["boolean"],
        "feature_weights": [StrOptions({"auto", "learned", "equal"}), "array-like"],
        "n_directions": [Interval(Integral, 0, None, closed="left")],
        "instance_selection": [StrOptions({"edit", "condense"}), None],
        "local_metric": [Interval(Integral, 1, None, closed="left"), None],
        **CaseRankerMixin._case_constraints,
    }

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        weights: str | WeightFunction = "dudani",
        aggregation: str = "pairs",
        scale: bool = True,
        feature_weights: str | ArrayLike = "auto",
        n_directions: int = 3,
        instance_selection: str | None = None,
        local_metric: int | None = None,
        algorithm: Any = "auto",
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.aggregation = aggregation
        self.scale = scale
        self.feature_weights = feature_weights
        self.n_directions = n_directions
        self.instance_selection = instance_selection
        self.local_metric = local_metric
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _fit(self, X: Values, ranks: Values, weight: Values) -> None:
        self._learn_space(X, ranks, weight)
        self._store(self._place(X), ranks, weight)
        if self.instance_selection is not None:
            kept = self._select_cases(self.instance_selection)
            self._store(self.points_[kept], ranks[kept], weight[kept])
        self.n_neighbors_ = self._choose_size()
        self.recall_ = self._cases.recall(self.n_neighbors_)

    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Add cases. What was learned of features and neighbourhoods stays as it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples, n_labels)
            Ranks of the same labels as before.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        self
            The ranker; on the first call the same as ``fit``.
        """
        if not hasattr(self, "n_neighbors_"):
            return self.fit(X, y, sample_weight)
        with fitting(self, anew=False) as ranker:
            X, ranks, weight = ranker._validate_fit(X, y, sample_weight, reset=False)
            ranker._store(
                np.concatenate([ranker.points_, ranker._place(X)]),
                np.concatenate([ranker.rankings_, ranks]),
                np.concatenate([ranker.case_weight_, weight]),
            )
            ranker.unseen_labels_ = unseen_labels(ranker.rankings_, ranker.labels_, says="ranked")
        return self

    def _learn_space(self, X: Values, ranks: Values, weight: Values) -> None:
        """Learn the map from features to the coordinates in which distances are taken."""
        d = X.shape[1]
        self.center_, scales = np.zeros(d), np.ones(d)
        if self.scale:
            scaler = StandardScaler().fit(X, sample_weight=weight)
            self.center_, scales = scaler.mean_, scaler.scale_
        directions = np.empty((d, 0))
        factors = np.ones(d)
        kind = self.feature_weights
        if not isinstance(kind, str):
            factors = self._given_weights(kind)
        elif kind == "learned" or (kind == "auto" and self.scale):
            directions, factors = learned_space(
                (X - self.center_) / scales, ranks, weight, self.n_directions
            )
        self.feature_weights_ = factors[:d]
        self.feature_scale_ = factors[:d] / scales
        self.directions_ = directions * factors[d:] / scales[:, None]

    def _given_weights(self, weights: Any) -> Values:
        given = check_array(
            weights, dtype=np.float64, ensure_2d=False, input_name="feature_weights"
        )
        if given.shape != (self.n_features_in_,) or (given < 0).any():
            raise ValueError(
                f"feature_weights must hold {self.n_features_in_} weights that are not negative, "
                f"one a feature, got an array of shape {given.shape}."
            )
        return np.sqrt(given)

    def _place(self, X: Values) -> Values:
        """Return instances as the metric sees them."""
        if not (self.scale or self.directions_.size or np.any(self.feature_scale_ != 1)):
            return X
        offset = X - self.center_
        points = offset * self.feature_scale_
        # A matrix product would depend on the number of rows: equal cases would be apart.
        along = [(offset * direction).sum(axis=1) for direction in self.directions_.T]
        return np.column_stack([points, *along]) if along else points

    def _store(self, points: Values, ranks: Values, weight: Values) -> None:
        self.points_, self.rankings_, self.case_weight_ = points, ranks, weight
        self.__dict__.pop("_cases", None)

    def _choose_size(self) -> int:
        """The size asked for, or the one with the best tau over the pairs of cases left out."""
        sizes = self._cases.sizes(self.n_neighbors, NEIGHBORHOOD_SIZES)
        if self.n_neighbors != "auto":
            return sizes[0]
        cases, weight = self._cases.trials()
        near = self._others(cases, sizes[-1])
        tau = np.array([self._left_out_tau(near, cases, k) for k in sizes])
        judged = np.where(np.isnan(tau[0]), 0, weight)
        mean = np.nan_to_num(tau) @ judged / (judged.sum() or 1.0)
        self.leave_one_out_ = dict(zip(sizes, mean.tolist(), strict=True))
        return sizes[largest_good_size(tau, weight)]

    def _left_out_tau(self, near: Neighbors, cases: Indices, k: int) -> Values:
        votes, _ = self._aggregate(near.first(k))
        tau = kendall_tau(self.rankings_[cases], strict_ranks(votes), average=False)
        return np.asarray(tau)

    def _select_cases(self, how: str) -> Mask:
        everyone = np.arange(len(self.points_))
        k = self._choose_size() if how == "edit" else CONDENSING_NEIGHBORS
        near = self._others(everyone, k).first(k)
        votes, _ = self._aggregate(near)
        return selected_cases(near, self.rankings_, strict_ranks(votes), how)

    def _others(self, cases: Indices, k: int) -> Neighbors:
        """The neighbours of some cases among the others."""
        near = self._cases.others(cases, max(k, self.local_metric or 0))
        return self._localize(self.points_[cases], near, k)

    def _nearest(self, points: Values, k: int) -> Neighbors:
        """The neighbours of queries."""
        near = self._cases.nearest(points, max(k, self.local_metric or 0))
        return self._localize(points, near, k)

    def _localize(self, points: Values, near: Neighbors, k: int) -> Neighbors:
        if self.local_metric is None:
            return near
        votes = borda_votes(self.rankings_)
        return nearest_in_local_metric(points, self.points_, votes, near, k)

    def _aggregate(self, near: Neighbors) -> tuple[Values, Values]:
        weights = neighbor_weights(near, self.weights)
        return aggregate(self.aggregation, self.rankings_, near.indices, weights)

    def _votes(self, X: Values) -> tuple[Values]:
        near = self._nearest(self._place(X), self.n_neighbors_)
        return (self._aggregate(near.first(self.n_neighbors_))[0],)

    def _spreads(self, X: Values) -> tuple[Values]:
        """The spread of enough neighbours to have one."""
        enough = max(self.n_neighbors_, SPREAD_NEIGHBORS)
        near = self._nearest(self._place(X), enough)
        return (self._aggregate(near.first(enough))[1],)

    def _held_out_scores(
        self, X: Values, target: Values, weight: Values, rows: Indices
    ) -> Values | None:
        if len(self.points_) != len(X):  # some rows are no cases
            return None
        near = self._others(rows, self.n_neighbors_)
        return self._aggregate(near.first(self.n_neighbors_))[0]

    def _decision(self, X: Values) -> Values:
        return in_chunks(self._votes, X, self.n_jobs)[0]

    def predict_spread(self, X: Any) -> Values:
        """Say how much the neighbours of each instance agree: the spread θ of a Mallows model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

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

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.

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
        near = self._nearest(self._place(self._validate_X(X, reset=False)), k).first(k)
        weights = neighbor_weights(near, self.weights)
        return NeighborExplanation(
            near.indices, near.distances, weights, self.rankings_[near.indices]
        )

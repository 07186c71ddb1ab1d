"""Case-based multilabel ranking: average the calibrated rankings of the nearest cases."""

from collections.abc import Callable
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from prefero import _core
from prefero._docs import documented
from prefero._neighbors._case_base import INDEX_DOCS, CaseBase, CaseRankerMixin, in_chunks
from prefero._neighbors._neighborhoods import Neighbors, WeightFunction, neighbor_weights
from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, Attribute, FittedState, Number
from prefero._typing import Values
from prefero.base import BaseMultilabelRanker
from prefero.multilabel._selection import LOSSES
from prefero.rankings import split_calibrated, virtual_label_offsets

Aggregation = Callable[..., ArrayLike]

# What "auto" chooses from: the sizes of Brinker & Hüllermeier's experiments, the gaps of their
# Figure 1.
SIZES = (*range(1, 12, 2), *range(21, 152, 10))
GAPS = (1, 2, 4, 8, 16, 32, 64, 128)


class MultilabelNeighborExplanation(NamedTuple):
    """Why some instances got their predictions.

    Attributes
    ----------
    cases : ndarray of shape (n_samples, k)
        Row numbers in the case base of the neighbours, nearest first.
    distances : ndarray of shape (n_samples, k)
        How far they are.
    weights : ndarray of shape (n_samples, k)
        What they count.
    relevance : ndarray of shape (n_samples, k, n_labels)
        Their label sets: 1, 0, or NaN where unknown.
    mean_ranks : ndarray of shape (n_samples, n_labels)
        The mean rank of each label among them.
    virtual_label : ndarray of shape (n_samples,)
        The mean rank of the virtual label: labels of a smaller mean rank are relevant, unless
        ``aggregation`` is a function.

    Examples
    --------
    >>> ranker = NeighborsMultilabelRanker(n_neighbors=1).fit([[0.0], [5.0]], [[1, 0], [0, 1]])
    >>> why = ranker.explain_neighbors([[4.0]])
    >>> why.cases, why.distances
    (array([[1]]), array([[1.]]))
    >>> why.relevance
    array([[[0., 1.]]])
    """

    cases: NDArray[np.int64]
    distances: Values
    weights: Values
    relevance: Values
    mean_ranks: Values
    virtual_label: Values


class CalibratedCases(CaseBase):
    """A case base of calibrated rankings (n_cases, n_labels + 1)."""

    def __init__(self, points: Values, weight: Values, calibrated: Values, **index: Any) -> None:
        super().__init__(points, weight, **index)
        self.calibrated = calibrated

    @cached_property
    def zero(self) -> tuple[Values, Values]:
        """Offsets of the labels from the virtual label of each case, and its place."""
        return virtual_label_offsets(self.calibrated)

    @cached_property
    def prior(self) -> list[Values]:
        """Mean offsets and sides of the labels over all cases."""
        rows = np.arange(len(self.points))
        means = _core.mean_offsets(self.zero[0], np.array([0, len(rows)]), rows, self.weight)
        return [np.nan_to_num(mean) for mean in means]


_COORDINATES = (
    "the features of each case",
    lambda points, state: points.shape[1] == state.size("n_features"),
)


@documented(index=INDEX_DOCS)
class NeighborsMultilabelRanker(CaseRankerMixin, BaseMultilabelRanker):
    """Case-based multilabel ranking (k-NN of Brinker & Hüllermeier).

    The relevant labels of a case, the virtual label and its irrelevant labels are one ranking with
    ties, which ranks inside both parts may refine. The labels and the virtual label are ordered by
    their mean ranks among the nearest cases, which is the strict order with the smallest sum of
    squared rank differences to them. Fitted without ranks it is the paper's "-r" variant. A case
    of weight 2 takes two places among the neighbours.

    Parameters
    ----------
    n_neighbors : int or "auto", default=10
        The size of the neighbourhood. ``"auto"`` chooses it by leaving out one case after the
        other, from a single neighbour query.
    gap_amplification : float or "auto", default=1
        How many virtual labels share the virtual label. The wider, the dearer a label on the wrong
        side is against two labels in the wrong order: small for orders, large for label sets.
    weights : {"uniform", "distance", "squared_distance", "dudani"} or callable, default="uniform"
        What a neighbour counts: 1; 1/d, the paper's k-NN*; 1/d²; (d_k - d_i)/(d_k - d_1); or
        what a function of the distances (n_queries, k) returns.
    aggregation : "mean" or callable, default="mean"
        Mean ranks, or a function such as ``kemeny`` or ``footrule_order`` of ``prefero.consensus``:
        it takes the calibrated ranks of the neighbours and ``sample_weight``, and returns one
        strict ranking. It is called once a query, and knows no gap but 1.
    loss : {"spearman", "hamming", "subset", "ranking", "one_error", "coverage", \
"average_precision"}, default="spearman"
        What ``"auto"`` makes small on the cases left out; ``"spearman"`` makes the correlation
        large.
    %(threshold)s
    %(index)s

    Attributes
    ----------
    n_neighbors_ : int
        The size of the neighbourhood.
    gap_amplification_ : float
        The gap.
    points_ : ndarray of shape (n_cases, n_features)
        The cases.
    calibrated_ : ndarray of shape (n_cases, n_labels + 1)
        Their calibrated ranks.
    case_weight_ : ndarray of shape (n_cases,)
        Their weights.
    leave_one_out_ : dict
        With ``"auto"``: for each size tried, the loss for each gap.

    Notes
    -----
    A label's mean is taken over the neighbours that know its relevance, relative to their zero
    points; where none does, over all cases. Features are taken as they are: put a scaler in
    front, as in ``make_pipeline(StandardScaler(), NeighborsMultilabelRanker())``, where their
    units differ.

    References
    ----------
    Brinker & Hüllermeier (2007), Case-based multilabel ranking, IJCAI.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> relevance = [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 1]]
    >>> ranker = NeighborsMultilabelRanker(n_neighbors=3).fit(X, relevance)
    >>> ranker.predict([[0.0], [5.0]])
    array([[1, 1, 0],
           [0, 0, 1]])
    >>> ranker.predict_calibrated([[0.0], [5.0]])
    array([[1, 2, 4, 3],
           [4, 3, 1, 2]])
    """

    _fitted_state: ClassVar[FittedState] = {
        "points_": Array("f8", "n_cases", "n_coordinates", rule=_COORDINATES),
        "calibrated_": Array("f8", "n_cases", "n_labels + 1", low=1, high="n_labels + 1", nan=True),
        "gap_amplification_": Number(0),
        "leave_one_out_": Attribute(),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "gap_amplification": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "weights": [StrOptions({"uniform", "distance", "squared_distance", "dudani"}), callable],
        "aggregation": [StrOptions({"mean"}), callable],
        "loss": [StrOptions(set(LOSSES))],
        "threshold": BaseMultilabelRanker._threshold_constraint,
        **CaseRankerMixin._case_constraints,
    }

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        gap_amplification: float | str = 1,
        weights: str | WeightFunction = "uniform",
        aggregation: str | Aggregation = "mean",
        loss: str = "spearman",
        threshold: str | None = "auto",
        algorithm: Any = "auto",
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.gap_amplification = gap_amplification
        self.weights = weights
        self.aggregation = aggregation
        self.loss = loss
        self.threshold = threshold
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _fit(self, X: Values, calibrated: Values, weight: Values) -> None:
        if callable(self.aggregation) and self.gap_amplification != 1:
            raise ValueError(
                "aggregation by a function needs gap_amplification=1, got "
                f"{self.gap_amplification!r}."
            )
        self.points_, self.calibrated_, self.case_weight_ = X, calibrated, weight
        self.n_neighbors_, self.gap_amplification_ = self._choose()

    @cached_property
    def _cases(self) -> CalibratedCases:
        """The cases, whose index is made at the first query."""
        cases = self.points_, self.case_weight_, self.calibrated_
        return CalibratedCases(*cases, **self._index_options())

    def _choose(self) -> tuple[int, float]:
        """The size and the gap asked for, or those of the smallest loss on cases left out."""
        sizes = self._cases.sizes(self.n_neighbors, SIZES)
        gaps = GAPS if self.gap_amplification == "auto" else (float(self.gap_amplification),)
        self.leave_one_out_: dict[int, dict[float, float]] = {}
        if len(sizes) == len(gaps) == 1:
            return sizes[0], float(gaps[0])
        cases, weight = self._cases.trials()
        near, truth = self._cases.others(cases, sizes[-1]), self.calibrated_[cases]
        loss = LOSSES[self.loss]
        for k in sizes:
            scores = self._scores(near.first(k), gaps)
            # Rounded, so that equal losses stay equal whatever the order of summation.
            self.leave_one_out_[k] = {
                gap: round(loss(truth, values, weight), 12)
                for gap, values in zip(gaps, scores, strict=True)
            }
        tried = ((k, gap) for k, losses in self.leave_one_out_.items() for gap in losses)
        k, gap = min(tried, key=lambda pair: self.leave_one_out_[pair[0]][pair[1]])
        return k, float(gap)

    def _nearest(self, X: Values) -> Neighbors:
        return self._cases.nearest(X, self.n_neighbors_).first(self.n_neighbors_)

    def _means(self, near: Neighbors) -> tuple[Values, Values]:
        """Mean offsets and mean sides of the labels; those of all cases where nobody knows."""
        weights = neighbor_weights(near, self.weights)
        starts = np.arange(len(weights) + 1) * weights.shape[1]
        means = _core.mean_offsets(
            self._cases.zero[0],
            starts,
            np.ascontiguousarray(near.indices).ravel(),
            np.ascontiguousarray(weights).ravel(),
        )
        offset, side = (
            np.where(np.isnan(mean), prior, mean)
            for mean, prior in zip(means, self._cases.prior, strict=True)
        )
        return offset, side

    def _scores(self, near: Neighbors, gaps: tuple[Any, ...]) -> list[Values]:
        """The labels' distances above the virtual label, for each of some gaps."""
        offset, side = self._means(near)
        # Rounded, so that a label on the virtual label stays there whatever the order of summation.
        scores = [0.0 - np.round(offset + gap / 2 * side, 9) for gap in gaps]
        if not callable(self.aggregation):
            return scores
        return [self._aggregated(self.aggregation, near, of_all) for of_all in scores]

    def _aggregated(self, aggregation: Aggregation, near: Neighbors, means: Values) -> Values:
        """Scores by a function of the neighbours' rankings; means for labels they do not know."""
        scores = means.copy()
        weights = neighbor_weights(near, self.weights)
        for score, rows, weight in zip(scores, near.indices, weights, strict=True):
            rankings = self.calibrated_[rows[weight > 0]]
            known = ~np.isnan(rankings[:, :-1]).all(axis=0)
            if known.any():
                ranks = np.asarray(aggregation(rankings, sample_weight=weight[weight > 0]))
                score[known] = (ranks[-1] - ranks[:-1])[known]
        return scores

    def _answer(self, X: Values) -> tuple[Values]:
        return (self._scores(self._nearest(X), (self.gap_amplification_,))[0],)

    def _decision(self, X: Values) -> Values:
        return in_chunks(self._answer, X, self.n_jobs)[0]

    def explain_neighbors(self, X: Any) -> MultilabelNeighborExplanation:
        """Show the cases behind each prediction, and what they say of each label.

        %(of_X)s

        Returns
        -------
        MultilabelNeighborExplanation
            The neighbours, their label sets, and the mean rank of each label and of the zero
            point among them.

        Examples
        --------
        >>> ranker = NeighborsMultilabelRanker(n_neighbors=2)
        >>> ranker = ranker.fit([[0.0], [1.0], [9.0]], [[1, 0], [1, 1], [0, 1]])
        >>> why = ranker.explain_neighbors([[0.2]])
        >>> why.relevance
        array([[[1., 0.],
                [1., 1.]]])
        >>> why.mean_ranks, why.virtual_label
        (array([[1.25, 2.25]]), array([2.5]))
        """
        check_is_fitted(self)
        near = self._nearest(self._validate_X(X, reset=False))
        weights = neighbor_weights(near, self.weights)
        offset, side = self._means(near)
        total = weights.sum(axis=1)
        place = (self._cases.zero[1][near.indices] * weights).sum(axis=1) / np.where(
            total > 0, total, 1
        )
        prior = np.average(self._cases.zero[1], weights=self.case_weight_)
        zero = np.where(total > 0, place, prior) + (self.gap_amplification_ + 1) / 2
        relevance = split_calibrated(self.calibrated_)[0][near.indices]
        mean_ranks = zero[:, None] + offset + self.gap_amplification_ / 2 * side
        zero = zero - getattr(self, "threshold_", 0.0)
        return MultilabelNeighborExplanation(
            near.indices, near.distances, weights, relevance, mean_ranks, zero
        )

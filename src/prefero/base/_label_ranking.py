"""What every label ranker shares: tags, validation, label names, and the public predictions."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._sklearn import StrOptions
from prefero._typing import ArrayOrNone, Values
from prefero._warnings import warn_user
from prefero.base._expected_scores import ExpectedScoresMixin
from prefero.base._features import (
    place_unseen_last,
    refuse_other_labels,
)
from prefero.base._fitting import LabelsMixin, continues_fit, copy_of, fitting
from prefero.base._pair_probabilities import PairProbabilitiesMixin
from prefero.metrics import kendall_tau, ranking_error
from prefero.preferences import PreferenceGraphs
from prefero.rankings import ScoredRanks, check_ranks, label_names, strict_ranks

# From so many labels on, all pairs of them take long.
_MANY_LABELS = 500


@documented()
class LabelRankerMixin(PairProbabilitiesMixin, LabelsMixin):
    """Mixin of all label rankers.

    A ranker writes two methods for data already validated: ``_fit(X, ranks, weight)``, and
    ``_decision(X)``, which returns scores of shape (n_samples, n_labels), larger is better. What
    its parameters may be stands in ``_parameter_constraints``. Everything else is here; a ranker
    that can tell cheaply what it would have said of rows it had not seen says so by
    ``_held_out_scores``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_labels,)
        Label names: the columns of the table y was, else 0, 1, ...
    classes_ : ndarray of shape (n_labels,)
        Label indices, for tools of scikit-learn that ask for them.
    unseen_labels_ : ndarray of shape (n_labels,), dtype bool
        The labels that no training ranking held. They are predicted last.
    feature_ranges_ : ndarray of shape (n_features, 2)
        The smallest and the largest value of each feature in training; NaN where it was always
        missing. Words count by their numbers.

    Examples
    --------
    >>> from prefero import ForestLabelRanker
    >>> isinstance(ForestLabelRanker(), LabelRankerMixin)
    True
    """

    _estimator_type_tag: ClassVar[str] = "label_ranker"
    _row_says: ClassVar[tuple[str, str]] = "rank", "ranked"

    def _read_target(self, y: Any, scores: ArrayOrNone, reset: bool) -> tuple[Any, Values, Any]:
        """Validate ranks; with scores they are `ScoredRanks`."""
        if isinstance(y, PreferenceGraphs):
            raise ValueError(
                f"{type(self).__name__} learns from rankings, not from preference graphs: use a "
                "ranker that does, such as LogLinearLabelRanker."
            )
        ranks = check_ranks(y, name="y", n_labels=None if reset else len(self.labels_))
        if not reset:
            refuse_other_labels(y, self.labels_)
        truth = ranks if scores is None else ScoredRanks.checked(ranks, scores, y)
        return truth, ranks, label_names(y)

    def fit(self, X: Any, y: Any, sample_weight: ArrayOrNone = None) -> Self:
        """Learn from instances and their rankings.

        Parameters
        ----------
        %(X_to_learn)s
        %(ranks_to_learn)s
        %(weights_of_rows)s

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit_to(X, y, sample_weight)

    def _fit_to(
        self, X: Any, y: Any, sample_weight: ArrayOrNone, scores: ArrayOrNone = None
    ) -> Self:
        self._validate_params()
        anew = not continues_fit(self)
        with fitting(self, anew=anew) as ranker:
            X, truth, weight = ranker._validate_fit(X, y, sample_weight, scores, reset=anew)
            target, blank = ranker._target(truth), copy_of(ranker, anew=False)
            _warn_of_many_labels(ranker)
            ranker._fit(X, target, weight)
            ranker._calibrate(blank, X, truth, target, weight)
        return self

    def _target(self, truth: Any) -> Any:
        """Return what ``_fit`` learns from, made of the validated y."""
        return truth

    def _fit(self, X: NDArray[Any], ranks: Any, weight: Values) -> None:
        raise NotImplementedError

    def decision_function(self, X: Any) -> Values:
        """Return scores whose descending order is the predicted order.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores, larger is better.
        """
        check_is_fitted(self)
        scores = self._decision(self._validate_X(X, reset=False))
        return place_unseen_last(scores, self.unseen_labels_)

    def _decision(self, X: NDArray[Any]) -> Values:
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Predict the rank of every label.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype int64
            A permutation of 1..n_labels in each row; 1 is best.
        """
        return strict_ranks(self.decision_function(X))

    def predict_order(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """Predict the labels by name, best first.

        Parameters
        ----------
        %(X)s
        %(top)s
        """
        order = np.argsort(self.predict(X), axis=1)
        return self.labels_[order[:, :top]]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayOrNone = None) -> float:
        """Return the mean Kendall tau of the predicted and the given rankings.

        Parameters
        ----------
        %(X)s
        %(y)s
        %(weights_of_rows)s

        Returns
        -------
        float
            In [-1, 1].
        """
        predicted = self.predict(X)
        refuse_other_labels(y, self.labels_)
        return float(kendall_tau(y, predicted, sample_weight=sample_weight))


def _warn_of_many_labels(ranker: Any) -> None:
    """Say in advance that all pairs of labels will take their time and memory."""
    c = len(ranker.labels_)
    if c >= _MANY_LABELS and getattr(ranker, "calibrate", False):
        warn_user(
            f"{c} labels make {c * (c - 1) // 2:,} pairs, whose probabilities take time and "
            "memory: calibrate=False leaves them out."
        )


class BaseLabelRanker(LabelRankerMixin, BaseEstimator):
    """Base class of the label rankers of this package.

    Examples
    --------
    >>> class MeanRanks(BaseLabelRanker):
    ...     def _fit(self, X, ranks, weight):
    ...         self.votes_ = -np.average(ranks, axis=0, weights=weight)
    ...
    ...     def _decision(self, X):
    ...         return np.tile(self.votes_, (len(X), 1))
    >>> MeanRanks().fit([[0.0], [1.0]], [[2, 1], [2, 1]]).predict([[5.0]])
    array([[2, 1]])
    """


@documented()
class GraphRankerMixin(LabelRankerMixin):
    """Mixin of label rankers whose target may be ranks or preference graphs.

    A ranker writes ``_fit(X, graphs, weight)``; the rest is as for any label ranker.

    Examples
    --------
    >>> from prefero import LogLinearLabelRanker
    >>> graphs = PreferenceGraphs.from_pairs([[(0, 1)], [(1, 0)]], labels=[0, 1])
    >>> ranker = LogLinearLabelRanker(calibrate=False).fit([[0.0], [1.0]], graphs)
    >>> isinstance(ranker, GraphRankerMixin)
    True
    """

    def _read_target(self, y: Any, scores: ArrayOrNone, reset: bool) -> tuple[Any, Any, Any]:
        """Validate ranks or graphs.

        A graph without edges is an empty row, a label without edges in any graph unseen.
        """
        if not isinstance(y, PreferenceGraphs):
            return super()._read_target(y, scores, reset)
        if scores is not None:
            raise ValueError(
                "scores go with ranks, but y holds preference graphs: give its edges weights, "
                "PreferenceGraphs(..., weights=W)."
            )
        if not reset and y.n_labels != len(self.labels_):
            raise ValueError(
                f"y has {y.n_labels} labels, but the fit before it had {len(self.labels_)}."
            )
        return y, np.where(y.touched(), 1.0, np.nan), y.labels

    def _target(self, truth: Any) -> PreferenceGraphs:
        is_graphs = isinstance(truth, PreferenceGraphs)
        return truth if is_graphs else PreferenceGraphs.from_ranks(truth)

    def score(self, X: Any, y: Any, sample_weight: ArrayOrNone = None) -> float:
        """Return the mean Kendall tau of the predicted and the given rankings.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n_samples, n_labels) or PreferenceGraphs
            Their ranks, or graphs: then the correlation is the share of edges that the
            prediction respects less the share that it violates.
        %(weights_of_rows)s

        Returns
        -------
        float
            In [-1, 1].
        """
        if not isinstance(y, PreferenceGraphs):
            return super().score(X, y, sample_weight)
        scores = -self.predict(X)
        return 1 - 2 * float(ranking_error(y, scores, "edges", sample_weight=sample_weight))


@documented()
class ScoredRankerMixin(ExpectedScoresMixin):
    """Mixin of label rankers that learn how much is at stake, before the base of a ranker.

    Its ``_fit`` may be given ``ScoredRanks`` in place of ranks.

    Examples
    --------
    >>> from prefero import ForestLabelRanker
    >>> forest = ForestLabelRanker(5, random_state=0)
    >>> isinstance(forest, ScoredRankerMixin)
    True
    >>> X, Y, S = [[0.0], [1.0]] * 10, [[1, 2], [2, 1]] * 10, [[9.0, 1.0], [2.0, 3.0]] * 10
    >>> forest.fit(X, Y, scores=S).predict([[0.0]])
    array([[1, 2]])
    """

    # Scores reach the rankers of a search or a pipeline without being asked for.
    __metadata_request__fit: ClassVar = {"scores": True}

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayOrNone = None, scores: ArrayOrNone = None
    ) -> Self:
        """Learn from instances, their rankings and, if known, what the labels are worth.

        Parameters
        ----------
        %(X_to_learn)s
        %(ranks_to_learn)s
        %(weights_of_rows)s
        scores : array-like of shape (n_samples, n_labels), optional
            What the labels are worth, larger is better, in the order of the ranks: an order
            says which label is better, scores how much is lost by the other. ``-times`` for
            run times.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit_to(X, y, sample_weight, scores)  # type: ignore[attr-defined]


class PairWeightMixin(ScoredRankerMixin):
    """Mixin of rankers that weigh a pair of labels by the difference of their scores.

    A ranker has the parameter ``pair_weight``.

    Examples
    --------
    >>> from prefero import PairwiseLabelRanker
    >>> isinstance(PairwiseLabelRanker(pair_weight="score_difference"), PairWeightMixin)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "pair_weight": [StrOptions({"auto", "score_difference"}), None]
    }

    pair_weight: str | None

    def _target(self, truth: Any) -> Any:
        scored = isinstance(truth, ScoredRanks)
        if self.pair_weight == "score_difference" and not scored:
            raise ValueError(
                "pair_weight='score_difference' needs scores: fit(X, y, scores=S), larger is "
                "better."
            )
        used = truth.ranks if scored and self.pair_weight is None else truth
        return super()._target(used)  # type: ignore[misc]

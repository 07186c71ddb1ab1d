"""What every multilabel ranker shares: tags, validation, predictions around the virtual label."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._sampling import held_out_rows
from prefero._sklearn import StrOptions
from prefero._state import Array, FittedState, Number
from prefero._typing import ArrayOrNone, Indices, Values
from prefero._warnings import silenced
from prefero.base import _relevance
from prefero.base._features import place_unseen_last, refuse_other_labels
from prefero.base._fitting import LabelsMixin, copy_of, fitting
from prefero.metrics import spearman_rho
from prefero.rankings import (
    calibrated_from_relevance,
    check_relevance,
    label_names,
    split_calibrated,
    strict_calibrated,
    strict_ranks,
)


@documented()
class MultilabelRankerMixin(LabelsMixin):
    """Mixin of all multilabel rankers.

    A ranker writes two methods for data already validated: ``_fit(X, calibrated, weight)``, and
    ``_decision(X)``, which returns scores of shape (n_samples, n_labels): larger is better, and
    positive is relevant. What its parameters may be stands in ``_parameter_constraints``.
    Everything else is here, so the predicted set and the predicted order cannot contradict
    each other. A ranker with a parameter ``threshold`` that is not None learns from rows that it
    had not seen where the virtual label stands, and how likely labels are relevant.

    Attributes
    ----------
    labels_ : ndarray of shape (n_labels,)
        Label names: the columns of the table y was, else 0, 1, ...
    classes_ : ndarray of shape (n_labels,)
        Label indices, for tools of scikit-learn that ask for them.
    unseen_labels_ : ndarray of shape (n_labels,), dtype bool
        The labels whose relevance no training row knows. They are predicted last.
    feature_ranges_ : ndarray of shape (n_features, 2)
        The smallest and the largest value of each feature in training; NaN where it was always
        missing.
    threshold_ : float
        What is taken off all scores, if the place of the virtual label was learnt.
    relevance_curve_ : ndarray of shape (n_knots, 2)
        Scores before that, ascending, and how likely labels of such a score are relevant.

    Examples
    --------
    >>> from prefero import BinaryRelevanceRanker
    >>> isinstance(BinaryRelevanceRanker(), MultilabelRankerMixin)
    True
    """

    _estimator_type_tag: ClassVar[str] = "multilabel_ranker"
    _row_says: ClassVar[tuple[str, str]] = "judge", "judged"
    _threshold_constraint: ClassVar[list[Any]] = [StrOptions(set(_relevance.THRESHOLDS)), None]
    _fitted_state: ClassVar[FittedState] = {
        "threshold_": Number(optional=True),
        "relevance_curve_": Array("f8", "n_knots", 2, optional=True),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False, multi_label=True)
        return tags

    def _read_target(self, y: Any, ranks: Any, reset: bool) -> tuple[Values, Values, Any]:
        """Validate relevance and ranks: together they are calibrated ranks."""
        calibrated = calibrated_from_relevance(_indicator(y), ranks)
        return calibrated, calibrated[:, :-1], label_names(y)

    def fit(self, X: Any, y: Any, ranks: Any = None, sample_weight: ArrayOrNone = None) -> Self:
        """Learn from instances, their relevant labels and, if known, their rankings.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances. Tags tell whether a sparse matrix or NaN is legal.
        y : array-like of shape (n_samples, n_labels)
            Relevance: 1, 0, or NaN where unknown.
        ranks : array-like of shape (n_samples, n_labels), optional
            Ranks of the labels, which refine both parts where the method can use them.
        %(weights_of_rows)s

        Returns
        -------
        self
            The fitted ranker.
        """
        self._validate_params()
        with fitting(self) as ranker:
            data = ranker._validate_fit(X, y, sample_weight, ranks)
            blank = copy_of(ranker, anew=False)
            ranker._fit(*data)
            ranker._place_virtual_label(blank, *data)
        return self

    def _place_virtual_label(
        self, blank: Any, X: Any, calibrated: Values, weight: Values, groups: Indices | None = None
    ) -> None:
        """Learn the place of the virtual label from rows that rankers had not seen."""
        wanted = getattr(self, "threshold", None)
        if wanted is None:
            return
        relevance, folds = split_calibrated(calibrated)[0], held_out_rows(X, calibrated, groups)
        scores = np.full(relevance.shape, np.nan if folds else 0.0)
        with silenced():  # the fit to all rows has shown the warnings
            for seen, out in folds:
                data = X[seen], calibrated[seen], weight[seen]
                scores[out] = self._held_out_decision(blank, data, X[out])
        used = ~np.isnan(scores).any(axis=1)
        held_out = scores[used], relevance[used], weight[used]
        self.threshold_ = _relevance.learn_threshold(*held_out, wanted) if folds else 0.0
        self.relevance_curve_ = _relevance.learn_relevance(*held_out)

    def _held_out_decision(self, blank: Any, seen: tuple[Any, Values, Values], X: Any) -> Values:
        """Return scores of some rows by a ranker that learns from others."""
        ranker = copy_of(blank, anew=False)
        ranker._fit(*seen)
        return np.asarray(ranker._decision(X))

    def _fit(self, X: Any, calibrated: Values, weight: Values) -> None:
        raise NotImplementedError

    def decision_function(self, X: Any) -> Values:
        """Return scores: their descending order is the predicted order, positive is relevant.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Scores, larger is better; the virtual label has score 0.
        """
        check_is_fitted(self)
        scores = self._decision(self._validate_X(X, reset=False)) - getattr(self, "threshold_", 0.0)
        with_zero = np.column_stack([scores, np.zeros(len(scores))])
        return place_unseen_last(with_zero, np.append(self.unseen_labels_, False))[:, :-1]

    def _decision(self, X: NDArray[Any]) -> Values:
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Predict which labels are relevant.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype int64
            1 for relevant, 0 for irrelevant; a label on the virtual label is irrelevant.
        """
        return (self.decision_function(X) > 0).astype(np.int64)

    @available_if(lambda ranker: getattr(ranker, "threshold", None) is not None)
    def predict_proba(self, X: Any) -> Values:
        """Predict how likely each label is relevant.

        Of the labels given a probability p, a share p is relevant: the probabilities are
        calibrated on training rows that the ranker had not seen, over all labels together, and
        follow the order of the labels.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities; ``predict`` follows ``threshold``, so it need not cut at 1/2. For a
            single label two columns, as scikit-learn's: irrelevant and relevant.
        """
        scores = self.decision_function(X) + self.threshold_
        found = np.interp(scores, *self.relevance_curve_.T)
        return np.hstack([1 - found, found]) if len(self.labels_) == 1 else found

    def predict_ranks(self, X: Any) -> NDArray[np.int64]:
        """Predict the rank of every label.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype int64
            A permutation of 1..n_labels in each row; relevant labels come first.
        """
        return strict_ranks(self.decision_function(X))

    def predict_calibrated(self, X: Any) -> NDArray[np.int64]:
        """Predict the rank of every label and of the virtual label.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels + 1), dtype int64
            A permutation of 1..n_labels + 1 in each row, the virtual label in the last column.
        """
        return strict_calibrated(self.decision_function(X))

    def predict_order(self, X: Any, top: int | None = None) -> NDArray[Any]:
        """Predict the labels by name, best first.

        Parameters
        ----------
        %(X)s
        %(top)s
        """
        order = np.argsort(self.predict_ranks(X), axis=1)
        return self.labels_[order[:, :top]]

    def score(
        self, X: Any, y: ArrayLike, ranks: ArrayOrNone = None, sample_weight: ArrayOrNone = None
    ) -> float:
        """Return the mean generalized Spearman correlation over the labels and the virtual label.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n_samples, n_labels)
            Their relevance: 1, 0 or NaN.
        ranks : array-like of shape (n_samples, n_labels), optional
            Ranks inside both parts.
        %(weights_of_rows)s

        Returns
        -------
        float
            In [-1, 1].
        """
        predicted = self.predict_calibrated(X)
        refuse_other_labels(y, self.labels_)
        truth = calibrated_from_relevance(_indicator(y), ranks)
        return float(spearman_rho(truth, predicted, sample_weight=sample_weight))


def _indicator(y: Any) -> Any:
    """Return the relevance indicator that y is.

    A single column may hold any two classes, as for a binary classifier: the larger is relevant.
    """
    column = np.asarray(y)
    if column.ndim == 2 and column.shape[1] == 1 and column.dtype.kind in "bif":
        classes = np.unique(column[~np.isnan(column)])
        if len(classes) == 2:
            return np.where(np.isnan(column), np.nan, column == classes[1])
    check_relevance(y, name="y")
    return y


class BaseMultilabelRanker(MultilabelRankerMixin, BaseEstimator):
    """Base class of the multilabel rankers of this package.

    Examples
    --------
    >>> class Shares(BaseMultilabelRanker):
    ...     def _fit(self, X, calibrated, weight):
    ...         relevant = calibrated[:, :-1] < calibrated[:, -1:]
    ...         self.share_ = np.average(relevant, axis=0, weights=weight)
    ...
    ...     def _decision(self, X):
    ...         return np.tile(self.share_ - 0.5, (len(X), 1))
    >>> Shares().fit([[0.0], [1.0], [2.0]], [[1, 0], [1, 0], [1, 1]]).predict([[5.0]])
    array([[1, 0]])
    """

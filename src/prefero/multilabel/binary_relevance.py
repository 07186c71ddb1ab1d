"""Binary relevance: one model per label, whose scores order the labels."""

from typing import Any, ClassVar

import numpy as np

from prefero._docs import documented
from prefero._pairwise import BinaryModelsMixin, models_state, positive_margin
from prefero._state import FittedState
from prefero._typing import Values
from prefero.base import BaseMultilabelRanker


@documented()
class BinaryRelevanceRanker(BinaryModelsMixin, BaseMultilabelRanker):
    """Binary relevance (BR): learn for each label whether it is relevant.

    The scores of the models order the labels, and their threshold gives the relevant ones.
    Nothing is learned from ranks inside the two parts, nor from one label about another.

    Parameters
    ----------
    estimator : classifier, default=None
        The binary model; ``LogisticRegression()`` if None. A plain ridge logistic regression
        is solved for all labels together. Scores are probabilities, less 1/2, where the
        classifier has ``predict_proba``, else its decision values.
    n_jobs : int or None, default=None
        How many labels to train at the same time, as in joblib. The result does not depend
        on it.
    %(threshold)s

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Coefficients, if the models are logistic regressions solved together.
    intercept_ : ndarray of shape (n_labels,)
        Their intercepts.
    estimators_ : list of n_labels estimators
        The models otherwise; class 1 is relevant.

    Notes
    -----
    A label that all instances judge alike gets a constant probability: the weighted share of
    instances for which it is relevant after one more vote for either side.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> relevance = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    >>> ranker = BinaryRelevanceRanker().fit(X, relevance)
    >>> ranker.predict([[-1.0], [4.0]])
    array([[1, 0, 0],
           [0, 0, 1]])
    """

    _fitted_state: ClassVar[FittedState] = models_state("n_labels")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryModelsMixin._parameter_constraints,
        "threshold": BaseMultilabelRanker._threshold_constraint,
    }

    def __init__(
        self, estimator: Any = None, *, n_jobs: int | None = None, threshold: str | None = "auto"
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.threshold = threshold

    def _fit(self, X: Any, calibrated: Values, weight: Values) -> None:
        labels, zero = calibrated[:, :-1], calibrated[:, -1:]
        signs = (labels < zero).astype(np.int8) - (labels > zero).astype(np.int8)
        self._warn_unless(self._fit_models(X, signs, weight))

    def _decision(self, X: Any) -> Values:
        if hasattr(self, "coef_"):
            return self._probabilities(X) - 0.5
        return self._responses(positive_margin, X)

"""Ranking by pairwise comparison: a binary model a pair of labels, and a vote."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from prefero._pairwise import PairwiseModelsMixin, pairs_state
from prefero._state import FittedState
from prefero.base import BaseLabelRanker


class PairwiseLabelRanker(PairwiseModelsMixin, BaseLabelRanker):
    """Ranking by pairwise comparison (RPC).

    For each pair of labels a binary model learns which of the two comes first, from those
    instances that order the pair. A label's score is the sum of the probabilities that it
    precedes each other label (weighted voting).

    Parameters
    ----------
    estimator : classifier, default=None
        The binary model; ``LogisticRegression()`` if None. A plain ridge logistic regression
        is solved for all pairs together. A classifier without ``predict_proba`` votes 0 or 1.
    max_models : int or None, default=20000
        The number of pairs above which to refuse; None for no limit.
    n_jobs : int or None, default=None
        How many pairs to train at the same time, as in joblib. The result does not depend
        on it.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        The pairs of label indices, the smaller first.
    coef_ : ndarray of shape (n_pairs, n_features)
        Coefficients, if the models are logistic regressions solved together.
    intercept_ : ndarray of shape (n_pairs,)
        Their intercepts.
    estimators_ : list of n_pairs estimators
        The models otherwise; class 1 says that the first label of the pair leads.

    Notes
    -----
    A pair that all instances order alike, or none, gets a constant probability: the weighted
    share of its first label after one more vote for either side.

    References
    ----------
    Hüllermeier, Fürnkranz, Cheng & Brinker (2008), Label ranking by learning pairwise
    preferences, Artificial Intelligence 172.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> ranker = PairwiseLabelRanker().fit(X, Y)
    >>> ranker.predict([[-1.0], [4.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    >>> ranker.predict_pairwise([[-1.0]])[0, 0].round(2)
    array([0.5 , 0.93, 0.93])
    """

    _fitted_state: ClassVar[FittedState] = pairs_state("n_labels")

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_models: int | None = 20_000,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_models = max_models
        self.n_jobs = n_jobs

    def _decision(self, X: Any) -> NDArray[np.float64]:
        return self._votes(X)

    def _margins(self, X: Any) -> NDArray[np.float64]:
        return logit(np.clip(self._probabilities(X), 1e-9, 1 - 1e-9))

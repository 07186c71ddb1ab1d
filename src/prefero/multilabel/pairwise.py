"""Calibrated ranking by pairwise comparison: labels against each other and the virtual label."""

from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._pairwise import PairwiseModelsMixin, pairs_state
from prefero._state import FittedState
from prefero._typing import Values
from prefero.base import BaseMultilabelRanker


@documented()
class PairwiseMultilabelRanker(PairwiseModelsMixin, BaseMultilabelRanker):
    """Calibrated ranking by pairwise comparison (CRPC).

    A binary model for each pair of labels learns which of the two comes first, and one for each
    label whether it is relevant, that is, comes before the virtual label. The labels and the zero
    point are ordered by the sum of the probabilities to precede the others.

    Parameters
    ----------
    estimator : classifier, default=None
        The binary model; ``LogisticRegression()`` if None. A plain ridge logistic regression
        is solved for all pairs together. A classifier without ``predict_proba``, such as a
        support vector machine, votes 0 or 1.
    max_models : int or None, default=20000
        The number of pairs above which to refuse; None for no limit.
    scale : bool, default=True
        Whether the default model standardizes features inside, so that neither their units nor
        their zero matter; sparse ones are not centred.
    n_jobs : int or None, default=None
        How many pairs to train at the same time, as in joblib. The result does not depend
        on it.
    %(threshold)s

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        The pairs of label indices, the smaller first; the virtual label is the last index.
    coef_ : ndarray of shape (n_pairs, n_features)
        Coefficients, if the models are logistic regressions solved together.
    intercept_ : ndarray of shape (n_pairs,)
        Their intercepts.
    estimators_ : list of n_pairs estimators
        The models otherwise; class 1 says that the first label of the pair leads.

    References
    ----------
    Brinker, Fürnkranz & Hüllermeier (2006), A unified model for multilabel classification and
    ranking, ECAI.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> relevance = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    >>> ranker = PairwiseMultilabelRanker().fit(X, relevance)
    >>> ranker.predict([[-1.0], [4.0]])
    array([[1, 0, 0],
           [0, 0, 1]])
    """

    _modest_ranker = "BinaryRelevanceRanker"

    _fitted_state: ClassVar[FittedState] = pairs_state("n_labels + 1")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairwiseModelsMixin._parameter_constraints,
        "threshold": BaseMultilabelRanker._threshold_constraint,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_models: int | None = 20_000,
        scale: bool = True,
        n_jobs: int | None = None,
        threshold: str | None = "auto",
    ) -> None:
        super().__init__(estimator, max_models=max_models, scale=scale, n_jobs=n_jobs)
        self.threshold = threshold

    def _decision(self, X: Any) -> Values:
        votes = self._votes(X)
        return votes[:, :-1] - votes[:, -1:]

    def predict_pairwise(self, X: Any) -> Values:
        """Predict the probability that one label, or the virtual label, precedes another.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray of shape (n_samples, n_labels + 1, n_labels + 1)
            ``[n, i, j]`` is P(i before j), the virtual label last; 1/2 on the diagonal.
        """
        check_is_fitted(self)
        return self._pairwise_matrix(self._validate_X(X, reset=False))

"""The same order for everyone: the baseline every ranker must beat."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefero.base import BaseLabelRanker
from prefero.consensus import borda_votes


class ConsensusLabelRanker(BaseLabelRanker):
    """Predict the consensus of the training rankings for every instance.

    Attributes
    ----------
    votes_ : ndarray of shape (n_labels,)
        Mean generalized Borda votes of the labels.

    Examples
    --------
    >>> ranker = ConsensusLabelRanker().fit([[0], [1], [2]], [[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    >>> ranker.predict([[5]])
    array([[1, 2, 3]])
    """

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Aggregate the training rankings.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances; only their number is used.
        y : array-like of shape (n_samples, n_labels)
            Ranks.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        self
            The fitted ranker.
        """
        X, ranks, weight = self._validate_fit(X, y, sample_weight)
        self.votes_ = np.average(borda_votes(ranks), axis=0, weights=weight)
        return self

    def _decision(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return np.tile(self.votes_, (len(X), 1))

"""ML-kNN, to be compared with: case-based multilabel classification by neighbour counts."""

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors

Values = NDArray[np.float64]


class MLkNN(BaseEstimator):
    """ML-kNN of Zhang & Zhou (2007), for comparison: posteriors of neighbour counts."""

    def __init__(self, n_neighbors: int = 10, smoothing: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing

    def fit(self, X: Values, y: Values) -> "MLkNN":
        """Estimate priors, and how many neighbours have a label when a case has it or not."""
        k, s = self.n_neighbors, self.smoothing
        self.index_, self.y_ = NearestNeighbors(n_neighbors=k).fit(X), y
        self.prior_ = (s + y.sum(axis=0)) / (2 * s + len(y))
        counts = y[self.index_.kneighbors(return_distance=False)].sum(axis=1).astype(int)
        self.likelihood_ = np.empty((2, k + 1, y.shape[1]))
        for side in (0, 1):
            for label in range(y.shape[1]):
                seen = np.bincount(counts[y[:, label] == side, label], minlength=k + 1)
                self.likelihood_[side, :, label] = (s + seen) / (s * (k + 1) + seen.sum())
        return self

    def decision_function(self, X: Values) -> Values:
        """Return the posterior probability of each label, less 1/2."""
        counts = self.y_[self.index_.kneighbors(X, return_distance=False)].sum(axis=1).astype(int)
        labels = np.arange(self.y_.shape[1])
        yes = self.prior_ * self.likelihood_[1, counts, labels]
        no = (1 - self.prior_) * self.likelihood_[0, counts, labels]
        return yes / (yes + no) - 0.5

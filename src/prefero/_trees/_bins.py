"""Features as the core's trees and thresholds see them: at most 255 bins each."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._typing import Values

MAX_BINS = 255  # the 256th is for missing values
MAX_ROWS_FOR_QUANTILES = 200_000
# Rows that are binned at a time, so that no second copy of all features is needed.
_ROWS_TOGETHER = 2**16


class FeatureBins(NamedTuple):
    """Where the bins of all features end.

    Attributes
    ----------
    edges : ndarray of shape (n_edges,)
        The edges of all features, one after the other. Values up to an edge lie below it.
    starts : ndarray of shape (n_features + 1,)
        Where the edges of each feature start.
    categorical : ndarray of shape (n_features,), dtype bool
        Which features are nominal: each of their values is a bin.
    """

    edges: Values
    starts: NDArray[np.int64]
    categorical: NDArray[np.bool_]

    def of_feature(self, feature: int) -> Values:
        """Return the edges of one feature."""
        return self.edges[self.starts[feature] : self.starts[feature + 1]]

    def apply(self, X: Values) -> NDArray[np.uint8]:
        """Return the bin of every value; a category never seen is like a missing value."""
        if X.dtype == np.float64 and not self.categorical.any():
            return _core.bin_values(X, self.edges, self.starts)
        bins = np.empty(X.shape, dtype=np.uint8)
        for first in range(0, len(X), _ROWS_TOGETHER):
            rows = slice(first, first + _ROWS_TOGETHER)
            bins[rows] = self._some(X[rows])
        return bins

    def _some(self, X: Values) -> NDArray[np.uint8]:
        X = np.array(X, dtype=np.float64, order="C", copy=bool(self.categorical.any()) or None)
        for feature in np.flatnonzero(self.categorical).tolist():
            known = np.arange(len(self.of_feature(feature)) + 1)
            X[~np.isin(X[:, feature], known), feature] = np.nan
        return _core.bin_values(X, self.edges, self.starts)


def find_bins(
    X: Values, categorical: NDArray[np.bool_] | None = None, max_bins: int = MAX_BINS
) -> FeatureBins:
    """Find the edges of all features; nominal ones hold numbers 0, 1, ... of categories.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features, NaN where missing.
    categorical : ndarray of shape (n_features,), dtype bool, optional
        Which features are nominal; none by default.
    max_bins : int, default=255
        Bins a numeric feature has at most.

    Returns
    -------
    FeatureBins
        Half way between neighbouring values if there are at most ``max_bins``, else at
        quantiles.

    Examples
    --------
    >>> find_bins(np.array([[1.0], [4.0], [2.0], [np.nan]])).edges
    array([1.5, 3. ])
    """
    if categorical is None:
        categorical = np.zeros(X.shape[1], dtype=bool)
    some = X
    if len(X) > MAX_ROWS_FOR_QUANTILES:
        # Drawn, for every k-th row would follow the period of data that have one.
        drawn = np.random.default_rng(0).choice(len(X), MAX_ROWS_FOR_QUANTILES, replace=False)
        some = X[np.sort(drawn)]
    edges = [
        np.arange(np.nanmax(X[:, feature], initial=0)) + 0.5
        if nominal
        else numeric_edges(some[:, feature], max_bins)
        for feature, nominal in enumerate(categorical)
    ]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in edges])]).astype(np.int64)
    return FeatureBins(np.concatenate([*edges, np.empty(0)]), starts, categorical)


def numeric_edges(column: Values, max_bins: int | None) -> Values:
    """Return the edges of one feature, NaN being no value; None: as many as there are."""
    return _core.numeric_edges(column, len(column) + 1 if max_bins is None else max_bins)


def n_features_to_try(max_features: float | int | str | None, n_features: int) -> int:
    """Return how many features a node tries: all, a number, a share, their root or logarithm."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, int(float(max_features) * n_features))

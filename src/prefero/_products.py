"""Products of features, dense or sparse, with a matrix that has one column per label."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from prefero import _core
from prefero._typing import Values

# So many rows are multiplied at a time, the last ones filled up: BLAS takes other ways, which
# round otherwise, for other numbers of rows.
_BLOCK = 64
# Features beyond these sizes could leave the range of single precision.
_SMALL, _LARGE = 1e-10, 1e10


def row_products(X: Any, weights: Values) -> Values:
    """X @ weights, where the bits of a row do not depend on the other rows nor on its place.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    weights : ndarray of shape (n_features, n_columns)
        What they are multiplied by.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
        The products.

    Examples
    --------
    >>> row_products(np.array([[0.0, 2.0], [1.0, 0.0]]), np.array([[1.0], [3.0]]))
    array([[6.],
           [1.]])
    """
    if issparse(X):
        return np.asarray(X @ weights)
    n_samples, n_features = X.shape
    X, weights = np.ascontiguousarray(X), np.asfortranarray(weights)
    n_whole = n_samples - n_samples % _BLOCK
    products = np.empty((n_samples, weights.shape[1]))
    if n_whole:
        n_blocks = n_whole // _BLOCK  # by number: there may be no features
        blocks = products[:n_whole].reshape(n_blocks, _BLOCK, weights.shape[1])
        np.matmul(X[:n_whole].reshape(n_blocks, _BLOCK, n_features), weights, out=blocks)
    if n_whole < n_samples:
        last = np.zeros((_BLOCK, n_features))
        last[: n_samples - n_whole] = X[n_whole:]
        products[n_whole:] = (last @ weights)[: n_samples - n_whole]
    return products


class FeatureProducts:
    """X times matrices, and its transpose times matrices, many times over.

    Sparse features are kept by rows and by columns, so that both products write each row of
    their result once.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.

    Attributes
    ----------
    has_float32 : bool
        Whether float32 products are faster: sums in single precision, relative errors about 1e-7.

    Examples
    --------
    >>> products = FeatureProducts(csr_array([[0.0, 2.0], [1.0, 0.0], [0.0, 3.0]]))
    >>> products.times(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 6.,  8.],
           [ 1.,  2.],
           [ 9., 12.]])
    >>> products.transposed_times(np.array([[1.0], [1.0], [1.0]]), float32=True)
    array([[1.],
           [5.]])
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._by_rows: dict[type, Any] = {}
        self._by_columns: dict[type, Any] = {}
        self.has_float32 = issparse(X) and _moderate(X.data)
        if issparse(X):
            rows, columns = _compressed(csr_array(X)), _compressed(csr_array(X.T))
            for kind in (np.float64, np.float32) if self.has_float32 else (np.float64,):
                self._by_rows[kind] = (*rows[:2], rows[2].astype(kind))
                self._by_columns[kind] = (*columns[:2], columns[2].astype(kind))

    def times(self, weights: Values, *, float32: bool = False) -> Values:
        """X @ weights."""
        if not self._by_rows:
            return np.ascontiguousarray(self._X @ weights)
        return _product(self._by_rows[self._kind(float32)], weights)

    def transposed_times(self, values: Values, *, float32: bool = False) -> Values:
        """X.T @ values."""
        if not self._by_columns:
            return np.ascontiguousarray(self._X.T @ values)
        return _product(self._by_columns[self._kind(float32)], values)

    def _kind(self, float32: bool) -> type:
        return np.float32 if float32 and self.has_float32 else np.float64


def _moderate(values: Values) -> bool:
    sizes = np.abs(values[values != 0])
    return len(sizes) == 0 or bool(sizes.min() > _SMALL and sizes.max() < _LARGE)


def _compressed(X: Any) -> tuple[Any, Any, Any]:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data


def _product(X: tuple[Any, Any, Any], dense: Values) -> Values:
    result = np.empty((len(X[0]) - 1, dense.shape[1]))
    _core.sparse_product(*X, np.ascontiguousarray(dense, dtype=X[2].dtype), result)
    return result

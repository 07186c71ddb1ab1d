"""Base of distributed estimators: the fitted plain model, and lazy predictions."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero.distributed._engine import need

# Parts of docstrings.


def learner_of(estimator: Any, learners: Mapping[type, Callable[..., Any]]) -> Callable[..., Any]:
    """Return the function that fits an estimator of exactly this class to partitions."""
    kind = type(estimator)
    if kind not in learners:
        known = ", ".join(sorted(one.__name__ for one in learners))
        raise TypeError(
            f"{kind.__name__} cannot be fitted to partitions: use one of {known}; or fit it to a "
            "sample."
        )
    return learners[kind]


@documented()
class BaseDistributed(BaseEstimator):
    """Base of estimators that fit a plain estimator to the partitions of collections."""

    _fitted: Any

    def to_local(self) -> Any:
        """Return the fitted estimator: a plain one, without a client inside.

        Returns
        -------
        estimator
            It predicts, is saved and explained as if one machine had fitted it.
        """
        check_is_fitted(self)
        return self._fitted

    def decision_function(self, X: Any) -> Any:
        """Return scores whose descending order is the predicted order.

        %(of_collection)s

        Returns
        -------
        Dask array or ndarray of shape (n_rows, n_labels) or (n_rows,)
            Scores of labels or of objects, larger is better; lazy for a collection.
        """
        check_is_fitted(self)
        return self._scores(X)

    def _scores(self, X: Any) -> Any:
        model = self.to_local()
        width = (len(model.labels_),) if hasattr(model, "labels_") else ()
        return by_blocks(model, "decision_function", X, np.float64, width)


def by_blocks(model: Any, method: str, X: Any, dtype: Any, width: tuple[int, ...]) -> Any:
    """Apply a method of a fitted model to each block of rows.

    Parameters
    ----------
    model : estimator
        A fitted one.
    method : str
        A method that returns one entry per row.
    X : Dask array or DataFrame, or array-like
        Instances.
    dtype : dtype
        Of what the method returns.
    width : tuple of int
        The shape of what it returns for one row.

    Returns
    -------
    Dask array or ndarray
        Predictions.
    """
    if not hasattr(X, "__dask_graph__"):
        return getattr(model, method)(X)
    delayed = need("dask").delayed
    sent = delayed(model, pure=True)
    return each_block(X, lambda block: delayed(_block)(block, sent, method), dtype, width)


def each_block(X: Any, call: Callable[[Any], Any], dtype: Any, width: tuple[int, ...]) -> Any:
    """Return the results of a delayed call for each block of rows, as one Dask array."""
    array = need("dask.array")
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1})
        sizes, blocks = X.chunks[0], X.to_delayed().ravel()
    else:
        blocks = X.to_delayed()
        sizes = (float("nan"),) * len(blocks)
    parts = [
        array.from_delayed(call(block), (size, *width), dtype=dtype)
        for block, size in zip(blocks, sizes, strict=True)
    ]
    return array.concatenate(parts)


def _block(X: Any, model: Any, method: str) -> Any:
    return getattr(model, method)(X)

"""Predictions for collections, as lazy as they are."""

from typing import Any

from prefero.distributed._engine import need


def by_blocks(
    model: Any, method: str, X: Any, dtype: Any, width: tuple[int, ...] | None = None
) -> Any:
    """Apply a method of a fitted model to each block of rows.

    Parameters
    ----------
    model : estimator
        A fitted one.
    method : str
        A method that returns an entry a row.
    X : Dask array or DataFrame, or array-like
        Instances.
    dtype : dtype
        Of what the method returns.
    width : tuple of int, optional
        The shape of what it returns for one row; a number a label by default.

    Returns
    -------
    Dask array or ndarray
        Predictions.
    """
    if not hasattr(X, "__dask_graph__"):
        return getattr(model, method)(X)
    array, delayed = need("dask.array"), need("dask").delayed
    sent = delayed(model, pure=True)
    shape = (len(model.labels_),) if width is None else width
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1})
        sizes, blocks = X.chunks[0], X.to_delayed().ravel()
    else:
        blocks = X.to_delayed()
        sizes = (float("nan"),) * len(blocks)
    parts = [
        array.from_delayed(delayed(_block)(block, sent, method), (size, *shape), dtype=dtype)
        for block, size in zip(blocks, sizes, strict=True)
    ]
    return array.concatenate(parts)


def _block(X: Any, model: Any, method: str) -> Any:
    return getattr(model, method)(X)

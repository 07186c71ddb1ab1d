"""Orderers to compare with: one that learns nothing, and one from another library."""

from typing import Any

import numpy as np

from prefero._optional import require
from prefero._typing import Values
from prefero.base import BaseOrderer
from prefero.base._ordering import SampleOrders

# LightGBM's gains are powers of two: with more grades only the best object would count.
_MOST_GRADES = 31


class ConstantOrderer(BaseOrderer):
    """Tie all objects: the baseline of every orderer.

    Examples
    --------
    >>> ConstantOrderer().fit([[0], [1]], [1, 2]).predict([[5], [7]])
    array([1, 1])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, orders: SampleOrders) -> None:
        pass

    def _decision(self, X: Any) -> Values:
        return np.zeros(X.shape[0])


class LightGBMOrderer(BaseOrderer):
    """LightGBM's ranker (lambdarank) with its default parameters.

    Parameters
    ----------
    random_state : int, optional
        The seed.

    Attributes
    ----------
    booster_ : LGBMRanker
        The trained ranker.

    Examples
    --------
    >>> X, y, qid = [[0.1], [0.9]] * 40, [2, 1] * 40, [k // 2 for k in range(80)]
    >>> orderer = LightGBMOrderer(random_state=0)
    >>> orderer.fit(X, y, qid).predict([[0.9], [0.1]]).shape  # doctest: +SKIP
    (2,)
    """

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, orders: SampleOrders) -> None:
        lightgbm = require("lightgbm", extra="all", purpose="LightGBM's ranker")
        queries = orders.queries
        levels = queries.levels(orders.positions)
        deepest = np.maximum.reduceat(levels, queries.starts[:-1])
        grades = np.minimum(deepest[queries.codes] - levels, _MOST_GRADES - 1)
        ranker = lightgbm.LGBMRanker(
            random_state=self.random_state, n_jobs=1, verbose=-1, deterministic=True
        )
        self.booster_ = ranker.fit(np.asarray(orders.X), grades, group=queries.sizes)

    def _decision(self, X: Any) -> Values:
        return np.asarray(self.booster_.predict(np.asarray(X)), dtype=np.float64)

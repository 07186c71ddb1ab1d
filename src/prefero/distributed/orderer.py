"""Orderers that learn from sample orders in partitions, and are plain local ones afterwards."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from prefero._docs import documented
from prefero.base import fitting, twin_of
from prefero.distributed._blockwise import (
    SHARED_DOCS,
    BaseDistributed,
    by_blocks,
    learner_of,
)
from prefero.distributed._engine import find_engine
from prefero.distributed._orderers import fit_expected_rank, fit_rank_svm, fit_reducer
from prefero.distributed._orders import OrderPartitions
from prefero.distributed._partitions import Blocks
from prefero.ordering import ExpectedRankOrderer, RankCorrelationReducer, RankSVMOrderer

_LEARNERS: dict[type, Callable[..., None]] = {
    ExpectedRankOrderer: fit_expected_rank,
    RankSVMOrderer: fit_rank_svm,
    RankCorrelationReducer: fit_reducer,
}


@documented(**SHARED_DOCS)
class DistributedOrderer(BaseDistributed):
    """Fit an orderer or reducer to sample orders that lie in the partitions of Dask collections.

    Parameters
    ----------
    orderer : ExpectedRankOrderer, RankSVMOrderer or RankCorrelationReducer
        What to fit; its parameters mean what they mean there.
    %(where)s

    Attributes
    ----------
    orderer_ : orderer or reducer
        The fitted one.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from prefero import ExpectedRankOrderer
    >>> X = da.from_array(np.array([[3.0], [1.0], [2.0], [0.0], [5.0], [4.0]]), chunks=(3, 1))
    >>> ranks = da.from_array(np.array([1, 3, 2, 3, 1, 2]), chunks=3)
    >>> qid = da.from_array(np.array([0, 0, 0, 1, 1, 1]), chunks=3)
    >>> orderer = DistributedOrderer(ExpectedRankOrderer()).fit(X, ranks, qid)
    >>> orderer.to_local().predict([[1.0], [9.0], [4.0]])
    array([3, 1, 2])
    """

    orderer_: Any

    def __init__(
        self, orderer: Any, *, client: Any = None, n_jobs: int | None = None, folder: Any = None
    ) -> None:
        self.orderer = orderer
        self.client = client
        self.n_jobs = n_jobs
        self.folder = folder

    def fit(self, X: Any, y: Any, qid: Any) -> Self:
        """Learn from collections of objects, their ranks and the orders they belong to.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_objects, n_features)
            One row an object in one order.
        y : Dask array or Series of shape (n_objects,)
            Ranks inside the group, in as many partitions.
        qid : Dask array or Series of shape (n_objects,)
            Names the order each row belongs to. An order lies in one partition.

        Returns
        -------
        self
            The fitted orderer.
        """
        learner = learner_of(self.orderer, _LEARNERS)
        blocks = Blocks(X=X, y=y, qid=qid)
        engine = find_engine(self.client, self.n_jobs, self.folder)
        try:
            orderer = clone(self.orderer)
            orderer._validate_params()
            with fitting(orderer) as twin:
                partitions = OrderPartitions(engine, blocks, twin_of(twin))
                partitions.name_features(twin)
                learner(twin, partitions)
        finally:
            engine.close()
        self.orderer_ = orderer
        return self

    @property
    def _fitted(self) -> Any:
        return self.orderer_

    def transform(self, X: Any) -> Any:
        """Project objects on the components of a reducer.

        %(of_collection)s

        Returns
        -------
        Dask array or ndarray of shape (n_objects, n_components)
            Coordinates; of a collection as lazy as it is.
        """
        reducer = self.to_local()
        return by_blocks(reducer, "transform", X, np.float64, (reducer.n_components_,))

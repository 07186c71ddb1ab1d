"""Rows in partitions: sums over them, by Dask or one after the other; plain local models out."""

from prefero.distributed.label_ranker import DistributedLabelRanker
from prefero.distributed.orderer import DistributedOrderer

__all__ = ["DistributedLabelRanker", "DistributedOrderer"]

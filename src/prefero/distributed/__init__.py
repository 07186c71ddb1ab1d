"""Rows in partitions: sums over them, by Dask or one after the other; plain local models out."""

from prefero.distributed.label_ranker import DistributedLabelRanker

__all__ = ["DistributedLabelRanker"]

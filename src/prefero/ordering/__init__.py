"""Orderers: sample orders of objects with features in, the order of any new set out."""

from prefero.ordering.expected_rank import ExpectedRankOrderer
from prefero.ordering.rank_svm import RankSVMOrderer

__all__ = ["ExpectedRankOrderer", "RankSVMOrderer"]

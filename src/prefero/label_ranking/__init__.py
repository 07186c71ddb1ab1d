"""Label rankers: instance in, order of a fixed label set out."""

from prefero.label_ranking.baseline import ConsensusLabelRanker
from prefero.label_ranking.constraint import ConstraintLabelRanker
from prefero.label_ranking.loglinear import LogLinearLabelRanker
from prefero.label_ranking.neighbors import NeighborsLabelRanker
from prefero.label_ranking.pairwise import PairwiseLabelRanker

__all__ = [
    "ConsensusLabelRanker",
    "ConstraintLabelRanker",
    "LogLinearLabelRanker",
    "NeighborsLabelRanker",
    "PairwiseLabelRanker",
]

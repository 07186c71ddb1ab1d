from .aggregation import mean_calibrated_ranks
from .baseline import ConsensusMultilabelRanker
from .binary_relevance import BinaryRelevanceRanker
from .calibrated import CalibratedMultilabelRanker
from .neighbors import (
    MultilabelNeighborExplanation,
    NeighborsMultilabelRanker,
)
from .pairwise import PairwiseMultilabelRanker

__all__ = [
    "BinaryRelevanceRanker",
    "CalibratedMultilabelRanker",
    "ConsensusMultilabelRanker",
    "MultilabelNeighborExplanation",
    "NeighborsMultilabelRanker",
    "PairwiseMultilabelRanker",
    "mean_calibrated_ranks",
]

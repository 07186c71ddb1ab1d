"""Multilabel rankers: instance in, order of the labels and the relevant ones among them out."""

from prefero.multilabel.aggregation import mean_calibrated_ranks
from prefero.multilabel.baseline import ConsensusMultilabelRanker
from prefero.multilabel.binary_relevance import BinaryRelevanceRanker
from prefero.multilabel.calibrated import CalibratedMultilabelRanker
from prefero.multilabel.neighbors import (
    MultilabelNeighborExplanation,
    NeighborsMultilabelRanker,
)
from prefero.multilabel.pairwise import PairwiseMultilabelRanker

__all__ = [
    "BinaryRelevanceRanker",
    "CalibratedMultilabelRanker",
    "ConsensusMultilabelRanker",
    "MultilabelNeighborExplanation",
    "NeighborsMultilabelRanker",
    "PairwiseMultilabelRanker",
    "mean_calibrated_ranks",
]

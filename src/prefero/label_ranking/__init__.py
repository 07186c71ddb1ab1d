"""Label rankers: instance in, order of a fixed label set out."""

from prefero.label_ranking.baseline import ConsensusLabelRanker
from prefero.label_ranking.boosting import BoostingLabelRanker
from prefero.label_ranking.constraint import ConstraintLabelRanker
from prefero.label_ranking.forest import ForestLabelRanker
from prefero.label_ranking.label_features import LabelFeatureRanker
from prefero.label_ranking.loglinear import LogLinearLabelRanker
from prefero.label_ranking.neighbors import NeighborsLabelRanker
from prefero.label_ranking.pairwise import PairwiseLabelRanker
from prefero.label_ranking.regression import RegressionLabelRanker
from prefero.label_ranking.tree import TreeLabelRanker

__all__ = [
    "BoostingLabelRanker",
    "ConsensusLabelRanker",
    "ConstraintLabelRanker",
    "ForestLabelRanker",
    "LabelFeatureRanker",
    "LogLinearLabelRanker",
    "NeighborsLabelRanker",
    "PairwiseLabelRanker",
    "RegressionLabelRanker",
    "TreeLabelRanker",
]

from .baseline import ConsensusLabelRanker
from .boosting import BoostingLabelRanker
from .constraint import ConstraintLabelRanker
from .forest import ForestLabelRanker
from .label_features import LabelFeatureRanker
from .loglinear import LogLinearLabelRanker
from .neighbors import NeighborsLabelRanker
from .pairwise import PairwiseLabelRanker
from .regression import RegressionLabelRanker
from .ridge import RidgeLabelRanker
from .tree import TreeLabelRanker

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
    "RidgeLabelRanker",
    "TreeLabelRanker",
]

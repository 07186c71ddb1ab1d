"""Prefero learns to order: label ranking, multilabel ranking and supervised ordering."""

from importlib import import_module
from typing import Any

# Public name -> the room it lives in. Rooms load on first use, so that `import prefero`
# and the command line's help stay quick.
_PUBLIC = {
    "BinaryRelevanceRanker": "multilabel",
    "BoostingFeatureSelector": "text",
    "BoostingLabelRanker": "label_ranking",
    "BoostingOrderer": "ordering",
    "CohenOrderer": "ordering",
    "ConsensusLabelRanker": "label_ranking",
    "ConsensusMultilabelRanker": "multilabel",
    "ConstraintLabelRanker": "label_ranking",
    "ExpectedRankOrderer": "ordering",
    "ForestLabelRanker": "label_ranking",
    "LogCountTransformer": "text",
    "LogLinearLabelRanker": "label_ranking",
    "NeighborsLabelRanker": "label_ranking",
    "NeighborsMultilabelRanker": "multilabel",
    "OrderSVMOrderer": "ordering",
    "PairwiseLabelRanker": "label_ranking",
    "PairwiseMultilabelRanker": "multilabel",
    "PreferenceGraphs": "preferences",
    "RankBoostOrderer": "ordering",
    "RankCorrelationReducer": "ordering",
    "RankSVMOrderer": "ordering",
    "TextEncoder": "text",

from ._expected_scores import ExpectedScoresMixin
from ._features import check_features, feature_ranges, place_unseen_last, unseen_labels
from ._fitting import FittedMixin, fitting, continues_fit, copy_of
from ._label_ranking import (
    BaseLabelRanker,
    GraphRankerMixin,
    LabelRankerMixin,
    PairWeightMixin,
    ScoredRankerMixin,
)
from ._multilabel import BaseMultilabelRanker, MultilabelRankerMixin
from ._ordering import BaseOrderer, OrdererMixin, SampleOrders, check_sample_orders
from ._pair_probabilities import PairwisePrediction, buckets_of, pairwise_prediction

__all__ = [
    "BaseLabelRanker",
    "BaseMultilabelRanker",
    "BaseOrderer",
    "ExpectedScoresMixin",
    "FittedMixin",
    "GraphRankerMixin",
    "LabelRankerMixin",
    "MultilabelRankerMixin",
    "OrdererMixin",
    "PairWeightMixin",
    "PairwisePrediction",
    "SampleOrders",
    "ScoredRankerMixin",
    "buckets_of",
    "check_features",
    "check_sample_orders",
    "feature_ranges",
    "fitting",
    "continues_fit",
    "pairwise_prediction",
    "place_unseen_last",
    "copy_of",
    "unseen_labels",
]

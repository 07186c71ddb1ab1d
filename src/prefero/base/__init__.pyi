from ._features import check_features, feature_ranges, put_last, unseen_labels
from ._fitting import FittedMixin, fitting, goes_on, twin_of
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
    "goes_on",
    "pairwise_prediction",
    "put_last",
    "twin_of",
    "unseen_labels",
]

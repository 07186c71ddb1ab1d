from .boosting import BoostingOrderer
from .cohen import CohenOrderer
from .data import (
    OrderedObjects,
    objects_from_clicks,
    objects_from_orders,
    objects_from_pairs,
    ranks_in_queries,
)
from .expected_rank import ExpectedRankOrderer
from .order_svm import OrderSVMOrderer
from .plotting import ComponentsDisplay
from .rank_boost import RankBoostOrderer
from .rank_svm import RankSVMOrderer
from .reduction import AttributeWeight, RankCorrelationReducer

__all__ = [
    "AttributeWeight",
    "BoostingOrderer",
    "CohenOrderer",
    "ComponentsDisplay",
    "ExpectedRankOrderer",
    "OrderSVMOrderer",
    "OrderedObjects",
    "RankBoostOrderer",
    "RankCorrelationReducer",
    "RankSVMOrderer",
    "objects_from_clicks",
    "objects_from_orders",
    "objects_from_pairs",
    "ranks_in_queries",
]

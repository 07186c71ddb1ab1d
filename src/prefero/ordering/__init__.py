"""Orderers: sample orders of objects with features in, the order of any new set out."""

from prefero.ordering.boosting import BoostingOrderer
from prefero.ordering.cohen import CohenOrderer
from prefero.ordering.data import (
    OrderedObjects,
    objects_from_clicks,
    objects_from_orders,
    objects_from_pairs,
    ranks_in_groups,
)
from prefero.ordering.expected_rank import ExpectedRankOrderer
from prefero.ordering.order_svm import OrderSVMOrderer
from prefero.ordering.plotting import ComponentsDisplay
from prefero.ordering.rank_boost import RankBoostOrderer
from prefero.ordering.rank_svm import RankSVMOrderer
from prefero.ordering.reduction import AttributeWeight, RankCorrelationReducer

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
    "ranks_in_groups",
]

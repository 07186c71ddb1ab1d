"""Multilabel rankers: instance in, order of the labels and the relevant ones among them out."""

from prefero.multilabel import metrics
from prefero.multilabel.aggregation import mean_calibrated_ranks
from prefero.multilabel.neighbors import (
    MultilabelNeighborExplanation,
    NeighborsMultilabelRanker,
)

__all__ = [
    "MultilabelNeighborExplanation",
    "NeighborsMultilabelRanker",
    "mean_calibrated_ranks",
    "metrics",
]

"""Automatic and stacked rankers, with conformal predictions."""

from prefero.automatic.auto import AutoLabelRanker
from prefero.automatic.multilabel import AutoMultilabelRanker
from prefero.automatic.orderer import AutoOrderer
from prefero.automatic.stacking import StackingLabelRanker
from prefero.automatic.table import TableTransformer

__all__ = [
    "AutoLabelRanker",
    "AutoMultilabelRanker",
    "AutoOrderer",
    "StackingLabelRanker",
    "TableTransformer",
]

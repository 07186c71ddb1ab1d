"""Rankers that choose and combine other rankers, and say within which error they are sure."""

from prefero.automatic.auto import AutoLabelRanker
from prefero.automatic.stacking import StackingLabelRanker
from prefero.automatic.table import TableTransformer

__all__ = ["AutoLabelRanker", "StackingLabelRanker", "TableTransformer"]

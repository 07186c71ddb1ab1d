"""What chooses and combines rankers, and says within which error it is sure."""

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

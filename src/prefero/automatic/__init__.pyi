from .auto import AutoLabelRanker
from .multilabel import AutoMultilabelRanker
from .orderer import AutoOrderer
from .stacking import StackingLabelRanker
from .table import TableTransformer

__all__ = [
    "AutoLabelRanker",
    "AutoMultilabelRanker",
    "AutoOrderer",
    "StackingLabelRanker",
    "TableTransformer",
]

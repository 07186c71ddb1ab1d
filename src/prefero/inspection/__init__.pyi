from .explanation import VIRTUAL_LABEL, Explanation, ExplanationDisplay, explain
from .model_displays import TreeDisplay
from .objects import explain_objects
from .ranking_displays import PairMatrixDisplay, RankHeatmapDisplay
from .result_displays import (
    CostCurveDisplay,
    CriticalDifferenceDisplay,
    GainDisplay,
    MissingLabelsDisplay,
)
from .uncertainty_displays import AbstentionDisplay, CalibrationDisplay

__all__ = [
    "AbstentionDisplay",
    "CalibrationDisplay",
    "CostCurveDisplay",
    "CriticalDifferenceDisplay",
    "Explanation",
    "ExplanationDisplay",
    "GainDisplay",
    "MissingLabelsDisplay",
    "PairMatrixDisplay",
    "RankHeatmapDisplay",
    "TreeDisplay",
    "VIRTUAL_LABEL",
    "explain",
    "explain_objects",
]

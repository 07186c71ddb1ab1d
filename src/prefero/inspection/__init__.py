"""Explanations of predictions, and displays of rankings and experiments.

A display is made by a ``from_...`` constructor and drawn by ``plot(ax=None)``, which keeps the
axes as ``ax_`` and the figure as ``figure_``, like scikit-learn's displays. Matplotlib is
imported when the first one is drawn. Lines and bars differ by shape as well as by color.
"""

from prefero.inspection.explanation import VIRTUAL_LABEL, Explanation, ExplanationDisplay, explain
from prefero.inspection.model_displays import DimensionsDisplay, TreeDisplay
from prefero.inspection.objects import explain_objects
from prefero.inspection.ranking_displays import PairMatrixDisplay, RankHeatmapDisplay
from prefero.inspection.result_displays import (
    CostCurveDisplay,
    CriticalDifferenceDisplay,
    GainDisplay,
    MissingLabelsDisplay,
)
from prefero.inspection.uncertainty_displays import AbstentionDisplay, CalibrationDisplay

__all__ = [
    "VIRTUAL_LABEL",
    "AbstentionDisplay",
    "CalibrationDisplay",
    "CostCurveDisplay",
    "CriticalDifferenceDisplay",
    "DimensionsDisplay",
    "Explanation",
    "ExplanationDisplay",
    "GainDisplay",
    "MissingLabelsDisplay",
    "PairMatrixDisplay",
    "RankHeatmapDisplay",
    "TreeDisplay",
    "explain",
    "explain_objects",
]

"""Explanations of predictions, and displays of rankings and experiments.

A display is made by a ``from_...`` constructor and drawn by ``plot(ax=None)``, which keeps the
axes as ``ax_`` and the figure as ``figure_``, as scikit-learn's displays do. Matplotlib is
imported when the first one is drawn. Lines and bars differ by shape as well as by colour.
"""

from prefero.inspection.calibration import CalibrationDisplay
from prefero.inspection.cost_curve import CostCurveDisplay
from prefero.inspection.critical_difference import CriticalDifferenceDisplay
from prefero.inspection.dimensions import DimensionsDisplay
from prefero.inspection.explanation import ZERO_POINT, Explanation, explain
from prefero.inspection.explanation_display import ExplanationDisplay
from prefero.inspection.gain import GainDisplay
from prefero.inspection.missing_labels import MissingLabelsDisplay
from prefero.inspection.objects import explain_objects
from prefero.inspection.pair_matrix import PairMatrixDisplay
from prefero.inspection.rank_heatmap import RankHeatmapDisplay
from prefero.inspection.reliability import AbstentionDisplay
from prefero.inspection.tree import TreeDisplay

__all__ = [
    "ZERO_POINT",
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

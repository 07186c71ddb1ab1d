"""Pictures of rankings and of experiments, each an object that keeps what it draws.

A display is made by a ``from_...`` constructor and drawn by ``plot(ax=None)``, which keeps the
axes as ``ax_`` and the figure as ``figure_``, as scikit-learn's displays do. Matplotlib is
imported when the first one is drawn. Lines and bars differ by shape as well as by colour.
"""

from prefero.study.plotting.calibration import CalibrationDisplay
from prefero.study.plotting.cost_curve import CostCurveDisplay
from prefero.study.plotting.critical_difference import CriticalDifferenceDisplay
from prefero.study.plotting.dimensions import DimensionsDisplay
from prefero.study.plotting.explanation import ExplanationDisplay
from prefero.study.plotting.gain import GainDisplay
from prefero.study.plotting.missing_labels import MissingLabelsDisplay
from prefero.study.plotting.pair_matrix import PairMatrixDisplay
from prefero.study.plotting.rank_heatmap import RankHeatmapDisplay
from prefero.study.plotting.reliability import AbstentionDisplay
from prefero.study.plotting.tree import TreeDisplay

__all__ = [
    "AbstentionDisplay",
    "CalibrationDisplay",
    "CostCurveDisplay",
    "CriticalDifferenceDisplay",
    "DimensionsDisplay",
    "ExplanationDisplay",
    "GainDisplay",
    "MissingLabelsDisplay",
    "PairMatrixDisplay",
    "RankHeatmapDisplay",
    "TreeDisplay",
]

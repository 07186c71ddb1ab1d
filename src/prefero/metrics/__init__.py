"""How good a predicted ranking is.

Every metric compares two rank matrices, or preference graphs and scores, row by row; metrics
of ranks skip labels that either row does not rank. It returns the (weighted) mean over the rows
where it is defined, or with ``average=False`` one value a row, NaN where it is not. The metrics of
label sets are in :mod:`prefero.metrics.multilabel`.
"""

from prefero.metrics._pair_probabilities import (
    CalibrationCurve,
    pairwise_brier,
    pairwise_calibration_curve,
    pairwise_calibration_error,
    pairwise_log_loss,
)
from prefero.metrics._partial import completeness, correctness, ranking_error
from prefero.metrics._rankings import (
    footrule,
    kendall_distance,
    kendall_tau,
    spearman_rho,
    top_accuracy,
)
from prefero.metrics._scorers import (
    SCORERS,
    Scorer,
    footrule_scorer,
    gap_closed_scorer,
    kendall_tau_scorer,
    kendall_tau_x_scorer,
    pairwise_brier_scorer,
    pairwise_calibration_error_scorer,
    pairwise_log_loss_scorer,
    regret_scorer,
    spearman_rho_scorer,
    top_accuracy_scorer,
    utility_scorer,
)
from prefero.metrics._utility import gap_closed, penalized_run_times, regret, utility

__all__ = [
    "SCORERS",
    "CalibrationCurve",
    "Scorer",
    "completeness",
    "correctness",
    "footrule",
    "footrule_scorer",
    "gap_closed",
    "gap_closed_scorer",
    "kendall_distance",
    "kendall_tau",
    "kendall_tau_scorer",
    "kendall_tau_x_scorer",
    "pairwise_brier",
    "pairwise_brier_scorer",
    "pairwise_calibration_curve",
    "pairwise_calibration_error",
    "pairwise_calibration_error_scorer",
    "pairwise_log_loss",
    "pairwise_log_loss_scorer",
    "penalized_run_times",
    "ranking_error",
    "regret",
    "regret_scorer",
    "spearman_rho",
    "spearman_rho_scorer",
    "top_accuracy",
    "top_accuracy_scorer",
    "utility",
    "utility_scorer",
]

"""How good a predicted ranking is.

Every measure compares two rank matrices, or preference graphs and scores, row by row; measures
of ranks skip labels that either row does not rank. It returns the (weighted) mean over the rows
where it is defined, or with ``average=False`` one value a row, NaN where it is not. The measures of
label sets are in :mod:`prefero.metrics.multilabel`.
"""

from prefero.metrics._graphs import ranking_error
from prefero.metrics._partial import completeness, correctness
from prefero.metrics._rankings import (
    footrule,
    footrule_scorer,
    kendall_distance,
    kendall_tau,
    kendall_tau_scorer,
    regret,
    spearman_rho,
    spearman_rho_scorer,
    top_accuracy,
    top_accuracy_scorer,
)

__all__ = [
    "completeness",
    "correctness",
    "footrule",
    "footrule_scorer",
    "kendall_distance",
    "kendall_tau",
    "kendall_tau_scorer",
    "ranking_error",
    "regret",
    "spearman_rho",
    "spearman_rho_scorer",
    "top_accuracy",
    "top_accuracy_scorer",
]

"""Optimisers that the linear rankers and orderers share."""

from prefero._solvers._held_out import HeldOutModels, case_numbers
from prefero._solvers._lbfgs import Lbfgs, warn_unconverged
from prefero._solvers._logistic import (
    by_newton,
    descend,
    descend_together,
    ridge_and_start,
    solve_logistic,
    split_intercept,
)
from prefero._solvers._problems import LogisticProblems

__all__ = [
    "HeldOutModels",
    "Lbfgs",
    "LogisticProblems",
    "by_newton",
    "case_numbers",
    "descend",
    "descend_together",
    "ridge_and_start",
    "solve_logistic",
    "split_intercept",
    "warn_unconverged",
]

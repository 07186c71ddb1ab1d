"""Optimisers that the linear rankers and orderers share."""

from prefero._solvers._convergence import warn_unconverged
from prefero._solvers._held_out import HeldOutModels, case_numbers
from prefero._solvers._lbfgs import Lbfgs
from prefero._solvers._logistic import (
    LogisticProblems,
    minimize_logistic,
    solve_logistic,
    weight_sums,
)

__all__ = [
    "HeldOutModels",
    "Lbfgs",
    "LogisticProblems",
    "case_numbers",
    "minimize_logistic",
    "solve_logistic",
    "warn_unconverged",
    "weight_sums",
]

"""Study rankers: cross-validated experiments, their comparison and their pictures."""

from prefero.study.experiment import run_experiment, summarize
from prefero.study.table import Table

__all__ = ["Table", "run_experiment", "summarize"]

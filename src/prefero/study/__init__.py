"""Study rankers: cross-validated experiments, their comparison and their pictures."""

from prefero.study.comparison import Comparison, compare, relative_sizes
from prefero.study.experiment import run_experiment, summarize
from prefero.study.table import Table

__all__ = [
    "Comparison",
    "Table",
    "compare",
    "relative_sizes",
    "run_experiment",
    "summarize",
]

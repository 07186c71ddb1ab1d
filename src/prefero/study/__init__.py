"""Study rankers: cross-validated experiments, their comparison, their pictures and their page."""

from prefero.study._peers import ConstantOrderer, LightGBMOrderer
from prefero.study.comparison import Comparison, compare, relative_sizes
from prefero.study.costs import cost_curve, single_choices
from prefero.study.experiment import run_experiment, summarize
from prefero.study.explanation import ZERO_POINT, Explanation, explain
from prefero.study.folds import compare_folds
from prefero.study.new_labels import leave_one_label_out
from prefero.study.objects import explain_objects
from prefero.study.report import write_report
from prefero.study.table import Table

__all__ = [
    "ZERO_POINT",
    "Comparison",
    "ConstantOrderer",
    "Explanation",
    "LightGBMOrderer",
    "Table",
    "compare",
    "compare_folds",
    "cost_curve",
    "explain",
    "explain_objects",
    "leave_one_label_out",
    "relative_sizes",
    "run_experiment",
    "single_choices",
    "summarize",
    "write_report",
]

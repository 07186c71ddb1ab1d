"""Cross-validated experiments, their tables of results, and tests of which rankers differ."""

from prefero.evaluation.baselines import ConstantOrderer, LightGBMOrderer
from prefero.evaluation.comparison import Comparison, compare, relative_sizes
from prefero.evaluation.costs import cost_curve, single_choices
from prefero.evaluation.experiment import run_experiment
from prefero.evaluation.fold_comparison import compare_folds
from prefero.evaluation.new_labels import leave_one_label_out
from prefero.evaluation.results import ResultTable, summarize

__all__ = [
    "Comparison",
    "ConstantOrderer",
    "LightGBMOrderer",
    "ResultTable",
    "compare",
    "compare_folds",
    "cost_curve",
    "leave_one_label_out",
    "relative_sizes",
    "run_experiment",
    "single_choices",
    "summarize",
]

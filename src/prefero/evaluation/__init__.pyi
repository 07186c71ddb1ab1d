from .baselines import ConstantOrderer, LightGBMOrderer
from .comparison import Comparison, compare
from .costs import cost_curve, single_choices
from .experiment import run_experiment
from .fitted import evaluate
from .new_labels import leave_one_label_out
from .paired_comparison import compare_folds, compare_rows
from .results import ResultTable, relative_sizes, summarize

__all__ = [
    "Comparison",
    "ConstantOrderer",
    "LightGBMOrderer",
    "ResultTable",
    "compare",
    "compare_folds",
    "compare_rows",
    "cost_curve",
    "evaluate",
    "leave_one_label_out",
    "relative_sizes",
    "run_experiment",
    "single_choices",
    "summarize",
]

"""The private names of scikit-learn that Prefero uses, so that one file follows its changes."""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    make_constraint,
    validate_parameter_constraints,
)
from sklearn.utils.parallel import _threadpool_controller_decorator as limit_threads
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_feature_names_in",
    "check_sample_weight",
    "limit_threads",
    "make_constraint",
    "safe_indexing",
    "validate_parameter_constraints",
]

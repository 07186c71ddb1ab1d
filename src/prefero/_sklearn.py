"""The private names of scikit-learn that Prefero uses, so that one file follows its changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
from sklearn.utils.validation import _check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_feature_names_in",
    "check_sample_weight",
    "in_one_sentence",
    "limit_threads",
    "make_constraint",
    "safe_indexing",
    "validate_parameter_constraints",
]


@contextmanager
def in_one_sentence(name: str) -> Iterator[None]:
    """Word errors of conversion to numbers in one sentence that says what they are about."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        sentence = " ".join(str(error).split())
        if "convert" not in sentence and not isinstance(error, OverflowError):
            raise type(error)(sentence) from error
        raise ValueError(f"{name} must hold numbers of ordinary size: {sentence}.") from error


def check_sample_weight(sample_weight: Any, X: Any, **options: Any) -> Any:
    """Return weights as scikit-learn checks them."""
    with in_one_sentence("sample_weight"):
        return _check_sample_weight(sample_weight, X, **options)

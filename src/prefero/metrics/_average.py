"""From one value a row to the figure a user asked for."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_consistent_length

from prefero._typing import Values
from prefero._warnings import warn_user


def defined_ratio(numerator: Values, denominator: Values) -> Values:
    """Divide, giving NaN where the denominator is zero: there the metric is undefined."""
    defined = denominator > 0
    return np.where(defined, numerator / np.where(defined, denominator, 1), np.nan)


def average_rows(
    values: Values,
    average: bool,
    sample_weight: ArrayLike | None,
    metric: str,
    *,
    why_undefined: str = "no row has two labels that both sides order",
) -> float | Values:
    """Return the values a row, or their weighted mean over the rows where they are defined."""
    if not average:
        return values
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, float)
    check_consistent_length(values, weight)
    defined = ~np.isnan(values)
    total = weight[defined].sum()
    if not total > 0:
        warn_user(
            f"{metric} is undefined: {why_undefined}.",
            UndefinedMetricWarning,
        )
        return float("nan")
    return float(values[defined] @ weight[defined] / total)

"""How much automatic rankers are to try: parameters that all of them have."""

from numbers import Integral, Real
from typing import Any

from prefero._sklearn import Interval, StrOptions

PRESET_CONSTRAINTS: dict[str, list[Any]] = {
    "preset": [StrOptions({"quick", "balanced", "best"})],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "verbose": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}
GUARD_CONSTRAINTS: dict[str, list[Any]] = {
    "baseline_guard": [Interval(Real, 0, None, closed="left")]
}

# Parts of docstrings, by the names of what they describe.
OF_PRESET = {
    "time_limit": """
        time_limit : float, optional
            Seconds. What there is no time for is left out, and said.
        """,
    "working": """
        verbose : bool, default=False
            Whether to show on a terminal what is done and the time left.
        n_jobs : int, optional
            How many folds to run at the same time, as in joblib.
        random_state : int, RandomState or None, default=None
            Where trees and kernels draw from.
        """,
    "not_used": """
        skipped_ : list of dict
            ``ranker`` (or column) and ``why`` of what was not used, or not on all rows.
        """,
    "preparation": """
        preparation_ : TableTransformer
            How columns become numbers.
        """,
}

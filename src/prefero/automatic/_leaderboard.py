"""What was tried, and how good it was on rows not seen: a line each."""

from typing import Any

import numpy as np


def line(
    name: str,
    family: str,
    mean: float,
    error: float,
    share: float | None = None,
    seconds: float = 0.0,
) -> dict[str, Any]:
    """Return a line of a leaderboard; without a share where nothing is stacked."""
    weight = {} if share is None else {"weight": share}
    return {
        "ranker": name,
        "family": family,
        "held_out": mean,
        "standard_error": error if np.isfinite(error) else float("nan"),
        **weight,
        "seconds": round(seconds, 3),
    }


def board(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave the constant answer first and sort the others, the best first."""
    head, *rest = lines
    return [head, *sorted(rest, key=lambda one: -_known(one["held_out"]))]


def _known(value: float) -> float:
    return -np.inf if np.isnan(value) else value

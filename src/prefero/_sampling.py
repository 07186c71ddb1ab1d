"""Rows that stand for all where there are many: a sample without chance."""

import numpy as np

from prefero._typing import Indices

# What parameters are chosen and probabilities are learned by, at most.
SAMPLE_ROWS = 20_000


def evenly_spaced(n_rows: int, most: int = SAMPLE_ROWS) -> Indices:
    """Return the numbers of rows spread evenly over so many, all if they are few.

    Examples
    --------
    >>> evenly_spaced(10, 4)
    array([0, 3, 6, 9])
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.int64)  # at least 1 apart

"""Cells of text as features: columns of numbers where all are numbers, else of categories."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset(("", "?", "NA", "NaN", "nan"))


def encode_columns(
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    categories: dict[str, list[str]] | None = None,
) -> tuple[NDArray[np.float64], dict[str, list[str]]]:
    """Turn rows of text into a matrix of numbers.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells.
    names : sequence of str
        The names of the columns.
    categories : dict, optional
        The categories of the columns known to be nominal. A column that is in none and holds
        a cell that is no number gets its own cells, sorted.

    Returns
    -------
    data : ndarray of shape (n_rows, n_columns)
        Numbers; a category is its index, a missing cell NaN.
    categories : dict
        The categories of each nominal column.
    """
    found = dict(categories or {})
    data = np.empty((len(rows), len(names)))
    for j, name in enumerate(names):
        cells = [row[j] for row in rows]
        present = sorted({cell for cell in cells if cell not in MISSING})
        if name not in found and not all(_is_number(cell) for cell in present):
            found[name] = present
        if name in found:
            codes = {category: float(code) for code, category in enumerate(found[name])}
            data[:, j] = [codes.get(cell, np.nan) for cell in cells]
        else:
            data[:, j] = [np.nan if cell in MISSING else float(cell) for cell in cells]
    return data, found


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

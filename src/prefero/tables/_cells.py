"""What one cell of a table means: a number, a text, or nothing at all."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from prefero._optional import require
from prefero._typing import Indices, Values

if TYPE_CHECKING:
    import pandas as pd

need = partial(require, extra="tables", purpose="Reading and writing tables")

MISSING = frozenset(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")
)


def numbers_of(cells: "pd.Series[Any]") -> tuple[Values, Indices]:
    """Return cells as numbers, NaN where missing, and the rows whose cell is neither.

    Parameters
    ----------
    cells : Series
        Texts, numbers or a mixture.

    Returns
    -------
    values : ndarray of shape (n_rows,)
        Finite numbers, and NaN.
    bad : ndarray of int
        The rows whose cell is neither a finite number nor missing.
    """
    if need("pandas").api.types.is_numeric_dtype(cells.dtype):
        values = cells.to_numpy(np.float64, na_value=np.nan)
    else:
        texts = _texts(cells)
        try:
            values = np.fromiter(map(float, texts), np.float64, len(texts))
            plain = not np.isnan(values).any() and "_" not in "".join(texts)
        except ValueError:
            plain = False
        values = values if plain else np.array([_number(text) for text in texts], np.float64)
    bad = np.flatnonzero(np.isinf(values))
    return np.where(np.isinf(values), np.nan, values), bad


def texts_of(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return cells as texts, NaN where missing."""
    texts = [np.nan if text.strip() in MISSING else text for text in _texts(cells)]
    return need("pandas").Series(texts, index=cells.index, dtype=object)


def names_of(cells: "pd.Series[Any]") -> list[Any]:
    """Return cells as names of labels: any text may be one, and nothing but '' is missing."""
    return [None if text.strip() == "" else text for text in _texts(cells)]


def _texts(cells: "pd.Series[Any]") -> list[str]:
    """The cells as texts; '' for what has no value in pandas, Python or Excel."""
    plain = cells.tolist()
    if set(map(type, plain)) <= {str}:
        return plain
    return [
        cell if isinstance(cell, str) else "" if absent else str(cell)
        for cell, absent in zip(plain, cells.isna().tolist(), strict=True)
    ]


def _number(text: str) -> float:
    """The number that a text is, NaN if it is missing, and infinity if it is none."""
    text = text.strip()
    if text in MISSING:
        return np.nan
    try:
        value = np.inf if "_" in text else float(text)
    except ValueError:
        return np.inf
    return np.inf if np.isnan(value) else value

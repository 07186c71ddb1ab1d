"""Columns of a table of features: numbers, names of things, and prose."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def text_columns(features: "pd.DataFrame") -> list[str]:
    """Return the names of the columns that name things."""
    from pandas.api.types import is_numeric_dtype

    written = prose_columns(features)
    names = [str(name) for name in features.columns if not is_numeric_dtype(features[name])]
    return [name for name in names if name not in written]


def prose_columns(features: "pd.DataFrame") -> list[str]:
    """Return the names of the columns whose words are learned from."""
    from pandas import StringDtype

    types = features.dtypes.items()
    return [str(name) for name, dtype in types if isinstance(dtype, StringDtype)]

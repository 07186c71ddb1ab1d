"""Features out of a table: for training by what the cells are, later by what a model knows."""

import warnings
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from prefero._names import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Rankings, Table

_MOST_TEXTS, _FEWEST_IDS = 255, 10


def training_features(
    rankings: "Rankings", text: str | None, prose: str | None = None
) -> "pd.DataFrame":
    """Return the features of instances, which are all columns that hold no rankings."""
    table = rankings.table
    if not rankings.features:
        raise table.error("every column holds rankings: there is no feature to learn from.")
    columns = features_of(table, rankings.features, text, len(rankings.rows), prose)
    return columns.iloc[rankings.rows].reset_index(drop=True)


def features_of(
    table: "Table",
    names: Iterable[str],
    text: str | None,
    instances: int,
    prose: str | None = None,
) -> "pd.DataFrame":
    """Return columns of numbers, and of text with NaN for missing, of so many instances.

    Prose, whose words are learned from, has the dtype of strings; names of things are objects.
    """
    written = [] if prose is None else table.columns(prose)
    names = list(names)
    for name in written:
        if name not in names:
            raise table.error(f"--text-features {name}: the column is no feature.")
    as_text = [*written, *([] if text is None else table.columns(text))]
    features = table.features(names, as_text or None)
    features = features.astype(dict.fromkeys(written, "string"))
    for name in text_columns(features):
        _judge_texts(table, name, features[name].nunique(), instances)
    return features


def _judge_texts(table: "Table", name: str, different: int, instances: int) -> None:
    """Refuse a column of too many texts; wonder about one that tells every instance apart."""
    if different > _MOST_TEXTS:
        raise table.error(
            f"column {name!r} holds {different} different texts, more than {_MOST_TEXTS}: learn "
            f"from its words by --text-features {name!r}, or leave it out by --ignore {name!r}."
        )
    if different == instances >= _FEWEST_IDS:
        warnings.warn(
            f"column {name!r} holds a different text in every row: if it is a name and no "
            f"feature, leave it out by --ignore {name!r}; if it is prose, learn from its words by "
            f"--text-features {name!r}.",
            stacklevel=2,
        )


def known_features(
    table: "Table",
    names: list[str] | None,
    n_features: int,
    text: set[str],
    prose: Collection[str] = (),
) -> "pd.DataFrame | Any":
    """Return the features that a model was trained on, found by their names, in its order.

    A model that was trained without names takes all columns as they come.
    """
    import pandas

    if names is None:
        found = [str(name) for name in table.frame.columns]
        if len(found) != n_features:
            raise table.error(
                f"the model was trained on {n_features} features without names, but there are "
                f"{len(found)} columns."
            )
        return table.numbers(found)
    there = [str(name) for name in table.frame.columns]
    missing = [name for name in names if name not in there]
    if missing and not table.declared.sparse:
        listed = ", ".join(map(repr, missing))
        near = did_you_mean(missing[0], there)
        raise table.error(
            f"these columns are missing that the model was trained on: {listed}{near}."
        )
    columns = {
        name: _known(table, name, name in text or name in prose)
        for name in names
        if name not in missing
    }
    frame = pandas.DataFrame(columns, index=table.frame.index)
    return frame.reindex(columns=names, fill_value=0.0).astype(dict.fromkeys(prose, "string"))


def _known(table: "Table", name: str, as_text: bool) -> Any:
    return table.features([name], [name])[name] if as_text else table.numbers([name])[:, 0]


def refuse_missing(
    table: "Table", features: Any, rows: Any, model: str, able: str = "a tree or a forest"
) -> None:
    """Refuse the first number that is missing, in the name of a model that needs them all."""
    import numpy as np
    import pandas

    frame = pandas.DataFrame(features)
    numeric = frame.select_dtypes("number")
    at = np.argwhere(numeric.isna().to_numpy())
    if len(at):
        row, column = at[0]
        raise table.error(
            f"column {str(numeric.columns[column])!r} is empty, and {model} needs every number: "
            f"fill the cell, drop the line, or train {able}, which need not.",
            int(rows[row]),
        )


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

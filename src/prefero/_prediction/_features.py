"""Features out of a new table, by what a model knows."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from prefero._names import did_you_mean
from prefero._pipelines import final_step
from prefero._prediction._models import (
    as_input,
    categorical_features,
    feature_names,
    takes_missing,
    text_features,
)

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Table


def new_features(model: Any, table: "Table", able: str = "a tree or a forest") -> Any:
    """Return the features of a table as a model takes them; ``able`` ones take missing values."""
    import numpy as np

    names = feature_names(model)
    X = _known_features(
        table, names, model.n_features_in_, categorical_features(model), text_features(model)
    )
    if not takes_missing(model):
        refuse_missing(table, X, np.arange(len(X)), type(final_step(model)).__name__, able)
    return X if names is None else as_input(model, X)


def _known_features(
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

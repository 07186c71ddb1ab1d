"""The features of tables as models take them: what a model knows, and what it needs."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from prefero._names import did_you_mean
from prefero._pipelines import final_step

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.tables import DataTable

_ACCEPT_MISSING = "a tree or a forest"


def takes_categories(ranker: Any) -> bool:
    """Tell whether a ranker takes columns of pandas' category dtype."""
    return "categorical_features" in ranker.get_params(deep=False)


def takes_missing(model: Any) -> bool:
    """Tell whether a model takes NaN, or fills it in first."""
    from sklearn.utils import get_tags

    return bool(get_tags(final_step(model)).input_tags.allow_nan) or fills_gaps(model)


def fills_gaps(model: Any) -> bool:
    """Tell whether a model fills empty cells of numbers before it learns from them."""
    columns = dict(getattr(model, "steps", ())).get("columns")
    parts = {name: part for name, part, _ in getattr(columns, "transformers", ())}
    return "fill" in dict(getattr(parts.get("numbers"), "steps", ()))


def feature_names(model: Any) -> list[str] | None:
    """Return the names of the features that a model was trained on; None if it had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def categorical_features(model: Any) -> set[str]:
    """Return the features that a model was trained on as categories."""
    if final_step(model) is not model:
        return set(_columns_of(model, "text"))
    nominal = getattr(model, "nominal_features_", [])
    named = zip(feature_names(model) or [], nominal, strict=False)
    return {name for name, is_nominal in named if is_nominal}


def text_features(model: Any) -> set[str]:
    """Return the features whose words a model was trained on."""
    return set(_columns_of(model, "prose")) if final_step(model) is not model else set()


def known_categories(model: Any) -> dict[str, list[str]]:
    """Return the categories that a model was trained on, by feature."""
    if final_step(model) is model:
        known = getattr(model, "categories_", None) or {}
        names = feature_names(model) or []
        return {names[j]: list(map(str, found)) for j, found in known.items() if j < len(names)}
    return {
        name: list(map(str, values))
        for step, encoder, columns in getattr(model[0], "transformers_", [])
        if step == "text"
        for name, values in zip(map(str, columns), encoder.categories_, strict=True)
    }


def _columns_of(model: Any, wanted: str) -> list[str]:
    steps = getattr(model[0], "transformers_", [])
    return [name for step, _, columns in steps if step == wanted for name in columns]


def categorical_columns(features: "pd.DataFrame") -> list[str]:
    """Return the columns that hold categories: neither numbers nor text."""
    from pandas.api.types import is_numeric_dtype

    text = text_columns(features)
    names = [str(name) for name in features.columns if not is_numeric_dtype(features[name])]
    return [name for name in names if name not in text]


def text_columns(features: "pd.DataFrame") -> list[str]:
    """Return the columns of text, which have pandas' string dtype."""
    from pandas import StringDtype

    return [str(name) for name, kind in features.dtypes.items() if isinstance(kind, StringDtype)]


def as_text(features: "pd.DataFrame", names: Any) -> "pd.DataFrame":
    """Return features with some columns as text; a missing text has no words."""
    names = list(names)
    if not names:
        return features
    return features.assign(**{name: features[name].astype("string").fillna("") for name in names})


def as_input(model: Any, features: "pd.DataFrame") -> "pd.DataFrame":
    """Return features as a model takes them: text as categories where it knows them.

    A model that bins numbers takes them in single precision; any other in double precision.
    """
    if final_step(model) is not model or not takes_categories(model):
        narrow = features.columns[features.dtypes == "float32"]
        return features.astype(dict.fromkeys(narrow, "float64")) if len(narrow) else features
    return features.astype(dict.fromkeys(categorical_columns(features), "category"))


def new_features(model: Any, table: "DataTable", accept_missing: str = _ACCEPT_MISSING) -> Any:
    """Return the features of a table as a model takes them, found by their names.

    A model that was trained without names takes all columns as they come. ``accept_missing`` names
    models for a user whose numbers are missing.
    """
    names = feature_names(model)
    if names is None:
        X: Any = _unnamed_features(table, model.n_features_in_)
    else:
        X = _named_features(table, names, categorical_features(model), text_features(model))
    if not takes_missing(model):
        needs = type(final_step(model)).__name__
        refuse_missing(table, X, range(len(X)), needs, accept_missing)
    return X if names is None else as_input(model, X)


def _unnamed_features(table: "DataTable", n_features: int) -> "NDArray[np.float64]":
    columns = [str(name) for name in table.frame.columns]
    if len(columns) != n_features:
        raise table.error(
            f"the model was trained on {n_features} features without names, but there are "
            f"{len(columns)} columns."
        )
    return table.numbers(columns)


def _named_features(
    table: "DataTable", names: list[str], categorical: set[str], text: set[str]
) -> "pd.DataFrame":
    import pandas

    columns = [str(name) for name in table.frame.columns]
    missing = [name for name in names if name not in columns]
    declared = table.declared
    if declared.sparse:
        # What such a file does not mention is zero, but it must be about the same features.
        if others := set(columns).difference(names, {declared.group, declared.grade}):
            raise table.error(f"the model was trained on no feature {min(others)!r}.")
    if missing and (not declared.sparse or len(missing) == len(names)):
        near = did_you_mean(missing[0], columns)
        shown = f"{', '.join(map(repr, missing))}{near}"
        raise table.error(f"these columns are missing that the model was trained on: {shown}.")
    words = [name for name in names if name in categorical | text and name not in missing]
    numeric = [name for name in names if name not in {*words, *missing}]
    values = table.numbers(numeric) if numeric else None
    frame = pandas.DataFrame(values, columns=numeric, index=table.frame.index)
    if words:
        frame = frame.join(table.features(words, words))
    return as_text(frame.reindex(columns=names, fill_value=0.0), text)


def refuse_missing(
    table: "DataTable", features: Any, rows: Any, model: str, accept_missing: str = _ACCEPT_MISSING
) -> None:
    """Refuse the first missing number, on behalf of a model that needs them all."""
    import numpy as np
    import pandas

    numeric = pandas.DataFrame(features).select_dtypes("number")
    at = np.argwhere(numeric.isna().to_numpy())
    if len(at):
        row, column = at[0]
        raise table.error(
            f"column {str(numeric.columns[column])!r} is empty, and {model} needs every number: "
            f"fill the cell, drop the line, or train {accept_missing}, which need not.",
            int(rows[row]),
        )


def unseen_categories(model: Any, X: Any) -> dict[str, Counter[str]]:
    """Count the categories that a model was not trained on, by feature."""
    unseen = {}
    for column, known in known_categories(model).items():
        cells = X[column].dropna().astype(str)
        new = cells[~cells.isin(known)]
        if len(new):
            unseen[column] = Counter(new.tolist())
    return unseen

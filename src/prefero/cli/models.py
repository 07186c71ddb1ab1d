"""Rankers as commands train them, and models as commands find them in files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero._pipelines import final_step
from prefero.cli.features import text_columns
from prefero.cli.rankers import RankerChoice
from prefero.exceptions import ModelFileError

if TYPE_CHECKING:
    import pandas as pd


def build(
    choice: RankerChoice, features: "pd.DataFrame", settings: Mapping[str, Any] | None = None
) -> Any:
    """Return an untrained model for some features, with some parameters."""
    ranker = choice.make()
    _refuse_unknown(settings or {}, ranker)
    return behind_columns(ranker.set_params(**settings or {}), features)


def behind_columns(estimator: Any, features: "pd.DataFrame") -> Any:
    """Return an untrained model for some features.

    An estimator that knows nominal features, or any table, gets it as it is. Any other sits
    behind standardised numbers and one column a word.
    """
    from sklearn.utils import get_tags

    if takes_text(estimator) or get_tags(estimator).input_tags.string:
        return estimator
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    text = text_columns(features)
    numbers = [str(name) for name in features.columns if name not in text]
    words = [sorted(features[name].dropna().unique()) for name in text]
    encoder = OneHotEncoder(categories=words, handle_unknown="ignore", sparse_output=False)
    steps = [("numbers", StandardScaler(), numbers), ("text", encoder, text)]
    columns = ColumnTransformer(
        [step for step in steps if step[2]], verbose_feature_names_out=False
    )
    return Pipeline([("columns", columns), ("ranker", estimator)])


def _refuse_unknown(settings: Mapping[str, Any], ranker: Any) -> None:
    from typer import BadParameter

    known = sorted(ranker.get_params(deep=False))
    for name in settings:
        if name not in known:
            raise BadParameter(f"--set {name}: the parameters are {', '.join(known)}.")


def takes_text(ranker: Any) -> bool:
    """Tell whether a ranker takes columns of pandas' category dtype."""
    return "categorical_features" in ranker.get_params(deep=False)


def takes_missing(model: Any) -> bool:
    """Tell whether a model takes NaN."""
    from sklearn.utils import get_tags

    return bool(get_tags(final_step(model)).input_tags.allow_nan)


def as_input(model: Any, features: "pd.DataFrame") -> "pd.DataFrame":
    """Return features as a model takes them: text as categories where it knows them."""
    if not takes_text(final_step(model)):
        return features
    return features.astype(dict.fromkeys(text_columns(features), "category"))


def fit(model: Any, features: "pd.DataFrame", ranks: "pd.DataFrame", weight: Any = None) -> Any:
    """Train a model."""
    step = "" if final_step(model) is model else "ranker__"
    extra = {} if weight is None else {f"{step}sample_weight": weight}
    return model.fit(as_input(model, features), ranks, **extra)


def load_ranker(path: Path, key: bytes | None = None) -> Any:
    """Load a label ranker, or say what else the file holds."""
    from sklearn.utils import get_tags

    from prefero.persistence import load

    model = load(path, key=key)
    ranker = final_step(model)
    if get_tags(ranker).estimator_type != "label_ranker":
        raise ModelFileError(f"{path} holds a {type(ranker).__name__}, which is no label ranker.")
    return model


def feature_names(model: Any) -> list[str] | None:
    """Return the names of the features that a model was trained on; None if it had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def text_features(model: Any) -> set[str]:
    """Return which of its features a model was trained on as text."""
    names = feature_names(model) or []
    ranker = final_step(model)
    if ranker is not model:
        steps = getattr(model[0], "transformers_", [])
        return {name for step, _, columns in steps if step == "text" for name in columns}
    nominal = getattr(model, "nominal_features_", [])
    return {name for name, is_text in zip(names, nominal, strict=False) if is_text}


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """Return parameters from words such as 'n_estimators=500' or 'criterion=mallows'."""
    from typer import BadParameter

    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise BadParameter(f"--set takes NAME=VALUE, such as n_neighbors=20, not {setting!r}.")
        try:
            parsed[name.strip()] = json.loads(value)
        except ValueError:
            parsed[name.strip()] = {"None": None, "True": True, "False": False}.get(value, value)
    return parsed

"""Rankers as commands train them, and models as commands find them in files."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero._names import did_you_mean
from prefero._pipelines import final_step, fit_final
from prefero.cli.console import count, say
from prefero.cli.features import prose_columns, text_columns
from prefero.cli.rankers import RankerChoice
from prefero.exceptions import ModelFileError

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Rankings


_MOST_NAMES = 5


def build(
    choice: RankerChoice, features: "pd.DataFrame", settings: Mapping[str, Any] | None = None
) -> Any:
    """Return an untrained model for some features, with some parameters."""
    ranker = choice.make()
    refuse_unknown(settings or {}, ranker)
    return behind_columns(ranker.set_params(**settings or {}), features)


def behind_columns(estimator: Any, features: "pd.DataFrame") -> Any:
    """Return an untrained model for some features.

    An estimator that knows nominal features gets the table as it is, unless there is prose; one
    that takes any table always does. Any other sits behind standardised numbers, one column a
    name, and the dimensions of prose.
    """
    from sklearn.utils import get_tags

    prose = prose_columns(features)
    if (takes_text(estimator) and not prose) or get_tags(estimator).input_tags.string:
        return estimator
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from prefero import TextEncoder
    from prefero.pipeline import RankingPipeline

    text = text_columns(features)
    numbers = [str(name) for name in features.columns if name not in {*text, *prose}]
    words = [sorted(features[name].dropna().unique()) for name in text]
    encoder = OneHotEncoder(categories=words, handle_unknown="ignore", sparse_output=False)
    steps = [("numbers", StandardScaler(), numbers), ("text", encoder, text)]
    steps += [("prose", TextEncoder(), prose)]
    columns = ColumnTransformer(
        [step for step in steps if step[2]], verbose_feature_names_out=False
    )
    return RankingPipeline([("columns", columns), ("ranker", estimator)])


def refuse_unknown(settings: Mapping[str, Any], ranker: Any) -> None:
    """Refuse parameters that an estimator does not have."""
    from typer import BadParameter

    known = sorted(ranker.get_params(deep=False))
    for name in settings:
        if name not in known:
            near = did_you_mean(name, known)
            raise BadParameter(f"--set {name}{near}: the parameters are {', '.join(known)}.")


def takes_text(ranker: Any) -> bool:
    """Tell whether a ranker takes columns of pandas' category dtype."""
    return "categorical_features" in ranker.get_params(deep=False)


def takes_missing(model: Any) -> bool:
    """Tell whether a model takes NaN."""
    from sklearn.utils import get_tags

    return bool(get_tags(final_step(model)).input_tags.allow_nan)


def as_input(model: Any, features: "pd.DataFrame") -> "pd.DataFrame":
    """Return features as a model takes them: text as categories where it knows them."""
    if final_step(model) is not model or not takes_text(model):
        return features
    return features.astype(dict.fromkeys(text_columns(features), "category"))


def fit(model: Any, features: "pd.DataFrame", rankings: "Rankings", weight: Any = None) -> Any:
    """Train a model on the rankings of a table and, if it has one, their zero point."""
    X, relevance = as_input(model, features), rankings.relevance
    if relevance is None:
        return fit_final(model, X, rankings.y, sample_weight=weight)
    return fit_final(model, X, relevance, ranks=rankings.y, sample_weight=weight)


def load_ranker(path: Path, key: bytes | None = None) -> Any:
    """Load a ranker of labels, or say what else the file holds."""
    from prefero.persistence import load

    model = load(path, key=key)
    if kind_of(model) not in ("label_ranker", "multilabel_ranker"):
        name, hint = type(final_step(model)).__name__, ""
        if kind_of(model) == "orderer":
            hint = ": it orders objects, so use the commands of prefero order"
        raise ModelFileError(f"{path} holds a {name}, which ranks no labels{hint}.")
    return model


def kind_of(model: Any) -> str | None:
    """Return which task a model does, as scikit-learn's tags name it."""
    from sklearn.utils import get_tags

    return get_tags(final_step(model)).estimator_type


def feature_names(model: Any) -> list[str] | None:
    """Return the names of the features that a model was trained on; None if it had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def text_features(model: Any) -> set[str]:
    """Return which of its features a model was trained on as names of things."""
    if final_step(model) is not model:
        return _columns_of(model, "text")
    nominal = getattr(model, "nominal_features_", [])
    return {
        name for name, is_text in zip(feature_names(model) or [], nominal, strict=False) if is_text
    }


def prose_features(model: Any) -> set[str]:
    """Return which of its features a model was trained on by their words."""
    return _columns_of(model, "prose") if final_step(model) is not model else set()


def _columns_of(model: Any, wanted: str) -> set[str]:
    steps = getattr(model[0], "transformers_", [])
    return {name for step, _, columns in steps if step == wanted for name in columns}


def unseen_names(model: Any, X: Any) -> dict[str, Counter[str]]:
    """Return how often each name of a thing occurs that a model has not been trained on."""
    unseen = {}
    for column, known in _known_names(model).items():
        cells = X[column].dropna().astype(str)
        strange = cells[~cells.isin(known)]
        if len(strange):
            unseen[column] = Counter(strange.tolist())
    return unseen


def say_unseen(unseen: Mapping[str, Counter[str]]) -> None:
    """Say which names a model has not been trained on, and how often they occur."""
    for column, names in unseen.items():
        shown = ", ".join(repr(name) for name, _ in names.most_common(_MOST_NAMES))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        say(
            f"{count(names.total(), 'row')} of column {column!r} hold what was not in the "
            f"training data, taken as unknown: {shown}{more}."
        )


def _known_names(model: Any) -> dict[str, list[str]]:
    if final_step(model) is model:
        known = getattr(model, "categories_", None) or {}
        names = feature_names(model) or []
        return {names[j]: list(map(str, found)) for j, found in known.items() if j < len(names)}
    for step, encoder, columns in getattr(model[0], "transformers_", []):
        if step == "text":
            found = zip(columns, encoder.categories_, strict=True)
            return {str(name): list(map(str, values)) for name, values in found}
    return {}


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

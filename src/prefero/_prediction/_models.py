"""Models as they are found in files: of which task, trained on which features."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero._pipelines import final_step
from prefero._prediction._columns import text_columns
from prefero.exceptions import ModelFileError

if TYPE_CHECKING:
    import pandas as pd

RANK_LABELS = ("label_ranker", "multilabel_ranker")


def load_ranker(path: Path, key: bytes | None = None) -> Any:
    """Load a ranker of labels, or say what else the file holds."""
    from prefero.persistence import load

    model = load(path, key=key)
    problem = other_task(model)
    if problem is not None:
        raise ModelFileError(f"{path} holds {problem}.")
    return model


def other_task(model: Any) -> str | None:
    """Return what a model is that ranks no labels; None if it does."""
    kind = kind_of(model)
    if kind in RANK_LABELS:
        return None
    name = type(final_step(model)).__name__
    hint = ": it orders objects, so use the commands of prefero order" if kind == "orderer" else ""
    return f"a {name}, which ranks no labels{hint}"


def kind_of(model: Any) -> str | None:
    """Return which task a model does, as scikit-learn's tags name it."""
    from sklearn.utils import get_tags

    return get_tags(final_step(model)).estimator_type


def takes_text(ranker: Any) -> bool:
    """Tell whether a ranker takes columns of pandas' category dtype."""
    return "categorical_features" in ranker.get_params(deep=False)


def takes_missing(model: Any) -> bool:
    """Tell whether a model takes NaN."""
    from sklearn.utils import get_tags

    return bool(get_tags(final_step(model)).input_tags.allow_nan)


def feature_names(model: Any) -> list[str] | None:
    """Return the names of the features that a model was trained on; None if it had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def categorical_features(model: Any) -> set[str]:
    """Return which of its features a model was trained on as names of things."""
    if final_step(model) is not model:
        return _columns_of(model, "text")
    nominal = getattr(model, "nominal_features_", [])
    return {
        name for name, is_text in zip(feature_names(model) or [], nominal, strict=False) if is_text
    }


def text_features(model: Any) -> set[str]:
    """Return which of its features a model was trained on by their words."""
    return _columns_of(model, "prose") if final_step(model) is not model else set()


def _columns_of(model: Any, wanted: str) -> set[str]:
    steps = getattr(model[0], "transformers_", [])
    return {name for step, _, columns in steps if step == wanted for name in columns}


def unseen_names(model: Any, X: Any) -> dict[str, Counter[str]]:
    """Return how often each name of a thing occurs that a model has not been trained on."""
    unseen = {}
    for column, known in known_names(model).items():
        cells = X[column].dropna().astype(str)
        strange = cells[~cells.isin(known)]
        if len(strange):
            unseen[column] = Counter(strange.tolist())
    return unseen


def known_names(model: Any) -> dict[str, list[str]]:
    """Return the names of things that a model was trained on, by the features that hold them."""
    if final_step(model) is model:
        known = getattr(model, "categories_", None) or {}
        names = feature_names(model) or []
        return {names[j]: list(map(str, found)) for j, found in known.items() if j < len(names)}
    for step, encoder, columns in getattr(model[0], "transformers_", []):
        if step == "text":
            found = zip(columns, encoder.categories_, strict=True)
            return {str(name): list(map(str, values)) for name, values in found}
    return {}


def as_input(model: Any, features: "pd.DataFrame") -> "pd.DataFrame":
    """Return features as a model takes them: text as categories where it knows them.

    A model that bins numbers takes them in single precision; any other in double precision.
    """
    if final_step(model) is not model or not takes_text(model):
        narrow = features.columns[features.dtypes == "float32"]
        return features.astype(dict.fromkeys(narrow, "float64")) if len(narrow) else features
    return features.astype(dict.fromkeys(text_columns(features), "category"))

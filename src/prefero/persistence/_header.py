"""What a model file says about the model inside it."""

import json
from typing import Any

import sklearn

import prefero
from prefero._pipelines import final_step


def describe(model: Any) -> dict[str, Any]:
    """Return the header of a model as values that JSON can write."""
    ranker = final_step(model)
    return {
        "prefero": prefero.__version__,
        "scikit-learn": sklearn.__version__,
        "model": type(ranker).__name__,
        "parameters": {
            name: _plain(value) for name, value in sorted(ranker.get_params(deep=False).items())
        },
        "labels": _names(getattr(ranker, "labels_", None)),
        "features": _names(getattr(model, "feature_names_in_", None)),
        "n_features": _plain(getattr(model, "n_features_in_", None)),
    }


def describes(header: dict[str, Any], model: Any) -> bool:
    """Tell whether a header is about this model; versions and their wording may differ."""
    actual = describe(model)
    return all(
        json.dumps(header.get(name)) == json.dumps(actual[name])
        for name in ("model", "labels", "features", "n_features")
    )


def _names(values: Any) -> list[Any] | None:
    return None if values is None else [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    return value if isinstance(value, str | int | float | bool | None) else str(value)

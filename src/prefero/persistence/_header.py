"""What a model file says about the model inside it."""

import json
from typing import Any

import sklearn

import prefero
from prefero._pipelines import final_step


def describe(model: Any) -> dict[str, Any]:
    """Return the header of a model as values that JSON can write."""
    parameters = final_step(model).get_params(deep=False)
    about = _about(model)
    return {
        "prefero": prefero.__version__,
        "scikit-learn": sklearn.__version__,
        "model": about.pop("model"),
        "parameters": {name: _plain(value) for name, value in sorted(parameters.items())},
        **about,
    }


def describes(header: dict[str, Any], model: Any) -> bool:
    """Tell whether a header is about this model; versions and parameters may be worded anew."""
    return all(
        json.dumps(header.get(name)) == json.dumps(value) for name, value in _about(model).items()
    )


def _about(model: Any) -> dict[str, Any]:
    """What a header has to say of this model, whoever writes it."""
    ranker = final_step(model)
    return {
        "model": type(ranker).__name__,
        "labels": _names(getattr(ranker, "labels_", None)),
        "features": _names(getattr(model, "feature_names_in_", None)),
        "n_features": _plain(getattr(model, "n_features_in_", None)),
    }


def _names(values: Any) -> list[Any] | None:
    return None if values is None else [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    return value if isinstance(value, str | int | float | bool | None) else str(value)

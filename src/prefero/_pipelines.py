"""Rankers at the end of pipelines, for what a pipeline does not pass on."""

from collections.abc import Mapping, Sequence
from typing import Any


def final_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the estimator that the model is."""
    return model[-1] if hasattr(model, "steps") else model


def at_final_step(model: Any, X: Any) -> tuple[Any, Any]:
    """Return that estimator, and the instances as they reach it."""
    if not hasattr(model, "steps"):
        return model, X
    return model[-1], model[:-1].transform(X) if len(model.steps) > 1 else X


def fit_final(model: Any, X: Any, y: Any, **extra: Any) -> Any:
    """Train a model with more than X and y; what is None is not passed on."""
    given = {name: value for name, value in extra.items() if value is not None}
    steps = getattr(model, "steps", None)
    return model.fit(X, y, **(given if steps is None else to_steps(steps, given)))


def takes_weights(estimator: Any, weight: Any) -> bool:
    """Tell whether to pass weights to fit; refuse those that the estimator cannot take."""
    from sklearn.utils.validation import has_fit_parameter

    if (weight == 1).all():
        return False
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    raise ValueError(
        f"sample_weight was given, but fit of {type(estimator).__name__} takes no sample_weight: "
        "use another estimator, or no weights."
    )


def to_steps(steps: Sequence[tuple[str, Any]], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of a pipeline's fit with the names of the steps that they go to.

    An argument goes to the last step and to each step before it whose fit takes it: weights mean
    as many rows to a scaler as to a ranker. One that names its step, and all of them where
    scikit-learn's metadata routing decides, are left as they are; None goes nowhere.
    """
    from sklearn import get_config
    from sklearn.utils.validation import has_fit_parameter

    if get_config()["enable_metadata_routing"]:
        return dict(given)
    named = {name: value for name, value in given.items() if "__" in name}
    plain = {name: value for name, value in given.items() if "__" not in name}
    reaching = {
        f"{step}__{name}": value
        for step, estimator in steps
        for name, value in plain.items()
        if value is not None and (step == steps[-1][0] or has_fit_parameter(estimator, name))
    }
    return named | reaching

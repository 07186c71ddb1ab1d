"""Rankers at the end of pipelines, for what a pipeline does not pass on."""

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
    """Train a model with more than X and y, which reaches each step that takes it.

    What is None is not passed on.
    """
    given = {name: value for name, value in extra.items() if value is not None}
    if not hasattr(model, "steps"):
        return model.fit(X, y, **given)
    from sklearn.utils.validation import has_fit_parameter

    reaching = {
        f"{step}__{name}": value
        for step, estimator in model.steps
        for name, value in given.items()
        if step == model.steps[-1][0] or has_fit_parameter(estimator, name)
    }
    return model.fit(X, y, **reaching)

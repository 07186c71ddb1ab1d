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

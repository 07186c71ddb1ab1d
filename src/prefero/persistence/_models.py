"""Estimators taken apart for a file, and put together from one after their state is checked."""

import inspect
from collections.abc import Mapping
from typing import Any

from prefero._pipelines import final_step
from prefero._sklearn import validate_parameter_constraints
from prefero._state import FittedState, StateError, check_state, fitted_state
from prefero.exceptions import ModelFileError
from prefero.persistence._scikit_learn import PARAMETERS, RENAMED, STATES
from prefero.persistence._widths import by_name
from prefero.persistence.trusted import trusted_type

# Parameters that say how to run, not what was learned: a file does not decide on them.
_NOT_RESTORED = ("n_jobs", "verbose")


def restored(module: str, name: str, state: dict[str, Any]) -> Any:
    """Return the estimator of a type and a state. No method of it is called."""
    owner = trusted_type(module, name)
    if owner is None or not hasattr(owner, "get_params"):
        raise ModelFileError(f"{module}.{name} is not on the list of types that are safe to load.")
    learned = state.keys() - {*_defaults(owner), "_sklearn_version"}
    state = {**_parameters(owner, state), **{name: state[name] for name in learned}}
    for later, known in by_name(RENAMED, owner, {}).items():
        if known in state:
            state.setdefault(later, state[known])
    _check(owner, state)
    estimator: Any = object.__new__(owner)
    vars(estimator).update(state)
    return estimator


def state_of(estimator: Any) -> dict[str, Any]:
    """Return what a file holds of an estimator, and can be restored: parameters and fitted state.

    Private attributes that are not declared are made from the others at first use; what else
    scikit-learn of another version keeps is told to nobody. An estimator whose parameters may be
    tables gives them in ``_plain_parameters`` as arrays.
    """
    owner = type(estimator)
    known = {*_declared(owner), *_defaults(owner)}
    state = {
        name: value
        for name, value in vars(estimator).items()
        if name in known or (_is_ours(owner) and not name.startswith("_"))
    }
    if _is_ours(owner) and hasattr(estimator, "_plain_parameters"):
        state |= estimator._plain_parameters()
    _check(owner, state)
    return state


def _check(owner: type, state: Mapping[str, Any]) -> None:
    """Check parameters and fitted attributes, and that there are no others."""
    name, declared = owner.__name__, _declared(owner)
    parameters = {key: state[key] for key in _defaults(owner)}
    learned = state.keys() - parameters.keys()
    for key in sorted(learned - declared.keys()):
        raise StateError(f"{name} has an attribute {key!r:.40} that its class does not declare")
    for key, value in parameters.items():
        # A type is a function too, but for an encoder, which does not call it.
        if callable(value) and key != "dtype":
            raise StateError(f"the parameter {key} of {name} is a function")
    constraints = getattr(owner, "_parameter_constraints", {})
    validate_parameter_constraints(constraints, parameters, caller_name=name)
    saved = getattr(owner, "_saved_parameters", None) or by_name(PARAMETERS, owner, {})
    check_state(name, {**declared, **saved} if learned else saved, state)


def check_fitted(model: Any) -> None:
    """Refuse a model that is not a fitted estimator of Prefero, nor a pipeline that ends in one."""
    if not _is_ours(type(final_step(model))):
        raise ModelFileError("the file holds no ranker, orderer or transformer of Prefero.")
    for part in [step for _, step in model.steps] if hasattr(model, "steps") else [model]:
        if not _is_fitted(part):
            raise ModelFileError(f"the file holds a {type(part).__name__} that is not fitted.")


def _is_fitted(model: Any) -> bool:
    for holder in ("steps", "transformer_list"):
        if holder in vars(model):
            return all(_is_fitted(part) for _, part in vars(model)[holder] if hasattr(part, "fit"))
    return any(name in vars(model) for name in _declared(type(model)))


def _is_ours(owner: type) -> bool:
    return owner.__module__.partition(".")[0] == "prefero"


def _declared(owner: type) -> FittedState:
    return fitted_state(owner) or by_name(STATES, owner, {})


def _defaults(owner: type) -> dict[str, Any]:
    """The parameters of a class and their defaults."""
    parameters = inspect.signature(owner).parameters.values()
    return {
        p.name: p.default for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }


def _parameters(owner: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a state gives; scikit-learn of another version may know others."""
    parameters = {}
    for name, default in _defaults(owner).items():
        if name in state and name not in _NOT_RESTORED:
            parameters[name] = state[name]
        elif default is inspect.Parameter.empty or (_is_ours(owner) and name not in state):
            raise StateError(f"{owner.__name__} lacks its parameter {name}")
        else:
            parameters[name] = default
    return parameters

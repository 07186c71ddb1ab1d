"""Instances as requests hold them, made into what a model takes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prefero._prediction import as_input, takes_missing
from prefero.exceptions import DataError
from prefero.serve._features import Feature
from prefero.serve._models import ServedModel, nearest

Instance = Mapping[str, Any]
# The largest number that trees and scalers can take without overflow in single precision.
_LARGEST = float(np.finfo(np.float32).max)


class InstanceError(DataError):
    """An instance that a model cannot be asked about, and where it is wrong."""

    def __init__(self, index: int, feature: str, sentence: str) -> None:
        super().__init__(f"instance {index + 1}: {sentence}")
        self.where = ["instances", index, feature]


def read_instances(served: ServedModel, instances: Sequence[Instance]) -> tuple[Any, list[str]]:
    """Return what the model takes, and notes on what it did not know.

    For a model that is ``plain`` this is an array that needs no further validation; else a frame.
    """
    if served.plain:
        rows = [_usual_row(served, instance) for instance in instances]
        if None not in rows:
            return np.array(rows, dtype=np.float64), []
    notes: list[str] = []
    columns: dict[str, list[Any]] = {feature.name: [] for feature in served.features}
    for index, instance in enumerate(instances):
        _refuse_unknown(served, index, instance)
        for feature in served.features:
            value = _value(served, index, feature, instance, notes)
            columns[feature.name].append(value)
    if served.plain or not hasattr(served.model, "feature_names_in_"):
        return np.array(list(columns.values()), dtype=np.float64).T, notes
    import pandas

    types = {
        feature.name: "float64" if feature.is_number else "string" if feature.prose else object
        for feature in served.features
    }
    frame = pandas.DataFrame(
        {name: pandas.Series(values, dtype=types[name]) for name, values in columns.items()}
    )
    return as_input(served.model, frame), notes


def _usual_row(served: ServedModel, instance: Instance) -> list[float] | None:
    """The numbers of an instance that has all of them and nothing else; None if there is more."""
    if len(instance) != len(served.features):
        return None
    row: list[float] = []
    for feature in served.features:
        value = instance.get(feature.name)
        if type(value) is not float or not -_LARGEST <= value <= _LARGEST:
            return None
        row.append(value)
    return row


def _refuse_unknown(served: ServedModel, index: int, instance: Instance) -> None:
    for name in instance:
        if name not in served.names:
            known = list(served.names)
            hint = nearest(name, known) or f" The features are {', '.join(map(repr, known[:20]))}."
            raise InstanceError(index, name, f"{name!r} is no feature of this model.{hint}")


def _value(
    served: ServedModel, index: int, feature: Feature, instance: Instance, notes: list[str]
) -> Any:
    """The value of one feature; what is missing or unknown is noted if the model takes it."""
    value = instance.get(feature.name)
    if value is None:
        return _missing(served, index, feature, notes)
    if feature.prose:
        return _prose(index, feature, value)
    if feature.categories is not None:
        return _category(index, feature, value, notes)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InstanceError(
            index, feature.name, f"{feature.name!r} is a number, not {_shown(value)}."
        )
    if not -_LARGEST <= value <= _LARGEST:
        raise InstanceError(
            index, feature.name, f"{feature.name!r} must be finite and below 3.4e38 in size."
        )
    return float(value)


def _missing(served: ServedModel, index: int, feature: Feature, notes: list[str]) -> Any:
    if feature.is_number and not takes_missing(served.model):
        raise InstanceError(
            index,
            feature.name,
            f"{feature.name!r} is missing, and {type(served.ranker).__name__} needs every number.",
        )
    notes.append(f"instance {index + 1}: {feature.name!r} is missing.")
    return np.nan if feature.is_number else None


def _prose(index: int, feature: Feature, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise InstanceError(index, feature.name, f"{feature.name!r} is text, not {_shown(value)}.")


def _category(index: int, feature: Feature, value: Any, notes: list[str]) -> Any:
    if not isinstance(value, str | int | float | bool):
        raise InstanceError(
            index, feature.name, f"{feature.name!r} is a category, not {_shown(value)}."
        )
    known = feature.categories or ()
    for category in known:
        if value == category or str(value) == str(category):
            return category
    notes.append(f"instance {index + 1}: {feature.name!r} was never {_shown(value)} in training.")
    return value if isinstance(value, str) else str(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

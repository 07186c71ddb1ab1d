"""Answers about instances: the features that requests hold, and what a model predicts for them."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from prefero._model_inputs import as_input, as_text, takes_missing
from prefero._names import did_you_mean
from prefero._pipelines import at_final_step
from prefero._prediction import Prediction
from prefero.base import buckets_of
from prefero.exceptions import DataError
from prefero.serve._models import Feature, ServedModel

Instance = Mapping[str, Any]
FIELDS = (
    *("order", "ranks", "buckets", "probabilities", "expected_tau", "top_set", "expected_scores"),
    "relevant",
)
_PAIRWISE_FIELDS = {"buckets", "probabilities", "expected_tau", "top_set"}
# Further decimals of probabilities carry no information.
_DECIMALS = 4
# The largest number that trees and scalers can take without overflow in single precision.
_LARGEST = float(np.finfo(np.float32).max)


class ResponseFields(NamedTuple):
    """What an answer is to hold."""

    include: tuple[str, ...] = FIELDS
    top: int | None = None
    error: float = 0.1
    explain: tuple[str, str] | bool = False
    until: float = math.inf  # by time.monotonic()


class InstanceError(DataError):
    """An instance that a model cannot be asked about, and where it is wrong."""

    def __init__(self, index: int, feature: str, sentence: str) -> None:
        super().__init__(f"instance {index + 1}: {sentence}")
        self.location = ["instances", index, feature]


def answers(
    served: ServedModel, instances: Sequence[Instance], fields: ResponseFields
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return one answer per instance, and notes on missing and unknown values."""
    X, notes = read_instances(served, instances)
    calibrated = hasattr(served.ranker, "predict_pairwise")
    if served.plain and calibrated:
        # X is what validation would return: a row costs little more than its scores.
        predicted = Prediction(served.ranker, X, pairs=True, checked=True)
    else:
        ranker, inner = at_final_step(served.model, _named(served, X))
        predicted = Prediction(
            ranker, inner, pairs=bool(_PAIRWISE_FIELDS.intersection(fields.include))
        )
    if not calibrated:
        notes.append("the model is not calibrated: it has no probabilities.")
    results: list[dict[str, Any]] = [{} for _ in instances]
    for name, values in _answer_columns(served, predicted, fields).items():
        for result, value in zip(results, values(), strict=True):
            result[name] = value
    if fields.explain:
        named = _named(served, X)
        for row, result in enumerate(results):
            if time.monotonic() > fields.until:
                raise TimeoutError
            result["explanation"] = _explanation(served, named, row, fields.explain)
    return results, notes


def _answer_columns(
    served: ServedModel, predicted: Prediction, fields: ResponseFields
) -> dict[str, Callable[[], Any]]:
    """Return how each wanted field of the answers is computed, as far as the model knows it."""
    labels, pairwise = served.labels, predicted.pairwise
    c = len(labels)

    def named(values: Any) -> list[dict[str, Any]]:
        return [dict(zip(labels, row, strict=True)) for row in values.tolist()]

    def orders() -> list[list[str]]:
        order = np.argsort(predicted.ranks, axis=1)[:, : fields.top]
        return [[labels[j] for j in row] for row in order.tolist()]

    def probabilities() -> Any:
        # A multilabel ranker has one column more, for the virtual label.
        return np.round(predicted.probabilities[:, :c, :c], _DECIMALS).tolist()  # type: ignore[index]

    columns: dict[str, Callable[[], Any]] = {
        "order": orders,
        "ranks": lambda: named(predicted.ranks),
    }
    if pairwise is not None:
        columns["buckets"] = lambda: named(buckets_of(predicted.ranker, pairwise))
        columns["expected_tau"] = lambda: np.round(predicted.expected_tau, _DECIMALS).tolist()
    if hasattr(predicted.ranker, "predict_pairwise"):
        columns["probabilities"] = probabilities
    if hasattr(predicted.ranker, "predict_top_set"):
        columns["top_set"] = lambda: predicted.top_sets(fields.error)
    if hasattr(predicted.ranker, "predict_scores"):
        columns["expected_scores"] = lambda: named(predicted.ranker.predict_scores(predicted.X))
    if served.is_multilabel:
        columns["relevant"] = lambda: [
            [labels[j] for j in np.flatnonzero(row)] for row in predicted.relevant
        ]
    return {name: columns[name] for name in FIELDS if name in columns and name in fields.include}


def _named(served: ServedModel, X: Any) -> Any:
    """Instances with the names of their features, if the model knows these."""
    if not served.plain or not hasattr(served.model, "feature_names_in_"):
        return X
    import pandas

    return pandas.DataFrame(X, columns=served.model.feature_names_in_)


def _explanation(
    served: ServedModel, X: Any, row: int, pair: tuple[str, str] | bool
) -> dict[str, Any]:
    from prefero.inspection import explain

    why = explain(served.model, X, row, pair=_pair(served, pair))
    effects = [effect._asdict() for effect in why.effects]
    return {
        "pair": [str(label) for label in why.pair],
        "summary": why.summary(),
        "how": why.how,
        "effects": [{**effect, "value": _as_json(effect["value"])} for effect in effects],
        "base": why.base,
        "margin": why.margin,
        "unit": why.unit,
    }


def _pair(served: ServedModel, pair: tuple[str, str] | bool) -> tuple[Any, Any] | None:
    """The labels to compare; None for the two that are predicted first."""
    if isinstance(pair, bool):
        return None
    labels = {str(label): label for label in served.ranker.labels_}
    for label in pair:
        if label not in labels:
            known = ", ".join(map(repr, served.labels[:20]))
            raise DataError(f"explain: {label!r} is no label of this model; there are {known}.")
    if pair[0] == pair[1]:
        raise DataError(f"explain: two labels are needed, not {pair[0]!r} twice.")
    return labels[pair[0]], labels[pair[1]]


def _as_json(value: Any) -> Any:
    """A feature's value as JSON knows it; null is missing."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


# Instances


def read_instances(served: ServedModel, instances: Sequence[Instance]) -> tuple[Any, list[str]]:
    """Return what the model takes, and notes on missing and unknown values.

    For a model that is ``plain`` this is an array that needs no further validation; else a frame.
    """
    if served.plain:
        rows = [_complete_row(served, instance) for instance in instances]
        if None not in rows:
            return np.array(rows, dtype=np.float64), []
    notes: list[str] = []
    columns: dict[str, list[Any]] = {feature.name: [] for feature in served.features}
    for index, instance in enumerate(instances):
        _refuse_unknown(served, index, instance)
        for feature in served.features:
            columns[feature.name].append(_value(served, index, feature, instance, notes))
    if served.plain or not hasattr(served.model, "feature_names_in_"):
        return np.array(list(columns.values()), dtype=np.float64).T, notes
    import pandas

    types = {
        feature.name: "float64" if feature.is_number else object for feature in served.features
    }
    frame = pandas.DataFrame(
        {name: pandas.Series(values, dtype=types[name]) for name, values in columns.items()}
    )
    text = [feature.name for feature in served.features if feature.is_text]
    return as_input(served.model, as_text(frame, text)), notes


def _complete_row(served: ServedModel, instance: Instance) -> list[float] | None:
    """The numbers of an instance that has all of them and nothing else; otherwise None."""
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
    known = served.names
    for name in instance:
        if name not in known:
            listed = f"; there are {', '.join(map(repr, list(known)[:20]))}"
            hint = did_you_mean(name, known) or listed
            raise InstanceError(index, name, f"{name!r} is no feature of this model{hint}.")


def _value(
    served: ServedModel, index: int, feature: Feature, instance: Instance, notes: list[str]
) -> Any:
    """The value of one feature; missing and unknown values are noted if the model takes them."""
    value, name = instance.get(feature.name), feature.name
    wanted: type | Any = str if feature.is_text else str | int | float | bool
    if value is None:
        if feature.is_number and not takes_missing(served.model):
            ranker = type(served.ranker).__name__
            sentence = f"{name!r} is missing, and {ranker} needs every number."
            raise InstanceError(index, name, sentence)
        notes.append(f"instance {index + 1}: {name!r} is missing.")
        return np.nan if feature.is_number else None
    if feature.is_number:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InstanceError(index, name, f"{name!r} is a number, not {_shown(value)}.")
        if not -_LARGEST <= value <= _LARGEST:
            raise InstanceError(index, name, f"{name!r} must be finite and below 3.4e38 in size.")
        return float(value)
    if not isinstance(value, wanted):
        kind = "text" if feature.is_text else "a category"
        raise InstanceError(index, name, f"{name!r} is {kind}, not {_shown(value)}.")
    if feature.is_text:
        return value
    for category in feature.categories or ():
        if value == category or str(value) == str(category):
            return category
    notes.append(f"instance {index + 1}: {name!r} was never {_shown(value)} in training.")
    return str(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

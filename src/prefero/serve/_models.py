"""Trained models as a service offers them, and the features that they were trained on."""

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from prefero._model_inputs import feature_names, text_features
from prefero._pipelines import final_step
from prefero._prediction import kind_of, other_task

Ranges = dict[str, tuple[float, float]]
Categories = dict[str, tuple[Any, ...]]
# The usual range of a number, in standard deviations, where a model keeps no range.
_USUAL = 2.0


@dataclass(frozen=True)
class Feature:
    """One feature: a number with its usual range, one of some categories, or text."""

    name: str
    low: float | None = None
    high: float | None = None
    categories: tuple[Any, ...] | None = None
    is_text: bool = False

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.categories is None and not self.is_text

    @property
    def example(self) -> Any:
        """A value to start from: the middle, the first category, no words."""
        if self.is_text:
            return ""
        if self.categories is not None:
            return self.categories[0] if self.categories else ""
        if self.low is None or self.high is None:
            return 0.0
        return float(f"{(self.low + self.high) / 2:.4g}")

    def describe(self) -> dict[str, Any]:
        """The feature as values that JSON can write."""
        if self.is_text:
            return {"name": self.name, "kind": "text"}
        if self.categories is not None:
            return {
                "name": self.name,
                "kind": "category",
                "categories": [str(category) for category in self.categories],
            }
        return {"name": self.name, "kind": "number", "low": self.low, "high": self.high}


def features_of(model: Any) -> list[Feature]:
    """Return the features of a model in its order, with what it knows of their values."""
    names = feature_names(model) or [f"x{i}" for i in range(model.n_features_in_)]
    text = text_features(model)
    if final_step(model) is model:
        ranges, categories = _of_ranker(model, names)
    else:
        ranges, categories = _of_columns(model[0])
    features = []
    for name in names:
        low, high = ranges.get(name, (None, None))
        features.append(Feature(name, low, high, categories.get(name), name in text))
    return features


def _of_ranker(ranker: Any, names: list[str]) -> tuple[Ranges, Categories]:
    """The smallest and the largest number of each feature, and categories, where it keeps them."""
    found = getattr(ranker, "feature_ranges_", None)
    pairs = [] if found is None or len(found) != len(names) else found.tolist()
    ranges = {
        name: (low, high) for name, (low, high) in zip(names, pairs, strict=False) if low <= high
    }
    known, nominal = (
        getattr(ranker, "categories_", None) or {},
        getattr(ranker, "nominal_features_", ()),
    )
    categories = {names[j]: tuple(known.get(j, ())) for j in np.flatnonzero(nominal)}
    return ranges, categories


def _of_columns(transformer: Any) -> tuple[Ranges, Categories]:
    """Ranges by the mean and spread that scalers keep, and the categories of encoders."""
    ranges, categories = {}, {}
    for _, step, columns in getattr(transformer, "transformers_", []):
        for index, name in enumerate(map(str, columns)):
            if hasattr(step, "mean_") and hasattr(step, "scale_"):
                spread, mean = _USUAL * float(step.scale_[index]), float(step.mean_[index])
                ranges[name] = (mean - spread, mean + spread)
            elif hasattr(step, "categories_"):
                categories[name] = tuple(step.categories_[index])
    return ranges, categories


@dataclass(frozen=True)
class ServedModel:
    """One trained label ranker and what its clients must know about it."""

    name: str
    model: Any
    features: list[Feature]
    labels: list[str]
    loaded: float = field(default_factory=time.time)

    @cached_property
    def ranker(self) -> Any:
        """The ranker itself, without the steps before it."""
        return final_step(self.model)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the features."""
        return frozenset(feature.name for feature in self.features)

    @cached_property
    def is_multilabel(self) -> bool:
        """Whether the model also predicts which labels are relevant."""
        return kind_of(self.model) == "multilabel_ranker"

    @cached_property
    def plain(self) -> bool:
        """Whether validated instances are an array of their numbers, as for trees."""
        only_numbers = all(feature.is_number for feature in self.features)
        return only_numbers and self.ranker is self.model and hasattr(self.model, "bin_edges_")

    @classmethod
    def of(cls, name: str, model: Any) -> "ServedModel":
        """Describe a fitted model."""
        problem = other_task(model)
        if problem is not None:
            raise ValueError(f"model {name!r} is {problem}.")
        ranker = final_step(model)
        return cls(name, model, features_of(model), [str(label) for label in ranker.labels_])

    def example(self) -> dict[str, float | str]:
        """An instance to start from: the middle of every feature."""
        return {feature.name: feature.example for feature in self.features}

    def describe(self) -> dict[str, Any]:
        """What a client must know to ask the model."""
        return {
            "name": self.name,
            "kind": type(self.ranker).__name__,
            "labels": self.labels,
            "features": [feature.describe() for feature in self.features],
            "example": self.example(),
            "loaded": self.loaded,
            "calibrated": hasattr(self.ranker, "predict_pairwise"),
            "top_set": hasattr(self.ranker, "predict_top_set"),
            "relevant": self.is_multilabel,
        }

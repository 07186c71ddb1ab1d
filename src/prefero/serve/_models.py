"""Trained models as a service offers them, and the features that they were trained on."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from prefero._pipelines import final_step
from prefero._prediction import (
    categorical_features,
    feature_names,
    kind_of,
    known_categories,
    other_task,
    text_features,
)

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
    ranker = final_step(model)
    if ranker is not model:
        known = {feature.name: feature for feature in _of_columns(model[0])}
    elif hasattr(model, "bin_edges_"):
        known = {feature.name: feature for feature in _of_bins(model, names)}
    else:
        known = {}
    ranges = _ranges(ranker, names) if ranker is model else {}
    words, text = categorical_features(model), text_features(model)
    categories = known_categories(model)
    unknown = {
        name: Feature(
            name,
            low=ranges.get(name, (None, None))[0],
            high=ranges.get(name, (None, None))[1],
            categories=tuple(categories.get(name, ())) if name in words else None,
            is_text=name in text,
        )
        for name in names
    }
    if ranges:
        known = {name: feature for name, feature in known.items() if not feature.is_number}
    return [known.get(name, unknown[name]) for name in names]


def _ranges(ranker: Any, names: list[str]) -> dict[str, tuple[float, float]]:
    """The smallest and the largest number of each feature, for rankers that keep these."""
    found = getattr(ranker, "feature_ranges_", None)
    if found is None or len(found) != len(names):
        return {}
    known = zip(names, found.tolist(), strict=True)
    return {name: (low, high) for name, (low, high) in known if low <= high}


def _of_bins(model: Any, names: list[str]) -> Iterator[Feature]:
    """Trees keep the edges between their bins, and the categories; older ones no ranges."""
    for index, name in enumerate(names):
        if model.nominal_features_[index]:
            yield Feature(name, categories=tuple(model.categories_[index]))
        else:
            edges = model.bin_edges_[model.bin_starts_[index] : model.bin_starts_[index + 1]]
            if len(edges):
                yield Feature(name, float(edges[0]), float(edges[-1]))


def _of_columns(transformer: Any) -> Iterator[Feature]:
    """Scalers keep mean and spread, encoders the categories."""
    for _, step, columns in getattr(transformer, "transformers_", []):
        for index, name in enumerate(map(str, columns)):
            if hasattr(step, "mean_") and hasattr(step, "scale_"):
                spread = _USUAL * float(step.scale_[index])
                mean = float(step.mean_[index])
                yield Feature(name, mean - spread, mean + spread)
            elif hasattr(step, "categories_"):
                yield Feature(name, categories=tuple(step.categories_[index]))


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

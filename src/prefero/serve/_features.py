"""What a model was trained on, as a form can offer it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from prefero._pipelines import final_step
from prefero._prediction import categorical_features, feature_names, known_names, text_features

# Standard deviations from the mean that a number is offered in where the model keeps only these.
_USUAL = 2.0


@dataclass(frozen=True)
class Feature:
    """One feature: a number usually between two others, one of some categories, or prose."""

    name: str
    low: float | None = None
    high: float | None = None
    categories: tuple[Any, ...] | None = None
    prose: bool = False

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.categories is None and not self.prose

    @property
    def example(self) -> Any:
        """A value to begin with: the middle, the first category, no words."""
        if self.prose:
            return ""
        if self.categories is not None:
            return self.categories[0] if self.categories else ""
        if self.low is None or self.high is None:
            return 0.0
        return float(f"{(self.low + self.high) / 2:.4g}")

    def describe(self) -> dict[str, Any]:
        """The feature as values that JSON can write."""
        if self.prose:
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
    words, prose, categories = categorical_features(model), text_features(model), known_names(model)
    unknown = {
        name: Feature(
            name,
            low=ranges.get(name, (None, None))[0],
            high=ranges.get(name, (None, None))[1],
            categories=tuple(categories.get(name, ())) if name in words else None,
            prose=name in prose,
        )
        for name in names
    }
    if ranges:
        known = {name: one for name, one in known.items() if not one.is_number}
    return [known.get(name, unknown[name]) for name in names]


def _ranges(ranker: Any, names: list[str]) -> dict[str, tuple[float, float]]:
    """The smallest and the largest number of each feature, of rankers that keep these."""
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

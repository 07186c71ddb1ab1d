"""The models that a service has: read from files, looked at again, swapped when they change."""

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from prefero._pipelines import final_step
from prefero._prediction import kind_of, load_ranker, other_task
from prefero.serve._features import Feature, features_of

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class ServedModel:
    """One trained label ranker and what its users must know of it."""

    name: str
    model: Any
    features: list[Feature]
    labels: list[str]
    loaded: float = field(default_factory=time.time)

    @cached_property
    def ranker(self) -> Any:
        """The ranker itself, without what stands before it."""
        return final_step(self.model)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the features."""
        return frozenset(feature.name for feature in self.features)

    @cached_property
    def of_sets(self) -> bool:
        """Whether the model tells relevant labels from others."""
        return kind_of(self.model) == "multilabel_ranker"

    @cached_property
    def plain(self) -> bool:
        """Whether the model's inner form of instances is an array of their numbers."""
        only_numbers = all(feature.is_number for feature in self.features)
        return only_numbers and self.ranker is self.model and hasattr(self.model, "bin_edges_")

    @classmethod
    def of(cls, name: str, model: Any) -> "ServedModel":
        """Describe a fitted model, and make sure that it answers."""
        problem = other_task(model)
        if problem is not None:
            raise ValueError(f"model {name!r} is {problem}.")
        ranker = final_step(model)
        served = cls(name, model, features_of(model), [str(label) for label in ranker.labels_])
        from prefero.serve._answers import answers

        answers(served, [served.example()], None)
        return served

    def example(self) -> dict[str, float | str]:
        """An instance to begin with: the middle of every feature."""
        return {feature.name: feature.example for feature in self.features}

    def describe(self) -> dict[str, Any]:
        """What a client must know to ask."""
        return {
            "name": self.name,
            "kind": type(self.ranker).__name__,
            "labels": self.labels,
            "features": [feature.describe() for feature in self.features],
            "example": self.example(),
            "loaded": self.loaded,
            "calibrated": hasattr(self.ranker, "predict_pairwise"),
            "top_set": hasattr(self.ranker, "predict_top_set"),
            "relevant": self.of_sets,
        }


class ModelStore:
    """Models by name.

    A file that changes on disk is loaded beside the old model, checked, and swapped in; a bad one
    leaves the old model in place and is told in ``problems``.
    """

    def __init__(
        self, paths: Mapping[str, Path], *, key: bytes | None = None, seconds: float = 1.0
    ) -> None:
        self._paths = dict(paths)
        self._key = key
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stamps = {name: _stamp(path) for name, path in self._paths.items()}
        self._models = {name: self._load(name) for name in self._paths}
        self._next_look = time.monotonic() + seconds
        self.problems: dict[str, str] = {}

    @classmethod
    def of_models(cls, models: Mapping[str, Any]) -> "ModelStore":
        """A store of models that are in memory, which never change."""
        store = cls({})
        store._models = {name: ServedModel.of(name, model) for name, model in models.items()}
        return store

    def __getitem__(self, name: str) -> ServedModel:
        return self._models[name]

    def __contains__(self, name: str) -> bool:
        return name in self._models

    def __len__(self) -> int:
        return len(self._models)

    def names(self) -> list[str]:
        """The names of the models, as they were given."""
        return list(self._models)

    def due(self) -> bool:
        """Tell whether it is time to look at the files again."""
        return bool(self._paths) and time.monotonic() >= self._next_look

    def refresh(self) -> None:
        """Load what has changed on disk since the last look."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            for name, path in self._paths.items():
                stamp = _stamp(path)
                if stamp != self._stamps[name]:
                    self._swap(name)
                    self._stamps[name] = stamp
            self._next_look = time.monotonic() + self._seconds
        finally:
            self._lock.release()

    def _swap(self, name: str) -> None:
        try:
            self._models[name] = self._load(name)
        except Exception as error:  # whatever is wrong with a file, there is a model that works
            self.problems[name] = f"the file has changed, and the old model stays: {error}"
        else:
            self.problems.pop(name, None)

    def _load(self, name: str) -> ServedModel:
        return ServedModel.of(name, load_ranker(self._paths[name], self._key))


def _stamp(path: Path) -> Stamp | None:
    """What changes when a file does; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def nearest(name: str, known: list[str]) -> str:
    """A hint at the name that was meant."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    return f" Did you mean {close[0]!r}?" if close else ""

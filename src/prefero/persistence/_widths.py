"""Whether the parts of a pipeline fit each other: what one gives is what the next one takes.

A file is then no larger inside than outside: no step can declare an output that no step after
it has an array for.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from prefero._state import State


def _used(parts: Any) -> list[Any]:
    """The estimators among named parts; the others are None or a word."""
    return [part[1] for part in parts if not (part[1] is None or isinstance(part[1], str))]


def _imputed(about: Mapping[str, Any]) -> int:
    statistics, indicator = about["statistics_"], about.get("indicator_")
    kept = statistics == statistics  # all but NaN
    n_kept = len(statistics) if about["keep_empty_features"] else int(np.count_nonzero(kept))
    return n_kept + (0 if indicator is None else _shown(vars(indicator)))


def _shown(about: Mapping[str, Any]) -> int:
    return int(about["_n_features"]) if about["features"] == "all" else len(about["features_"])


def _selected(about: Mapping[str, Any]) -> int:
    return min(about["n_features_to_select"], len(about["scores_"]))


# The transformers that do not give as many columns as they take.
_WIDTHS: dict[str, Callable[[Mapping[str, Any]], int]] = {
    "BoostingFeatureSelector": _selected,
    "ColumnTransformer": lambda about: sum(map(width, _used(about["transformers_"]))),
    "FeatureUnion": lambda about: sum(map(width, _used(about["transformer_list"]))),
    "MissingIndicator": _shown,
    "Nystroem": lambda about: len(about["normalization_"]),
    "OneHotEncoder": lambda about: sum(about["_n_features_outs"]),
    "PCA": lambda about: len(about["components_"]),
    "Pipeline": lambda about: width(_used(about["steps"])[-1]),
    "PolynomialFeatures": lambda about: about["n_output_features_"],
    "RankCorrelationReducer": lambda about: len(about["components_"]),
    "SimpleImputer": _imputed,
    "TableTransformer": lambda about: len(about["nominal_"]),
    "TextEncoder": lambda about: len(about["components_"]) + 1,
    "TruncatedSVD": lambda about: len(about["components_"]),
    "VarianceThreshold": lambda about: int((about["variances_"] > about["threshold"]).sum()),
}


def by_name(table: Mapping[str, Any], owner: type, default: Any) -> Any:
    """Return what a table holds for the name of a class, or of the nearest base that it names."""
    found = (table[base.__name__] for base in owner.__mro__ if base.__name__ in table)
    return next(found, default)


def width(transformer: Any) -> int:
    """Return how many columns a fitted transformer gives."""
    count = by_name(_WIDTHS, type(transformer), None)
    return taken(transformer) if count is None else int(count(vars(transformer)))


def taken(model: Any) -> int:
    """Return how many columns a fitted model takes, -1 if it is not fitted."""
    about = vars(model)
    for holder in ("steps", "transformer_list"):
        if holder in about:
            parts = _used(about[holder])
            return taken(parts[0]) if parts else -1
    return int(about.get("n_features_in_", about.get("_n_features", -1)))


def _are_named(parts: Any, length: int) -> bool:
    named = type(parts) is list and all(
        type(part) is tuple and len(part) == length and type(part[0]) is str for part in parts
    )
    return named and len({part[0] for part in parts}) == len(parts) > 0


def _transforms(part: Any) -> bool:
    return hasattr(type(part), "transform")


def chain_fits(steps: Any, _: State) -> bool:
    """Tell whether the steps of a pipeline can follow each other."""
    if not _are_named(steps, 2):
        return False
    used = _used(steps)
    if not used or steps[-1][1] is not used[-1] or not hasattr(type(used[-1]), "fit"):
        return False
    if not all(map(_transforms, used[:-1])):
        return False
    if all(taken(step) < 0 for step in used):
        return True  # not fitted
    return all(
        taken(before) >= 0 and width(before) == taken(after) for before, after in pairwise(used)
    )


def union_fits(parts: Any, state: State) -> bool:
    """Tell whether the transformers of a union take the same columns."""
    if not _are_named(parts, 2):
        return False
    used = _used(parts)
    plain = all(part in used or part == "drop" for _, part in parts)
    fits = plain and all(map(_transforms, used)) and len({taken(part) for part in used}) == 1
    weights = state.values.get("transformer_weights") or {}
    return fits and _are_weights(weights, [name for name, _ in parts])


def _are_weights(weights: Any, names: list[str]) -> bool:
    return type(weights) is dict and all(
        name in names and isinstance(weight, int | float) for name, weight in weights.items()
    )


def columns_fit(parts: Any, state: State) -> bool:
    """Tell whether the transformers of columns take columns that there are."""
    indices = state.values.get("_transformer_to_input_indices")
    if not _are_named(parts, 3) or type(indices) is not dict:
        return False
    names = state.values.get("feature_names_in_")
    n_features = state.size("n_features")
    for name, part, columns in parts:
        chosen = _chosen(columns, n_features, None if names is None else names.tolist())
        if chosen is None or indices.get(name) != chosen:
            return False
        if type(part) is str and part == "drop":
            continue
        if not _transforms(part) or (chosen and taken(part) != len(chosen)):
            return False
    weights = state.values.get("transformer_weights") or {}
    named = [name for name, _, _ in parts]
    # Of transformers without a column only the name is left.
    others = [chosen for name, chosen in indices.items() if name not in named]
    return others in ([], [[]]) and _are_weights(weights, named)


def _chosen(columns: Any, n_features: int, names: list[Any] | None) -> list[int] | None:
    """The indices of columns chosen by indices, names, a mask or a slice of indices."""
    if type(columns) is slice:
        parts = (columns.start, columns.stop, columns.step)
        plain = all(part is None or type(part) is int for part in parts)
        return list(range(n_features)[columns]) if plain and columns.step != 0 else None
    chosen = columns.tolist() if isinstance(columns, np.ndarray) else columns
    if type(chosen) is not list:
        return None
    if chosen and all(type(item) is bool for item in chosen):
        return [i for i, item in enumerate(chosen) if item] if len(chosen) == n_features else None
    if names is not None and all(item in names for item in chosen if type(item) is str):
        chosen = [names.index(item) if type(item) is str else item for item in chosen]
    if not all(type(item) is int and -n_features <= item < n_features for item in chosen):
        return None
    return [item % n_features for item in chosen]

"""Nominal features as a tree sees them: categories by number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from prefero._state import Attribute, FittedState, Names, State
from prefero._trees._bins import MAX_BINS

Categories = dict[int, list[Any]]


def _have_names(categories: Any, state: State) -> bool:
    names = Names("n_categories")
    for feature, values in categories.items():
        if not (isinstance(feature, int) and 0 <= feature < state.size("n_features")):
            return False
        names.check(np.array(values, dtype=object), State({}))
    return True


CATEGORIES_STATE: FittedState = {
    "categories_": Attribute(rule=("the names of categories by feature", _have_names))
}


class CategoryEncoder:
    """Numbers for the categories of nominal features.

    A feature is nominal if its column has pandas' category dtype or the user says so. The
    same table at prediction may hold other categories, which become NaN. Unlike scikit-learn's
    OrdinalEncoder this one takes words beside numbers, leaves a dict of lists as fitted state,
    and costs little on one row.
    """

    def __init__(self, nominal: NDArray[np.bool_], categories: Categories) -> None:
        self.nominal = nominal
        self.categories = categories

    @classmethod
    def learn(cls, X: Any, categorical_features: str | ArrayLike | None) -> "CategoryEncoder":
        """Find the nominal features of X and their categories."""
        nominal = _nominal_features(X, categorical_features)
        categories: Categories = {}
        for feature in np.flatnonzero(nominal).tolist():
            column = _column(X, feature)
            found = sorted({value for value in column if value == value}, key=_sort_key)
            if len(found) > MAX_BINS:
                raise ValueError(
                    f"Feature {feature} has {len(found)} categories, but at most {MAX_BINS} are "
                    "possible: group the rare ones or give numbers."
                )
            categories[feature] = found
        return cls(nominal, categories)

    def encode(self, X: Any) -> Any:
        """Return X with categories replaced by their numbers, ready to be validated."""
        if not self.nominal.any() or np.shape(X)[1:] != self.nominal.shape:
            return X  # nothing to do, or wrong: validation will say so
        codes = X.copy() if hasattr(X, "columns") else np.array(X, dtype=object)
        for feature, categories in self.categories.items():
            number = {category: float(k) for k, category in enumerate(categories)}
            column = [number.get(value, np.nan) for value in _column(X, feature)]
            if hasattr(codes, "columns"):
                codes[codes.columns[feature]] = np.asarray(column)
            else:
                codes[:, feature] = column
        return codes


def _sort_key(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _column(X: Any, feature: int) -> Sequence[Any]:
    if hasattr(X, "iloc"):
        return X.iloc[:, feature].tolist()
    return np.asarray(X, dtype=object)[:, feature].tolist()


def _nominal_features(X: Any, categorical_features: str | ArrayLike | None) -> NDArray[np.bool_]:
    if categorical_features is None or isinstance(categorical_features, str):
        dtypes = X.dtypes if hasattr(X, "iloc") and categorical_features is not None else []
        return np.array([dtype.name == "category" for dtype in dtypes], dtype=bool)
    width = np.shape(X)[1]
    chosen = check_array(categorical_features, ensure_2d=False, dtype=None)
    if chosen.dtype.kind == "b":
        if chosen.shape != (width,):
            raise ValueError(
                f"categorical_features has shape {chosen.shape}, but a mask needs one entry for "
                f"each of the {width} features."
            )
        return chosen
    names = list(getattr(X, "columns", []))
    nominal = np.zeros(width, dtype=bool)
    for feature in chosen.tolist():
        if feature in names:
            nominal[names.index(feature)] = True
        elif isinstance(feature, int) and -width <= feature < width:
            nominal[feature] = True
        else:
            raise ValueError(f"categorical_features names {feature!r}, which is no feature of X.")
    return nominal

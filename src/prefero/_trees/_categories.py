"""Nominal features as a tree sees them: categories by number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from prefero._names import is_known
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

    A feature is nominal if its column has pandas' category dtype or holds words (texts that are
    no numbers), or if the user says so. The same table at prediction may hold other categories,
    which become NaN. Unlike scikit-learn's
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
            name = getattr(X, "columns", range(feature + 1))[feature]
            categories[feature] = _numbered(name, set(_known(_column(X, feature))))
        return cls(nominal, categories)

    @classmethod
    def joined(
        cls, parts: "Sequence[CategoryEncoder]", names: Sequence[Any] | None
    ) -> "CategoryEncoder":
        """Return the encoder of a table from those of its parts, which know its nominal features.

        Parameters
        ----------
        parts : sequence of CategoryEncoder
            Each of some rows.
        names : sequence or None
            Of the features, if they have some.
        """
        nominal = parts[0].nominal
        categories = {
            feature: _numbered(
                feature if names is None else names[feature],
                set().union(*(part.categories[feature] for part in parts)),
            )
            for feature in np.flatnonzero(nominal).tolist()
        }
        return cls(nominal, categories)

    def encode(self, X: Any) -> Any:
        """Return X with categories replaced by their numbers, ready to be validated."""
        if not self.nominal.any() or np.shape(X)[1:] != self.nominal.shape:
            return X  # nothing to do, or wrong: validation will say so
        columns = {}
        for feature, categories in self.categories.items():
            number = {category: float(k) for k, category in enumerate(categories)}
            columns[feature] = [number.get(value, np.nan) for value in _column(X, feature)]
        if hasattr(X, "iloc"):
            codes = X.copy()
            for feature, values in columns.items():
                codes[X.columns[feature]] = np.asarray(values)
            return codes
        if hasattr(X, "with_columns"):
            names = X.columns
            return X.with_columns(
                type(X[names[k]])(names[k], values) for k, values in columns.items()
            )
        codes = np.array(X, dtype=object)
        for feature, values in columns.items():
            codes[:, feature] = values
        return codes


def _numbered(feature: Any, categories: set[Any]) -> list[Any]:
    """The categories of a feature in the order of their numbers."""
    if len(categories) > MAX_BINS:
        raise ValueError(
            f"Feature {feature!r} has {len(categories)} categories, but at most {MAX_BINS} are "
            "possible: group the rare ones or give numbers."
        )
    return sorted(categories, key=_sort_key)


def _sort_key(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _column(X: Any, feature: int) -> Sequence[Any]:
    if hasattr(X, "iloc"):
        return X.iloc[:, feature].tolist()
    if hasattr(X, "with_columns"):  # polars
        return X[X.columns[feature]].to_list()
    return np.asarray(X, dtype=object)[:, feature].tolist()


def _known(column: Sequence[Any]) -> list[Any]:
    """The values that are not missing: no None, no NaN of any kind."""
    return [value for value in column if isinstance(value, str) or is_known(value)]


def _is_nominal(X: Any, feature: int, dtype: Any) -> bool:
    if str(dtype).lower().startswith(("categor", "enum")):
        return True
    # Of pandas' dtypes these may hold texts; polars has no kinds.
    return getattr(dtype, "kind", "O") in "OUT" and _holds_words(_column(X, feature))


def _holds_words(column: Sequence[Any]) -> bool:
    """Whether a text in a column is no number."""
    return any(isinstance(value, str) and not _is_number(value) for value in column)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _dtype_of(X: Any) -> Any:
    """Objects for lists that hold texts, which an array of texts would not tell from numbers."""
    rows = X if isinstance(X, list | tuple) else []
    texts = any(
        isinstance(value, str) for row in rows if isinstance(row, list | tuple) for value in row
    )
    return object if texts else None


def _nominal_features(X: Any, categorical_features: str | ArrayLike | None) -> NDArray[np.bool_]:
    if categorical_features is None or isinstance(categorical_features, str):
        if categorical_features is None:
            return np.zeros(0, dtype=bool)
        if hasattr(X, "dtypes"):
            found = [_is_nominal(X, k, dtype) for k, dtype in enumerate(X.dtypes)]
            return np.array(found, dtype=bool)
        values = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=_dtype_of(X))
        if values.dtype.kind not in "OU" or values.ndim != 2:
            return np.zeros(0, dtype=bool)
        return np.array([_holds_words(column.tolist()) for column in values.T], dtype=bool)
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

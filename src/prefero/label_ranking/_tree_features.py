"""Features as a tree sees them: at most 255 bins each, categories by number."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from prefero import _core

MAX_BINS = 255  # the 256th is for missing values
MAX_ROWS_FOR_QUANTILES = 200_000

Values = NDArray[np.float64]
Categories = dict[int, list[Any]]


class FeatureBins(NamedTuple):
    """Where the bins of all features end.

    Attributes
    ----------
    edges : ndarray of shape (n_edges,)
        The edges of all features, one after the other. Values up to an edge lie below it.
    starts : ndarray of shape (n_features + 1,)
        Where the edges of each feature start.
    categorical : ndarray of shape (n_features,), dtype bool
        Which features are nominal: each of their values is a bin.
    """

    edges: Values
    starts: NDArray[np.int64]
    categorical: NDArray[np.bool_]

    def of_feature(self, feature: int) -> Values:
        """Return the edges of one feature."""
        return self.edges[self.starts[feature] : self.starts[feature + 1]]

    def apply(self, X: Values) -> NDArray[np.uint8]:
        """Return the bin of every value; a category never seen is like a missing value."""
        if self.categorical.any():
            X = X.copy()
            for feature in np.flatnonzero(self.categorical).tolist():
                known = np.arange(len(self.of_feature(feature)) + 1)
                X[~np.isin(X[:, feature], known), feature] = np.nan
        return _core.bin_values(np.ascontiguousarray(X), self.edges, self.starts)


def find_bins(X: Values, categorical: NDArray[np.bool_]) -> FeatureBins:
    """Find the edges of all features; nominal ones hold numbers 0, 1, ... of categories.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features, NaN where missing.
    categorical : ndarray of shape (n_features,), dtype bool
        Which features are nominal.

    Returns
    -------
    FeatureBins
        Half way between neighbouring values if there are at most 255, else at quantiles.
    """
    step = -(-len(X) // MAX_ROWS_FOR_QUANTILES)
    columns = np.sort(X[::step].T, axis=1)  # NaN last
    edges = [
        np.arange(np.nanmax(column, initial=0)) + 0.5 if nominal else _numeric_edges(column)
        for column, nominal in zip(columns, categorical, strict=True)
    ]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in edges])]).astype(np.int64)
    return FeatureBins(np.concatenate([*edges, np.empty(0)]), starts, categorical)


def _numeric_edges(column: Values) -> Values:
    """Return the edges of one feature, whose values are sorted."""
    values = column[: len(column) - np.count_nonzero(np.isnan(column))]
    new = np.flatnonzero(values[1:] > values[:-1]) + 1  # where a larger value begins
    if len(new) >= MAX_BINS:
        wanted = np.arange(1, MAX_BINS) * len(values) // MAX_BINS
        new = np.unique(new[np.minimum(np.searchsorted(new, wanted), len(new) - 1)])
    low, high = values[new - 1], values[new]
    middle = low / 2 + high / 2
    return np.where(middle < high, middle, low)


class CategoryEncoder:
    """Numbers for the categories of nominal features.

    A feature is nominal if its column has pandas' category dtype or the user says so. The
    same table at prediction may hold other categories, which become NaN.
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

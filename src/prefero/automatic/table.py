"""Tables of numbers, words and texts as numbers that rankers take."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from prefero._state import Array, Attribute, Each, FittedState, Model, Names, State
from prefero._text_encoder import TextEncoder
from prefero._typing import Mask, Values
from prefero._warnings import warn_user
from prefero.automatic._candidates import Shape
from prefero.automatic._screening import Clock, Skipped
from prefero.base import FittedMixin

KINDS = ("number", "nominal", "text", "skipped")
# A nominal feature has at most so many categories: trees take no more.
_MOST_CATEGORIES = 255
# A column with different words in more than this share of the rows is not nominal.
_REPEATING = 0.5
# Cells with so many words on average are texts, not names.
_WORDS_OF_TEXT = 3


def _are_kinds(kinds: Any, _: State) -> bool:
    return bool(np.isin(kinds, KINDS).all())


def _one_per_nominal(categories: Any, state: State) -> bool:
    kinds = state.values["kinds_"]
    for values in categories:
        Names("n_categories").check(values, State({}))
    return len(categories) == int((kinds == "nominal").sum())


def _one_per_text(encoders: Any, state: State) -> bool:
    texts = all(isinstance(encoder, TextEncoder) for encoder in encoders)
    return texts and len(encoders) == int((state.values["kinds_"] == "text").sum())


def _columns_fit(nominal: Any, state: State) -> bool:
    """Whether the columns of the result are those that the kinds of features give."""
    encoders = iter(state.values["texts_"])
    found: list[bool] = []
    for kind in state.values["kinds_"]:
        width = len(next(encoders).components_) + 1 if kind == "text" else int(kind != "skipped")
        found += [kind == "nominal"] * width
    return nominal.tolist() == found


class TableTransformer(FittedMixin, TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers.

    Numbers and booleans stay as they are; missing ones become NaN. A column of words, or of
    pandas' category dtype, becomes category numbers; a category that was not seen in fit is
    missing. A column of texts becomes a few dimensions (`TextEncoder`). Dates, and names that
    hardly ever repeat, are skipped, with a warning. A sparse matrix stays sparse.

    Attributes
    ----------
    kinds_ : ndarray of shape (n_features,)
        The kind of each column: "number", "nominal", "text" or "skipped".
    categories_ : list of ndarray
        The categories of each nominal column.
    texts_ : list of TextEncoder
        The encoder of each column of texts.
    nominal_ : ndarray of bool
        Which columns of the result are numbers of categories.
    skipped_ : list of (str, str)
        The columns that are skipped, and why.

    Examples
    --------
    >>> X = np.array([[1.5, "b"], [None, "a"], [0.5, "b"], [2.0, "a"]], dtype=object)
    >>> TableTransformer().fit_transform(X)
    array([[1.5, 1. ],
           [nan, 0. ],
           [0.5, 1. ],
           [2. , 0. ]])
    """

    _fitted_state: ClassVar[FittedState] = {
        "kinds_": Names("n_features", unique=False, rule=("kinds of columns", _are_kinds)),
        "categories_": Each(
            Attribute(), rule=("one array of categories per nominal column", _one_per_nominal)
        ),
        "texts_": Each(
            Model("transform", n_features=1), rule=("one encoder per text", _one_per_text)
        ),
        "skipped_": Attribute(),
        "nominal_": Array("b", "n_columns", rule=("the columns of all features", _columns_fit)),
    }

    kinds_: NDArray[Any]
    categories_: list[NDArray[Any]]
    texts_: list[TextEncoder]
    skipped_: list[tuple[str, str]]
    nominal_: Mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns hold.

        Parameters
        ----------
        X : array-like, table or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : object, optional
            Ignored.

        Returns
        -------
        self
            The transformer.
        """
        X = as_columns(X)
        validate_data(self, X, skip_check_array=True)
        if not _is_mixed(X):
            X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        kinds, categories, texts, skipped = [], [], [], []
        nominal: list[bool] = []
        for feature in range(X.shape[1]):
            values = _column(X, feature) if _is_mixed(X) else None
            kind, found, why = _kind_of(values)
            kinds.append(kind)
            width = 0 if kind == "skipped" else 1
            if found is not None:
                categories.append(found)
            if kind == "text":
                texts.append(TextEncoder())
                width = texts[-1].fit_transform(_cells(values)).shape[1]
            nominal += [kind == "nominal"] * width
            if why:
                skipped.append((str(_name(X, feature)), why))
        self.kinds_, self.nominal_ = np.array(kinds, dtype=object), np.array(nominal, dtype=bool)
        self.categories_, self.texts_, self.skipped_ = categories, texts, skipped
        if skipped:
            told = ", ".join(f"{name!r} ({why})" for name, why in skipped[:5])
            warn_user(f"{len(skipped)} of {X.shape[1]} features are skipped: {told}.")
        if not len(self.nominal_):
            raise ValueError(
                "No feature is left: every column holds dates, or words that do not repeat."
            )
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns as numbers.

        Parameters
        ----------
        X : array-like, table or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_columns)
            Numbers; NaN where something is missing.
        """
        check_is_fitted(self)
        X = as_columns(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        if not _is_mixed(X) and (self.kinds_ == "number").all():
            return check_array(
                X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
            )
        columns, categories, texts = [], iter(self.categories_), iter(self.texts_)
        for feature, kind in enumerate(self.kinds_):
            if kind == "number":
                columns.append(_numbers(_column(X, feature), _name(X, feature)))
            elif kind == "nominal":
                columns.append(_codes(_column(X, feature), next(categories)))
            elif kind == "text":
                columns.append(next(texts).transform(_cells(_column(X, feature))))
        return check_array(np.column_stack(columns), ensure_all_finite="allow-nan")

    def _of_numbers(self, columns: Values) -> Values:
        """Values by column of the result, for each feature; NaN for all but numbers."""
        found = np.full((len(self.kinds_), columns.shape[1]), np.nan)
        texts, at = iter(self.texts_), 0
        for feature, kind in enumerate(self.kinds_):
            if kind == "number":
                found[feature] = columns[at]
            at += len(next(texts).components_) + 1 if kind == "text" else kind != "skipped"
        return found


def as_columns(X: Any) -> Any:
    """Return X as something with two dimensions."""
    X = X if issparse(X) or hasattr(X, "shape") else np.asarray(X)
    # Any other number of dimensions is refused in scikit-learn's words.
    return X if len(X.shape) == 2 else check_array(X, dtype=None)


def _is_mixed(X: Any) -> bool:
    """Whether columns may differ in kind."""
    if issparse(X):
        return False
    return hasattr(X, "columns") or X.dtype.kind not in "biuf"


def _name(X: Any, feature: int) -> Any:
    return X.columns[feature] if hasattr(X, "columns") else feature


def _column(X: Any, feature: int) -> Any:
    return X[X.columns[feature]] if hasattr(X, "columns") else X[:, feature]


def _kind_of(column: Any) -> tuple[str, NDArray[Any] | None, str]:
    """The kind of a column, its categories, and why it is left out."""
    if column is None:
        return "number", None, ""
    values = np.asarray(column)
    if values.dtype.kind in "biuf" and not _is_category(column):
        return "number", None, ""
    if values.dtype.kind in "mM":
        return "skipped", None, "dates"
    known = [value for value in values.tolist() if not _is_missing(value)]
    if not _is_category(column) and all(isinstance(value, int | float | bool) for value in known):
        return "number", None, ""
    if any(hasattr(value, "isoformat") for value in known):
        return "skipped", None, "dates"
    if not _is_category(column) and _all_numbers(known):
        return "number", None, ""
    different = {str(value) for value in known}
    n_words = sum(len(str(value).split()) for value in known)
    rare = len(different) > max(10, _REPEATING * len(known))
    if (len(different) > _MOST_CATEGORIES or rare) and n_words >= _WORDS_OF_TEXT * len(known):
        return "text", None, ""
    if len(different) > _MOST_CATEGORIES or rare:
        return "skipped", None, f"{len(different)} different words"
    return "nominal", np.array(sorted(different), dtype=object), ""


def _is_category(column: Any) -> bool:
    return str(getattr(column, "dtype", "")).lower().startswith(("category", "categorical", "enum"))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value != value)


def _all_numbers(values: list[Any]) -> bool:
    """Whether numbers were written as words."""
    try:
        np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _numbers(column: Any, name: Any) -> Values:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    plain = [np.nan if _is_missing(value) else value for value in values.tolist()]
    try:
        return np.array(plain, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"Column {name!r} held numbers in fit and holds words now: give numbers."
        ) from None


def _cells(column: Any) -> NDArray[Any]:
    """A column of texts as a matrix."""
    return np.array([None if _is_missing(v) else v for v in np.asarray(column).tolist()])[:, None]


def _codes(column: Any, categories: NDArray[Any]) -> Values:
    number = {name: float(code) for code, name in enumerate(categories.tolist())}
    values = np.asarray(column).tolist()
    return np.array(
        [np.nan if _is_missing(value) else number.get(str(value), np.nan) for value in values],
        dtype=np.float64,
    )


def _is_preparation(preparation: Any, state: State) -> bool:
    if not isinstance(preparation, TableTransformer):
        return False
    n_columns = len(preparation.nominal_)
    return bool(state.size("n_columns", n_columns) == n_columns)


class ColumnsMixin:
    """Mixin of rankers with a ``time_limit`` that prepare columns themselves.

    Attributes
    ----------
    preparation_ : TableTransformer
        How columns become numbers.
    """

    _fitted_state: ClassVar[FittedState] = {
        "preparation_": Model("transform", rule=("a table's columns", _is_preparation))
    }

    preparation_: TableTransformer
    feature_ranges_: Values
    time_limit: float | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _validate_X(self, X: Any, *, reset: bool) -> NDArray[Any]:
        X = as_columns(X)
        if reset:
            # The time of a fit starts with its data.
            self._clock = Clock(self.time_limit)
            self.preparation_ = TableTransformer().fit(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return self.preparation_.transform(X)

    def _note_ranges(self, X: Any, reset: bool) -> None:
        super()._note_ranges(X, reset)  # type: ignore[misc]
        self.feature_ranges_ = self.preparation_._of_numbers(self.feature_ranges_)

    def _start(self) -> tuple[Clock, list[Skipped]]:
        """Return the clock that the fit has started, and what was skipped so far."""
        notes = [Skipped(*note) for note in self.preparation_.skipped_]
        return self.__dict__.pop("_clock"), notes

    def _shape(self, X: Any, n_labels: int) -> Shape:
        return Shape(X.shape[0], X.shape[1], n_labels, self.preparation_.nominal_, issparse(X))

    @property
    def nominal_features_(self) -> Mask:
        """Which features are categories or texts."""
        return np.isin(self.preparation_.kinds_, ("nominal", "text"))

    @property
    def categories_(self) -> dict[int, list[Any]]:
        """The categories of each nominal feature, by the number of the feature."""
        numbers = np.flatnonzero(self.preparation_.kinds_ == "nominal").tolist()
        return dict(zip(numbers, map(list, self.preparation_.categories_), strict=True))

"""What automatic rankers share that take any table: its columns become numbers."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from prefero._state import FittedState, Model, State
from prefero._typing import Mask, Values
from prefero.automatic._candidates import Shape
from prefero.automatic._screening import Clock, LeftOut
from prefero.automatic.table import TableTransformer, as_columns


def _is_preparation(preparation: Any, state: State) -> bool:
    if not isinstance(preparation, TableTransformer):
        return False
    n_columns = len(preparation.nominal_)
    return bool(state.size("n_columns", n_columns) == n_columns)


class ColumnsMixin:
    """Mixin of rankers that prepare columns by themselves; it has a ``time_limit``.

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
            # The time of a fit begins with its data.
            self._clock = Clock(self.time_limit)
            self.preparation_ = TableTransformer().fit(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return self.preparation_.transform(X)

    def _note_ranges(self, X: Any, reset: bool) -> None:
        super()._note_ranges(X, reset)  # type: ignore[misc]
        self.feature_ranges_ = self.preparation_._of_numbers(self.feature_ranges_)

    def _start(self) -> tuple[Clock, list[LeftOut]]:
        """Take the clock that the fit has started, and what it left out so far."""
        notes = [LeftOut(*note) for note in self.preparation_.skipped_]
        return self.__dict__.pop("_clock"), notes

    def _shape(self, X: Any, n_labels: int) -> Shape:
        return Shape(X.shape[0], X.shape[1], n_labels, self.preparation_.nominal_, issparse(X))

    @property
    def nominal_features_(self) -> Mask:
        """Which features are words: categories or texts."""
        return np.isin(self.preparation_.kinds_, ("nominal", "text"))

    @property
    def categories_(self) -> dict[int, list[Any]]:
        """The categories of each nominal feature, by the number of the feature."""
        numbers = np.flatnonzero(self.preparation_.kinds_ == "nominal").tolist()
        return dict(zip(numbers, map(list, self.preparation_.categories_), strict=True))

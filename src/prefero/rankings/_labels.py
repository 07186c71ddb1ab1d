"""Label names as converters meet them: which there are, and which column each is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero.exceptions import RowError
from prefero.rankings._validation import check_label_names, label_names


def is_empty(label: Any) -> bool:
    return label is None or (isinstance(label, float) and np.isnan(label))


def all_labels(found: Iterable[Any], labels: Sequence[Any] | None) -> NDArray[Any]:
    """The given labels, checked, or else those found, sorted (by text if they do not compare)."""
    if labels is not None:
        return check_label_names(labels)
    distinct = dict.fromkeys(found)
    try:
        return check_label_names(sorted(distinct))
    except TypeError:
        return check_label_names(sorted(distinct, key=str))


def names_of(Y: Any, labels: Sequence[Any] | None, c: int) -> NDArray[Any]:
    """The names of c columns: the given ones, those of a table, or 0, 1, ..."""
    names = label_names(Y) if labels is None else check_label_names(labels)
    if names is None:
        return check_label_names(range(c))
    if len(names) != c:
        raise ValueError(f"labels holds {len(names)} names for {c} columns of Y.")
    return names


def column_of(label: Any, column: Mapping[Any, int], name: str, row: int) -> int:
    """The column of a label that a row of the argument ``name`` holds."""
    if label in column:
        return column[label]
    shown = [repr(known) for known in column]
    more = ", ..." if len(shown) > 10 else ""
    raise RowError(f"label {label!r} is not one of {', '.join(shown[:10])}{more}.", name, row)

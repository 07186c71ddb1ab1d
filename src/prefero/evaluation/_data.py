"""Data sets as experiments take them, and the folds that all rankers share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import Bunch, check_consistent_length

from prefero._data_checks import repeated_rows
from prefero._typing import Values
from prefero._warnings import warn_user
from prefero.evaluation._run_store import derived_seed
from prefero.rankings import check_ranks, have_ties, label_names

Source: TypeAlias = tuple[Any, ...] | Bunch | Callable[[], tuple[Any, ...] | Bunch]
Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]
# By repetition and fold.
Splits: TypeAlias = dict[tuple[int, int], Split]


@dataclass(frozen=True)
class DataSet:
    """A validated data set, with the names of its labels and a fingerprint of all its values."""

    X: Any
    ranks: Values
    scores: Values | None
    labels: NDArray[Any]
    fingerprint: str
    groups: NDArray[Any] | None = None
    tied: bool = False
    values: Mapping[str, Values] = field(default_factory=dict)

    def __sizeof__(self) -> int:
        # Large arguments are sent to a worker once, not with every task.
        return int(getattr(self.X, "nbytes", 2**20)) + self.ranks.nbytes


Check: TypeAlias = Callable[[Any, str], tuple[Values, NDArray[Any] | None]]


def check_label_ranks(Y: Any, name: str) -> tuple[Values, NDArray[Any] | None]:
    """Return ranks as numbers, and the names of the labels if there are any."""
    return check_ranks(Y, name=name), label_names(Y)


def load_data(
    name: str,
    source: Source,
    n_splits: int = 1,
    groups: ArrayLike | None = None,
    check: Check = check_label_ranks,
) -> DataSet:
    """Validate a data set."""
    parts = source() if callable(source) else source
    names = None
    if isinstance(parts, Bunch):
        names = parts.get("label_names")
        parts = (parts.data, parts.target)
    if len(parts) not in (2, 3, 4):
        raise ValueError(
            f"data[{name!r}] must be (X, Y), (X, Y, scores), (X, Y, scores, values) or a function "
            f"that returns one of them, got {len(parts)} parts."
        )
    X, Y = parts[:2]
    ranks, found = check(Y, f"Y of {name}")
    scores, values = (*parts[2:], None, None)[:2]
    scores = None if scores is None else np.asarray(scores, dtype=np.float64)
    values = {key: np.asarray(own, dtype=np.float64) for key, own in (values or {}).items()}
    members = None if groups is None else np.asarray(groups)
    check_consistent_length(X, ranks, scores, members, *values.values())
    count = len(ranks) if members is None else len(np.unique(members))
    if count < n_splits:
        what = "rows" if members is None else "groups"
        raise ValueError(f"{name} has {count} {what}, too few for {n_splits} folds.")
    names = found if names is None else names
    labels = np.arange(ranks.shape[-1]) if names is None else np.asarray(names, dtype=object)
    tied = ranks.ndim > 1 and have_ties(ranks)
    content = (X, ranks, scores, values) if values else (X, ranks, scores)
    return DataSet(X, ranks, scores, labels, joblib.hash(content), members, tied, values)


def load_all(
    data: Mapping[str, Source],
    groups: Mapping[str, ArrayLike] | None,
    n_splits: int = 1,
    check: Check = check_label_ranks,
) -> dict[str, DataSet]:
    """Validate data sets, each with its groups."""
    unknown = set(groups or {}) - set(data)
    if unknown:
        raise ValueError(f"groups name {sorted(unknown)[0]!r}, which is not among the data sets.")
    return {
        name: load_data(name, source, n_splits, (groups or {}).get(name), check)
        for name, source in data.items()
    }


@dataclass(frozen=True)
class Folds:
    """Training and test rows, the same for all rankers.

    Without ``cv``, ``n_repeats`` shuffled splits into ``n_splits`` folds that divide no group.
    """

    n_splits: int
    n_repeats: int
    cv: Any
    random_state: int

    def __post_init__(self) -> None:
        if self.cv is not None and self.n_repeats != 1:
            raise ValueError(
                "n_repeats goes with n_splits; with cv give a splitter that repeats, such as "
                "RepeatedKFold."
            )

    def of(self, name: str, data: DataSet) -> Splits:
        """Return the training and the test rows of a data set by repetition and fold."""
        if self.cv is not None:
            given = self.cv.split(data.X, data.ranks, data.groups)
            return {(0, fold): split for fold, split in enumerate(given)}
        _warn_of_copies(name, data)
        found = {}
        for repetition in range(self.n_repeats):
            seed = derived_seed("folds", self.random_state, name, repetition)
            kind = KFold if data.groups is None else GroupKFold
            folds = kind(self.n_splits, shuffle=True, random_state=seed)
            for fold, split in enumerate(folds.split(data.ranks, groups=data.groups)):
                found[repetition, fold] = split
        return found


def _warn_of_copies(name: str, data: DataSet) -> None:
    copies = 0 if data.groups is not None else repeated_rows(data.X)
    if copies:
        warn_user(
            f"{copies} rows of {name} repeat the features of another row: if such rows belong "
            "together, give groups; otherwise results are too optimistic."
        )

"""Validated partitions of Dask collections or blocks: what each holds, and a sample of all."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.utils import check_consistent_length
from sklearn.utils.extmath import row_norms

from prefero._sampling import evenly_spaced
from prefero._sklearn import check_sample_weight
from prefero._trees._categories import CategoryEncoder
from prefero._trees._shrinkage import mean_votes, row_votes
from prefero._typing import Indices, Mask, Values
from prefero._warnings import warn_user
from prefero.base import SampleOrders, check_sample_orders, copy_of, feature_ranges, unseen_labels
from prefero.distributed._engine import Call, Column, Engine, Handles
from prefero.distributed.blocks import Blocks, given_blocks
from prefero.rankings import check_ranks, have_ties, label_names

# How many columns there are, and their names if they have some.
Columns = tuple[int, tuple[Any, ...] | None]


class PartitionRows(NamedTuple):
    """The validated rows of a partition: those that have a weight and rank some label."""

    X: Any
    ranks: Values
    weight: Values

    def some(self, rows: Any) -> "PartitionRows":
        """Return some of the rows."""
        return PartitionRows(self.X[rows], self.ranks[rows], self.weight[rows])


class Place(NamedTuple):
    """Which of all used rows a partition holds, and which partition it is."""

    first: int
    size: int
    total: int
    number: int

    def inside(self, numbers: Indices) -> Indices:
        """Return the rows of the partition that are among some of all rows."""
        here = numbers[(numbers >= self.first) & (numbers < self.first + self.size)]
        return here - self.first


class PartitionSummary(NamedTuple):
    """What the driver must know of a partition."""

    n_rows: int
    n_empty: int
    features: Columns
    labels: Columns
    seen: Mask
    ranges: Values
    encoder: CategoryEncoder
    votes: Values
    known: Values  # comparisons behind the votes
    most_weight: float
    whole_weights: bool
    complete: bool
    ties: bool


def _validated(
    ranker: Any, reset: bool, X: Any, y: Any, sample_weight: Any = None
) -> tuple[PartitionRows, Any]:
    """Return the rows that have a weight and rank some label, and the names of the labels."""
    checked = ranker._validate_X(X, reset=reset)
    ranks = check_ranks(y, name="y")
    check_consistent_length(checked, ranks)
    weight = check_sample_weight(sample_weight, checked, dtype=np.float64, ensure_non_negative=True)
    used = ~np.isnan(ranks).all(axis=1) & (weight > 0)
    rows = PartitionRows(checked, ranks, weight)
    return rows if used.all() else rows.some(used), label_names(y)


def summarize(number: int, *entries: Any) -> PartitionSummary:
    """Read a partition and summarize it for the driver."""
    *blocks, (ranker, names) = entries
    given, own = given_blocks(names, blocks), copy_of(ranker)
    with naming(number):
        rows, labels = _validated(own, True, **given)
    votes, known = row_votes(rows.ranks)
    nominal = getattr(own, "nominal_features_", np.zeros(rows.X.shape[1], dtype=bool))
    return PartitionSummary(
        n_rows=len(rows.weight),
        n_empty=int(np.isnan(np.asarray(given["y"], dtype=np.float64)).all(axis=1).sum()),
        features=_columns_of(rows.X, own),
        labels=(rows.ranks.shape[1], None if labels is None else tuple(labels)),
        seen=np.asarray(~np.isnan(rows.ranks).all(axis=0)),
        ranges=feature_ranges(rows.X),
        encoder=CategoryEncoder(nominal, getattr(own, "categories_", {})),
        votes=rows.weight @ votes,
        known=rows.weight @ known,
        most_weight=float(rows.weight.max(initial=0)),
        whole_weights=bool((rows.weight % 1 == 0).all() and rows.weight.max(initial=0) < 2**16),
        complete=not np.isnan(rows.ranks).any(),
        ties=have_ties(rows.ranks),
    )


class Partitions:
    """The partitions of one training set.

    Parameters
    ----------
    engine : Engine
        Reads them.
    blocks : Blocks
        ``X``, ``y`` and perhaps ``sample_weight``.
    ranker : label ranker
        Its tags say what features are legal.

    Attributes
    ----------
    starts : ndarray of shape (n_partitions + 1,)
        The number of the first row of each partition among all that are used.
    """

    def __init__(self, engine: Engine, blocks: Blocks, ranker: Any) -> None:
        self.engine = engine
        numbers = range(len(blocks))
        found = self._summaries(blocks, numbers, ranker)
        refuse_differences("columns of X", [s.features for s in found])
        refuse_differences("columns of y", [s.labels for s in found])
        self._number_categories(blocks, found, ranker)
        self.n_empty = sum(s.n_empty for s in found)
        # Partitions without a row to learn from are left out from here on.
        self._numbers = [number for number in numbers if found[number].n_rows]
        if not self._numbers:
            raise ValueError("y ranks no label in any row of any weight: nothing to learn from.")
        self.summaries = [found[number] for number in self._numbers]
        self._columns = [[column[k] for k in self._numbers] for column in blocks.columns]
        self.starts = np.concatenate([[0], np.cumsum([s.n_rows for s in self.summaries])])
        reader = copy_of(ranker)
        self._name_features(reader)
        self._reader = reader, blocks.names

    def _summaries(
        self, blocks: Blocks, numbers: Sequence[int], ranker: Any
    ) -> list[PartitionSummary]:
        columns = [[column[k] for k in numbers] for column in blocks.columns]
        return self.engine.gather(
            self.engine.each(summarize, numbers, *columns, shared=(ranker, blocks.names))
        )

    def _number_categories(
        self, blocks: Blocks, found: list[PartitionSummary], ranker: Any
    ) -> None:
        """Number the categories of all partitions, in one order for all."""
        nominal = np.any([s.encoder.nominal for s in found], axis=0)
        # A column of words in one partition is nominal in all, even where all values are numbers.
        apart = [k for k, s in enumerate(found) if (s.encoder.nominal != nominal).any()]
        if apart:
            informed = copy_of(ranker)
            informed.categorical_features = nominal
            again = self._summaries(blocks, apart, informed)
            for number, summary in zip(apart, again, strict=True):
                found[number] = summary
        self.encoder = CategoryEncoder.joined([s.encoder for s in found], found[0].features[1])

    @property
    def n_rows(self) -> int:
        """The number of rows that are used."""
        return int(self.starts[-1])

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.summaries[0].labels[0]

    @property
    def most_weight(self) -> float:
        """The most that the weights of all rows may add up to."""
        return self.n_rows * max(summary.most_weight for summary in self.summaries)

    @property
    def whole_weights(self) -> bool:
        """Whether a weight of 2 is two examples."""
        return all(summary.whole_weights for summary in self.summaries)

    @property
    def places(self) -> list[Place]:
        """Which rows each partition holds."""
        return [
            Place(int(self.starts[number]), summary.n_rows, self.n_rows, number)
            for number, summary in enumerate(self.summaries)
        ]

    def mean_votes(self) -> Values:
        """Return the mean votes of all rows, whose order is the consensus."""
        votes, known = np.array([(s.votes, s.known) for s in self.summaries]).swapaxes(0, 1)
        return mean_votes(votes, known, np.ones(len(votes)))

    def name_features_and_labels(self, ranker: Any) -> None:
        """Give a ranker what it would have learned from a validated table."""
        self._name_features(ranker)
        # The ends of all partitions' ranges are values of features like any other.
        ranges = [self._numbered_ranges(s).T for s in self.summaries]
        ranker._note_ranges(np.concatenate(ranges), reset=True)
        n_labels, labels = self.summaries[0].labels
        ranker.classes_ = np.arange(n_labels)
        names = np.empty(n_labels, dtype=object)
        names[:] = range(n_labels) if labels is None else labels
        ranker.labels_ = ranker.classes_ if labels is None else names
        seen = np.any([s.seen for s in self.summaries], axis=0)
        ranker.unseen_labels_ = unseen_labels(
            np.where(seen, 1.0, np.nan)[None], ranker.labels_, says="ranked"
        )
        if self.n_empty:
            warn_user(f"{self.n_empty} rows of y rank no label and are ignored.")

    def _name_features(self, ranker: Any) -> None:
        name_columns(ranker, self.summaries[0].features)
        if hasattr(ranker, "categorical_features"):
            ranker.nominal_features_ = self.encoder.nominal
            ranker.categories_ = self.encoder.categories

    def _numbered_ranges(self, summary: PartitionSummary) -> Values:
        """The ranges of a partition, by the numbers that its categories have in all."""
        ranges = summary.ranges.copy()
        for feature, names in self.encoder.categories.items():
            own = summary.encoder.categories[feature]
            for end in np.flatnonzero(~np.isnan(ranges[feature])):
                ranges[feature, end] = names.index(own[int(ranges[feature, end])])
        return ranges

    def read(self, run: Call, shared: Any = None, *, brief: bool = False) -> Handles:
        """Start ``run(rows, place, shared)`` for each partition, read anew."""
        reading, given = partial(_with_rows, run), (self._reader, shared)
        columns: list[Column] = [self.places, self._numbers, *self._columns]
        return self.engine.each(reading, *columns, shared=given, brief=brief)

    def rows_at(self, numbers: Indices) -> PartitionRows:
        """Bring some rows, named by ascending numbers, to the driver."""
        parts: list[PartitionRows] = self.engine.gather(self.read(_pick, shared=numbers))
        X = [part.X for part in parts]
        joined = vstack(X).tocsr() if any(map(issparse, X)) else np.concatenate(X)
        ranks, weight = (np.concatenate(columns) for columns in list(zip(*parts, strict=True))[1:])
        return PartitionRows(joined, ranks, weight)

    def sample(self) -> tuple[Indices, PartitionRows]:
        """Bring evenly spaced rows, all if they are few, and their numbers."""
        numbers = evenly_spaced(self.n_rows)
        return numbers, self.rows_at(numbers)


def lean_copy(ranker: Any, *heavy: str) -> Any:
    """Return a copy to be sent to workers: without its held-out scores and heavy attributes."""
    own = copy_of(ranker, anew=False)
    for name in ("_held_out", *heavy):
        vars(own).pop(name, None)
    return own


def _with_rows(run: Call, place: Place, number: int, *entries: Any) -> Any:
    """Validate the rows of a partition by a ranker that knows their categories, and use them."""
    *blocks, ((ranker, names), shared) = entries
    with naming(number):
        rows, _ = _validated(ranker, False, **given_blocks(names, blocks))
    return run(rows, place, shared)


def _pick(rows: PartitionRows, place: Place, numbers: Indices) -> PartitionRows:
    return rows.some(place.inside(numbers))


# What both kinds of partitions share


@contextmanager
def naming(number: int) -> Iterator[None]:
    """Say in errors about the data which partition is wrong."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(f"Partition {number}: {error}") from error


def refuse_differences(what: str, found: Sequence[Any]) -> None:
    """Raise if partitions have other columns than the first: a number, and names or None."""
    for number, here in enumerate(found):
        if here != found[0]:
            raise ValueError(
                f"Partition {number}: the {what} are {_described(here)}, but in partition 0 they "
                f"are {_described(found[0])}: give all partitions the same columns."
            )


def _described(columns: Columns) -> str:
    return f"{columns[0]} without names" if columns[1] is None else str(list(columns[1]))


def _columns_of(X: Any, estimator: Any) -> Columns:
    names = getattr(estimator, "feature_names_in_", None)
    return X.shape[1], None if names is None else tuple(names)


def name_columns(estimator: Any, features: Columns) -> None:
    """Give an estimator the features that it would have found in a table."""
    estimator.n_features_in_, names = features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


# Sample orders


class OrdersSummary(NamedTuple):
    """What the driver must know of a partition of orders."""

    features: Columns
    names: tuple[Any, ...]
    n_orders: int
    largest: float


def _read_orders(number: int, *entries: Any) -> tuple[SampleOrders, Any, Any]:
    *blocks, (orderer, names) = entries
    given, own = given_blocks(names, blocks), copy_of(orderer)
    with naming(number), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a partition may be tied where others are not
        return check_sample_orders(own, given["X"], given["y"], given["qid"]), own, given["qid"]


def _summarize_orders(number: int, *entries: Any) -> OrdersSummary:
    orders, own, qid = _read_orders(number, *entries)
    return OrdersSummary(
        _columns_of(orders.X, own),
        tuple(np.unique(np.asarray(qid)).tolist()),
        len(orders.queries.sizes),
        float(row_norms(orders.X).max(initial=0)),
    )


def _with_orders(run: Call, number: int, *entries: Any) -> Any:
    *blocks, (reader, shared) = entries
    return run(_read_orders(number, *blocks, reader)[0], shared)


class OrderPartitions:
    """The partitions of a training set of sample orders.

    Parameters
    ----------
    engine : Engine
        Reads them.
    blocks : Blocks
        ``X``, ``y`` and ``qid``.
    orderer : orderer or reducer
        Its tags say what features are legal.
    """

    def __init__(self, engine: Engine, blocks: Blocks, orderer: Any) -> None:
        self.engine, self._reader = engine, (orderer, blocks.names)
        self._columns: list[Column] = [range(len(blocks)), *blocks.columns]
        self.summaries: list[OrdersSummary] = engine.gather(
            engine.each(_summarize_orders, *self._columns, shared=self._reader)
        )
        refuse_differences("columns of X", [s.features for s in self.summaries])
        self._refuse_torn_orders()

    def _refuse_torn_orders(self) -> None:
        where: dict[Any, int] = {}
        for number, summary in enumerate(self.summaries):
            for name in summary.names:
                if where.setdefault(name, number) != number:
                    raise ValueError(
                        f"Partition {number}: qid {name!r} also lies in partition {where[name]}, "
                        "but an order must be whole: sort by qid and divide between orders."
                    )

    @property
    def n_orders(self) -> int:
        """The number of orders."""
        return sum(summary.n_orders for summary in self.summaries)

    def read(self, run: Call, shared: Any = None) -> Handles:
        """Start ``run(orders, shared)`` for each partition."""
        reading = partial(_with_orders, run)
        return self.engine.each(reading, *self._columns, shared=(self._reader, shared))

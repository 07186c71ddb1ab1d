"""From Dask collections to partitions that can be trusted: what each holds, and a sample of all."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.utils import check_consistent_length

from prefero._sampling import evenly_spaced
from prefero._sklearn import check_sample_weight
from prefero._trees import CategoryEncoder, mean_votes, row_votes
from prefero._typing import Indices, Mask, Values
from prefero._warnings import warn_user
from prefero.base import feature_ranges, twin_of, unseen_labels
from prefero.distributed._engine import Engine, Later
from prefero.rankings import check_ranks, have_ties, label_names

# The name of blocks that hold everything.
WHOLE = "rows"


class Rows(NamedTuple):
    """The validated rows of a partition that teach something."""

    X: Any
    ranks: Values
    weight: Values

    def some(self, rows: Any) -> "Rows":
        """Return some of the rows."""
        return Rows(self.X[rows], self.ranks[rows], self.weight[rows])


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


class Summary(NamedTuple):
    """What the driver must know of a partition."""

    n_rows: int
    n_empty: int
    features: tuple[int, tuple[Any, ...] | None]
    labels: tuple[int, tuple[Any, ...] | None]
    seen: Mask
    ranges: Values
    encoder: CategoryEncoder
    votes: Values
    evidence: Values
    most_weight: float
    whole_weights: bool
    complete: bool
    ties: bool


class Blocks:
    """The blocks of several collections, side by side.

    Parameters
    ----------
    collections : dict of str to collection
        Dask arrays, DataFrames or Series, or arrays and tables in memory, which are one partition;
        None is left out.

    Examples
    --------
    >>> import dask.array as da
    >>> len(Blocks(X=da.zeros((6, 2), chunks=(2, 2)), y=da.ones((6, 3), chunks=(2, 3))))
    3
    """

    def __init__(self, **collections: Any) -> None:
        given = {name: value for name, value in collections.items() if value is not None}
        self.names = tuple(given)
        chunks = next((v.chunks[0] for v in given.values() if hasattr(v, "chunks")), None)
        self.columns = [_blocks(value, chunks) for value in given.values()]
        counts = [len(column) for column in self.columns]
        if len(set(counts)) > 1:
            told = ", ".join(f"{n} {c}" for n, c in zip(self.names, counts, strict=True))
            raise ValueError(
                f"The collections must have the same number of partitions, got {told}: "
                "repartition them alike."
            )

    @classmethod
    def later(cls, entries: Sequence[Later]) -> "Blocks":
        """Return blocks that are read when needed, each a dict of what ``fit`` takes.

        Parameters
        ----------
        entries : sequence of Later
            One a partition.

        Returns
        -------
        Blocks
            For ``DistributedLabelRanker.fit_blocks``.

        Examples
        --------
        >>> import numpy as np
        >>> from prefero import LogLinearLabelRanker
        >>> from prefero.distributed import DistributedLabelRanker
        >>> def read(number):
        ...     X = np.arange(4.0)[:, None] + 4 * number
        ...     return {"X": X, "y": np.where(X < 4, [[1, 2]], [[2, 1]])}
        >>> blocks = Blocks.later([Later(read, (number,)) for number in range(2)])
        >>> ranker = DistributedLabelRanker(LogLinearLabelRanker(alpha=0.1), client=False)
        >>> ranker.fit_blocks(blocks).to_local().predict([[0.0], [7.0]])
        array([[1, 2],
               [2, 1]])
        """
        blocks = cls()
        blocks.names, blocks.columns = (WHOLE,), [list(entries)]
        return blocks

    def __len__(self) -> int:
        return len(self.columns[0])


def _blocks(collection: Any, chunks: Any) -> list[Any]:
    if not hasattr(collection, "__dask_graph__"):
        return [collection]
    if hasattr(collection, "chunks"):
        wanted = {axis: -1 for axis in range(1, collection.ndim)}
        if chunks is not None and not np.isnan(chunks).any() and collection.chunks[0] != chunks:
            wanted[0] = chunks
        return list(collection.rechunk(wanted).to_delayed().ravel())
    return list(collection.to_delayed())


def given_blocks(names: Sequence[str], blocks: Sequence[Any]) -> dict[str, Any]:
    """Return what ``fit`` takes, from the blocks of one partition."""
    given = dict(zip(names, blocks, strict=True))
    return {**given.pop(WHOLE, {}), **given}


def read_rows(number: int, *entries: Any) -> Rows:
    """Validate the rows of a partition; the last entry is the ranker and the names of the others.

    The ranker knows the features and their categories. Errors say which partition is wrong. Rows
    of weight zero and rows that rank no label are left out.
    """
    *blocks, (ranker, names) = entries
    with naming(number):
        return _validated(ranker, False, **given_blocks(names, blocks))[0]


@contextmanager
def naming(number: int) -> Iterator[None]:
    """Say in errors about the data which partition is wrong."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(f"Partition {number}: {error}") from error


def _validated(
    ranker: Any, reset: bool, X: Any, y: Any, sample_weight: Any = None
) -> tuple[Rows, Any]:
    checked = ranker._validate_X(X, reset=reset)
    ranks = check_ranks(y, name="y")
    check_consistent_length(checked, ranks)
    weight = check_sample_weight(sample_weight, checked, dtype=np.float64, ensure_non_negative=True)
    used = ~np.isnan(ranks).all(axis=1) & (weight > 0)
    rows = Rows(checked, ranks, weight)
    return rows if used.all() else rows.some(used), label_names(y)


def summarize(number: int, *entries: Any) -> Summary:
    """Read a partition and say what the driver must know of it."""
    *blocks, (ranker, names) = entries
    given, twin = given_blocks(names, blocks), twin_of(ranker)
    with naming(number):
        rows, labels = _validated(twin, True, **given)
    known = getattr(twin, "feature_names_in_", None)
    votes, evidence = row_votes(rows.ranks)
    nominal = getattr(twin, "nominal_features_", np.zeros(rows.X.shape[1], dtype=bool))
    return Summary(
        n_rows=len(rows.weight),
        n_empty=int(np.isnan(np.asarray(given["y"], dtype=np.float64)).all(axis=1).sum()),
        features=(rows.X.shape[1], None if known is None else tuple(known)),
        labels=(rows.ranks.shape[1], None if labels is None else tuple(labels)),
        seen=np.asarray(~np.isnan(rows.ranks).all(axis=0)),
        ranges=feature_ranges(rows.X),
        encoder=CategoryEncoder(nominal, getattr(twin, "categories_", {})),
        votes=rows.weight @ votes,
        evidence=rows.weight @ evidence,
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
        Who reads them.
    blocks : Blocks
        ``X``, ``y`` and perhaps ``sample_weight``.
    ranker : label ranker
        Whose tags say what features are legal; it learns the names of features and labels.

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
        # From here on, partitions without a row to learn from are not there.
        self._numbers = [number for number in numbers if found[number].n_rows]
        if not self._numbers:
            raise ValueError("y ranks no label in any row of any weight: nothing to learn from.")
        self.summaries = [found[number] for number in self._numbers]
        self._columns = [[column[k] for k in self._numbers] for column in blocks.columns]
        self.starts = np.concatenate([[0], np.cumsum([s.n_rows for s in self.summaries])])
        reader = twin_of(ranker)
        self._name_features(reader)
        self._who = reader, blocks.names

    def _summaries(self, blocks: Blocks, numbers: Sequence[int], ranker: Any) -> list[Summary]:
        columns = [[column[k] for k in numbers] for column in blocks.columns]
        return self.engine.gather(
            self.engine.each(summarize, numbers, *columns, shared=(ranker, blocks.names))
        )

    def _number_categories(self, blocks: Blocks, found: list[Summary], ranker: Any) -> None:
        """Number the categories of all partitions, in one order for all."""
        nominal = np.any([s.encoder.nominal for s in found], axis=0)
        # What is words in one partition is names in all, be they all numbers in another.
        apart = [k for k, s in enumerate(found) if (s.encoder.nominal != nominal).any()]
        if apart:
            told = twin_of(ranker)
            told.categorical_features = nominal
            again = self._summaries(blocks, apart, told)
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
    def places(self) -> list[Place]:
        """Which rows each partition holds."""
        return [
            Place(int(self.starts[number]), summary.n_rows, self.n_rows, number)
            for number, summary in enumerate(self.summaries)
        ]

    def mean_votes(self) -> Values:
        """Return the mean votes of all rows, whose order is the constant order."""
        votes, evidence = (
            np.array([getattr(s, k) for s in self.summaries]) for k in ("votes", "evidence")
        )
        return mean_votes(votes, evidence, np.ones(len(votes)))

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
        n_features, features = self.summaries[0].features
        ranker.n_features_in_ = n_features
        if features is not None:
            ranker.feature_names_in_ = np.array(features, dtype=object)
        if hasattr(ranker, "categorical_features"):
            ranker.nominal_features_ = self.encoder.nominal
            ranker.categories_ = self.encoder.categories

    def _numbered_ranges(self, summary: Summary) -> Values:
        """The ranges of a partition, by the numbers that its categories have in all."""
        ranges = summary.ranges.copy()
        for feature, names in self.encoder.categories.items():
            own = summary.encoder.categories[feature]
            for end in np.flatnonzero(~np.isnan(ranges[feature])):
                ranges[feature, end] = names.index(own[int(ranges[feature, end])])
        return ranges

    def read(
        self, function: Callable[..., Any], shared: Any = None, *, brief: bool = False
    ) -> list[Any]:
        """Start ``function(rows, place, shared)`` for each partition, read anew."""
        reading, given = partial(_with_rows, function), (self._who, shared)
        columns: list[Sequence[Any]] = [self.places, self._numbers, *self._columns]
        return self.engine.each(reading, *columns, shared=given, brief=brief)

    def rows_at(self, numbers: Indices) -> Rows:
        """Bring some rows, named by ascending numbers, to the driver."""
        parts: list[Rows] = self.engine.gather(self.read(_pick, shared=numbers))
        X = [part.X for part in parts]
        joined = vstack(X).tocsr() if any(map(issparse, X)) else np.concatenate(X)
        ranks, weight = (np.concatenate(columns) for columns in list(zip(*parts, strict=True))[1:])
        return Rows(joined, ranks, weight)

    def sample(self) -> tuple[Indices, Rows]:
        """Bring evenly spaced rows, all if they are few, and their numbers."""
        numbers = evenly_spaced(self.n_rows)
        return numbers, self.rows_at(numbers)


def refuse_differences(what: str, found: Sequence[Any]) -> None:
    """Raise if partitions have other columns than the first: a number, and names or None."""
    for number, here in enumerate(found):
        if here != found[0]:
            raise ValueError(
                f"Partition {number}: the {what} are {_told(here)}, but in partition 0 they "
                f"are {_told(found[0])}: give all partitions the same columns."
            )


def _told(columns: tuple[int, tuple[Any, ...] | None]) -> str:
    return f"{columns[0]} without names" if columns[1] is None else str(list(columns[1]))


def lean_twin(ranker: Any, *heavy: str) -> Any:
    """Return a ranker to be sent round: without what it says of rows, and some attributes."""
    twin = twin_of(ranker, anew=False)
    for name in ("_held_out", *heavy):
        vars(twin).pop(name, None)
    return twin


def _with_rows(function: Callable[..., Any], place: Place, number: int, *entries: Any) -> Any:
    *blocks, (who, shared) = entries
    return function(read_rows(number, *blocks, who), place, shared)


def _pick(rows: Rows, place: Place, numbers: Indices) -> Rows:
    return rows.some(place.inside(numbers))

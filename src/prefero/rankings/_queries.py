"""Rows that belong together: the objects of one sample order."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from prefero._typing import ArrayOrNone, Values


@dataclass(frozen=True)
class Queries:
    """Where the rows of each query stand once all rows are put in the order of ``rows``.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Row numbers, query after query; inside a query in their given order.
    starts : ndarray of shape (n_groups + 1,)
        Query g holds ``rows[starts[g]:starts[g + 1]]``.

    Examples
    --------
    >>> queries = Queries.of(["b", "a", "b"], 3)
    >>> queries.rows, queries.starts
    (array([1, 0, 2]), array([0, 1, 3]))
    >>> queries.positions(np.array([5.0, 2.0, 1.0]))
    array([1., 2., 1.])
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, qid: ArrayOrNone, n_rows: int) -> Self:
        """Find the queries of rows that carry the same name; None is one query of all rows."""
        if qid is None:
            return cls(np.arange(n_rows), np.array([0, n_rows]))
        names = column_or_1d(qid, warn=True)
        check_consistent_length(names, np.empty(n_rows))
        codes, counts = np.unique(names, return_inverse=True, return_counts=True)[1:]
        return cls(np.argsort(codes, kind="stable"), np.concatenate([[0], np.cumsum(counts)]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each query."""
        return np.diff(self.starts)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The number of the query that each row of ``rows`` belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def sort(self, values: Values) -> NDArray[np.int64]:
        """Places of ``values`` (in the order of ``rows``), ascending inside each query."""
        return np.lexsort((values, self.codes))

    def positions(self, values: Values, weight: Values | None = None) -> Values:
        """Position of each value in its query; equal ones share their mean, NaN stays NaN.

        A value of weight two takes two places.
        """
        order, above, sizes = self._buckets(values)
        taken: NDArray[Any] = sizes
        if weight is not None:
            sums = np.append(0.0, np.cumsum(weight[order]))
            begins = np.append(0, np.cumsum(sizes))[:-1]
            taken = sums[begins + sizes] - sums[begins]
            above = sums[begins] - sums[self.starts[self.codes[begins]]]
        positions = np.empty(len(order))
        positions[order] = np.repeat(above + (taken + 1) / 2, sizes)
        return np.where(np.isnan(values), np.nan, positions)

    def ranks(self, values: Values) -> NDArray[np.int64]:
        """Position of each value in its query; equal ones share the smallest."""
        order, above, sizes = self._buckets(values)
        ranks = np.empty_like(order)
        ranks[order] = np.repeat(above + 1, sizes)
        return ranks

    def levels(self, values: Values) -> NDArray[np.int64]:
        """How many different smaller values the query of each value holds."""
        order, above, sizes = self._buckets(values)
        bucket = np.arange(len(above))
        first_bucket = np.maximum.accumulate(np.where(above == 0, bucket, 0))
        levels = np.empty_like(order)
        levels[order] = np.repeat(bucket - first_bucket, sizes)
        return levels

    def _buckets(self, values: Values) -> tuple[NDArray[np.int64], ...]:
        """Places in ascending order, and for each bucket of equal values how many stand above."""
        order = self.sort(values)
        arranged = values[order]
        new = np.concatenate([[True], arranged[1:] != arranged[:-1]])
        new[self.starts[:-1]] = True
        begins = np.flatnonzero(new)
        sizes = np.diff(np.append(begins, len(order)))
        return order, begins - self.starts[self.codes[begins]], sizes

    def matrices(self, *columns: NDArray[Any]) -> Iterator[tuple[NDArray[Any], ...]]:
        """Yield columns (in the order of ``rows``) as matrices, one row a query of equal size."""
        for size in np.unique(self.sizes):
            begins = self.starts[:-1][self.sizes == size]
            index = begins[:, None] + np.arange(size)
            yield tuple(column[index] for column in columns)

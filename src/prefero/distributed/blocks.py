"""Blocks of rows: of Dask collections, or of files that are read when they are needed."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Blocks", "LazyBlock"]

# The name of blocks that hold all arguments of ``fit``.
_WHOLE = "rows"


class LazyBlock(NamedTuple):
    """A block that is read when it is needed.

    Attributes
    ----------
    read : callable
        Returns the block.
    arguments : tuple
        What it is called with.

    Examples
    --------
    >>> block = LazyBlock(range, (2, 5))
    >>> list(block.read(*block.arguments))
    [2, 3, 4]
    """

    read: Callable[..., Any]
    arguments: tuple[Any, ...]


class Blocks:
    """The blocks of several collections, side by side.

    Parameters
    ----------
    collections : dict of str to collection
        Dask arrays, DataFrames or Series; or arrays and tables in memory, which are one partition.
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
            found = ", ".join(f"{n} {c}" for n, c in zip(self.names, counts, strict=True))
            raise ValueError(
                f"The collections must have the same number of partitions, got {found}: "
                "repartition them alike."
            )

    @classmethod
    def lazy(cls, entries: Sequence[LazyBlock]) -> "Blocks":
        """Return blocks that are read when needed, each a dict of the arguments of ``fit``.

        Parameters
        ----------
        entries : sequence of LazyBlock
            One per partition.

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
        >>> blocks = Blocks.lazy([LazyBlock(read, (number,)) for number in range(2)])
        >>> ranker = DistributedLabelRanker(LogLinearLabelRanker(alpha=0.1), client=False)
        >>> ranker.fit_blocks(blocks).to_local().predict([[0.0], [7.0]])
        array([[1, 2],
               [2, 1]])
        """
        blocks = cls()
        blocks.names, blocks.columns = (_WHOLE,), [list(entries)]
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
    """Return the arguments of ``fit``, from the blocks of one partition."""
    given = dict(zip(names, blocks, strict=True))
    return {**given.pop(_WHOLE, {}), **given}

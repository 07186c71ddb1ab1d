"""Parquet files, read and written some rows at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from prefero.exceptions import DataError
from prefero.tables._cells import need
from prefero.tables._format import FileFormat, Given, Write
from prefero.tables._table import Table, readable

if TYPE_CHECKING:
    import pandas as pd


def read(given: Given, n_rows: int | None) -> Iterator[Table]:
    """Yield the tables of a file; the index of a pandas table is no column."""
    first_row = 0
    with _parquet_of(given.source):
        given.file.seek(0)
        file = _opened(given.file)
        for part in _parts(file, n_rows):
            frame = _plain(part)
            yield Table(frame, given.source, first_row=first_row)
            first_row += len(frame)
    if not first_row:
        raise given.error("the table is empty.")


@contextmanager
def _parquet_of(source: str) -> Iterator[None]:
    """Say of whatever Arrow stumbles over that the source is no such file."""
    arrow = need("pyarrow")
    try:
        yield
    except DataError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError) as error:
        raise DataError(readable(f"this is no parquet file ({error})."), source) from error


def _opened(source: Any) -> Any:
    # Without a buffer of the whole file, which would be as large as what is read.
    return need("pyarrow.parquet").ParquetFile(source, pre_buffer=False)


def _parts(file: Any, n_rows: int | None) -> Iterator[Any]:
    """The rows of a file as tables of Arrow, all of them or so many at a time."""
    if n_rows is None:
        yield file.read()
        return
    for batch in file.iter_batches(batch_size=n_rows):
        yield need("pyarrow").Table.from_batches([batch])


class RowGroup(NamedTuple):
    """A part of a Parquet file that can be read by itself.

    Attributes
    ----------
    path : path
        The file.
    number : int
        The number of the part in it.
    first_row : int
        The number of its first row among those of all parts.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.parquet"
    ...     pd.DataFrame({"a": [1, 2]}).to_parquet(path)
    ...     RowGroup(path, number=0, first_row=0).read().frame.shape
    (2, 1)
    """

    path: Path
    number: int
    first_row: int

    def read(self) -> Table:
        """Return its rows."""
        with _parquet_of(str(self.path)):
            rows = _plain(_opened(self.path).read_row_group(self.number))
        return Table(rows, str(self.path), first_row=self.first_row)


def row_groups(path: Path) -> list[RowGroup]:
    """Return the parts of a Parquet file, or of all such files of a folder.

    Parameters
    ----------
    path : path
        The file or folder.

    Returns
    -------
    list of RowGroup
        At least one.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.parquet"
    ...     pd.DataFrame({"a": [1, 2, 3]}).to_parquet(path, row_group_size=2)
    ...     [group.first_row for group in row_groups(path)]
    [0, 2]
    """
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    found: list[RowGroup] = []
    first = 0
    for file in files:
        with _parquet_of(str(file)):
            about = _opened(file).metadata
        for number in range(about.num_row_groups):
            found.append(RowGroup(file, number, first))
            first += about.row_group(number).num_rows
    if not first:
        raise DataError("there are no rows in parquet files.", str(path))
    return found


def _plain(table: Any) -> "pd.DataFrame":
    """A table of Arrow, which is used up, without the index that pandas may have left in it."""
    # Column by column: the memory of the one is given back before the other takes some.
    frame = table.to_pandas(ignore_metadata=True, split_blocks=True, self_destruct=True)
    index = [name for name in frame.columns if str(name).startswith("__index_level_")]
    return frame.drop(columns=index)


@contextmanager
def write(file: BinaryIO, ending: str) -> Iterator[Write]:
    """Yield a function that writes the next rows, with the types of the first ones."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    writer = None

    def write_rows(frame: "pd.DataFrame") -> None:
        nonlocal writer
        schema = None if writer is None else writer.schema
        table = arrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
        if writer is None:
            writer = parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)

    yield write_rows
    if writer is not None:
        writer.close()


FORMAT = FileFormat(
    "parquet",
    (".parquet", ".pq"),
    holds=lambda given: given.head.startswith(b"PAR1\x15"),
    read=read,
    write=write,
)

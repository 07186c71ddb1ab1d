"""Parquet files, read and written some rows at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from prefero.exceptions import DataError
from prefero.tables._cells import need
from prefero.tables._format import FileFormat, Given, Write
from prefero.tables._table import Table

if TYPE_CHECKING:
    import pandas as pd


def read(given: Given, n_rows: int | None) -> Iterator[Table]:
    """Yield the tables of a file; the index of a pandas table is no column."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    first_row = 0
    try:
        given.file.seek(0)
        file = parquet.ParquetFile(given.file)
        total = file.metadata.num_rows
        for batch in file.iter_batches(batch_size=n_rows or max(total, 1)):
            frame = arrow.Table.from_batches([batch]).to_pandas(ignore_metadata=True)
            index = [name for name in frame.columns if str(name).startswith("__index_level_")]
            yield Table(frame.drop(columns=index), given.source, first_row=first_row)
            first_row += len(frame)
    except DataError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError) as error:
        raise given.error(f"this is no parquet file ({error}).") from error
    if not first_row:
        raise given.error("the table is empty.")


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

"""What a file format is, and a file as a format reads it."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from prefero._files import encoding_of
from prefero.exceptions import DataError
from prefero.tables._table import DataTable, readable

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables._rankings import Rankings

Write = Callable[["pd.DataFrame"], None]

# What a file may hold: so much, and so much more for each of its bytes. A row costs as much as
# some cells, whatever it holds; so many let any text pass that is not compressed.
MOST_CELLS, CELLS_PER_BYTE, CELLS_PER_ROW = 8_000_000, 6, 10
MOST_UNPACKED, UNPACKED_PER_BYTE = 32 << 20, 20
MOST_COLUMNS = 20_000
_REMEDY = (
    "may hold: save less of it, or allow more by max_cells= or the environment variable "
    "PREFERO_MAX_CELLS."
)


@dataclass(frozen=True)
class SourceFile:
    """A file to read.

    ``file`` can be read twice; ``ending`` is that of the name, without the one of a
    compression; ``path`` is None for what came from a stream.
    """

    file: BinaryIO
    source: str
    ending: str = ""
    path: Path | None = None
    separator: str | None = None
    max_cells: int | None = None

    @cached_property
    def size(self) -> int:
        """How many bytes the file has on the disk."""
        return os.fstat(self.file.fileno()).st_size

    @property
    def most_cells(self) -> int:
        """How many cells the file may hold."""
        return self.max_cells or MOST_CELLS + CELLS_PER_BYTE * self.size

    def refuse_beyond(self, n_rows: int, n_columns: int, row: int = CELLS_PER_ROW) -> None:
        """Refuse a table that is larger than its file lets expect."""
        most = MOST_COLUMNS if self.max_cells is None else self.max_cells
        if n_columns > most:
            raise self.error(f"{n_columns:,} columns are more than the {most:,} {_REMEDY}")
        if n_rows * (n_columns + row) > self.most_cells:
            raise self.error(
                f"{n_rows:,} rows of {n_columns:,} columns are more than a file of {self.size:,} "
                f"bytes {_REMEDY}"
            )

    def refuse_unpacked(self, n_bytes: int, least: int = MOST_UNPACKED) -> None:
        """Refuse a compressed file that unpacks to far more than its size."""
        most = max(8 * (self.max_cells or 0), least + UNPACKED_PER_BYTE * self.size)
        if n_bytes > most:
            raise self.error(
                f"it unpacks to more than {most:,} bytes, which is more than a file "
                f"of {self.size:,} bytes {_REMEDY}"
            )

    @cached_property
    def head(self) -> bytes:
        """The first bytes."""
        self.file.seek(0)
        return self.file.read(1 << 16)

    @property
    def lines(self) -> Iterator[str]:
        """The lines of a file of text, each with its end as it stands."""
        self.file.seek(0)
        encoding = encoding_of(self.file)
        if encoding is None:
            raise self.error("this is no text: save the table as UTF-8.")
        self.file.seek(0)
        text = io.TextIOWrapper(self.file, encoding=encoding, newline="")
        try:
            yield from text
        finally:
            if not self.file.closed:
                text.detach()

    def error(self, problem: str, line: int | None = None) -> DataError:
        """Return an error about the file."""
        return DataError(readable(problem), self.source, line)


@dataclass(frozen=True)
class FileFormat:
    """A kind of file.

    Attributes
    ----------
    name : str
        As people call it.
    endings : tuple of str
        Those of file names.
    holds : callable, optional
        Tells by the first bytes whether a file of another or no ending is one.
    read : callable, optional
        Yields the tables of a file, in parts of some rows if it can; None asks for all at once.
    write : callable, optional
        Opens a file for a table that comes some rows at a time.
    write_rankings : callable, optional
        The same for rankings at once, if the format holds nothing else.
    """

    name: str
    endings: tuple[str, ...]
    holds: Callable[[SourceFile], bool] = lambda given: False
    read: Callable[[SourceFile, int | None], Iterator[DataTable]] | None = None
    write: Callable[[BinaryIO, str], AbstractContextManager[Write]] | None = None
    write_rankings: "Callable[[Rankings, BinaryIO], Any] | None" = None

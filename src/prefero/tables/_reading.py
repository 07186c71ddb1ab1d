"""Tables from files of any format, whole or in parts."""

import gzip
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from prefero.exceptions import DataError
from prefero.tables._arff import FORMAT as ARFF
from prefero.tables._aslib import DESCRIPTION
from prefero.tables._aslib import FORMAT as ASLIB
from prefero.tables._binary import EXCEL, PARQUET
from prefero.tables._delimited import DELIMITED, JSON, KEBI
from prefero.tables._format import FileFormat, SourceFile
from prefero.tables._svmlight import FORMAT as SVMLIGHT
from prefero.tables._table import DataTable

Source = str | PathLike[str] | BinaryIO

# The first format that recognizes a file by its ending or its first bytes reads it; the last takes
# any text. A new format is one ``FileFormat`` and one line here.
FORMATS: tuple[FileFormat, ...] = (ASLIB, PARQUET, EXCEL, JSON, ARFF, SVMLIGHT, KEBI, DELIMITED)

_GZIP = b"\x1f\x8b"
_MAX_CELLS = "PREFERO_MAX_CELLS"
_BLOCK = 1 << 20


def read_table(
    source: Source,
    *,
    separator: str | None = None,
    name: str | None = None,
    max_cells: int | None = None,
) -> DataTable:
    r"""Read a table from a file of any format.

    Parameters
    ----------
    source : str, path or binary file
        A file of separated text (csv, tsv), KEBI, ARFF, XARFF, Parquet, Excel or svmlight,
        compressed by gzip or not; or the folder of an ASlib scenario. The format is recognized by
        its ending or its content. Decimal commas are recognized unless commas separate the cells.
    separator : str, optional
        The separator of the cells of a text. By default it is found in the first line.
    name : str, optional
        The name of the source in error messages. By default the path.
    max_cells : int, optional
        How many cells the file may hold, each row counting as ten more, of an Excel sheet as
        100, of Parquet as five. By default 8 million and 6 per byte of the file, so that no small
        file costs much; 20,000 columns; and 32 MiB (of Excel 8 MiB) and 20 times its size for
        what a compressed file unpacks to. The environment variable ``PREFERO_MAX_CELLS`` sets it
        where no argument does.

    Returns
    -------
    DataTable
        The cells, with the place of each row in the file and what the file declares.

    See Also
    --------
    read_rankings : Takes the rankings out of it.
    read_parts : Reads some rows at a time.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.BytesIO(b"id;y_a;y_b\nu;1;2\n"))
    >>> table.columns("y_*"), table.note
    (['y_a', 'y_b'], 'cells are separated by semicolons.')
    """
    (table,) = _tables(source, None, separator, name, max_cells)
    return table


def read_parts(
    source: Source,
    n_rows: int,
    *,
    separator: str | None = None,
    name: str | None = None,
    max_cells: int | None = None,
) -> Iterator[DataTable]:
    r"""Read a table some rows at a time.

    Parameters
    ----------
    source : str, path or binary file
        As for `read_table`. For text and Parquet only one part is in memory at a time.
    n_rows : int
        The number of rows of each part but the last; fewer of many columns.
    separator, name, max_cells
        As for `read_table`.

    Yields
    ------
    DataTable
        The next rows.

    Examples
    --------
    >>> import io
    >>> parts = read_parts(io.BytesIO(b"a,b\n1,2\n2,1\n1,2\n"), 2)
    >>> [(part.first_row, len(part)) for part in parts]
    [(0, 2), (2, 1)]
    """
    for table in _tables(source, n_rows, separator, name, max_cells):
        yield from table.parts(n_rows)


def _tables(
    source: Source,
    n_rows: int | None,
    separator: str | None,
    name: str | None,
    max_cells: int | None,
) -> Iterator[DataTable]:
    if max_cells is None and _MAX_CELLS in os.environ:
        max_cells = int(os.environ[_MAX_CELLS])
    with _opened(source, separator, name) as given:
        given = replace(given, max_cells=max_cells)
        try:
            if given.head.startswith(_GZIP):
                given = _unpacked(given)
            yield from _format_of(given)(given, n_rows)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise given.error(f"the compressed file is broken ({error}).") from error


def _format_of(given: SourceFile) -> Any:
    """Return the reader of a file: by its ending if that is enough, else by its content."""
    by_ending = [form for form in FORMATS[:-1] if given.ending in form.endings]
    by_content = (form for form in FORMATS if form.holds(given))
    form = by_ending[0] if by_ending else next(by_content)
    if form.read is None:
        raise given.error(f"{form.name} is written only: convert it to csv.")
    return form.read


@contextmanager
def _opened(source: Source, separator: str | None, name: str | None) -> Iterator[SourceFile]:
    """Open a file, the description in a folder, or a copy of a stream that can be read twice."""
    if not isinstance(source, str | PathLike):
        with TemporaryFile() as copy:
            shutil.copyfileobj(source, copy)
            yield SourceFile(copy, name or "stream", separator=separator)
        return
    path = Path(source)
    if path.is_dir():
        path = path / DESCRIPTION
        if not path.is_file():
            problem = f"a folder must hold a scenario of ASlib, but there is no {DESCRIPTION}."
            raise DataError(problem, name or str(source))
    with path.open("rb") as file:
        yield SourceFile(file, name or str(path), path.suffix.lower(), path, separator)


def _unpacked(given: SourceFile) -> SourceFile:
    given.file.seek(0)
    unpacked: Any = gzip.GzipFile(fileobj=given.file)
    while unpacked.read(_BLOCK):
        given.refuse_unpacked(unpacked.tell())
    inner = None if given.path is None else given.path.with_suffix("")
    ending = "" if inner is None else inner.suffix.lower()
    return replace(given, file=unpacked, ending=ending, path=inner)

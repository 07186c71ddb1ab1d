"""Excel files (the first sheet, with names in its first row) and Parquet files."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from prefero._optional import require
from prefero.exceptions import DataError
from prefero.tables._format import FileFormat, SourceFile, Write
from prefero.tables._table import DataTable, need, readable

if TYPE_CHECKING:
    import pandas as pd

# What is no sheet becomes many objects: styles, names, links.
_MOST_ABOUT = 4 << 20
# XML takes long to read, and a row of it and one of Parquet cost as much as so many cells.
_MOST_OF_SHEETS, _CELLS_PER_ROW, _CELLS_PER_PARQUET_ROW = 8 << 20, 100, 5
_SHEETS = re.compile(r"xl/(worksheets/[^/]+|sharedStrings)\.xml")


def _read_excel(given: SourceFile, n_rows: int | None) -> Iterator[DataTable]:
    """Yield the table of the first sheet."""
    excel = require("openpyxl", extra="excel", purpose="Reading Excel files")
    given.file.seek(0)
    try:
        _refuse_bomb(given)
        book = excel.load_workbook(given.file, read_only=True, data_only=True)
        sheets = book.worksheets
        rows = list(_sheet_rows(sheets[0], given))
    except DataError:
        raise
    except Exception as error:  # openpyxl promises no kind of error for a broken file
        raise given.error(f"this is no Excel file ({error}).") from error
    note = f"the sheet {sheets[0].title!r}, first of {len(sheets)}, was read."
    yield _sheet_table(rows, given, note if len(sheets) > 1 else "")


def _refuse_bomb(given: SourceFile) -> None:
    with zipfile.ZipFile(given.file) as archive:
        members = archive.infolist()
    given.refuse_unpacked(sum(member.file_size for member in members), _MOST_OF_SHEETS)
    about = [one for one in members if one.filename.endswith((".xml", ".rels"))]
    if sum(one.file_size for one in about if not _SHEETS.fullmatch(one.filename)) > _MOST_ABOUT:
        raise given.error("this Excel file holds more about its sheets than in them.")


def _sheet_rows(sheet: Any, given: SourceFile) -> Iterator[tuple[Any, ...]]:
    """The rows that hold anything, without the empty cells at their end."""
    sheet.reset_dimensions()
    n_cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        n_cells += len(row)
        given.refuse_beyond(number, n_cells // number, _CELLS_PER_ROW)
        end = next((end for end in range(len(row), 0, -1) if row[end - 1] is not None), 0)
        yield row[:end]


def _sheet_table(rows: list[tuple[Any, ...]], given: SourceFile, note: str) -> DataTable:
    numbered = [(line, row) for line, row in enumerate(rows, start=1) if row]
    if not numbered:
        raise given.error("the sheet is empty.", 1)
    names = ["" if name is None else str(name).strip() for name in numbered[0][1]]
    if len(numbered) < 2:
        raise given.error("there is no row after the names.", 1)
    given.refuse_beyond(len(numbered), len(names))
    wide = [line for line, row in numbered if len(row) > len(names)]
    if wide:
        raise given.error(f"there are more cells than the {len(names)} names.", wide[0])
    cells = [row + (None,) * (len(names) - len(row)) for _, row in numbered[1:]]
    frame = need("pandas").DataFrame(cells).infer_objects().set_axis(names, axis=1)
    return DataTable(frame, given.source, np.array([line for line, _ in numbered[1:]]), note=note)


@contextmanager
def _write_excel(file: BinaryIO, ending: str) -> Iterator[Write]:
    """Yield a function that writes the next rows."""
    excel = require("openpyxl", extra="excel", purpose="Writing Excel files")
    book = excel.Workbook(write_only=True)
    sheet = book.create_sheet("prefero")
    begun = False

    def write_rows(frame: "pd.DataFrame") -> None:
        nonlocal begun
        if not begun:
            sheet.append([str(name) for name in frame.columns])
        begun = True
        plain = frame.astype(object).where(frame.notna(), None)
        for row in plain.itertuples(index=False, name=None):
            sheet.append(row)

    yield write_rows
    book.save(file)


EXCEL = FileFormat(
    "Excel",
    (".xlsx", ".xlsm"),
    holds=lambda given: given.head.startswith(b"PK\x03\x04"),
    read=_read_excel,
    write=_write_excel,
)


def _read_parquet(given: SourceFile, n_rows: int | None) -> Iterator[DataTable]:
    """Yield the tables of a file; an index that pandas stored is dropped."""
    first_row = n_bytes = 0
    with _parquet_of(given.source):
        given.file.seek(0)
        file = _opened(given.file, given)
        for part in _parts(file, n_rows):
            part, n_bytes = _spelled_out(part, given, n_bytes)
            frame = _plain(part)
            yield DataTable(frame, given.source, first_row=first_row)
            first_row += len(frame)
    if not first_row:
        raise given.error("the table is empty.")


@contextmanager
def _parquet_of(source: str) -> Iterator[None]:
    """Turn errors of Arrow into one that says the source is no Parquet file."""
    arrow = need("pyarrow")
    try:
        yield
    except DataError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError) as error:
        raise DataError(readable(f"this is no parquet file ({error})."), source) from error


def _opened(source: Any, given: SourceFile | None = None) -> Any:
    """Open a file; one that is ``given`` is bounded, and its texts stay in dictionaries."""
    parquet = need("pyarrow.parquet")
    if given is None:
        # pre_buffer would hold the whole file in memory.
        return parquet.ParquetFile(source, pre_buffer=False)
    about = parquet.read_metadata(source)
    columns = [about.schema.column(i) for i in range(about.num_columns)]
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    given.refuse_beyond(about.num_rows, about.num_columns, _CELLS_PER_PARQUET_ROW)
    for i in range(about.num_columns):
        chunks = [group.column(i) for group in groups]
        given.refuse_beyond(sum(chunk.num_values for chunk in chunks), 1, _CELLS_PER_PARQUET_ROW)
    given.refuse_unpacked(sum(group.total_byte_size for group in groups))
    texts = [one.path for one in columns if "BYTE_ARRAY" in one.physical_type]
    source.seek(0)
    return parquet.ParquetFile(source, pre_buffer=False, read_dictionary=texts)


def _spelled_out(table: Any, given: SourceFile, before: int) -> tuple[Any, int]:
    """Return a table without dictionaries, and how many bytes of text it and others have."""
    arrow, compute = need("pyarrow"), need("pyarrow.compute")
    for i, column in enumerate(table.columns):
        if not arrow.types.is_dictionary(column.type):
            continue
        for chunk in column.chunks:
            lengths = compute.binary_length(chunk.dictionary)
            before += compute.sum(lengths.cast("int64").take(chunk.indices)).as_py() or 0
        given.refuse_unpacked(before)
        plain = column.cast(column.type.value_type)
        table = table.set_column(i, table.schema.field(i).with_type(plain.type), plain)
    return table, before


def _parts(file: Any, n_rows: int | None) -> Iterator[Any]:
    """Yield the rows of a file as Arrow tables, all or ``n_rows`` at a time."""
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

    def read(self) -> DataTable:
        """Return its rows."""
        with _parquet_of(str(self.path)):
            rows = _plain(_opened(self.path).read_row_group(self.number))
        return DataTable(rows, str(self.path), first_row=self.first_row)


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
    """Convert an Arrow table, which is used up, without an index that pandas left in it."""
    # Column by column, each freed once converted: this halves the peak of memory.
    frame = table.to_pandas(ignore_metadata=True, split_blocks=True, self_destruct=True)
    index = [name for name in frame.columns if str(name).startswith("__index_level_")]
    return frame.drop(columns=index)


@contextmanager
def _write_parquet(file: BinaryIO, ending: str) -> Iterator[Write]:
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


PARQUET = FileFormat(
    "parquet",
    (".parquet", ".pq"),
    holds=lambda given: given.head.startswith(b"PAR1\x15"),
    read=_read_parquet,
    write=_write_parquet,
)

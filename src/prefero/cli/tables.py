"""Tables from files: strict about their shape, exact about where something is wrong."""

import csv
import io
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TextIO

from prefero._files import decode, encoding_of
from prefero._optional import require
from prefero.exceptions import DataError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")

_need = partial(require, extra="cli", purpose="Reading and writing tables")


@dataclass
class BadCell:
    """A cell that is no finite number where one was expected."""

    row: int
    column: str
    cell: str

    def __str__(self) -> str:
        return f"column {self.column!r} holds {self.cell!r}, which is no finite number."


@dataclass
class Table:
    """A table, and where it came from.

    Cells of a text file are strings; those of a parquet file have its types. Where the file
    itself declares which columns hold rankings, ``label_columns`` names them. ``first_row`` is
    the number of the first row in the file, of which this may be a part.
    """

    source: str
    frame: "pd.DataFrame"
    label_columns: list[str] | None = None
    first_row: int = 0
    _text: str = field(default="", repr=False)
    _separator: str = ","
    _lines_left_out: int = 0

    def line(self, row: int) -> int | None:
        """Return the line of the file that holds a row; None if it has no lines."""
        if not self._text:
            return None
        line = _line_of_record(self._text, self._separator, row + 1)
        return None if line is None else line + self._lines_left_out

    def error(self, problem: str, row: int | None = None) -> DataError:
        """Return an error about the table, or about one row of it."""
        if row is None:
            return DataError(problem, self.source)
        line = self.line(row)
        where = "" if line else f"row {self.first_row + row}: "
        return DataError(where + problem, self.source, line)

    def columns(self, wanted: str) -> list[str]:
        """Return the columns that a list of names and patterns such as 'y_*' means."""
        chosen: dict[str, None] = {}
        for pattern in filter(None, map(str.strip, wanted.split(","))):
            found = [name for name in self.frame.columns if _matches(name, pattern)]
            if not found:
                names = ", ".join(map(str, self.frame.columns))
                raise self.error(f"no column is named {pattern!r}; there are {names}.")
            chosen.update(dict.fromkeys(found))
        return list(chosen)

    def numbers(self, columns: list[str]) -> tuple["NDArray[np.float64]", list[BadCell]]:
        """Return columns as numbers, NaN for missing, and the cells that are none."""
        import numpy as np

        values = np.empty((len(self.frame), len(columns)))
        bad: list[BadCell] = []
        for j, column in enumerate(columns):
            values[:, j], wrong = _column_of_numbers(self.frame[column])
            bad += (BadCell(int(i), column, str(self.frame[column].iloc[i])) for i in wrong)
        return values, bad

    def finite_numbers(self, columns: list[str]) -> "NDArray[np.float64]":
        """Return columns as numbers, refusing the first cell that is none."""
        values, bad = self.numbers(columns)
        if bad:
            raise self.error(str(bad[0]), bad[0].row)
        return values

    def blanked(self, cells: list[BadCell]) -> "Table":
        """Return the table with some cells made missing."""
        frame = self.frame.copy()
        for cell in cells:
            frame.loc[cell.row, cell.column] = None
        return replace(self, frame=frame)

    def weights(self, column: str) -> "NDArray[np.float64]":
        """Return a column as weights, of which none may be missing or negative."""
        import numpy as np

        values = self.finite_numbers([column])[:, 0]
        wrong = np.flatnonzero(~(values >= 0))
        if len(wrong):
            raise self.error(f"the weight in column {column!r} is missing or negative.", wrong[0])
        return values

    def without(self, *columns: str | None) -> "Table":
        """Return the table without some columns; None is no column."""
        return replace(self, frame=self.frame.drop(columns=[c for c in columns if c is not None]))

    def features(self, columns: list[str]) -> "pd.DataFrame":
        """Return columns as features: numbers where all cells are numbers, else text."""
        pandas = _need("pandas")
        features = {}
        for column in columns:
            values, bad = _column_of_numbers(self.frame[column])
            cells = self.frame[column]
            features[column] = cells.mask(cells.isin(MISSING)) if len(bad) else values
        return pandas.DataFrame(features, index=self.frame.index)


def read_table(path: Path) -> Table:
    """Read a .csv, .tsv, .parquet or .xarff file, or csv from stdin if the path is a dash."""
    if str(path) == "-":
        return _parse_text(*_named_columns(decode(sys.stdin.buffer.read())), "stdin", ",")
    suffix = path.suffix.lower()
    if suffix == ".xarff":
        return _parse_xarff(path)
    content = path.read_bytes()
    if suffix == ".parquet":
        return _parse_parquet(content, str(path))
    return _parse_text(*_named_columns(decode(content)), str(path), _separator_of(path))


def read_chunks(path: Path, n_rows: int) -> Iterator[Table]:
    """Read the same in parts of some rows; of a file of text only one part is in memory."""
    if path.suffix.lower() in (".parquet", ".xarff"):
        whole = read_table(path)
        for first in range(0, len(whole.frame), n_rows):
            frame = whole.frame[first : first + n_rows].reset_index(drop=True)
            yield replace(whole, frame=frame, first_row=first)
        return
    with _rereadable(path) as file:
        encoding = encoding_of(file)
        file.seek(0)
        text = io.TextIOWrapper(file, encoding=encoding, newline="")
        source = "stdin" if str(path) == "-" else str(path)
        yield from _parse_parts(text, source, _separator_of(path), n_rows)


@contextmanager
def _rereadable(path: Path) -> Iterator[Any]:
    """Open a file, or a copy of stdin that can be read twice."""
    if str(path) != "-":
        with path.open("rb") as file:
            yield file
        return
    with TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        yield copy


def _separator_of(path: Path) -> str:
    return "\t" if path.suffix.lower() in (".tsv", ".tab") else ","


def _parse_parts(text: TextIO, source: str, separator: str, n_rows: int) -> Iterator[Table]:
    """Parse some records at a time, each time under the names in the first one."""
    csv.field_size_limit(sys.maxsize)
    taken: list[str] = []
    reader = csv.reader(_noted(text, taken), delimiter=separator)
    records = filter(None, reader)
    next(records, None)
    head, declared = "".join(taken), None
    head_lines = first_line = reader.line_num
    first_row = 0
    while True:
        taken.clear()
        n_read = sum(1 for _ in islice(records, n_rows))
        if not n_read and first_row:
            return
        part = head + "".join(taken)
        if not first_row:
            part, declared = _named_columns(part)
            head = part[: part.index("\n") + 1] if declared else head
        table = _parse_text(part, declared, source, separator, first_line - head_lines)
        yield replace(table, first_row=first_row)
        first_row += len(table.frame)
        first_line = reader.line_num


def _noted(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _parse_text(
    text: str, declared: list[str] | None, source: str, separator: str, lines_left_out: int = 0
) -> Table:
    """Parse names and records, between which some lines of the file may have been left out."""
    arrow, arrow_csv = _need("pyarrow"), _need("pyarrow.csv")
    header = _header(text, source, separator)
    try:
        table = arrow_csv.read_csv(
            arrow.BufferReader(text.encode()),
            read_options=arrow_csv.ReadOptions(use_threads=False),
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(header, arrow.string()), strings_can_be_null=False
            ),
        )
    except arrow.ArrowInvalid as error:
        raise _parse_error(str(error), text, source, separator, lines_left_out) from error
    if not table.num_rows:
        raise DataError("there is no row after the names.", source, 1)
    frame = table.to_pandas()
    frame.columns = [name.strip() for name in header]
    return Table(
        source,
        frame,
        declared,
        _text=text,
        _separator=separator,
        _lines_left_out=lines_left_out,
    )


def _named_columns(text: str) -> tuple[str, list[str] | None]:
    """Put names over a table of the KEBI collection, whose first line counts rows and columns."""
    first, _, rest = text.partition("\n")
    sizes = re.fullmatch(r"\d+,(\d+),(\d+)\s*", first)
    if sizes is None:
        return text, None
    n_features, n_labels = map(int, sizes.groups())
    if rest.partition("\n")[0].count(",") + 1 != n_features + n_labels:
        return text, None
    labels = [f"L{j + 1}" for j in range(n_labels)]
    return ",".join([*(f"A{j + 1}" for j in range(n_features)), *labels]) + "\n" + rest, labels


def _parse_parquet(content: bytes, source: str) -> Table:
    arrow = _need("pyarrow")
    try:
        frame = _need("pandas").read_parquet(io.BytesIO(content))
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"this is no parquet file ({error}).", source) from error
    if frame.empty:
        raise DataError("the table is empty.", source)
    return Table(source, frame.reset_index(drop=True).rename(columns=str))


def _parse_xarff(path: Path) -> Table:
    from prefero.datasets import read_xarff

    _need("pandas")
    data = read_xarff(path, as_frame=True)
    frame = data.data.join(data.target)
    for column, categories in data.categories.items():
        frame[column] = frame[column].map(dict(enumerate(categories)))
    return Table(str(path), frame, label_columns=data.label_names)


def _header(text: str, source: str, separator: str) -> list[str]:
    """The names in the first line, each of which must be there once."""
    if not text.strip():
        raise DataError("the file is empty.", source, 1)
    if "\0" in text:
        raise DataError("this is no text.", source)
    csv.field_size_limit(sys.maxsize)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header: list[str] = next(filter(None, lines))
    seen = set()
    for name in map(str.strip, header):
        if name in seen:
            raise DataError(f"column {name!r} occurs twice: rename one.", source, 1)
        seen.add(name)
    return header


def _parse_error(
    problem: str, text: str, source: str, separator: str, lines_left_out: int
) -> DataError:
    """Say of pyarrow's complaint what a person needs."""
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", problem)
    if ragged is None:
        return DataError(f"this is no table of text ({problem}).", source)
    row, expected, found = map(int, ragged.groups())
    line = (_line_of_record(text, separator, row - 1) or 0) + lines_left_out
    return DataError(f"{expected} cells were expected, got {found}.", source, line)


def _line_of_record(text: str, separator: str, index: int) -> int | None:
    """The line on which a record begins; blank lines are none, quoted ones may span several."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    begins = 1
    for record in reader:
        if record:
            if index == 0:
                return begins
            index -= 1
        begins = reader.line_num + 1
    return None


def _matches(name: Any, pattern: str) -> bool:
    return str(name) == pattern or fnmatchcase(str(name), pattern)


def _column_of_numbers(cells: Any) -> tuple["NDArray[np.float64]", "NDArray[np.intp]"]:
    """The cells as numbers, and the rows whose cell is neither one nor missing."""
    import numpy as np
    import pandas

    values = pandas.to_numeric(cells, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    missing = (cells.isna() | cells.astype(str).str.strip().isin(MISSING)).to_numpy(bool)
    wrong = np.flatnonzero(~np.isfinite(values) & ~missing)
    return values, wrong

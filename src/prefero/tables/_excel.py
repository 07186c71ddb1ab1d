"""Excel files: the first sheet, names in its first row."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from prefero._optional import require
from prefero.exceptions import DataError
from prefero.tables._cells import need
from prefero.tables._format import FileFormat, Given, Write
from prefero.tables._table import Table

if TYPE_CHECKING:
    import pandas as pd

# A sheet holds at most 17 thousand million cells, which a file of some bytes can claim to hold.
_MOST_CELLS, _MOST_BYTES = 50_000_000, 2 << 30


def read(given: Given, n_rows: int | None) -> Iterator[Table]:
    """Yield the table of the first sheet."""
    excel = require("openpyxl", extra="excel", purpose="Reading Excel files")
    given.file.seek(0)
    try:
        _refuse_bomb(given)
        book = excel.load_workbook(given.file, read_only=True, data_only=True)
        sheets = book.worksheets
        rows = list(_rows(sheets[0], given))
    except DataError:
        raise
    except Exception as error:  # openpyxl promises no kind of error for a broken file
        raise given.error(f"this is no Excel file ({error}).") from error
    note = f"the sheet {sheets[0].title!r}, first of {len(sheets)}, was read."
    yield _table(rows, given, note if len(sheets) > 1 else "")


def _refuse_bomb(given: Given) -> None:
    with zipfile.ZipFile(given.file) as archive:
        if sum(member.file_size for member in archive.infolist()) > _MOST_BYTES:
            raise given.error("this Excel file unpacks to more than 2 GiB: save it as csv.")


def _rows(sheet: Any, given: Given) -> Iterator[tuple[Any, ...]]:
    """The rows that hold anything, without the empty cells at their end."""
    sheet.reset_dimensions()
    n_cells = 0
    for row in sheet.iter_rows(values_only=True):
        n_cells += max(len(row), 1)
        if n_cells > _MOST_CELLS:
            raise given.error(f"the sheet has more than {_MOST_CELLS} cells: save it as csv.")
        while row and row[-1] is None:
            row = row[:-1]
        yield row


def _table(rows: list[tuple[Any, ...]], given: Given, note: str) -> Table:
    numbered = [(line, row) for line, row in enumerate(rows, start=1) if row]
    if not numbered:
        raise given.error("the sheet is empty.", 1)
    names = ["" if name is None else str(name).strip() for name in numbered[0][1]]
    if len(numbered) < 2:
        raise given.error("there is no row after the names.", 1)
    wide = [line for line, row in numbered if len(row) > len(names)]
    if wide:
        raise given.error(f"there are more cells than the {len(names)} names.", wide[0])
    cells = [row + (None,) * (len(names) - len(row)) for _, row in numbered[1:]]
    frame = need("pandas").DataFrame(cells).infer_objects().set_axis(names, axis=1)
    return Table(frame, given.source, np.array([line for line, _ in numbered[1:]]), note=note)


@contextmanager
def write(file: BinaryIO, ending: str) -> Iterator[Write]:
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


FORMAT = FileFormat(
    "Excel",
    (".xlsx", ".xlsm"),
    holds=lambda given: given.head.startswith(b"PK\x03\x04"),
    read=read,
    write=write,
)

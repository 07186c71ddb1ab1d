"""Text with a mark between cells: csv, tsv and their relatives."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from prefero.tables._cells import need
from prefero.tables._format import FileFormat, Given, Write
from prefero.tables._table import NOTHING, Declared, Table, more_of

if TYPE_CHECKING:
    import pandas as pd

Record = tuple[int, list[str]]

_TABS = (".tsv", ".tab")
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BLOCK = 10_000

csv.field_size_limit(2**31 - 1)  # The largest that every platform takes.


def read(given: Given, n_rows: int | None) -> Iterator[Table]:
    """Yield the tables of a file that names its columns in the first line."""
    mark = given.separator or ("\t" if given.ending in _TABS else separator_of(given.head))
    records = records_of(given, mark)
    _, names = next(records, (1, []))
    if not names:
        raise given.error("the file is empty.", 1)
    note = "" if mark == "," or given.ending in _TABS else _MARKS.get(mark, repr(mark))
    note = note and f"cells are separated by {note}."
    yield from tables_of(records, [name.strip() for name in names], given, n_rows, note=note)


def separator_of(head: bytes) -> str:
    """Return the mark that cuts the first line into the most cells."""
    line = next(filter(str.strip, head.decode("latin-1").splitlines()), "")
    return max(_MARKS, key=lambda mark: len(next(csv.reader([line], delimiter=mark))))


def records_of(given: Given, separator: str) -> Iterator[Record]:
    """Yield the records that are not blank, each with the line on which it begins."""
    reader = csv.reader(given.lines, delimiter=separator, skipinitialspace=True)
    begins = 1
    try:
        for record in reader:
            if record:
                yield begins, record
            begins = reader.line_num + 1
    except csv.Error as error:
        raise given.error(f"this is no table of text ({error}).", begins) from error


def tables_of(
    records: Iterator[Record],
    names: list[str],
    given: Given,
    n_rows: int | None,
    *,
    declared: Declared = NOTHING,
    note: str = "",
) -> Iterator[Table]:
    """Yield tables of some rows each, or of all, from records under some names."""
    first_row = 0
    while True:
        # A part is soon gone: a compact form of its texts would cost more than it saves.
        dtype = str if n_rows is None else object
        lines, frame = _frame(islice(records, n_rows), names, given, dtype)
        if not len(frame):
            break
        yield Table(frame, given.source, lines, declared, note, first_row)
        first_row += len(frame)
    if not first_row:
        raise given.error("there is no row after the names.", 1)


def _frame(
    records: Iterable[Record], names: list[str], given: Given, dtype: type
) -> tuple["np.ndarray", "pd.DataFrame"]:
    """The lines and the cells of records, of which each has a cell a name."""
    pandas = need("pandas")
    lines: list[int] = []
    ragged: list[Record] = []
    frames = []
    rest = iter(records)
    while block := list(islice(rest, _BLOCK)):
        begins, cells = zip(*block, strict=True)
        if set(map(len, cells)) != {len(names)}:
            ragged += (record for record in block if len(record[1]) != len(names))
        if not ragged:
            columns = dict(enumerate(zip(*cells, strict=True)))
            frames.append(pandas.DataFrame(columns, dtype=dtype))
            lines += begins
    if ragged:
        problem = f"{len(names)} cells were expected, got {len(ragged[0][1])}."
        others = [line for line, _ in ragged[1:]]
        raise given.error(more_of(problem, others), ragged[0][0])
    frame = pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()
    return np.array(lines, dtype=np.int64), frame.set_axis(names, axis=1) if frames else frame


@contextmanager
def write(file: BinaryIO, ending: str) -> Iterator[Write]:
    """Yield a function that writes the next rows."""
    begun = False

    def write_rows(frame: "pd.DataFrame") -> None:
        nonlocal begun
        mark = "\t" if ending in _TABS else ","
        text = frame.to_csv(index=False, sep=mark, header=not begun, lineterminator="\n")
        file.write(text.encode())
        begun = True

    yield write_rows


FORMAT = FileFormat(
    "text",
    (".csv", ".txt", *_TABS),
    holds=lambda given: True,
    read=read,
    write=write,
)

"""Files of text: csv, tsv and their relatives, KEBI, and JSON, which is only written."""

import csv
import json
import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from prefero.tables._format import FileFormat, SourceFile, Write
from prefero.tables._table import MISSING, NOTHING, DataTable, Declared, more_of, need

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables._rankings import Rankings

Record = tuple[int, list[str]]

_TABS = (".tsv", ".tab")
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BLOCK = 10_000
# Cells of a part of a table.
_MOST_OF_PART = 4_000_000
# Decimal commas are looked for in so many rows.
_SAMPLE = 1000
_NUMBERS = {
    "whole": re.compile(r"[+-]?\d+"),
    "comma": re.compile(r"[+-]?(?:\d*|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][+-]?\d+)?"),
    "point": re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?"),
}

csv.field_size_limit(2**31 - 1)  # The largest that every platform takes.


def read(given: SourceFile, n_rows: int | None) -> Iterator[DataTable]:
    """Yield the tables of a file that names its columns in the first line."""
    mark = given.separator or ("\t" if given.ending in _TABS else separator_of(given.head))
    commas = set() if mark == "," else _decimal_commas(given, mark)
    records = records_of(given, mark)
    _, names = next(records, (1, []))
    if not names:
        raise given.error("the file is empty.", 1)
    given.refuse_beyond(1, len(names))
    notes = []
    if mark != "," and given.ending not in _TABS:
        notes.append(f"cells are separated by {_MARKS.get(mark, repr(mark))}")
    if commas:
        notes.append("numbers have decimal commas")
        records = _with_decimal_points(records, commas)
    note = f"{' and '.join(notes)}." if notes else ""
    yield from tables_of(records, [name.strip() for name in names], given, n_rows, note=note)


def _decimal_commas(given: SourceFile, mark: str) -> set[int]:
    """Return the columns of numbers if those in the first rows have decimal commas."""
    columns: dict[int, set[str]] = {}
    with_comma = set()
    for line, record in islice(records_of(given, mark), 1, _SAMPLE):
        for j, cell in enumerate(map(str.strip, record)):
            if cell in MISSING:
                continue
            kind = next((kind for kind, form in _NUMBERS.items() if form.fullmatch(cell)), "text")
            columns.setdefault(j, set()).add(kind)
            with_comma |= {j} if kind == "comma" else set()
            if columns[j] == {"comma", "point"} or columns[j] == {"comma", "point", "whole"}:
                problem = f"numbers have decimal commas, but {cell!r} or one above it a point"
                raise given.error(f"{problem}: write them all alike.", line)
    if not any(columns[j] <= {"comma", "whole"} for j in with_comma):
        return set()
    return {j for j, kinds in columns.items() if kinds <= {"comma", "whole"}}


def _with_decimal_points(records: Iterator[Record], columns: set[int]) -> Iterator[Record]:
    for line, record in records:
        for j in columns:
            if j < len(record) and _NUMBERS["comma"].fullmatch(record[j].strip()):
                record[j] = record[j].replace(".", "").replace(",", ".")
        yield line, record


def separator_of(head: bytes) -> str:
    """Return the separator that splits the first line into the most cells."""
    line = next(filter(str.strip, head.decode("latin-1").splitlines()), "")
    return max(_MARKS, key=lambda mark: len(next(csv.reader([line], delimiter=mark))))


def records_of(given: SourceFile, separator: str) -> Iterator[Record]:
    """Yield the records that are not blank, each with the line on which it begins."""
    reader = csv.reader(given.lines, delimiter=separator, skipinitialspace=True)
    begins, n_blank = 1, 0
    try:
        for record in reader:
            if record:
                yield begins, record
            else:
                n_blank += 1
                given.refuse_beyond(n_blank, 0)
            begins = reader.line_num + 1
    except csv.Error as error:
        raise given.error(f"this is no table of text ({error}).", begins) from error


def tables_of(
    records: Iterator[Record],
    names: list[str],
    given: SourceFile,
    n_rows: int | None,
    *,
    declared: Declared = NOTHING,
    note: str = "",
) -> Iterator[DataTable]:
    """Yield tables of ``n_rows`` records each, or of all, under the given column names."""
    first_row = 0
    while True:
        # A part is short-lived: a compact string dtype would cost more than it saves.
        dtype = str if n_rows is None else object
        few = None if n_rows is None else max(1, min(n_rows, _MOST_OF_PART // len(names)))
        lines, frame = _frame(islice(records, few), names, given, dtype, first_row)
        if not len(frame):
            break
        yield DataTable(frame, given.source, lines, declared, note, first_row)
        first_row += len(frame)
    if not first_row:
        raise given.error("there is no row after the names.", 1)


def _frame(
    records: Iterable[Record], names: list[str], given: SourceFile, dtype: type, first_row: int
) -> tuple["np.ndarray", "pd.DataFrame"]:
    """Return line numbers and cells of records, which must have one cell per name."""
    pandas = need("pandas")
    lines: array[int] = array("q")
    ragged: list[Record] = []
    frames = []
    rest = iter(records)
    size = max(1, min(_BLOCK, _MOST_OF_PART // len(names)))
    while block := list(islice(rest, size)):
        given.refuse_beyond(first_row + len(lines) + len(block), len(names))
        begins, cells = zip(*block, strict=True)
        if set(map(len, cells)) != {len(names)}:
            ragged += (record for record in block if len(record[1]) != len(names))
        if not ragged:
            columns = dict(enumerate(zip(*cells, strict=True)))
            frames.append(pandas.DataFrame(columns, dtype=dtype))
            lines.extend(begins)
    if ragged:
        problem = f"{len(names)} cells were expected, got {len(ragged[0][1])}."
        others = [line for line, _ in ragged[1:]]
        raise given.error(more_of(problem, others), ragged[0][0])
    frame = pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()
    return np.array(lines, dtype=np.int64), frame.set_axis(names, axis=1) if frames else frame


@contextmanager
def _write_delimited(file: BinaryIO, ending: str) -> Iterator[Write]:
    """Yield a function that writes the next rows."""
    begun = False

    def write_rows(frame: "pd.DataFrame") -> None:
        nonlocal begun
        mark = "\t" if ending in _TABS else ","
        text = frame.to_csv(index=False, sep=mark, header=not begun, lineterminator="\n")
        file.write(text.encode())
        begun = True

    yield write_rows


DELIMITED = FileFormat(
    "text", (".csv", ".txt", *_TABS), holds=lambda given: True, read=read, write=_write_delimited
)


_SIZES = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\d{1,9},(\d{1,6}),(\d{1,6})[ \t]*(?:[\r\n]+([^\r\n]*)|$)"
)


def _is_kebi(given: SourceFile) -> bool:
    """Tell whether the first line counts rows, features and labels, and is no header of numbers."""
    sizes = _SIZES.match(given.head)
    if sizes is None:
        return False
    n_columns = int(sizes[1]) + int(sizes[2])
    return n_columns == 3 or (sizes[3] or b"").count(b",") != 2


def _read_kebi(given: SourceFile, n_rows: int | None) -> Iterator[DataTable]:
    """Yield the tables of a KEBI file: sizes in the first line, then features, then labels.

    The columns are called A1, A2, ... and L1, L2, ...
    """
    records = records_of(given, ",")
    _, sizes = next(records, (1, []))
    if len(sizes) != 3 or not all(re.fullmatch(r"\s*\d{1,9}\s*", size) for size in sizes):
        problem = "the first line must hold the numbers of instances, features and labels."
        raise given.error(problem, 1)
    promised, n_features, n_labels = map(int, sizes)
    given.refuse_beyond(1, n_features + n_labels)
    labels = [f"L{j + 1}" for j in range(n_labels)]
    names = [*(f"A{j + 1}" for j in range(n_features)), *labels]
    n = 0
    for table in tables_of(records, names, given, n_rows, declared=Declared(labels)):
        n += len(table)
        yield table
    if n != promised:
        raise given.error(f"the first line promises {promised} instances, but {n} follow.", 1)


def _write_kebi(rankings: "Rankings", file: BinaryIO) -> None:
    """Write numbers and ranks; the layout has no names."""
    numbers, ranks = rankings.table.numbers(rankings.features), rankings.ranks
    n, n_features = len(ranks), numbers.shape[1]
    file.write(f"{n},{n_features},{ranks.shape[1]}\n".encode())
    for row, place in zip(numbers[rankings.rows], ranks, strict=True):
        cells = [*map(repr, row.tolist()), *(f"{rank:g}" for rank in place)]
        file.write((",".join("" if cell == "nan" else cell for cell in cells) + "\n").encode())


KEBI = FileFormat("KEBI", (".kebi",), _is_kebi, _read_kebi, write_rankings=_write_kebi)


@contextmanager
def _write_json(file: BinaryIO, ending: str) -> Iterator[Write]:
    """Yield a function that writes the next rows."""
    begun = False

    def write_rows(frame: "pd.DataFrame") -> None:
        nonlocal begun
        # By way of pandas' own JSON, which writes missing values as null.
        records = json.loads(frame.to_json(orient="records", double_precision=15))
        if records:
            inside = json.dumps(records, ensure_ascii=False, indent=2)[1:-2]
            file.write((("," if begun else "[") + inside).encode())
            begun = True

    yield write_rows
    file.write(b"\n]\n" if begun else b"[]\n")


JSON = FileFormat("JSON", (".json",), write=_write_json)

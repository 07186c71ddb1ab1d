"""The layout of the KEBI collection: sizes in the first line, then features, then labels."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from prefero.tables._delimited import Record, records_of, tables_of
from prefero.tables._format import FileFormat, Given
from prefero.tables._table import Declared, Table

if TYPE_CHECKING:
    from prefero.tables._rankings import Rankings

_SIZES = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\d{1,9},(\d{1,6}),(\d{1,6})[ \t]*(?:[\r\n]+([^\r\n]*)|$)"
)


def holds(given: Given) -> bool:
    """Tell whether the first line counts rows, features and labels; a header could look so."""
    sizes = _SIZES.match(given.head)
    if sizes is None:
        return False
    n_columns = int(sizes[1]) + int(sizes[2])
    return n_columns == 3 or (sizes[3] or b"").count(b",") != 2


def read(given: Given, n_rows: int | None) -> Iterator[Table]:
    """Yield the tables of a file; the columns are called A1, A2, ... and L1, L2, ..."""
    records = records_of(given, ",")
    _, sizes = next(records, (1, []))
    if len(sizes) != 3 or not all(re.fullmatch(r"\s*\d{1,9}\s*", size) for size in sizes):
        problem = "the first line must hold the numbers of instances, features and labels."
        raise given.error(problem, 1)
    promised, n_features, n_labels = map(int, sizes)
    labels = [f"L{j + 1}" for j in range(n_labels)]
    names = [*(f"A{j + 1}" for j in range(n_features)), *labels]
    counted = _Counted(records)
    yield from tables_of(counted, names, given, n_rows, declared=Declared(labels))
    if counted.n != promised:
        problem = f"the first line promises {promised} instances, but {counted.n} follow."
        raise given.error(problem, 1)


class _Counted(Iterator[Record]):
    """Records, and how many there were."""

    def __init__(self, records: Iterator[Record]) -> None:
        self._records, self.n = records, 0

    def __next__(self) -> Record:
        record = next(self._records)
        self.n += 1
        return record


def write_rankings(rankings: "Rankings", file: BinaryIO) -> None:
    """Write numbers and ranks; the layout has no names."""
    numbers, ranks = rankings.table.numbers(rankings.features), rankings.ranks
    n, n_features = len(ranks), numbers.shape[1]
    file.write(f"{n},{n_features},{ranks.shape[1]}\n".encode())
    for row, place in zip(numbers[rankings.rows], ranks, strict=True):
        cells = [*map(repr, row.tolist()), *(f"{rank:g}" for rank in place)]
        file.write((",".join("" if cell == "nan" else cell for cell in cells) + "\n").encode())


FORMAT = FileFormat("KEBI", (".kebi",), holds=holds, read=read, write_rankings=write_rankings)

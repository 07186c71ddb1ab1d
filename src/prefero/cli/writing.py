"""Tables into files, part by part, so that a long one never needs to be in memory."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from prefero._files import replacing
from prefero._optional import require

if TYPE_CHECKING:
    import pandas as pd

Write = Callable[["pd.DataFrame"], None]

_need = partial(require, extra="cli", purpose="Reading and writing tables")


def write_table(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table as csv to stdout if the path is a dash, else by the suffix of the file."""
    with writing(path) as write:
        write(frame)


@contextmanager
def writing(path: Path, *, as_json: bool = False) -> Iterator[Write]:
    """Yield a function that writes the next rows of a table, as `write_table` writes it.

    A file takes its name only when the table is complete.
    """
    suffix = ".json" if as_json else path.suffix.lower()
    if str(path) == "-":
        with _lines(lambda text: print(text, end=""), suffix) as write:
            yield write
        return
    with replacing(path) as file:
        if suffix == ".parquet":
            with _parquet(file) as write:
                yield write
        else:
            with _lines(lambda text: file.write(text.encode()), suffix) as write:
                yield write


def _lines(put: Callable[[str], Any], suffix: str) -> Any:
    separator = "\t" if suffix in (".tsv", ".tab") else ","
    return _json(put) if suffix == ".json" else _separated(put, separator)


@contextmanager
def _separated(put: Callable[[str], Any], separator: str) -> Iterator[Write]:
    begun = False

    def write(frame: "pd.DataFrame") -> None:
        nonlocal begun
        put(frame.to_csv(index=False, sep=separator, header=not begun, lineterminator="\n"))
        begun = True

    yield write


@contextmanager
def _json(put: Callable[[str], Any]) -> Iterator[Write]:
    begun = False

    def write(frame: "pd.DataFrame") -> None:
        nonlocal begun
        # Not the records as pandas has them: its values that are no number are not JSON's.
        records = json.loads(frame.to_json(orient="records", double_precision=15))
        if records:
            inside = json.dumps(records, ensure_ascii=False, indent=2)[1:-2]
            put(("," if begun else "[") + inside)
            begun = True

    yield write
    put("\n]\n" if begun else "[]\n")


@contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    arrow, parquet = _need("pyarrow"), _need("pyarrow.parquet")
    writer = None

    def write(frame: "pd.DataFrame") -> None:
        nonlocal writer
        schema = None if writer is None else writer.schema
        table = arrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
        if writer is None:
            writer = parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)

    yield write
    if writer is not None:
        writer.close()

"""JSON, which is written only: a list of records."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from prefero.tables._format import FileFormat, Write

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def write(file: BinaryIO, ending: str) -> Iterator[Write]:
    """Yield a function that writes the next rows."""
    begun = False

    def write_rows(frame: "pd.DataFrame") -> None:
        nonlocal begun
        # Not the records as pandas has them: its values that are no number are not JSON's.
        records = json.loads(frame.to_json(orient="records", double_precision=15))
        if records:
            inside = json.dumps(records, ensure_ascii=False, indent=2)[1:-2]
            file.write((("," if begun else "[") + inside).encode())
            begun = True

    yield write_rows
    file.write(b"\n]\n" if begun else b"[]\n")


FORMAT = FileFormat("JSON", (".json",), write=write)

"""A table in, a table out."""

import io
import tempfile
from collections.abc import Iterator
from typing import IO

from prefero._inference import Form, Sureness, new_features, predictions, rows_at_a_time
from prefero.serve._models import ServedModel
from prefero.tables import read_parts

# Answers up to this size stay in memory.
_IN_MEMORY = 10_000_000
_PIECE = 64 * 1024


def answer_table(
    served: ServedModel, body: bytes, form: str, top: int | None, reliability: bool
) -> IO[bytes]:
    """Return a file of predictions for a table, whole: a bad line is found before any is sent."""
    found = tempfile.SpooledTemporaryFile(_IN_MEMORY)
    text = io.TextIOWrapper(found, encoding="utf-8", newline="", write_through=True)
    wanted, sure = Form(form), Sureness(reliability, None)
    size = rows_at_a_time(served.ranker, wanted)
    for number, table in enumerate(read_parts(io.BytesIO(body), size, name="table")):
        X = new_features(served.model, table)
        frame = predictions(served.model, X, table, wanted, top, None, sure)
        frame.to_csv(text, index=False, header=number == 0)
    text.detach()
    found.seek(0)
    return found


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Hand over a file in pieces, and close it."""
    with file:
        while piece := file.read(_PIECE):
            yield piece

"""A table in, a table out."""

import io
import tempfile
from collections.abc import Iterator
from typing import IO

from prefero._prediction import (
    OF_SETS,
    Form,
    Sureness,
    new_features,
    predictions,
    rows_at_a_time,
)
from prefero.exceptions import DataError
from prefero.serve._models import ServedModel
from prefero.tables import read_parts

# Answers up to this size stay in memory.
_IN_MEMORY = 10_000_000
_PIECE = 64 * 1024


def answer_table(
    served: ServedModel, body: bytes, form: Form, top: int | None, expected_tau: bool
) -> tuple[IO[bytes], int]:
    """Return a file of predictions for a table, whole, and how many rows it had.

    A bad line is found before any is sent.
    """
    _refuse_unknown_form(served, form, expected_tau)
    found = tempfile.SpooledTemporaryFile(_IN_MEMORY)
    text = io.TextIOWrapper(found, encoding="utf-8", newline="", write_through=True)
    sure, rows = Sureness(expected_tau, None), 0
    size = rows_at_a_time(served.ranker, form)
    for number, table in enumerate(read_parts(io.BytesIO(body), size, name="table")):
        X = new_features(served.model, table)
        frame = predictions(served.model, X, table, form, top, None, sure)
        rows += len(table.frame)
        frame.to_csv(text, index=False, header=number == 0)
    text.detach()
    found.seek(0)
    return found, rows


def _refuse_unknown_form(served: ServedModel, form: Form, expected_tau: bool) -> None:
    name = type(served.ranker).__name__
    if form in OF_SETS and not served.of_sets:
        raise DataError(f"output: {form} is for models that tell relevant labels, not {name}.")
    if expected_tau and not hasattr(served.ranker, "predict_expected_tau"):
        raise DataError(f"expected_tau: {name} does not know how sure it is.")


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Hand over a file in pieces, and close it."""
    with file:
        while piece := file.read(_PIECE):
            yield piece

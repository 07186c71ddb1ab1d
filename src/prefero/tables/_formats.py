"""The table of formats: a new one is one file of this room and one line here."""

from prefero.tables import (
    _arff,
    _aslib,
    _delimited,
    _excel,
    _json,
    _kebi,
    _parquet,
    _svmlight,
)
from prefero.tables._format import FileFormat

# The first that knows a file by its ending or its first bytes reads it; the last knows all.
FORMATS: tuple[FileFormat, ...] = (
    _aslib.FORMAT,
    _parquet.FORMAT,
    _excel.FORMAT,
    _json.FORMAT,
    _arff.FORMAT,
    _svmlight.FORMAT,
    _kebi.FORMAT,
    _delimited.FORMAT,
)

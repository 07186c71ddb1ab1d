"""Read and write rankings in files of every format.

A file becomes a `DataTable`, whatever its format; `read_rankings` takes instances and their
rankings out of it. The words in `MISSING` are missing values in every format.
"""

from prefero.tables._binary import RowGroup, row_groups
from prefero.tables._costs import with_costs
from prefero.tables._ranking_formats import RANKING_FORMATS
from prefero.tables._rankings import Rankings, label_columns, read_rankings
from prefero.tables._reading import FORMATS, read_parts, read_table
from prefero.tables._svmlight import read_letor
from prefero.tables._table import MISSING, BadCell, DataTable, Declared
from prefero.tables._writing import (
    FORMS,
    check_ending,
    in_form,
    write_rankings,
    write_table,
    writing,
)

__all__ = [
    "FORMATS",
    "FORMS",
    "MISSING",
    "RANKING_FORMATS",
    "BadCell",
    "DataTable",
    "Declared",
    "Rankings",
    "RowGroup",
    "check_ending",
    "in_form",
    "label_columns",
    "read_letor",
    "read_parts",
    "read_rankings",
    "read_table",
    "row_groups",
    "with_costs",
    "write_rankings",
    "write_table",
    "writing",
]

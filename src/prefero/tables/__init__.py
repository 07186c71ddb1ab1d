"""Rankings in files: every format, both ways, for Python, the command line and a service.

A file becomes a `Table`, whose cells, wherever they come from, mean the same; `read_rankings`
takes instances and their rankings out of it. One set of words is missing in all formats: `MISSING`.
"""

from prefero.tables._cells import MISSING
from prefero.tables._costs import with_costs
from prefero.tables._formats import FORMATS
from prefero.tables._forms import FORMS, in_form
from prefero.tables._meanings import MEANINGS
from prefero.tables._parquet import RowGroup, row_groups
from prefero.tables._rankings import Rankings, label_columns, read_rankings
from prefero.tables._reading import read_parts, read_table
from prefero.tables._svmlight import read_letor
from prefero.tables._table import BadCell, Declared, Table
from prefero.tables._writing import check_ending, write_rankings, write_table, writing

__all__ = [
    "FORMATS",
    "FORMS",
    "MEANINGS",
    "MISSING",
    "BadCell",
    "Declared",
    "Rankings",
    "RowGroup",
    "Table",
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

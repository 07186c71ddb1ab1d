from ._binary import RowGroup, row_groups
from ._costs import with_costs
from ._ranking_formats import RANKING_FORMATS
from ._rankings import Rankings, label_columns, read_rankings
from ._reading import FORMATS, read_parts, read_table
from ._svmlight import read_letor
from ._table import MISSING, BadCell, DataTable, Declared
from ._writing import FORMS, check_ending, in_form, write_rankings, write_table, writing

__all__ = [
    "BadCell",
    "DataTable",
    "Declared",
    "FORMATS",
    "FORMS",
    "MISSING",
    "RANKING_FORMATS",
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

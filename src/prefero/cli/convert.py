"""prefero convert: rankings from one form into another."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from prefero.cli.console import count, say
from prefero.cli.groups import with_groups
from prefero.cli.options import (
    DataFile,
    Reading,
    table_out,
)
from prefero.cli.tables import rankings_of, read, write_rankings

EXAMPLES = (
    "prefero convert runs.csv ranks.csv --to ranks --labels 'y_*' --format scores "
    "--lower-is-better",
    "prefero convert votes.csv - --to pairs --labels order --format orders",
)


class Target(StrEnum):
    """A form that rankings can be written in."""

    RANKS = "ranks"
    ORDERS = "orders"
    SCORES = "scores"
    PAIRS = "pairs"
    RELEVANCE = "relevance"
    CALIBRATED = "calibrated"


@with_groups
def convert(
    data: DataFile,
    output: Annotated[
        Path,
        typer.Argument(
            callback=table_out,
            metavar="OUT",
            help="A .csv, .tsv, .json, .parquet, .xlsx, .xarff or .kebi file; - is csv on stdout.",
        ),
    ],
    to: Annotated[
        Target,
        typer.Option(
            "--to",
            metavar="FORM",
            help="ranks or scores, a column a label; orders, one column of text; pairs, one line "
            "a pair; relevance, 1 or 0 a label; calibrated, one column of text '[b > a][c]'.",
        ),
    ],
    reading: Reading,
) -> None:
    """Turn rankings from one form into another.

    All other columns are kept.
    """
    rankings = rankings_of(read(data), reading)
    write_rankings(rankings, output, to)
    n, c = rankings.ranks.shape
    place = "stdout" if str(output) == "-" else output
    say(f"Wrote the {to} of {count(n, 'ranking')} of {count(c, 'label')} to {place}.")

"""prefero convert: rankings from one format to another."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from prefero._files import refuse_overwriting
from prefero.cli.console import count, say
from prefero.cli.options import DataFile, Reading, table_out
from prefero.cli.tables import rankings_of, read, write_rankings

EXAMPLES = (
    "prefero convert runs.csv ranks.csv --to ranks --labels 'y_*' --format scores "
    "--lower-is-better",
    "prefero convert votes.csv - --to pairs --labels order --format orders",
)


class Target(StrEnum):
    """A format that rankings can be written in."""

    RANKS = "ranks"
    ORDERS = "orders"
    SCORES = "scores"
    PAIRS = "pairs"
    RELEVANCE = "relevance"
    CALIBRATED = "calibrated"


def convert(
    data: DataFile,
    output: Annotated[Path, typer.Argument(callback=table_out)],
    to: Target,
    reading: Reading,
) -> None:
    """Convert rankings from one format to another.

    All other columns are kept.

    Parameters
    ----------
    output : OUT
        A .csv, .tsv, .json, .parquet, .xlsx, .xarff or .kebi file; - is csv on stdout.
    to : FORMAT
        ranks or scores, one column per label; orders, one column of text; pairs, one row per
        pair; relevance, 1 or 0 per label; calibrated, text '[b > a][c]'.
    """
    refuse_overwriting(output, data)
    rankings = rankings_of(read(data), reading)
    write_rankings(rankings, output, to)
    n, c = rankings.ranks.shape
    place = "stdout" if str(output) == "-" else output
    say(f"Wrote the {to} of {count(n, 'ranking')} of {count(c, 'label')} to {place}.")

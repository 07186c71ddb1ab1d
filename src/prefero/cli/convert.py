"""prefero convert: rankings from one form into another."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prefero.cli.console import count, say
from prefero.cli.options import (
    DataFile,
    DirectionOption,
    Format,
    FormatOption,
    InstanceOption,
    LabelsOption,
    Reading,
    Unranked,
    UnrankedOption,
)
from prefero.cli.rankings import Rankings, read_rankings
from prefero.cli.tables import read_table
from prefero.cli.writing import write_table

if TYPE_CHECKING:
    import pandas as pd

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


def convert(
    data: DataFile,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="A .csv, .tsv, .json or .parquet file; - writes csv to stdout."
        ),
    ],
    to: Annotated[
        Target,
        typer.Option(
            "--to",
            metavar="FORM",
            help="ranks or scores, a column a label; orders, one column of text; pairs, one line "
            "a pair.",
        ),
    ],
    labels: LabelsOption = None,
    format: FormatOption = Format.RANKS,
    higher_is_better: DirectionOption = None,
    unranked: UnrankedOption = Unranked.UNKNOWN,
    instance: InstanceOption = None,
) -> None:
    """Turn rankings from one form into another.

    All other columns are kept.
    """
    reading = Reading(format, labels, higher_is_better, unranked, instance)
    rankings = read_rankings(read_table(data), reading)
    write_table(converted(rankings, to), output)
    n, c = rankings.ranks.shape
    place = "stdout" if str(output) == "-" else output
    say(f"Wrote the {to} of {count(n, 'ranking')} of {count(c, 'label')} to {place}.")


def converted(rankings: Rankings, to: Target) -> "pd.DataFrame":
    """Return the other columns beside the rankings in a form."""
    import numpy as np
    import pandas

    from prefero.rankings import bucket_positions, format_order, orders_from_ranks, pairs_from_ranks

    ranks, labels = rankings.ranks, rankings.labels
    if to is Target.RANKS:
        table = pandas.DataFrame(ranks, columns=labels)
        whole = not (ranks % 1 > 0).any()
        return _beside(rankings, table.astype("Int64") if whole else table)
    if to is Target.SCORES:
        known = np.count_nonzero(~np.isnan(ranks), axis=1)[:, None]
        scores = known - bucket_positions(ranks) if rankings.scores is None else rankings.scores
        return _beside(rankings, pandas.DataFrame(scores, columns=labels))
    if to is Target.ORDERS:
        orders = [format_order(order) for order in orders_from_ranks(ranks, labels)]
        return _beside(rankings, pandas.DataFrame({"order": orders}))
    pairs = pandas.DataFrame(
        [
            (row, *pair)
            for row, chosen in enumerate(pairs_from_ranks(ranks, labels))
            for pair in chosen
        ],
        columns=["instance", "preferred", "other"],
    )
    return pairs.join(rankings.cells, on="instance")


def _beside(rankings: Rankings, target: "pd.DataFrame") -> "pd.DataFrame":
    import pandas

    return pandas.concat([rankings.cells, target], axis=1)

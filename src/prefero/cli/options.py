"""The arguments that several commands share, each written once."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """What the columns named by --labels hold."""

    RANKS = "ranks"
    SCORES = "scores"
    ORDERS = "orders"
    PAIRS = "pairs"
    BEST_WORST = "best-worst"
    LONG = "long"


class Unranked(StrEnum):
    """What a label is that an order does not name."""

    UNKNOWN = "unknown"
    BELOW = "below"


@dataclass(frozen=True)
class Reading:
    """How to read rankings out of a table."""

    format: Format = Format.RANKS
    labels: str | None = None
    higher_is_better: bool | None = None
    unranked: Unranked = Unranked.UNKNOWN
    instance: str | None = None


def _existing(path: Path) -> Path:
    if str(path) != "-" and not path.is_file():
        raise typer.BadParameter(f"there is no file {str(path)!r}.")
    return path


DataFile = Annotated[
    Path,
    typer.Argument(
        callback=_existing,
        metavar="DATA",
        help="A .csv, .tsv, .parquet or .xarff file; - reads csv from stdin.",
    ),
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="COLUMNS", help="The columns that hold rankings: 'y_*' or a,b,c."
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="What they hold: ranks or scores, a column a label; orders, as text 'b > a ~ c' or "
        "names by position; pairs; best-worst; long.",
    ),
]
DirectionOption = Annotated[
    bool | None,
    typer.Option(
        "--higher-is-better/--lower-is-better",
        help="The direction of scores; never guessed.",
        show_default=False,
    ),
]
UnrankedOption = Annotated[
    Unranked,
    typer.Option("--unranked", help="What labels are that an order does not name."),
]
InstanceOption = Annotated[
    str | None,
    typer.Option(
        "--instance", metavar="COLUMN", help="For pairs and long: whose ranking a line is part of."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

"""Tables as commands meet them: a dash is a stream, and what was found out is said."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero.cli.console import say
from prefero.cli.options import Format, Reading

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Rankings, DataTable

_DIRECTED = (Format.SCORES, Format.LONG)


class _Stdout:
    """Takes bytes for the stream that words go to."""

    def write(self, content: bytes) -> None:
        sys.stdout.write(content.decode())


def read(path: Path) -> "DataTable":
    """Read a table from a file, or from stdin if the path is a dash."""
    from prefero.tables import read_table

    table = read_table(**_source(path))
    _tell(table)
    return table


def read_in_parts(path: Path, n_rows: int) -> "Iterator[DataTable]":
    """Read the same some rows at a time."""
    from prefero.tables import read_parts

    for table in read_parts(n_rows=n_rows, **_source(path)):
        if not table.first_row:
            _tell(table)
        yield table


def rankings_of(table: "DataTable", reading: Reading) -> "Rankings":
    """Return the rankings of a table, or say where it does not hold them."""
    from typer import BadParameter

    from prefero.tables import read_rankings, with_costs

    known = (reading.higher_is_better, table.declared.format, table.declared.higher_is_better)
    if reading.format in _DIRECTED and known == (None, None, None):
        raise BadParameter(
            f"--format {reading.format} needs --higher-is-better or --lower-is-better."
        )
    asked = asdict(reading)
    cost, weight = asked.pop("cost"), asked.pop("cost_weight")
    budgets = {name: asked.pop(name) for name in ("budget", "mean_budget")}
    rankings = read_rankings(table, **asked)
    if cost is None:
        return rankings
    weighed = with_costs(rankings, cost, weight=weight, **budgets)
    if reading.mean_budget is not None:
        say(f"{table.source}: one unit of cost is worth {weighed.cost_weight:.4g} of score.")
    return weighed


def write(frame: "pd.DataFrame", path: Path) -> None:
    """Write a table into a file, or as csv to stdout if the path is a dash."""
    with writing(path) as write_rows:
        write_rows(frame)


def writing(
    path: Path, *, as_json: bool = False
) -> "AbstractContextManager[Callable[[pd.DataFrame], None]]":
    """Return a context whose function writes the next rows of a table in the same way."""
    from prefero.tables import writing as opened

    for_a_person = str(path) == "-" and not as_json and sys.stdout.isatty()
    return _rounding(path) if for_a_person else opened(**_target(path, as_json))


@contextmanager
def _rounding(path: Path) -> "Iterator[Callable[[pd.DataFrame], None]]":
    """Write numbers to a terminal with as many digits as a person reads."""
    from prefero.tables import writing as opened

    def rounded(value: Any) -> Any:
        return float(f"{value:.6g}") if isinstance(value, float) else value

    with opened(**_target(path)) as write_rows:
        yield lambda frame: write_rows(frame.map(rounded))


def write_rankings(rankings: "Rankings", path: Path, form: str) -> None:
    """Write rankings in a form into a file, or as csv to stdout if the path is a dash."""
    from prefero.tables import write_rankings as write_out

    write_out(rankings, form=form, **_target(path))


def _source(path: Path) -> dict[str, Any]:
    return {"source": sys.stdin.buffer, "name": "stdin"} if str(path) == "-" else {"source": path}


def _target(path: Path, as_json: bool = False) -> dict[str, Any]:
    ending = ".json" if as_json else None
    if str(path) == "-":
        return {"target": _Stdout(), "ending": ending or ".csv"}
    return {"target": path, "ending": ending}


def _tell(table: "DataTable") -> None:
    if table.note:
        say(f"{table.source}: {table.note}")

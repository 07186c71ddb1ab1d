"""Tables as commands read and write them: a dash is stdin or stdout."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from prefero._model_inputs import as_text, categorical_columns
from prefero.cli.console import say
from prefero.cli.options import FeatureColumns, Format, Reading

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.tables import DataTable, Rankings

_DIRECTED = (Format.SCORES, Format.LONG)
MOST_CATEGORIES, _FEWEST_IDS = 255, 10


class _Stdout:
    """Takes bytes for a stream of text."""

    def write(self, content: bytes) -> None:
        sys.stdout.write(content.decode())


def read(path: Path) -> "DataTable":
    """Read a table from a file, or from stdin if the path is a dash."""
    from prefero.tables import read_table

    table = read_table(**_source(path))
    _say_note(table)
    return table


def read_in_parts(path: Path, n_rows: int) -> "Iterator[DataTable]":
    """Read the same some rows at a time."""
    from prefero.tables import read_parts

    for table in read_parts(n_rows=n_rows, **_source(path)):
        if not table.first_row:
            _say_note(table)
        yield table


def rankings_of(table: "DataTable", reading: Reading) -> "Rankings":
    """Return the rankings of a table, or say where it does not hold them."""
    from prefero.tables import read_rankings, with_costs

    known = (reading.higher_is_better, table.declared.format, table.declared.higher_is_better)
    if reading.format in _DIRECTED and known == (None, None, None):
        raise BadParameter(
            f"--format {reading.format} needs --higher-is-better or --lower-is-better."
        )
    reading.refuse_unused(table)
    options = asdict(reading)
    cost, weight = options.pop("cost"), options.pop("cost_weight")
    budgets = {name: options.pop(name) for name in ("budget", "mean_budget")}
    rankings = read_rankings(table, **options)
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


@contextmanager
def writing(
    path: Path, *, as_json: bool = False, safe_csv: bool = False
) -> "Iterator[Callable[[pd.DataFrame], None]]":
    """Yield a function that writes the next rows of a table; a terminal gets fewer digits."""
    from prefero.tables import writing as opened

    def rounded(value: Any) -> Any:
        return float(f"{value:.6g}") if isinstance(value, float) else value

    with opened(**_target(path, as_json), safe_csv=safe_csv) as write_rows:
        if str(path) == "-" and not as_json and sys.stdout.isatty():
            yield lambda frame: write_rows(frame.map(rounded))
        else:
            yield write_rows


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


def _say_note(table: "DataTable") -> None:
    if table.note:
        say(f"{table.source}: {table.note}")


# Features


def training_features(rankings: "Rankings", named: FeatureColumns) -> "pd.DataFrame":
    """Return the features of instances: all columns that hold no rankings.

    Numbers in single precision stay so: `as_input` converts them for models that need it.
    """
    table = rankings.table
    if not rankings.features:
        raise table.error("every column holds rankings: there is no feature to learn from.")
    columns = features_of(table, rankings.features, named, len(rankings.rows), narrow=True)
    if len(rankings.rows) < len(table):
        columns = columns.iloc[rankings.rows]
    return columns.reset_index(drop=True)


def features_of(
    table: "DataTable",
    names: Iterable[str],
    named: FeatureColumns,
    instances: int,
    *,
    narrow: bool = False,
) -> "pd.DataFrame":
    """Return columns of numbers, of categories with NaN where missing, and of text.

    Text has pandas' string dtype; categories are objects. ``narrow`` keeps numbers in single
    precision.
    """
    texts = [] if named.text is None else table.columns(named.text)
    names = list(names)
    if others := [name for name in texts if name not in names]:
        raise table.error(f"--text {','.join(others)}: that is no feature.")
    words = [*texts, *([] if named.categorical is None else table.columns(named.categorical))]
    features = as_text(table.features(names, words or None, narrow=narrow), texts)
    check_categories(
        table, {name: features[name].nunique() for name in categorical_columns(features)}, instances
    )
    return features


def check_categories(table: "DataTable", n_values: Mapping[str, int], instances: int) -> None:
    """Refuse columns of too many categories; warn about one per instance."""
    many = {name: n for name, n in n_values.items() if n > MOST_CATEGORIES}
    if many:
        columns = " and ".join(f"column {name!r} holds {n}" for name, n in many.items())
        names = ",".join(many)
        raise table.error(
            f"{columns} different texts, more than {MOST_CATEGORIES}: learn from their words by "
            f"--text {names!r}, or leave them out by --ignore {names!r}."
        )
    unique = [name for name, n in n_values.items() if n == instances >= _FEWEST_IDS]
    if unique:
        names = ",".join(unique)
        columns = " and ".join(f"column {name!r} holds" for name in unique)
        warnings.warn(
            f"{columns} a different text in every row: leave out an id by --ignore {names!r}; "
            f"learn from the words of a text by --text {names!r}.",
            stacklevel=2,
        )


# Training data


@dataclass(frozen=True)
class TrainingData:
    """Rankings to learn from, with their weights and groups."""

    rankings: "Rankings"
    weights: "NDArray[np.float64] | None"
    groups: "NDArray[np.object_] | None"


def read_training_data(
    data: Path, reading: Reading, ignore: str | None, weights: str | None, groups: str | None
) -> TrainingData:
    """Read rankings, their weights and groups from a table, without rows that rank nothing."""
    table = read(data)
    if reading.labels is None and table.declared.labels is None:
        raise BadParameter("which columns hold the rankings? Add --labels 'y_*'.")
    weight, group = (None if name is None else table.column(name) for name in (weights, groups))
    ignored = [] if ignore is None else table.columns(ignore)
    everything = rankings_of(table.without(weight, group, *ignored), reading)
    rankings = everything.ranked()
    if rankings is None:
        raise table.error("no row ranks any label: there is nothing to learn from.")
    if empty := len(everything.ranks) - len(rankings.ranks):
        say(f"{table.source}: {empty} of {len(everything.ranks)} rankings are empty and left out.")
    rows = rankings.rows
    return TrainingData(
        rankings,
        None if weight is None else table.weights(weight)[rows],
        None if group is None else table.frame[group].astype(str).to_numpy(object)[rows],
    )

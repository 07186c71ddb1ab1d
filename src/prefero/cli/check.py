"""prefero check: describe a table before anything is trained on it."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from prefero.cli import options
from prefero.cli.console import count, page, plain_table, print_json, printable, say
from prefero.cli.options import Format
from prefero.cli.proposal import next_command
from prefero.cli.tables import rankings_of, read

if TYPE_CHECKING:
    from rich.table import Table as Shown

    from prefero.tables import BadCell, DataTable, Rankings

EXAMPLES = (
    "prefero check data.csv",
    "prefero check data.csv --labels 'y_*' --format scores --higher-is-better",
)

_MOST_BAD_CELLS = 10
_DIRECTED = (Format.SCORES, Format.LONG)
_NUMERIC = (Format.RANKS, Format.SCORES, Format.LONG, Format.RELEVANCE)


@dataclass
class LabelSummary:
    """How often a label is ranked, comes first, and where it stands on average."""

    label: str
    ranked: int
    missing: int
    first: int | None
    mean_rank: float | None
    relevant: int | None = None


@dataclass
class TableSummary:
    """What a table holds."""

    source: str
    rows: int
    format: Format
    direction: str | None
    rankings: int
    complete: int
    incomplete: int
    empty: int
    with_ties: int
    distinct: int
    labels: list[LabelSummary]
    features: dict[str, str]
    bad_cells: list[str]
    leaks: list[str]
    relevant_labels: float | None = None
    next_command: str = ""


def check(
    data: options.DataFile, reading: options.Reading, as_json: options.JsonOption = False
) -> None:
    """Describe a table: rows, labels, missing values, bad cells."""
    table = read(data)
    if reading.labels is None and table.declared.labels is None:
        _show_columns(table, reading, as_json)
        return
    summary = examine(table, reading)
    summary.next_command, notes = next_command(table, reading)
    if as_json:
        print_json(asdict(summary))
    else:
        _show(summary)
        _say_next(summary.next_command, notes)
    if summary.bad_cells:
        raise typer.Exit(3)


def examine(table: "DataTable", reading: options.Reading) -> TableSummary:
    """Return what a table holds; cells that are no numbers count as missing."""
    bad = _bad_cells(table, reading)
    form = Format(table.declared.format or reading.format)
    if (
        form in _DIRECTED
        and (reading.higher_is_better, table.declared.higher_is_better) == (None,) * 2
    ):
        # The counts do not depend on the direction.
        reading = replace(reading, higher_is_better=False)
        direction: str | None = "not given"
    else:
        direction = _direction(form, reading.higher_is_better, table.declared.higher_is_better)
    rankings = rankings_of(table.blanked(bad) if bad else table, reading)
    errors = [str(table.error(str(cell), cell.row)) for cell in bad[:_MOST_BAD_CELLS]]
    if len(bad) > _MOST_BAD_CELLS:
        errors.append(f"... and {len(bad) - _MOST_BAD_CELLS} more")
    return TableSummary(
        source=table.source,
        rows=len(table),
        format=form,
        direction=direction,
        **_counts(rankings),
        labels=_label_summaries(rankings, oriented=direction != "not given"),
        features={name: table.kind(name) for name in rankings.features},
        bad_cells=errors,
        leaks=_leaks(rankings),
        relevant_labels=_relevant_labels(rankings),
    )


def _relevant_labels(rankings: "Rankings") -> float | None:
    """The mean number of relevant labels, over rows where any is known."""
    relevance = rankings.relevance
    if relevance is None:
        return None
    known = relevance[relevance.notna().any(axis=1)]
    return float(known.sum(axis=1).mean()) if len(known) else 0.0


def _leaks(rankings: "Rankings") -> list[str]:
    from prefero._data_checks import leaks

    return [str(leak) for leak in leaks(rankings.X, rankings.ranks, rankings.labels)]


def _bad_cells(table: "DataTable", reading: options.Reading) -> "list[BadCell]":
    from prefero.tables import label_columns

    columns = label_columns(table, reading.labels, reading.instance)
    if reading.format not in _NUMERIC:
        return []
    return table.bad_cells(columns[-1:] if reading.format is Format.LONG else columns)


def _direction(form: Format, asked: bool | None, declared: bool | None) -> str | None:
    if form not in _DIRECTED:
        return None
    return "higher is better" if (asked if declared is None else declared) else "lower is better"


def _counts(rankings: "Rankings") -> dict[str, Any]:
    import numpy as np

    from prefero.rankings import bucket_positions, ranks_from_scores

    positions = np.nan_to_num(bucket_positions(rankings.ranks))
    first_of_place = np.nan_to_num(ranks_from_scores(rankings.ranks, higher_is_better=False))
    known = np.count_nonzero(positions, axis=1)
    complete, empty = known == positions.shape[1], known == 0
    return {
        "rankings": len(positions),
        "complete": int(np.sum(complete)),
        "incomplete": int(np.sum(~complete & ~empty)),
        "empty": int(np.sum(empty)),
        "with_ties": int(np.sum((positions != first_of_place).any(axis=1))),
        "distinct": len(np.unique(positions, axis=0)),
    }


def _label_summaries(rankings: "Rankings", *, oriented: bool) -> list[LabelSummary]:
    import numpy as np

    from prefero.rankings import bucket_positions

    positions = bucket_positions(rankings.ranks)
    best = np.fmin.reduce(positions, axis=1, keepdims=True)
    relevance, summaries = rankings.relevance, []
    for j, label in enumerate(rankings.labels):
        column = positions[:, j]
        ranked = int(np.count_nonzero(~np.isnan(column)))
        first = int(np.sum(column == best[:, 0])) if oriented else None
        mean = float(np.nanmean(column)) if oriented and ranked else None
        relevant = None if relevance is None else int((relevance[label] == 1).sum())
        summaries.append(
            LabelSummary(str(label), ranked, len(column) - ranked, first, mean, relevant)
        )
    return summaries


def _show(summary: TableSummary) -> None:
    form = ", ".join(filter(None, (summary.format, summary.direction)))
    n_rows, n_labels = count(summary.rows, "row"), count(len(summary.labels), "label")
    print(printable(f"{summary.source}: {n_rows}, {n_labels} ({form})"))
    print(
        f"{count(summary.rankings, 'ranking')}: {summary.complete} complete, "
        f"{summary.incomplete} incomplete, {summary.empty} empty; "
        f"{summary.with_ties} with ties; {summary.distinct} distinct"
    )
    if summary.relevant_labels is not None:
        print(f"{summary.relevant_labels:.2f} labels are relevant on average")
    print()
    console = page()
    console.print(_labels_table(summary))
    console.print()
    features = plain_table("feature", "holds", numeric=False)
    for name, kind in summary.features.items():
        features.add_row(name, kind)
    console.print(features if summary.features else "No feature: every column holds labels.")
    for cell in summary.bad_cells:
        say(cell)
    for leak in summary.leaks:
        say(f"Too good to be true? {leak}: leave it out by --ignore in training.")
    if summary.direction == "not given":
        say("Which scores are better? Add --higher-is-better or --lower-is-better.")


def _labels_table(summary: TableSummary) -> "Shown":
    multilabel = summary.relevant_labels is not None
    known = ("known", "missing", "relevant") if multilabel else ("ranked", "missing")
    table = plain_table("label", *known, "first", "mean rank")
    for label in summary.labels:
        mean = "" if label.mean_rank is None else f"{label.mean_rank:.2f}"
        first = "" if label.first is None else str(label.first)
        relevant = [str(label.relevant)] if multilabel else []
        table.add_row(label.label, str(label.ranked), str(label.missing), *relevant, first, mean)
    return table


def _say_next(command: str, notes: list[str]) -> None:
    for note in notes:
        say(note)
    if command:
        say(f"Next: {command}")


def _show_columns(table: "DataTable", reading: options.Reading, as_json: bool) -> None:
    kinds = {name: table.kind(name) for name in map(str, table.frame.columns)}
    command, notes = next_command(table, reading)
    if as_json:
        about = {"source": table.source, "rows": len(table), "columns": kinds}
        print_json(about | {"next_command": command})
        return
    rows, columns = count(len(table), "row"), count(len(kinds), "column")
    print(printable(f"{table.source}: {rows}, {columns}\n"))
    shown = plain_table("column", "holds", "first cell", numeric=False)
    for name, kind in kinds.items():
        shown.add_row(name, kind, str(table.frame[name].iloc[0]))
    page().print(shown)
    if table.declared.grade is not None:
        say(f"These are graded objects: prefero order train {table.source} -o model.prefero")
        return
    if not command:
        say(f"Which columns hold the rankings? prefero check {table.source} --labels 'y_*'")
    _say_next(command, notes)

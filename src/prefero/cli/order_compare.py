"""prefero order compare: which orderer is best on some tables of objects."""

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.console import page, plain_table, print_json, say
from prefero.cli.options import (
    DataFiles,
    IgnoreOption,
    JobsOption,
    JsonOption,
    SeedOption,
    TextFeaturesOption,
    TextOption,
    table_out,
    writable,
)
from prefero.cli.orderers import (
    CONSTANT,
    LIGHTGBM,
    ORDERERS,
    Columns,
    FeaturesOption,
    FoldsOption,
    GradeOption,
    GroupOption,
    Objects,
    OrderTrials,
    RankOption,
    ReduceOption,
    build_orderer,
    chosen_orderers,
    read_objects,
    source,
    try_orderers,
)
from prefero.cli.tables import write
from prefero.exceptions import DataError

if TYPE_CHECKING:
    from prefero.study import Comparison

EXAMPLES = ("prefero order compare mq2008.txt --orderers svm,trees,lightgbm --report page.html",)

_HEADINGS = {"rho": "rho", "tau": "tau", "ndcg": "NDCG@10", "map": "MAP", "mrr": "MRR"}


class OrderMeasure(StrEnum):
    """What orderers are compared by."""

    RHO = "rho"
    TAU = "tau"
    NDCG = "ndcg"
    MAP = "map"
    MRR = "mrr"


def compare(
    data: DataFiles,
    group: GroupOption = None,
    rank: RankOption = None,
    grade: GradeOption = None,
    features: FeaturesOption = None,
    ignore: IgnoreOption = None,
    text: TextOption = None,
    text_features: TextFeaturesOption = None,
    orderers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {', '.join(ORDERERS)}, all by default; and {LIGHTGBM}, if it is "
            f"installed. {CONSTANT}, which ties all objects, is always among them.",
        ),
    ] = None,
    reduce: ReduceOption = None,
    measure: Annotated[
        OrderMeasure,
        typer.Option(
            help="What the best orderer is best by, as a mean over groups: Spearman's rho, "
            "Kendall's tau, NDCG of the first ten, MAP or MRR."
        ),
    ] = OrderMeasure.RHO,
    folds: FoldsOption = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions, each with new folds.")] = 1,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            *("--out", "-o"),
            callback=table_out,
            metavar="FILE",
            help="Write the result of every fold, a line each: .csv, .tsv, .json or .parquet.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(callback=writable, metavar="PAGE", help="Write an HTML page too."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say which orderer is best on some tables of objects.

    All are cross-validated on the same folds, which divide no group.
    """
    from prefero.study import compare as judge

    columns = Columns(group, rank, grade, features, ignore, text, text_features)
    tables = [read_objects(path, columns) for path in data]
    for objects in tables:
        if objects.witnesses < folds:
            what = "objects" if objects.groups is None else "groups"
            raise objects.table.error(f"too few {what} for {folds} folds: {objects.witnesses}.")
    names = chosen_orderers(orderers)
    trials = try_orderers(
        names, tables, folds=folds, reduce=reduce, repeats=repeats, seed=seed, jobs=jobs
    )
    for (name, table), reason in trials.failed.items():
        say(f"{name} has no result on {table}: {reason}")
    if not len(trials.results):
        raise DataError("no orderer could be trained and measured.")
    found = judge(trials.results, measure=measure)
    if out is not None:
        write(trials.results.to_frame(), out)
    if report is not None:
        _write_page(report, trials, found, tables, reduce, seed)
    if as_json:
        print_json(_report(trials, found, folds, repeats))
    else:
        _show(trials, found, folds)


def _write_page(
    path: Path,
    trials: OrderTrials,
    found: "Comparison",
    tables: list[Objects],
    reduce: int | None,
    seed: int,
) -> None:
    """Write the page, which looks closely at the best orderer on the first table it has."""
    from prefero.study import write_report

    focus = next(objects for objects in tables if objects.name == found.datasets[0])
    models = {
        name: build_orderer(
            name, focus.X, reduce=None if name in (CONSTANT, LIGHTGBM) else reduce, seed=seed
        )
        for name in found.rankers
    }
    write_report(
        path,
        trials.results,
        {objects.name: source(objects) for objects in tables},
        models,
        groups={objects.name: objects.groups for objects in tables if objects.groups is not None},
        focus=focus.name,
        measure=found.measure,
        title="Comparison of orderers",
        command=shlex.join(["prefero", *sys.argv[1:]]),
        random_state=seed,
    )
    say(f"Wrote {path}.")


def _report(trials: OrderTrials, found: "Comparison", folds: int, repeats: int) -> dict[str, Any]:
    from prefero.study import summarize

    return {
        **{"verdict": found.verdict(), "measure": found.measure, "best": found.best},
        **{"not_told_apart": found.alike(), "folds": folds, "repeats": repeats},
        "summary": list(summarize(trials.results, by=("dataset", "ranker"))),
        "failed": [
            {"orderer": name, "dataset": table, "reason": reason}
            for (name, table), reason in trials.failed.items()
        ],
    }


def _show(trials: OrderTrials, found: "Comparison", folds: int) -> None:
    from prefero.study import summarize

    console = page()
    console.print(
        f"{folds}-fold cross-validation that divides no group: mean over groups and folds\n"
    )
    place = {found.rankers[i]: n for n, i in enumerate(found.order)}
    measures = [name for name in _HEADINGS if name in trials.results.columns]
    for dataset in dict.fromkeys(trials.results["dataset"]):
        rows = sorted(
            summarize(trials.results.where(dataset=dataset), by=("ranker",)),
            key=lambda row: place.get(row["ranker"], len(place)),
        )
        table = plain_table(dataset, *(_HEADINGS[name] for name in measures), "seconds")
        for row in rows:
            cells = [_cell(row, name, name == found.measure) for name in measures]
            table.add_row(row["ranker"], *cells, f"{row['fit_seconds']:.2f}")
        console.print(table)
        console.print()
    say(f"{CONSTANT} ties all objects: what a random order gets.")
    say(found.verdict())


def _cell(row: dict[str, Any], measure: str, judged: bool) -> str:
    if row[measure] != row[measure]:
        return ""
    deviation = row[f"{measure}_sd"]
    return f"{row[measure]:.3f}" + (
        f" ±{deviation:.2f}" if judged and deviation == deviation else ""
    )

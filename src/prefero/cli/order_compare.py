"""prefero order compare: which orderer is best on some tables of objects."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from prefero.cli.comparison import Pictured, by_place, cell, hand_out, say_failures
from prefero.cli.console import page, plain_table, say
from prefero.cli.groups import with_groups
from prefero.cli.options import DataFiles, JobsOption, RepeatsOption, Results, SeedOption
from prefero.cli.orderers import (
    CONSTANT,
    LIGHTGBM,
    FoldsOption,
    ObjectColumns,
    Objects,
    ReduceOption,
    build_orderer,
    chosen_orderers,
    read_objects,
    source,
    try_orderers,
)
from prefero.cli.rankers import ORDERERS
from prefero.cli.trials import Plan

if TYPE_CHECKING:
    from prefero.evaluation import Comparison
    from prefero.evaluation import ResultTable as Table

EXAMPLES = ("prefero order compare mq2008.txt --orderers svm,trees,lightgbm --report page.html",)

_HEADINGS = {"rho": "rho", "tau": "tau", "ndcg": "NDCG@10", "map": "MAP", "mrr": "MRR"}


class OrderMeasure(StrEnum):
    """What orderers are compared by."""

    RHO = "rho"
    TAU = "tau"
    NDCG = "ndcg"
    MAP = "map"
    MRR = "mrr"


@with_groups
def compare(
    data: DataFiles,
    *,
    columns: ObjectColumns,
    orderers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {', '.join(ORDERERS)}, all by default; and {LIGHTGBM}, if it is "
            f"installed. {CONSTANT}, which ties all objects, is always among them.",
        ),
    ] = None,
    reduce: ReduceOption = None,
    metric: Annotated[
        OrderMeasure,
        typer.Option(
            help="What the best orderer is best by, as a mean over groups: Spearman's rho, "
            "Kendall's tau, NDCG of the first ten, MAP or MRR."
        ),
    ] = OrderMeasure.RHO,
    folds: FoldsOption = 5,
    repeats: RepeatsOption = 1,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    results: Results,
) -> None:
    """Say which orderer is best on some tables of objects.

    All are cross-validated on the same folds, which divide no group.
    """
    plan = Plan(folds=folds, repeats=repeats, seed=seed)
    tables = [read_objects(path, columns) for path in data]
    for objects in tables:
        if objects.witnesses < folds:
            what = "objects" if objects.groups is None else "groups"
            raise objects.table.error(f"too few {what} for {folds} folds: {objects.witnesses}.")
    trials = try_orderers(chosen_orderers(orderers), tables, plan, reduce=reduce, jobs=jobs)
    say_failures(trials)
    found = trials.judged(metric)
    hand_out(
        *(results, trials, found, plan),
        pictured=lambda: _pictured(found, tables, reduce, seed),
        show=lambda: _show(trials.results, found, folds),
    )


def _pictured(
    found: "Comparison", tables: list[Objects], reduce: int | None, seed: int
) -> Pictured:
    """The best orderer on the first table that has a result of every orderer."""
    focus = next(objects for objects in tables if objects.name == found.datasets[0])
    return Pictured(
        "Comparison of orderers",
        focus.name,
        {name: build_orderer(name, focus.X, reduce=reduce, seed=seed) for name in found.rankers},
        {objects.name: source(objects) for objects in tables},
        {objects.name: objects.groups for objects in tables if objects.groups is not None},
    )


def _show(results: "Table", found: "Comparison", folds: int) -> None:
    console = page()
    console.print(
        f"{folds}-fold cross-validation that divides no group: mean over groups and folds\n"
    )
    metrics = [name for name in _HEADINGS if name in results.columns]
    for dataset in dict.fromkeys(results["dataset"]):
        table = plain_table(dataset, *(_HEADINGS[name] for name in metrics), "seconds")
        for row in by_place(results.where(dataset=dataset), found):
            cells = [cell(row, name, deviation=name == found.scoring) for name in metrics]
            table.add_row(row["ranker"], *cells, f"{row['fit_seconds']:.2f}")
        console.print(table)
        console.print()
    say(f"{CONSTANT} ties all objects: what a random order gets.")
    say(found.verdict())

"""prefero compare: which ranker is best on some tables."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.console import page, plain_table, print_json, say
from prefero.cli.features import training_features
from prefero.cli.models import build
from prefero.cli.options import (
    DataFiles,
    DirectionOption,
    Format,
    FormatOption,
    IgnoreOption,
    InstanceOption,
    JobsOption,
    JsonOption,
    LabelsOption,
    Reading,
    SeedOption,
    TextOption,
    Unranked,
    UnrankedOption,
    table_out,
    writable,
)
from prefero.cli.rankers import RANKER_NAMES, RANKERS, RankerChoice, ranker_choice
from prefero.cli.tables import write
from prefero.cli.train import read_training
from prefero.cli.trials import Problem, Trials, run_trials
from prefero.exceptions import DataError

if TYPE_CHECKING:
    from prefero.study import Comparison, Table

EXAMPLES = (
    "prefero compare yields.csv --labels 'y_*' --format scores --higher-is-better",
    "prefero compare one.csv two.csv three.csv --labels 'L*' --quick",
    "prefero compare runs.csv --labels a,b,c --rankers forest,consensus --resume cells --json",
)

_QUICK_FOLDS, _QUICK_ROWS = 3, 500
# Rankers that stand side by side with their standard deviations; of more only the means fit.
_MOST_ROOMY = 4
_MEASURES = {"tau": "tau", "rho": "rho", "top1": "first right", "regret": "regret"}


@dataclass(frozen=True)
class Plan:
    """How thorough a comparison is."""

    folds: int
    repeats: int
    most_rows: int | None = None


def compare(
    data: DataFiles,
    labels: LabelsOption = None,
    format: FormatOption = Format.RANKS,
    higher_is_better: DirectionOption = None,
    rankers: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help=f"Some of {', '.join(RANKER_NAMES)}; all by default."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Of the cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions, each with new folds.")] = 1,
    quick: Annotated[
        bool,
        typer.Option("--quick", help=f"{_QUICK_FOLDS} folds of at most {_QUICK_ROWS} rows."),
    ] = False,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keep finished work here; started again, go on from there."
        ),
    ] = None,
    ignore: IgnoreOption = None,
    text: TextOption = None,
    unranked: UnrankedOption = Unranked.UNKNOWN,
    instance: InstanceOption = None,
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
    """Say which ranker is best on some tables.

    All are cross-validated on the same folds; tests say which of them differ.
    """
    from prefero.study import compare as compare_results

    choices = _chosen(rankers)
    reading = Reading(format, labels, higher_is_better, unranked, instance)
    plan = Plan(_QUICK_FOLDS, 1, _QUICK_ROWS) if quick else Plan(folds, repeats)
    names = _names(data)
    problems = [
        _problem(path, name, reading, ignore, text, plan, seed)
        for path, name in zip(data, names, strict=True)
    ]
    trials = run_trials(
        choices,
        problems,
        folds=plan.folds,
        repeats=plan.repeats,
        seed=seed,
        jobs=jobs,
        folder=resume,
    )
    for (ranker, name), reason in trials.failed.items():
        say(f"{ranker} has no result on {name}: {reason}")
    if not len(trials.results):
        raise DataError("no ranker could be trained.", ", ".join(names))
    if out is not None:
        write(trials.results.to_frame(), out)
    found = compare_results(trials.results)
    if report is not None:
        _write_page(report, trials, found, problems, seed)
    if as_json:
        print_json(_report(trials, found, plan))
    else:
        _show(trials.results, found, plan)


def _chosen(names: str | None) -> list[RankerChoice]:
    if names is None:
        return list(RANKERS)
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in RANKER_NAMES]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(RANKER_NAMES)}.")
    return [ranker_choice(name) for name in dict.fromkeys(wanted)]


def _names(paths: list[Path]) -> list[str]:
    """Names of the data sets: those of the files, with their folders if these are needed."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _problem(
    path: Path,
    name: str,
    reading: Reading,
    ignore: str | None,
    text: str | None,
    plan: Plan,
    seed: int,
) -> Problem:
    import numpy as np

    rankings, _ = read_training(path, reading, ignore, weights=None)
    features = training_features(rankings, text)
    n = len(rankings.ranks)
    if n < plan.folds:
        raise rankings.table.error(f"too few rankings for {plan.folds} folds: {n}.")
    if np.isfinite(rankings.ranks).sum(axis=1).max() < 2:
        raise rankings.table.error("no row ranks two labels: there is nothing to compare by.")
    rows = np.arange(n)
    if plan.most_rows is not None and n > plan.most_rows:
        rows = np.random.default_rng(seed).permutation(n)[: plan.most_rows]
    return Problem.of(name, rankings, features, rows)


def _write_page(
    path: Path, trials: Trials, found: "Comparison", problems: list[Problem], seed: int
) -> None:
    """Write the page, which looks closely at the best ranker on the first table it has."""
    from prefero.study import write_report

    focus = next(problem for problem in problems if problem.name == found.datasets[0])
    rankers = {name: build(ranker_choice(name), focus.features) for name in found.rankers}
    best = rankers[found.rankers[found.order[0]]]
    write_report(
        path,
        trials.results,
        {problem.name: problem.source(best) for problem in problems},
        rankers,
        focus=focus.name,
        command=shlex.join(["prefero", *sys.argv[1:]]),
        random_state=seed,
    )
    say(f"Wrote {path}.")


def _report(trials: Trials, found: "Comparison", plan: Plan) -> dict[str, Any]:
    from prefero.study import summarize

    return {
        "verdict": found.verdict(),
        "folds": plan.folds,
        "repeats": plan.repeats,
        "summary": list(summarize(trials.results, by=("dataset", "ranker"))),
        "rankers": found.rankers,
        "datasets": found.datasets,
        "average_ranks": found.average_ranks.tolist(),
        "test": found.test,
        "p_value": found.p_value,
        "posthoc": found.posthoc,
        "pair_p_values": found.pair_p_values.tolist(),
        "critical_difference": found.critical_difference,
        "left_out": found.left_out,
        "over_folds": list(found.over_folds),
        "failed": [
            {"ranker": ranker, "dataset": name, "reason": reason}
            for (ranker, name), reason in trials.failed.items()
        ],
    }


def _show(results: "Table", found: "Comparison", plan: Plan) -> None:
    console = page()
    times = "" if plan.repeats == 1 else f", {plan.repeats} times"
    datasets = list(dict.fromkeys(results["dataset"]))
    roomy = len(datasets) == 1 or len(found.rankers) <= _MOST_ROOMY
    shown = "mean ± standard deviation" if roomy else "mean (--json has deviations)"
    console.print(f"{plan.folds}-fold cross-validation{times}: {shown}\n")
    console.print(_one_set(results) if len(datasets) == 1 else _many_sets(results, datasets, found))
    if len(datasets) > 1:
        console.print()
        board = plain_table("ranker", "average rank", "mean tau", "wins")
        for row in found.leaderboard():
            board.add_row(
                row["ranker"],
                f"{row['average rank']:.2f}",
                f"{row['mean tau']:.3f}",
                str(row["wins"]),
            )
        console.print(board)
    if found.left_out:
        say(f"Without a result for every ranker, not ranked: {', '.join(found.left_out)}.")
    say(found.verdict())


def _one_set(results: "Table") -> Any:
    """The rankers of one data set with all measures, the best tau first."""
    from prefero.study import summarize

    rows = sorted(summarize(results, by=("ranker",)), key=lambda row: -row["tau"])
    measures = [name for name in _MEASURES if not all(row[name] != row[name] for row in rows)]
    table = plain_table("ranker", *(_MEASURES[name] for name in measures), "seconds")
    for row in rows:
        cells = [_cell(row, name) for name in measures]
        table.add_row(row["ranker"], *cells, f"{row['fit_seconds']:.2f}")
    return table


def _many_sets(results: "Table", datasets: list[str], found: "Comparison") -> Any:
    """Tau on every data set, one column a ranker, the best on average first."""
    from prefero.study import summarize

    rankers = [found.rankers[i] for i in found.order]
    roomy = len(rankers) <= _MOST_ROOMY
    cells = {
        (row["dataset"], row["ranker"]): _cell(row, "tau") if roomy else f"{row['tau']:.3f}"
        for row in summarize(results, by=("dataset", "ranker"))
    }
    table = plain_table("tau", *rankers, tight=not roomy)
    table.columns[0].no_wrap = True
    for name in datasets:
        table.add_row(name, *(cells.get((name, ranker), "") for ranker in rankers))
    return table


def _cell(row: dict[str, Any], measure: str) -> str:
    return f"{row[measure]:.3f} ±{row[f'{measure}_sd']:.2f}"

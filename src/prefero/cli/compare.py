"""prefero compare: which ranker is best on some tables."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.console import number, page, plain_table, print_json, say
from prefero.cli.features import training_features
from prefero.cli.models import build
from prefero.cli.options import (
    CALIBRATED,
    BudgetOption,
    CostOption,
    CostWeightOption,
    CutoffOption,
    DataFiles,
    DirectionOption,
    Format,
    FormatOption,
    GroupsOption,
    IgnoreOption,
    InstanceOption,
    JobsOption,
    JsonOption,
    LabelsOption,
    MeasureOption,
    Reading,
    RowsOption,
    SeedOption,
    TextFeaturesOption,
    TextOption,
    Unranked,
    UnrankedOption,
    measure_for,
    table_out,
    writable,
)
from prefero.cli.rankers import (
    AUTO,
    BASELINE,
    RANKER_NAMES,
    RankerChoice,
    ranker_choice,
    rankers_for,
)
from prefero.cli.tables import write
from prefero.cli.train import read_training
from prefero.cli.trials import (
    Plan,
    Sample,
    Trials,
    refuse_measure,
    run_trials,
    wonder_about_leaks,
)

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
_MEASURES = {
    "tau": "tau",
    "tau_x": "tau-x",
    "rho": "rho",
    "top1": "first right",
    "regret": "regret",
    "gap_closed": "gap closed",
    "utility": "utility",
    "score": "score",
    "cost": "cost",
    "PAR10": "PAR10",
    "average_precision": "precision",
    "ranking_loss": "ranking loss",
    "one_error": "one error",
    "hamming_loss": "Hamming loss",
    "subset_loss": "subset loss",
}
_WORDS = {
    "regret": "regret: how much less the first choice is worth than the best label of its row, in "
    "the unit of the scores; 0 is best.",
    "gap_closed": "gap closed: how far it goes from the single best label for all (0) to the right "
    "label every time (1).",
    "utility": "utility, score, cost: of the first choice, in the mean.",
    "PAR10": "PAR10: the mean run time of the first choice, a time-out as ten times the cut-off.",
}
# More measures than this stand beside each other without their deviations.
_MOST_DEVIATIONS, _MOST_MEASURES = 4, 6


def compare(
    data: DataFiles,
    labels: LabelsOption = None,
    format: FormatOption = Format.RANKS,
    higher_is_better: DirectionOption = None,
    rankers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {', '.join(RANKER_NAMES)}, all by default; or {AUTO}, which takes "
            f"longer. {BASELINE.name}, the constant order, is always among them.",
        ),
    ] = None,
    measure: MeasureOption = None,
    folds: Annotated[int, typer.Option(min=2, help="Of the cross-validation.")] = Plan.folds,
    repeats: Annotated[
        int, typer.Option(min=1, help="Repetitions, each with new folds.")
    ] = Plan.repeats,
    groups: GroupsOption = None,
    rows: RowsOption = Plan.most_rows,
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
    text_features: TextFeaturesOption = None,
    unranked: UnrankedOption = Unranked.UNKNOWN,
    instance: InstanceOption = None,
    cutoff: CutoffOption = None,
    cost: CostOption = None,
    cost_weight: CostWeightOption = None,
    budget: BudgetOption = None,
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
    from prefero.study._cells import CellStore

    CellStore(resume)  # warns of lines that cannot be read, where nobody mutes it
    reading = Reading(
        *(format, labels, higher_is_better, unranked, instance),
        *(cutoff, cost, cost_weight, budget),
    )
    size = (_QUICK_FOLDS, 1, _QUICK_ROWS) if quick else (folds, repeats, rows)
    asked = measure_for(measure, format in CALIBRATED, costs=cost is not None)
    plan = Plan(asked, *size, seed)
    choices = _chosen(rankers, format in CALIBRATED)
    samples = [
        _sample(path, name, reading, (ignore, groups, text, text_features), plan)
        for path, name in zip(data, _names(data), strict=True)
    ]
    trials = run_trials(choices, samples, plan, jobs=jobs, folder=resume)
    for (ranker, name), reason in trials.failed.items():
        say(f"{ranker} has no result on {name}: {reason}")
    found = trials.judged(plan.measure)
    if out is not None:
        write(trials.results.to_frame(), out)
    if report is not None:
        _write_page(report, trials, found, samples, plan)
    if as_json:
        print_json(_report(trials, found, plan))
    else:
        _show(trials.results, found, plan)


def _chosen(names: str | None, multilabel: bool) -> list[RankerChoice]:
    if names is None:
        return list(rankers_for(multilabel))
    wanted = dict.fromkeys((BASELINE.name, *map(str.strip, names.split(","))))
    return [ranker_choice(name, multilabel) for name in wanted]


def _names(paths: list[Path]) -> list[str]:
    """Names of the data sets: those of the files, with their folders if these are needed."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _sample(
    path: Path,
    name: str,
    reading: Reading,
    columns: tuple[str | None, ...],
    plan: Plan,
) -> Sample:
    """Read a table; the columns are those to ignore, of the groups, of names and of prose."""
    import numpy as np

    ignore, groups, text, prose = columns
    training = read_training(path, reading, ignore, None, groups)
    rankings = training.rankings
    features = training_features(rankings, text, prose)
    sample = Sample.of(name, rankings, features, training.groups, plan)
    refuse_measure(sample, plan)
    if sample.witnesses < plan.folds:
        what = "rankings" if sample.groups is None else "groups"
        raise rankings.table.error(f"too few {what} for {plan.folds} folds: {sample.witnesses}.")
    if np.isfinite(rankings.ranks).sum(axis=1).max() < 2:
        raise rankings.table.error("no row ranks two labels: there is nothing to compare by.")
    wonder_about_leaks(rankings, features)
    sample.wonder()
    return sample


def _write_page(
    path: Path, trials: Trials, found: "Comparison", samples: list[Sample], plan: Plan
) -> None:
    """Write the page, which looks closely at the best ranker on the first table it has."""
    from prefero.study import write_report

    focus = next(sample for sample in samples if sample.name == found.datasets[0])
    rankers = {
        name: build(ranker_choice(name, focus.multilabel), focus.features) for name in found.rankers
    }
    write_report(
        path,
        trials.results,
        {sample.name: sample.source(rankers[found.best]) for sample in samples},
        rankers,
        groups={sample.name: sample.groups for sample in samples if sample.groups is not None},
        focus=focus.name,
        measure=found.measure,
        title=f"Comparison of {'multilabel' if focus.multilabel else 'label'} rankers",
        command=shlex.join(["prefero", *sys.argv[1:]]),
        random_state=plan.seed,
    )
    say(f"Wrote {path}.")


def _report(trials: Trials, found: "Comparison", plan: Plan) -> dict[str, Any]:
    from prefero.study import summarize

    return {
        "verdict": found.verdict(),
        "measure": plan.measure,
        "best": found.best,
        "not_told_apart": found.alike(),
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
    kind = "mean ± standard deviation" if roomy else "mean (--json has deviations)"
    console.print(f"{plan.folds}-fold cross-validation{times}: {kind}\n")
    shown = _one_set(results, found) if len(datasets) == 1 else _many_sets(results, datasets, found)
    console.print(shown)
    if len(datasets) > 1:
        console.print()
        mean = f"mean {found.measure}"
        board = plain_table("ranker", "average rank", mean, "wins")
        for row in found.leaderboard():
            board.add_row(
                row["ranker"],
                f"{row['average rank']:.2f}",
                number(row[mean]),
                str(row["wins"]),
            )
        console.print(board)
    if found.left_out:
        say(f"Without a result for every ranker, not ranked: {', '.join(found.left_out)}.")
    for name, words in _WORDS.items():
        if name == "utility" and "cost" not in results.columns:
            continue
        if name in results.columns and not all(value != value for value in results[name]):
            say(words)
    say(found.verdict())


def _one_set(results: "Table", found: "Comparison") -> Any:
    """The rankers of one data set with all measures, the best first."""
    from prefero.study import summarize

    place = {found.rankers[i]: n for n, i in enumerate(found.order)}
    rows = sorted(
        summarize(results, by=("ranker",)), key=lambda row: place.get(row["ranker"], len(place))
    )
    columns = [name for name in _MEASURES if name in results.columns]
    measures = [name for name in columns if not all(row[name] != row[name] for row in rows)]
    # Without ties it is tau.
    if "tau_x" in measures and found.measure != "tau_x":
        if all(row["tau_x"] == row["tau"] for row in rows):
            measures.remove("tau_x")
    measures = _telling(measures, found.measure)
    roomy = len(measures) <= _MOST_DEVIATIONS
    headings = [_MEASURES[name] for name in measures]
    last = ["seconds"] if roomy else []
    table = plain_table("ranker", *headings, *last, tight=not roomy)
    for column, heading in zip(table.columns, ("ranker", *measures), strict=False):
        column.no_wrap = heading in ("ranker", found.measure, "average_precision")
    for row in rows:
        cells = [
            _cell(row, name) if roomy or name == found.measure else number(row[name])
            for name in measures
        ]
        table.add_row(row["ranker"], *cells, *([f"{row['fit_seconds']:.2f}"] if roomy else []))
    return table


def _telling(measures: list[str], judged_by: str) -> list[str]:
    """Leave out what others say too, lest a line be longer than a terminal is wide."""
    left_out = set() if "cost" in measures else {"utility"}
    if len(measures) > _MOST_MEASURES:
        left_out |= {"rho", "tau_x"} if "regret" in measures else set()
    return [name for name in measures if name == judged_by or name not in left_out]


def _many_sets(results: "Table", datasets: list[str], found: "Comparison") -> Any:
    """The measure on every data set, one column a ranker, the best on average first."""
    from prefero.study import summarize

    rankers = [found.rankers[i] for i in found.order]
    roomy = len(rankers) <= _MOST_ROOMY
    by = found.measure
    cells = {
        (row["dataset"], row["ranker"]): _cell(row, by) if roomy else number(row[by])
        for row in summarize(results, by=("dataset", "ranker"))
    }
    table = plain_table(_MEASURES[by], *rankers, tight=not roomy)
    table.columns[0].no_wrap = True
    for name in datasets:
        table.add_row(name, *(cells.get((name, ranker), "") for ranker in rankers))
    return table


def _cell(row: dict[str, Any], measure: str) -> str:
    return f"{number(row[measure])} ±{number(row[f'{measure}_sd'], 2)}"

"""prefero compare: which ranker is best on some tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.comparison import Pictured, by_place, cell, hand_out, say_failures
from prefero.cli.console import number, page, plain_table, say
from prefero.cli.features import training_features
from prefero.cli.groups import with_groups
from prefero.cli.label_tables import PLACED, PLACED_WORDS, compare_placing
from prefero.cli.models import build
from prefero.cli.options import (
    DataFiles,
    FeatureColumns,
    GroupsOption,
    JobsOption,
    LabelTableOption,
    Meaning,
    Metric,
    MetricOption,
    Reading,
    RepeatsOption,
    Results,
    RowsOption,
    SeedOption,
    metric_for,
)
from prefero.cli.rankers import (
    AUTO,
    BASELINE,
    ORDERERS,
    RANKER_NAMES,
    RankerChoice,
    ranker_choice,
    rankers_for,
)
from prefero.cli.train import Training, read_training
from prefero.cli.trials import Plan, Sample, refuse_measure, run_trials, wonder_about_leaks

if TYPE_CHECKING:
    from prefero.evaluation import Comparison
    from prefero.evaluation import ResultTable as Table

EXAMPLES = (
    "prefero compare yields.csv --labels 'y_*' --format scores --higher-is-better",
    "prefero compare one.csv two.csv three.csv --labels 'L*' --quick",
    "prefero compare runs.csv --labels a,b,c --rankers forest,consensus --resume cells --json",
)

_QUICK_FOLDS, _QUICK_ROWS = 3, 500
# Rankers that stand side by side with their standard deviations; of more only the means fit.
_MOST_ROOMY = 4
_METRICS = {
    PLACED: PLACED,
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
    PLACED: PLACED_WORDS,
    "regret": "regret: how much less the first choice is worth than the best label of its row, in "
    "the unit of the scores; 0 is best.",
    "gap_closed": "gap closed: how far it goes from the single best label for all (0) to the right "
    "label every time (1).",
    "utility": "utility, score, cost: of the first choice, in the mean.",
    "PAR10": "PAR10: the mean run time of the first choice, a time-out as ten times the cut-off.",
}
# More metrics than this stand beside each other without their deviations.
_MOST_DEVIATIONS, _MOST_METRICS = 4, 6

RankersOption = Annotated[
    str | None,
    typer.Option(
        "--rankers",
        metavar="NAMES",
        help=f"Some of {', '.join(RANKER_NAMES)}, all by default; or {AUTO}, which takes "
        f"longer. {BASELINE.name}, the constant order, is always among them. With --label-table "
        f"some of {', '.join(ORDERERS)}.",
    ),
]


@with_groups
def compare(
    data: DataFiles,
    *,
    meaning: Meaning,
    rankers: RankersOption = None,
    label_table: LabelTableOption = None,
    metric: MetricOption = None,
    folds: Annotated[int, typer.Option(min=2, help="Of the cross-validation.")] = Plan.folds,
    repeats: RepeatsOption = Plan.repeats,
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
    columns: FeatureColumns,
    reading: Reading,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    results: Results,
) -> None:
    """Say which ranker is best on some tables.

    All are cross-validated on the same folds; tests say which of them differ.
    """
    from prefero.evaluation._run_store import RunStore as CellStore

    CellStore(resume)  # warns of lines that cannot be read, where nobody mutes it
    trainings = [read_training(path, reading, columns.ignore, None, groups) for path in data]
    multilabel = _task(trainings)
    size = (_QUICK_FOLDS, 1, _QUICK_ROWS) if quick else (folds, repeats, rows)
    plan = Plan(metric_for(metric, multilabel, costs=reading.cost is not None), *size, seed)
    if label_table is not None:
        _refuse_beside_labels(metric, results)
    choices = [] if label_table is not None else _chosen(rankers, multilabel)
    samples = [
        _sample(name, training, columns, plan)
        for name, training in zip(_names(data), trainings, strict=True)
    ]
    if label_table is not None:
        trials = compare_placing(rankers, samples, label_table, reading, plan, quick=quick)
    else:
        trials = run_trials(choices, samples, plan, jobs=jobs, folder=resume)
    say_failures(trials)
    found = trials.judged(plan.metric.column if label_table is None else PLACED)
    hand_out(
        *(results, trials, found, plan),
        pictured=lambda: _pictured(found, samples),
        show=lambda: _show(trials.results, found, plan),
    )


def _task(trainings: list[Training]) -> bool:
    """Whether tables say what is relevant, which either all do or none."""
    judged = [training.rankings.calibrated is not None for training in trainings]
    if any(judged) != all(judged):
        table = trainings[judged.index(not judged[0])].rankings.table
        raise table.error("some tables say which labels are relevant, and others do not.")
    return judged[0]


def _refuse_beside_labels(metric: Metric | None, results: Results) -> None:
    """Refuse what has no meaning for labels that are left out in turn."""
    if metric is not None or results.report is not None:
        raise typer.BadParameter(
            "--label-table compares by how well labels left out are placed: leave out --metric "
            "and --report."
        )


def _chosen(names: str | None, multilabel: bool) -> list[RankerChoice]:
    if names is None:
        return list(rankers_for(multilabel))
    wanted = dict.fromkeys((BASELINE.name, *map(str.strip, names.split(","))))
    return [ranker_choice(name, multilabel) for name in wanted]


def _names(paths: list[Path]) -> list[str]:
    """Names of the data sets: those of the files, with their folders if these are needed."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _sample(name: str, training: Training, columns: FeatureColumns, plan: Plan) -> Sample:
    """Return the rows to compare on; refuse those that nothing can be compared by."""
    import numpy as np

    rankings = training.rankings
    features = training_features(rankings, columns)
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


def _pictured(found: "Comparison", samples: list[Sample]) -> Pictured:
    """The best ranker on the first table that has a result of every ranker."""
    focus = next(sample for sample in samples if sample.name == found.datasets[0])
    models = {
        name: build(ranker_choice(name, focus.multilabel), focus.features) for name in found.rankers
    }
    return Pictured(
        f"Comparison of {'multilabel' if focus.multilabel else 'label'} rankers",
        focus.name,
        models,
        {sample.name: sample.source(models[found.best]) for sample in samples},
        {sample.name: sample.groups for sample in samples if sample.groups is not None},
    )


def _show(results: "Table", found: "Comparison", plan: Plan) -> None:
    console = page()
    times = "" if plan.repeats == 1 else f", {plan.repeats} times"
    datasets = list(dict.fromkeys(results["dataset"]))
    roomy = len(datasets) == 1 or len(found.rankers) <= _MOST_ROOMY
    kind = "mean ± standard deviation" if roomy else "mean (--json has deviations)"
    way = f"{plan.folds}-fold cross-validation{times}"
    if found.scoring == PLACED:
        way = "Labels left out of the training in turn"
    console.print(f"{way}: {kind}\n")
    shown = _one_set(results, found) if len(datasets) == 1 else _many_sets(results, datasets, found)
    console.print(shown)
    if len(datasets) > 1:
        console.print()
        mean = f"mean {found.scoring}"
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
    """The rankers of one data set with all metrics, the best first."""
    rows = by_place(results, found)
    columns = [name for name in _METRICS if name in results.columns]
    metrics = [name for name in columns if not all(row[name] != row[name] for row in rows)]
    # Without ties it is tau.
    if "tau_x" in metrics and found.scoring != "tau_x":
        if all(row["tau_x"] == row["tau"] for row in rows):
            metrics.remove("tau_x")
    metrics = _telling(metrics, found.scoring)
    roomy = len(metrics) <= _MOST_DEVIATIONS
    headings = [_METRICS[name] for name in metrics]
    last = ["seconds"] if roomy else []
    table = plain_table("ranker", *headings, *last, tight=not roomy)
    for column, heading in zip(table.columns, ("ranker", *metrics), strict=False):
        column.no_wrap = heading in ("ranker", found.scoring, "average_precision")
    for row in rows:
        cells = [cell(row, name, deviation=roomy or name == found.scoring) for name in metrics]
        table.add_row(row["ranker"], *cells, *([f"{row['fit_seconds']:.2f}"] if roomy else []))
    return table


def _telling(metrics: list[str], judged_by: str) -> list[str]:
    """Leave out what others say too, lest a line be longer than a terminal is wide."""
    left_out = set() if "cost" in metrics else {"utility"}
    if len(metrics) > _MOST_METRICS:
        left_out |= {"rho", "tau_x"} if "regret" in metrics else set()
    return [name for name in metrics if name == judged_by or name not in left_out]


def _many_sets(results: "Table", datasets: list[str], found: "Comparison") -> Any:
    """The metric on every data set, one column a ranker, the best on average first."""
    from prefero.evaluation import summarize

    rankers = [found.rankers[i] for i in found.order]
    roomy = len(rankers) <= _MOST_ROOMY
    by = found.scoring
    cells = {
        (row["dataset"], row["ranker"]): cell(row, by, deviation=roomy)
        for row in summarize(results, by=("dataset", "ranker"))
    }
    table = plain_table(_METRICS[by], *rankers, tight=not roomy)
    table.columns[0].no_wrap = True
    for name in datasets:
        table.add_row(name, *(cells.get((name, ranker), "") for ranker in rankers))
    return table

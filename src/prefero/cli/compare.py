"""prefero compare: cross-validate rankers on tables, and test which of them differ."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._files import refuse_overwriting
from prefero.cli import models, options
from prefero.cli.console import number, page, plain_table, print_json, say
from prefero.cli.experiments import CrossValidation, Sample, Trials, cross_validate, warn_of_leaks
from prefero.cli.label_tables import PLACED, PLACED_HELP, compare_placing
from prefero.cli.tables import TrainingData, read_training_data, training_features, write

if TYPE_CHECKING:
    from prefero.evaluation import Comparison, ResultTable

EXAMPLES = (
    "prefero compare yields.csv --labels 'y_*' --format scores --higher-is-better",
    "prefero compare one.csv two.csv three.csv --labels 'L*' --quick",
    "prefero compare runs.csv --labels a,b,c --rankers forest,consensus --resume runs --json",
)

_QUICK_FOLDS, _QUICK_ROWS = 3, 500
# So many rankers fit side by side with their standard deviations; of more only the means.
_MOST_WITH_DEVIATION = 4
_METRICS = {
    PLACED: PLACED,
    "tau": "tau",
    "tau_x": "tau-x",
    "rho": "rho",
    "top1": "top1",
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
    "ndcg": "NDCG@10",
    "map": "MAP",
    "mrr": "MRR",
}
_EXPLANATIONS = {
    PLACED: PLACED_HELP,
    "regret": "regret: how much worse the first choice is than the best label of its row, in the "
    "unit of the scores; 0 is best.",
    "gap_closed": "gap closed: 0 is the single best label for all rows, 1 the best label of each.",
    "utility": "utility, score, cost: of the first choice, on average.",
    "PAR10": "PAR10: the mean run time of the first choice; a time-out counts ten cutoffs.",
}
_SCORE_COLUMNS = {metric.column for metric in options.SCORE_METRICS}
_MOST_METRICS = 6

RankersOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help=f"Some of {', '.join(models.RANKER_NAMES)}; all by default. Or {models.AUTO}, which "
        f"takes longer. {models.BASELINE.name}, the same order for every row, is always included. "
        f"With --label-table: some of {', '.join(models.ORDERERS)}.",
    ),
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help=f"{_QUICK_FOLDS} folds of at most {_QUICK_ROWS} rows.")
]
ResumeOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Keep finished folds here, and continue from them after an interruption.",
    ),
]


@options.with_option_groups
def compare(
    data: options.DataFiles,
    *,
    meaning: options.Meaning,
    rankers: RankersOption = None,
    label_table: options.LabelTableOption = None,
    metric: options.MetricOption = None,
    folds: options.FoldsOption = None,
    repeats: options.RepeatsOption = None,
    groups: options.GroupsOption = None,
    rows: options.RowsOption = None,
    quick: QuickOption = False,
    resume: ResumeOption = None,
    columns: options.FeatureColumns,
    reading: options.Reading,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = None,
    results: options.ResultOptions,
) -> None:
    """Compare rankers on tables by cross-validation.

    All rankers get the same folds; statistical tests say which of them differ.
    """
    from prefero.evaluation._run_store import RunStore

    given = {"--folds": folds, "--repeats": repeats, "--rows": rows}
    if quick:
        options.refuse_together("--quick", given)
    if label_table is not None:
        others = {"--metric": metric, "--report": results.report, "--resume": resume}
        options.refuse_together("--label-table", {**others, "--repeats": repeats})
    for output in (results.out, results.report):
        refuse_overwriting(output, *data, label_table)
    RunStore(resume)  # warns of lines that cannot be read, before warnings are muted
    tables = [read_training_data(path, reading, columns.ignore, None, groups) for path in data]
    multilabel = _is_multilabel(tables)
    plan = CrossValidation(
        options.metric_for(
            metric,
            multilabel,
            scores=label_table is None and all(t.rankings.scores is not None for t in tables),
            costs=reading.cost is not None,
        ),
        folds or (_QUICK_FOLDS if quick else CrossValidation.folds),
        repeats or CrossValidation.repeats,
        rows if rows is not None else _QUICK_ROWS if quick else CrossValidation.most_rows,
        seed,
        default_folds=not quick and folds is None and repeats is None,
    )
    choices = [] if label_table is not None else _chosen(rankers, multilabel)
    samples = [
        _sample(name, table, columns, plan)
        for name, table in zip(_names(data), tables, strict=True)
    ]
    if label_table is not None:
        trials = compare_placing(rankers, samples, label_table, reading, plan, quick=quick)
        report_comparison(results, trials, samples, plan, PLACED, {})
        return
    trials = cross_validate(choices, samples, plan, jobs=jobs, folder=resume)
    named = {
        trials.baseline if choice is models.BASELINE else choice.name: choice for choice in choices
    }
    report_comparison(results, trials, samples, plan, plan.metric.column, named)


def _is_multilabel(tables: list[TrainingData]) -> bool:
    """Whether the tables say which labels are relevant; all or none must."""
    tells = [table.rankings.calibrated is not None for table in tables]
    if any(tells) != all(tells):
        table = tables[tells.index(not tells[0])].rankings.table
        raise table.error("some tables say which labels are relevant, and others do not.")
    return tells[0]


def _chosen(names: str | None, multilabel: bool) -> list[models.RankerChoice]:
    if names is None:
        return list(models.rankers_for(multilabel))
    wanted = dict.fromkeys((models.BASELINE.name, *map(str.strip, names.split(","))))
    return [models.ranker_choice(name, multilabel) for name in wanted]


def _names(paths: list[Path]) -> list[str]:
    """Names of the data sets: those of the files, with their folders if these are needed."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _sample(
    name: str, data: TrainingData, columns: options.FeatureColumns, plan: CrossValidation
) -> Sample:
    """Return the rows to compare on, or say why nothing can be compared by them."""
    import numpy as np

    rankings = data.rankings
    features = training_features(rankings, columns)
    sample = Sample.of(name, rankings, features, data.groups, plan)
    sample.refuse_metric(plan.metric)
    sample.refuse_few(plan.folds)
    if np.isfinite(rankings.ranks).sum(axis=1).max() < 2:
        raise rankings.table.error("no row ranks two labels: there is nothing to compare by.")
    warn_of_leaks(rankings, features)
    sample.warn_of_copies()
    return sample


# Results, of rankers and of orderers


def report_comparison(
    results: options.ResultOptions,
    trials: Trials,
    samples: list[Sample],
    plan: CrossValidation,
    column: str,
    choices: Mapping[str, models.RankerChoice],
    *,
    reduce: int | None = None,
) -> None:
    """Write the results and the report that were asked for; print JSON or tables."""
    for (name, dataset), reason in trials.failed.items():
        say(f"{name} has no result on {dataset}: {reason}")
    found = trials.compared(column)
    if results.out is not None:
        write(trials.results.to_frame(), results.out)
    if results.report is not None:
        focus = next(sample for sample in samples if sample.name == found.datasets[0])
        rankers = {name: focus.model(choices[name], plan.seed, reduce) for name in found.rankers}
        _write_page(results.report, trials, found, samples, focus, rankers, plan.seed)
    references = {sample.name: _references(trials, sample, found) for sample in samples}
    if results.as_json:
        print_json(_as_json(trials, found, plan, references))
        return
    _show(trials, found, plan, references)


def _references(trials: Trials, sample: Sample, found: "Comparison") -> list[dict[str, Any]]:
    """What the single best label, unless it is compared, and the virtual best reach."""
    from prefero.evaluation.baselines import reference_choices

    if sample.scores is None or sample.is_ordering:
        return []
    rows = reference_choices(trials.results, sample.name, sample.data_set())
    compared = found.baseline is not None and found.baseline.startswith("single best")
    return list(rows[1:] if compared else rows)


def _write_page(
    path: Path,
    trials: Trials,
    found: "Comparison",
    samples: list[Sample],
    focus: Sample,
    rankers: Mapping[str, Any],
    seed: int,
) -> None:
    """Write a page with a close look at the best ranker on the first table with all results."""
    from prefero.report import write_report

    kind = "multilabel rankers" if focus.multilabel else "label rankers"
    write_report(
        path,
        trials.results,
        {sample.name: sample.source(rankers[found.best]) for sample in samples},
        rankers,
        groups={sample.name: sample.groups for sample in samples if sample.groups is not None},
        focus=focus.name,
        scoring=found.scoring,
        title=f"Comparison of {'orderers' if focus.is_ordering else kind}",
        command=shlex.join(["prefero", *sys.argv[1:]]),
        random_state=seed,
    )
    say(f"Wrote {path}.")


def _as_json(
    trials: Trials,
    found: "Comparison",
    plan: CrossValidation,
    references: Mapping[str, list[dict[str, Any]]],
) -> dict[str, Any]:
    from prefero.evaluation import summarize

    return {
        "summary": found.summary(),
        "metric": found.scoring.replace("_", "-"),
        "best": found.best,
        "indistinguishable": found.alike(),
        "folds": plan.folds,
        "repeats": plan.repeats,
        "results": list(summarize(trials.results, by=("dataset", "ranker"))),
        "reference_choices": {name: rows for name, rows in references.items() if rows},
        "rankers": found.rankers,
        "datasets": found.datasets,
        "average_ranks": found.average_ranks.tolist(),
        "test": found.test,
        "p_value": found.p_value,
        "posthoc": found.posthoc,
        "pair_p_values": found.pair_p_values.tolist(),
        "critical_difference": found.critical_difference,
        "left_out": found.left_out,
        "against_best": list(found.against_best),
        "against_baseline": list(found.against_baseline),
        "tested_over": found.unit,
        "failed": [
            {trials.noun: name, "dataset": dataset, "reason": reason}
            for (name, dataset), reason in trials.failed.items()
        ],
    }


def _show(
    trials: Trials,
    found: "Comparison",
    plan: CrossValidation,
    references: Mapping[str, list[dict[str, Any]]],
) -> None:
    console, results = page(), trials.results
    datasets = list(dict.fromkeys(results["dataset"]))
    with_deviation = len(datasets) == 1 or len(found.rankers) <= _MOST_WITH_DEVIATION
    kind = "mean ± standard deviation" if with_deviation else "mean (--json has deviations)"
    times = "" if plan.repeats == 1 else f", {plan.repeats} times"
    method = f"{plan.folds}-fold cross-validation{times}"
    if found.scoring == PLACED:
        method = "Labels left out of the training in turn"
    console.print(f"{method}: {kind}\n")
    if len(datasets) == 1:
        console.print(_one_set(trials, found, references[datasets[0]]))
    else:
        console.print(_many_sets(results, datasets, found, references))
        console.print()
        console.print(_average_ranks(found, trials.noun))
    if found.left_out:
        say(f"Without a result for every {trials.noun}, not ranked: {', '.join(found.left_out)}.")
    for name, sentence in _EXPLANATIONS.items():
        if name == "utility" and "cost" not in results.columns:
            continue
        if name in results.columns and not all(value != value for value in results[name]):
            say(sentence)
    say(found.summary())


def _average_ranks(found: "Comparison", noun: str) -> Any:
    mean = f"mean {found.scoring}"
    board = plain_table(noun, "average rank", mean, "wins")
    for row in found.leaderboard():
        cells = (f"{row['average rank']:.2f}", number(row[mean]), str(row["wins"]))
        board.add_row(row["ranker"], *cells)
    return board


def _one_set(trials: Trials, found: "Comparison", references: list[dict[str, Any]]) -> Any:
    """The rankers of one data set with all metrics, the best first, then what choices can reach."""
    from prefero.evaluation import summarize

    place = {found.rankers[i]: n for n, i in enumerate(found.order)}
    summary = summarize(trials.results, by=("ranker",))
    rows = sorted(summary, key=lambda row: place.get(row["ranker"], len(place)))
    metrics = _shown_metrics(rows, trials.results.columns, found.scoring)
    wide = len(metrics) <= _MOST_WITH_DEVIATION
    timed = wide or trials.noun == "orderer"
    headings = [_METRICS[name] for name in metrics] + ["seconds"] * timed
    table = plain_table(trials.noun, *headings, tight=not timed)
    for row in rows:
        cells = [_mean(row, name, deviation=wide or name == found.scoring) for name in metrics]
        table.add_row(row["ranker"], *cells, *[f"{row['fit_seconds']:.2f}"] * timed)
    for row in references:
        table.add_row(row["ranker"], *(number(row.get(name, float("nan"))) for name in metrics))
    # Names wrap before numbers do.
    for column in table.columns[1:]:
        column.min_width = max(len(str(cell)) for cell in column.cells)
    return table


def _shown_metrics(rows: list[Any], columns: Any, scoring: str) -> list[str]:
    """The metrics that fit into the width of a terminal, without those that repeat others."""
    known = [name for name in _METRICS if name in columns]
    metrics = [name for name in known if not all(row[name] != row[name] for row in rows)]
    hidden = set() if "cost" in metrics else {"utility"}
    # Without ties it equals tau.
    if "tau_x" in metrics and all(row["tau_x"] == row["tau"] for row in rows):
        hidden.add("tau_x")
    if len(metrics) - len(hidden & {"tau_x"}) > _MOST_METRICS and "regret" in metrics:
        hidden |= {"rho", "tau_x"}
    return [name for name in metrics if name == scoring or name not in hidden]


def _many_sets(
    results: "ResultTable",
    datasets: list[str],
    found: "Comparison",
    references: Mapping[str, list[dict[str, Any]]],
) -> Any:
    """The metric on every data set, one column per ranker, the best on average first."""
    from prefero.evaluation import summarize

    rankers = [found.rankers[i] for i in found.order]
    wide = len(rankers) <= _MOST_WITH_DEVIATION
    by = found.scoring
    cells = {
        (row["dataset"], row["ranker"]): _mean(row, by, deviation=wide)
        for row in summarize(results, by=("dataset", "ranker"))
    }
    columns = [*rankers, *["virtual best"] * (by in _SCORE_COLUMNS)]
    table = plain_table(_METRICS[by], *columns, tight=not wide)
    table.columns[0].no_wrap = True
    for name in datasets:
        best = [number(row.get(by, float("nan"))) for row in references[name][-1:]]
        table.add_row(name, *(cells.get((name, ranker), "") for ranker in rankers), *best)
    return table


def _mean(row: Mapping[str, Any], metric: str, *, deviation: bool = True) -> str:
    """Format a mean, with its standard deviation if there is one."""
    shown, spread = number(row[metric]), number(row[f"{metric}_sd"], 2)
    return f"{shown} ±{spread}" if deviation and spread else shown

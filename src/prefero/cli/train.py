"""prefero train: a model file from a table."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._files import refuse_overwriting
from prefero._model_inputs import as_input, categorical_columns, fills_gaps
from prefero._pipelines import final_step, fit_final
from prefero.cli import options
from prefero.cli.console import number, print_json, say
from prefero.cli.experiments import (
    CrossValidation,
    FitResult,
    Sample,
    TrainedRanker,
    baseline_name,
    say_filled,
    warn_of_leaks,
)
from prefero.cli.label_tables import fit_with_label_table
from prefero.cli.models import AUTO, BASELINE, build, parse_parameters, ranker_choice, seeded
from prefero.cli.out_of_core import LargeTable, OutOfCoreOption, train_in_parts
from prefero.cli.tables import TrainingData, read_training_data, training_features

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = (
    "prefero train yields.csv -o m.prefero --labels 'y_*' --format scores --higher-is-better",
    "prefero train survey.csv -o m.prefero --labels order --format orders --ignore person",
    "prefero train ranks.csv -o m.prefero --labels a,b,c --model neighbors --param n_neighbors=9",
)


class Preset(StrEnum):
    """How much the automatic ranker tries."""

    QUICK = "quick"
    BALANCED = "balanced"
    BEST = "best"


PresetOption = Annotated[
    Preset | None,
    typer.Option(
        show_default=Preset.BALANCED.value,
        help="How much auto tries: about 3, 20 or more times the work of one forest.",
    ),
]
TimeLimitOption = Annotated[
    float | None, typer.Option(min=1, metavar="SECONDS", help="Time limit of auto.")
]
WeightsOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column with the weight of each row.")
]


@options.with_option_groups
def train(
    data: options.DataFile,
    out: options.ModelOutOption,
    *,
    meaning: options.Meaning,
    model: options.ModelOption = AUTO,
    metric: options.MetricOption = None,
    parameters: options.ParamOption = [],  # noqa: B006 (typer copies it)
    label_table: options.LabelTableOption = None,
    columns: options.FeatureColumns,
    weights: WeightsOption = None,
    groups: options.GroupsOption = None,
    preset: PresetOption = None,
    time_limit: TimeLimitOption = None,
    reading: options.Reading,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = None,
    key_file: options.KeyFileOption = None,
    out_of_core: OutOfCoreOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Train a ranker on a table and write it to a file."""
    refuse_overwriting(out, data, label_table)
    given = parse_parameters(parameters)
    automatic = {"--preset": preset, "--time-limit": time_limit}
    if out_of_core:
        others = {**automatic, "--label-table": label_table, "--metric": metric}
        options.refuse_together("--out-of-core", others)
        large = LargeTable(data, reading, columns, weights, groups)
        trained = train_in_parts(large, model, given, seed, jobs)
        finish(trained, out, options.read_key(key_file), as_json)
        return
    refuse_unused(model, given, automatic)
    if label_table is not None:
        options.refuse_together("--label-table", {**automatic, "--metric": metric})
    table = read_training_data(data, reading, columns.ignore, weights, groups)
    rankings = table.rankings
    features = training_features(rankings, columns)
    warn_of_leaks(rankings, features)
    by_value = rankings.scores is not None and model == AUTO
    asked = options.metric_for(
        metric, rankings.calibrated is not None, scores=by_value, costs=reading.cost is not None
    )
    plan = CrossValidation(asked, seed=seed)
    if label_table is not None:
        sample = Sample.of(data.stem, rankings, features, table.groups, plan)
        fitted = fit_with_label_table(
            label_table, sample, reading, plan, model, table, features, given
        )
    elif model == AUTO:
        # The automatic ranker draws its own folds from all rows.
        every = replace(plan, most_rows=0, default_folds=False)
        sample = Sample.of(data.stem, rankings, features, table.groups, every)
        ways = {"preset": (preset or Preset.BALANCED).value, "time_limit": time_limit}
        fitted = _fit_automatic(sample, table, plan, {**ways, "n_jobs": jobs})
    else:
        fitted = _fit_one(model, given, table, features, plan, jobs, metric)
    trained = TrainedRanker(fitted, len(rankings.ranks), rankings.labels, list(features))
    finish(trained, out, options.read_key(key_file), as_json)


def refuse_unused(model: str, parameters: dict[str, Any], automatic: dict[str, Any]) -> None:
    """Refuse parameters of no ranker, and options of the automatic one beside another."""
    if parameters and model == AUTO:
        raise typer.BadParameter("--param needs the name of one ranker: add --model.")
    if model != AUTO:
        options.refuse_together(f"--model {model}", automatic, ": they are for auto")


def finish(trained: Any, out: Path, key: bytes | None, as_json: bool) -> None:
    """Write a trained model, and print how good it is."""
    from prefero.persistence import save

    fitted = trained.fitted
    save(fitted.ranker, out, key=key)
    if as_json:
        print_json(trained.as_json(out))
        return
    if fitted.summary is not None:
        say(fitted.summary)
        say_held_out(fitted.metric, fitted.held_out, "rows")
    say(trained.sentence(out))


def say_held_out(metric: str, held_out: dict[str, float], what: str, chosen: str = "") -> None:
    """Print a metric on held-out data, one row per ranker."""
    say(f"{metric} on held-out {what}:")
    width = max(map(len, held_out)) + 2
    for name, value in held_out.items():
        say(f"  {name:<{width}}{value:>7.3f}{'  <- chosen' if name == chosen else ''}")


def _fit_one(
    model: str,
    parameters: dict[str, Any],
    data: TrainingData,
    features: "pd.DataFrame",
    plan: CrossValidation,
    jobs: int | None,
    asked: options.Metric | None,
) -> FitResult:
    """Fit the ranker of a name; if a metric of scores is asked for, to the scores too."""
    from sklearn.utils.validation import has_fit_parameter

    rankings, metric = data.rankings, plan.metric
    choice = ranker_choice(model, rankings.calibrated is not None)
    ranker = build(choice, features, seeded(choice, plan.seed, jobs) | parameters)
    takes_scores = has_fit_parameter(final_step(ranker), "scores")
    default = options.metric_for(None, rankings.calibrated is not None)
    if asked not in (None, default) and not (asked in options.SCORE_METRICS and takes_scores):
        raise typer.BadParameter(
            f"--metric {metric} does not change how {model} is trained: leave it out, or use "
            f"--model {AUTO}."
        )
    sample = Sample.of(model, rankings, features, None, replace(plan, most_rows=0))
    say_filled([model] if fills_gaps(ranker) else [])
    X, relevance = as_input(ranker, features), rankings.relevance
    if relevance is not None:
        fit_final(ranker, X, relevance, ranks=rankings.y, sample_weight=data.weights)
    else:
        if metric in options.SCORE_METRICS and rankings.scores is None:
            sample.refuse_metric(metric)
        scores = rankings.scores if metric in options.SCORE_METRICS and takes_scores else None
        fit_final(ranker, X, rankings.y, sample_weight=data.weights, scores=scores)
    return FitResult(ranker, model, metric)


def _fit_automatic(
    sample: Sample, data: TrainingData, plan: CrossValidation, parameters: dict[str, Any]
) -> FitResult:
    """Fit the automatic ranker of a task, with a progress bar on a terminal."""
    metric = plan.metric
    if not sample.multilabel and metric is options.Metric.RHO:
        metric = options.Metric.TAU
        say(f"{AUTO} chooses by tau, the nearest to rho that it knows.")
    sample.refuse_metric(metric)
    sample.warn_of_copies()
    features = sample.features
    features = features.astype(dict.fromkeys(categorical_columns(features), "category"))
    ranker = ranker_choice(AUTO, sample.multilabel).make()
    by_value = metric in options.SCORE_METRICS
    scoring = metric.column if by_value else metric.value
    given = {"scoring": scoring, "verbose": True, "random_state": plan.seed}
    ranker.set_params(**given, **parameters)
    if sample.multilabel:
        rankings = data.rankings
        ranker.fit(features, rankings.relevance, rankings.y, data.weights, groups=sample.groups)
    else:
        scores = sample.scores if by_value else None
        ranker.fit(features, sample.target, data.weights, groups=sample.groups, scores=scores)
    for line in ranker.skipped_:
        say(f"{line['ranker']} is left out: {line['why']}.")
    if ranker.improvement_ != ranker.improvement_:
        n = sample.independent_units
        say(f"Too few rankings to choose a ranker by ({n}): {BASELINE.title}.")
        return FitResult(ranker, AUTO, metric)
    sign = -1 if metric in options.LOSSES else 1
    held_out = {line["ranker"]: sign * line["held_out"] for line in ranker.leaderboard_}
    summary = _summary(ranker, metric, held_out, baseline_name([sample], metric))
    if by_value:
        constant = held_out.pop(ranker.leaderboard_[0]["ranker"])
        held_out = {baseline_name([sample], metric): constant} | held_out
    return FitResult(ranker, AUTO, metric, held_out, summary)


def _summary(ranker: Any, metric: options.Metric, held_out: dict[str, float], baseline: str) -> str:
    """Say whether the model beats the baseline on held-out rows, by how much, and what it is."""
    chosen = getattr(ranker, "chosen_name_", "stack")
    constant = ranker.leaderboard_[0]["ranker"]
    if chosen == constant or getattr(ranker, "is_baseline_", False):
        return (
            f"Nothing is clearly better than the baseline, {baseline}, on held-out rows (mean "
            f"{metric} {number(held_out[constant])}): the model predicts that."
        )
    low, high = (ranker.improvement_ + side * 1.96 * ranker.improvement_error_ for side in (-1, 1))
    verb = "beats" if low > 0 else "is not shown to beat"
    text = (
        f"The model {verb} the baseline, {baseline}, on held-out rows: mean {metric} "
        f"{number(held_out[chosen])} against {number(held_out[constant])}, better by "
        f"{number(low)} to {number(high)} (95% interval)."
    )
    if chosen != "stack":
        return text
    parts = sorted(zip(ranker.weights_ / ranker.weights_.sum(), ranker.member_names_, strict=True))
    made = ", ".join(f"{name} {share:.0%}" for share, name in reversed(parts))
    better = (held_out[name] - held_out["stack"] for name in held_out)
    ahead = sum(gain < 0 if metric in options.LOSSES else gain > 0 for gain in better)
    seem = "one ranker does" if ahead == 1 else f"{ahead} rankers do"
    why = f" On these rows {seem} better alone; the best of many looks better than it is."
    return f"{text} It is made of {made}.{why if ahead else ''}"

"""prefero train: a model file from a table."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._prediction import refuse_missing, takes_missing
from prefero.cli.automatic import (
    Found,
    Preset,
    PresetOption,
    TimeLimitOption,
    fit_automatic,
)
from prefero.cli.console import count, print_json, say
from prefero.cli.features import training_features
from prefero.cli.groups import with_groups
from prefero.cli.label_tables import LabelTable
from prefero.cli.models import build, fit, parse_settings
from prefero.cli.options import (
    OF_SCORES,
    DataFile,
    FeatureColumns,
    GroupsOption,
    JobsOption,
    JsonOption,
    KeyFileOption,
    LabelTableOption,
    Meaning,
    MetricOption,
    ModelOption,
    ModelOutOption,
    ParamOption,
    Reading,
    SeedOption,
    metric_for,
    read_key,
)
from prefero.cli.out_of_core import LargeTable, OutOfCoreOption, tell, train_in_parts
from prefero.cli.rankers import AUTO, RankerChoice, ranker_choice
from prefero.cli.tables import rankings_of, read
from prefero.cli.trials import Plan, Sample, wonder_about_leaks

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.tables import Rankings

EXAMPLES = (
    "prefero train yields.csv -o m.prefero --labels 'y_*' --format scores --higher-is-better",
    "prefero train survey.csv -o m.prefero --labels order --format orders --ignore person",
    "prefero train ranks.csv -o m.prefero --labels a,b,c --model neighbors --param n_neighbors=9",
)


@dataclass
class Trained:
    """What was trained on what."""

    model: str
    file: str
    rows: int
    labels: list[str]
    features: list[str]
    metric: str
    cross_validated: dict[str, float]
    verdict: str | None


@with_groups
def train(
    data: DataFile,
    out: ModelOutOption,
    *,
    meaning: Meaning,
    model: ModelOption = AUTO,
    metric: MetricOption = None,
    settings: ParamOption = [],  # noqa: B006 (typer copies it)
    label_table: LabelTableOption = None,
    columns: FeatureColumns,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="How much each row counts.")
    ] = None,
    groups: GroupsOption = None,
    preset: PresetOption = Preset.BALANCED,
    time_limit: TimeLimitOption = None,
    reading: Reading,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    key_file: KeyFileOption = None,
    out_of_core: OutOfCoreOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a ranker on a table and write it to a file."""
    from prefero.persistence import save

    parameters = parse_settings(settings)
    if parameters and model == AUTO and not out_of_core:
        raise typer.BadParameter("--param needs the name of one ranker: add --model.")
    if out_of_core:
        large = LargeTable(data, reading, columns, weights)
        trained = train_in_parts(large, model, parameters, seed, jobs)
        save(trained.ranker, out, key=read_key(key_file))
        return tell(trained, out)
    training = read_training(data, reading, columns.ignore, weights, groups)
    rankings = training.rankings
    features = training_features(rankings, columns)
    wonder_about_leaks(rankings, features)
    multilabel = rankings.calibrated is not None
    plan = Plan(metric_for(metric, multilabel, costs=reading.cost is not None), seed=seed)
    ways = {"preset": preset.value, "time_limit": time_limit, "n_jobs": jobs}
    if label_table is not None:
        sample = Sample.of(data.stem, rankings, features, training.groups, plan)
        table = LabelTable.of(label_table, sample, reading, plan)
        found = table.fit(model, training, features, parameters)
    elif model == AUTO:
        # It divides the rows by itself.
        whole = replace(plan, most_rows=0, folds=0)
        everyone = Sample.of(data.stem, rankings, features, training.groups, whole)
        found = fit_automatic(everyone, rankings, training.weights, plan, ways)
    else:
        found = _fit_one(model, parameters, training, features, plan, jobs)
    save(found.ranker, out, key=read_key(key_file))
    done = Trained(
        *(found.name, str(out), len(rankings.ranks), rankings.labels, list(features)),
        *(found.metric, found.held_out, found.verdict),
    )
    if as_json:
        print_json(asdict(done))
    else:
        _tell(done)


@dataclass
class Training:
    """Rankings to learn from, what each counts and what it belongs to."""

    rankings: "Rankings"
    weights: "NDArray[np.float64] | None"
    groups: "NDArray[np.object_] | None"


def read_training(
    data: Path, reading: Reading, ignore: str | None, weights: str | None, groups: str | None
) -> Training:
    """Read rankings, their weights and groups from a table; rows that rank nothing are left out."""
    table = read(data)
    if reading.labels is None and table.declared.labels is None:
        raise typer.BadParameter("which columns hold the rankings? Add --labels 'y_*'.")
    weight, group = (None if name is None else table.column(name) for name in (weights, groups))
    ignored = [] if ignore is None else table.columns(ignore)
    everyone = rankings_of(table.without(weight, group, *ignored), reading)
    rankings = everyone.ranked()
    if rankings is None:
        raise table.error("no row ranks any label: there is nothing to learn from.")
    if empty := len(everyone.ranks) - len(rankings.ranks):
        say(f"{table.source}: {empty} of {len(everyone.ranks)} rankings are empty and left out.")
    rows = rankings.rows
    return Training(
        rankings,
        None if weight is None else table.weights(weight)[rows],
        None if group is None else table.frame[group].astype(str).to_numpy(object)[rows],
    )


def _fit_one(
    model: str,
    parameters: dict[str, Any],
    training: Training,
    features: "pd.DataFrame",
    plan: Plan,
    jobs: int | None,
) -> Found:
    """Fit the ranker of a name."""
    rankings = training.rankings
    choice = ranker_choice(model, rankings.calibrated is not None)
    ranker = build(choice, features, seeded(choice, plan.seed, jobs) | parameters)
    if not takes_missing(ranker):
        refuse_missing(rankings.table, features, rankings.rows, choice.name)
    by_worth = plan.metric in OF_SCORES
    fitted = fit(ranker, features, rankings, training.weights, by_worth)
    return Found(fitted, model, {}, None, plan.metric)


def seeded(choice: RankerChoice, seed: int, jobs: int | None) -> dict[str, Any]:
    """Return the seed and the number of jobs for a ranker that has such parameters."""
    known = choice.make().get_params(deep=False)
    own = {"random_state": seed, "n_jobs": jobs}
    return {name: value for name, value in own.items() if name in known}


def _tell(done: Trained) -> None:
    if done.verdict is not None:
        say(f"{done.metric} on rows not seen:")
        width = max(map(len, done.cross_validated)) + 2
        for name, value in done.cross_validated.items():
            say(f"  {name:<{width}}{value:>7.3f}")
        say(done.verdict)
    say(
        f"Trained {done.model} on {count(done.rows, 'ranking')} of "
        f"{count(len(done.labels), 'label')} by {count(len(done.features), 'feature')}; wrote "
        f"{done.file}."
    )

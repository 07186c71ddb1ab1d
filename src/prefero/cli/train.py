"""prefero train: a model file from a table."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.automatic import Effort, EffortOption, Found, TimeLimitOption, fit_automatic
from prefero.cli.console import count, print_json, say
from prefero.cli.features import refuse_missing, training_features
from prefero.cli.models import build, fit, parse_settings, takes_missing
from prefero.cli.options import (
    DataFile,
    DirectionOption,
    Format,
    FormatOption,
    GroupsOption,
    IgnoreOption,
    InstanceOption,
    JobsOption,
    JsonOption,
    KeyFileOption,
    LabelsOption,
    Measure,
    MeasureOption,
    ModelOption,
    ModelOutOption,
    Reading,
    SeedOption,
    SetOption,
    TextOption,
    Unranked,
    UnrankedOption,
    read_key,
)
from prefero.cli.rankers import AUTO, RankerChoice, ranker_choice
from prefero.cli.tables import rankings_of, read
from prefero.cli.trials import Plan, Sample, refuse_measure, wonder_about_leaks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prefero.tables import Rankings

EXAMPLES = (
    "prefero train yields.csv -o m.prefero --labels 'y_*' --format scores --higher-is-better",
    "prefero train survey.csv -o m.prefero --labels order --format orders --ignore person",
    "prefero train ranks.csv -o m.prefero --labels a,b,c --model neighbors --set n_neighbors=9",
)


@dataclass
class Trained:
    """What was trained on what."""

    model: str
    file: str
    rows: int
    labels: list[str]
    features: list[str]
    measure: Measure
    cross_validated: dict[str, float]
    verdict: str | None


def train(
    data: DataFile,
    out: ModelOutOption,
    labels: LabelsOption = None,
    format: FormatOption = Format.RANKS,
    higher_is_better: DirectionOption = None,
    model: ModelOption = AUTO,
    measure: MeasureOption = Measure.TAU,
    settings: SetOption = [],  # noqa: B006 (typer copies it)
    ignore: IgnoreOption = None,
    text: TextOption = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="How much each row counts.")
    ] = None,
    groups: GroupsOption = None,
    effort: EffortOption = Effort.BALANCED,
    time_limit: TimeLimitOption = None,
    unranked: UnrankedOption = Unranked.UNKNOWN,
    instance: InstanceOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    key_file: KeyFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a ranker on a table and write it to a file."""
    from pandas import DataFrame

    from prefero.persistence import save

    parameters = parse_settings(settings)
    if parameters and model == AUTO:
        raise typer.BadParameter("--set needs the name of one ranker: add --model.")
    reading = Reading(format, labels, higher_is_better, unranked, instance)
    training = read_training(data, reading, ignore, weights, groups)
    rankings = training.rankings
    features = training_features(rankings, text)
    wonder_about_leaks(rankings, features)
    ranks = DataFrame(rankings.ranks, columns=rankings.labels)
    if model == AUTO:
        sample = Sample(data.stem, features, ranks, rankings.scores, training.groups)
        refuse_measure(sample, Plan(measure))
        sample.wonder()
        settled = {"effort": effort.value, "time_limit": time_limit}
        settled |= {"random_state": seed, "n_jobs": jobs}
        found = fit_automatic(sample, training.weights, measure, settled)
    else:
        choice = ranker_choice(model)
        ranker = build(choice, features, seeded(choice, seed, jobs) | parameters)
        if not takes_missing(ranker):
            refuse_missing(rankings.table, features, rankings.rows, choice.name)
        found = Found(fit(ranker, features, ranks, training.weights), {}, None)
    save(found.ranker, out, key=read_key(key_file))
    done = Trained(
        *(model, str(out), len(ranks), rankings.labels, list(features), measure),
        *(found.held_out, found.verdict),
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


def seeded(choice: RankerChoice, seed: int, jobs: int | None) -> dict[str, Any]:
    """Return the seed and the number of jobs for a ranker that has such parameters."""
    known = choice.make().get_params(deep=False)
    own = {"random_state": seed, "n_jobs": jobs}
    return {name: value for name, value in own.items() if name in known}


def _tell(done: Trained) -> None:
    if done.verdict is not None:
        say(f"{done.measure} on rows not seen:")
        width = max(map(len, done.cross_validated)) + 2
        for name, value in done.cross_validated.items():
            say(f"  {name:<{width}}{value:>7.3f}")
        say(done.verdict)
    say(
        f"Trained {done.model} on {count(done.rows, 'ranking')} of "
        f"{count(len(done.labels), 'label')} by {count(len(done.features), 'feature')}; wrote "
        f"{done.file}."
    )

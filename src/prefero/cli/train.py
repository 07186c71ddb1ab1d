"""prefero train: a model file from a table."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.console import count, print_json, say
from prefero.cli.features import refuse_missing, training_features
from prefero.cli.models import build, fit, parse_settings, takes_missing
from prefero.cli.options import (
    DataFile,
    DirectionOption,
    Format,
    FormatOption,
    IgnoreOption,
    InstanceOption,
    JobsOption,
    JsonOption,
    LabelsOption,
    ModelOption,
    ModelOutOption,
    Reading,
    SeedOption,
    SetOption,
    TextOption,
    Unranked,
    UnrankedOption,
)
from prefero.cli.rankers import AUTO, BASELINE, RANKERS, RankerChoice, ranker_choice
from prefero.cli.tables import rankings_of, read

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.tables import Rankings

EXAMPLES = (
    "prefero train yields.csv -o m.prefero --labels 'y_*' --format scores --higher-is-better",
    "prefero train survey.csv -o m.prefero --labels order --format orders --ignore person",
    "prefero train ranks.csv -o m.prefero --labels a,b,c --model neighbors --set n_neighbors=9",
)

_FOLDS = 5
# With fewer rows cross-validation says nothing; with more a sample says enough.
_FEWEST_ROWS, _MOST_ROWS = 6, 3000


@dataclass
class Trained:
    """What was trained on what."""

    model: str
    file: str
    rows: int
    labels: list[str]
    features: list[str]
    cross_validated_tau: dict[str, float]


def train(
    data: DataFile,
    out: ModelOutOption,
    labels: LabelsOption = None,
    format: FormatOption = Format.RANKS,
    higher_is_better: DirectionOption = None,
    model: ModelOption = AUTO,
    settings: SetOption = [],  # noqa: B006 (typer copies it)
    ignore: IgnoreOption = None,
    text: TextOption = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="How much each row counts.")
    ] = None,
    unranked: UnrankedOption = Unranked.UNKNOWN,
    instance: InstanceOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a ranker on a table and write it to a file."""
    from pandas import DataFrame

    from prefero.persistence import save

    parameters = parse_settings(settings)
    if parameters and model == AUTO:
        raise typer.BadParameter("--set needs the name of one ranker: add --model.")
    reading = Reading(format, labels, higher_is_better, unranked, instance)
    rankings, weight = read_training(data, reading, ignore, weights)
    features = training_features(rankings, text)
    taus = _auto(rankings, features, seed, jobs) if model == AUTO else {}
    choice = ranker_choice(max(taus, key=lambda name: taus[name]) if taus else model)
    ranker = build(choice, features, seeded(choice, seed, jobs) | parameters)
    if not takes_missing(ranker):
        refuse_missing(rankings.table, features, rankings.rows, choice.name)
    ranks = DataFrame(rankings.ranks, columns=rankings.labels)
    save(fit(ranker, features, ranks, weight), out)
    done = Trained(choice.name, str(out), len(ranks), rankings.labels, list(features), taus)
    if as_json:
        print_json(asdict(done))
    else:
        _tell(done)


def read_training(
    data: Path, reading: Reading, ignore: str | None, weights: str | None
) -> "tuple[Rankings, NDArray[np.float64] | None]":
    """Read rankings and their weights from a table; rows that rank nothing are left out."""
    table = read(data)
    if reading.labels is None and table.declared.labels is None:
        raise typer.BadParameter("which columns hold the rankings? Add --labels 'y_*'.")
    weight_column = None if weights is None else table.column(weights)
    ignored = [] if ignore is None else table.columns(ignore)
    everyone = rankings_of(table.without(weight_column, *ignored), reading)
    rankings = everyone.ranked()
    if rankings is None:
        raise table.error("no row ranks any label: there is nothing to learn from.")
    if empty := len(everyone.ranks) - len(rankings.ranks):
        say(f"{table.source}: {empty} of {len(everyone.ranks)} rankings are empty and left out.")
    if weight_column is None:
        return rankings, None
    return rankings, table.weights(weight_column)[rankings.rows]


def seeded(choice: RankerChoice, seed: int, jobs: int | None) -> dict[str, Any]:
    """Return the seed and the number of jobs for a ranker that has such parameters."""
    known = choice.make().get_params(deep=False)
    own = {"random_state": seed, "n_jobs": jobs}
    return {name: value for name, value in own.items() if name in known}


def _auto(
    rankings: "Rankings", features: "pd.DataFrame", seed: int, jobs: int | None
) -> dict[str, float]:
    """Return the cross-validated tau of every ranker that can be trained on these rows."""
    import numpy as np

    from prefero.cli.trials import Problem, run_trials
    from prefero.study import summarize

    n = len(rankings.ranks)
    if n < _FEWEST_ROWS:
        say(f"Too few rankings to choose a ranker by ({n}): {BASELINE.title}.")
        return {BASELINE.name: math.nan}
    rows = np.random.default_rng(seed).permutation(n)[:_MOST_ROWS]
    problem = Problem.of("data", rankings, features, rows)
    trials = run_trials(RANKERS, [problem], folds=_FOLDS, seed=seed, jobs=jobs)
    for (name, _), reason in trials.failed.items():
        say(f"{name} is left out: {reason}")
    means = summarize(trials.results, by=("ranker",)) if len(trials.results) else []
    taus = {row["ranker"]: row["tau"] for row in means if not math.isnan(row["tau"])}
    return taus or {BASELINE.name: math.nan}


def _tell(done: Trained) -> None:
    taus = done.cross_validated_tau
    if len(taus) > 1:
        say(f"Kendall tau in {_FOLDS}-fold cross-validation:")
        for name in sorted(taus, key=lambda name: -taus[name]):
            say(f"  {name:<12}{taus[name]:>7.3f}{'  <- chosen' if name == done.model else ''}")
    say(
        f"Trained {done.model} on {count(done.rows, 'ranking')} of "
        f"{count(len(done.labels), 'label')} by {count(len(done.features), 'feature')}; wrote "
        f"{done.file}."
    )

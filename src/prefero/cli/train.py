"""prefero train: a model file from a table."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.console import count, print_json, say
from prefero.cli.features import refuse_missing, training_features
from prefero.cli.models import build, fit, parse_settings, takes_missing
from prefero.cli.options import (
    OF_SCORES,
    BudgetOption,
    CostOption,
    CostWeightOption,
    CutoffOption,
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
    RowsOption,
    SeedOption,
    SetOption,
    TextFeaturesOption,
    TextOption,
    Unranked,
    UnrankedOption,
    measure_for,
    read_key,
)
from prefero.cli.rankers import AUTO, BASELINE, RankerChoice, ranker_choice, rankers_for
from prefero.cli.tables import rankings_of, read
from prefero.cli.trials import Plan, Sample, refuse_measure, run_trials, wonder_about_leaks
from prefero.exceptions import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prefero.study import Comparison
    from prefero.tables import Rankings

EXAMPLES = (
    "prefero train yields.csv -o m.prefero --labels 'y_*' --format scores --higher-is-better",
    "prefero train survey.csv -o m.prefero --labels order --format orders --ignore person",
    "prefero train ranks.csv -o m.prefero --labels a,b,c --model neighbors --set n_neighbors=9",
)

# With fewer rows cross-validation says nothing.
_FEWEST_ROWS = 6


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
    measure: MeasureOption = None,
    settings: SetOption = [],  # noqa: B006 (typer copies it)
    ignore: IgnoreOption = None,
    text: TextOption = None,
    text_features: TextFeaturesOption = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="How much each row counts.")
    ] = None,
    groups: GroupsOption = None,
    rows: RowsOption = Plan.most_rows,
    unranked: UnrankedOption = Unranked.UNKNOWN,
    instance: InstanceOption = None,
    cutoff: CutoffOption = None,
    cost: CostOption = None,
    cost_weight: CostWeightOption = None,
    budget: BudgetOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    key_file: KeyFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a ranker on a table and write it to a file."""
    from prefero.persistence import save

    parameters = parse_settings(settings)
    if parameters and model == AUTO:
        raise typer.BadParameter("--set needs the name of one ranker: add --model.")
    reading = Reading(
        *(format, labels, higher_is_better, unranked, instance),
        *(cutoff, cost, cost_weight, budget),
    )
    training = read_training(data, reading, ignore, weights, groups)
    rankings = training.rankings
    features = training_features(rankings, text, text_features)
    wonder_about_leaks(rankings, features)
    multilabel, found = rankings.calibrated is not None, None
    asked = measure_for(measure, multilabel, costs=cost is not None)
    plan = Plan(asked, most_rows=rows, seed=seed)
    if model == AUTO:
        found = _auto(Sample.of(data.stem, rankings, features, training.groups, plan), plan, jobs)
        model = BASELINE.name if found is None else found.best
    choice = ranker_choice(model, multilabel)
    ranker = build(choice, features, seeded(choice, seed, jobs) | parameters)
    if not takes_missing(ranker):
        refuse_missing(rankings.table, features, rankings.rows, choice.name)
    by_worth = plan.measure in OF_SCORES
    save(fit(ranker, features, rankings, training.weights, by_worth), out, key=read_key(key_file))
    done = Trained(
        *(choice.name, str(out), len(rankings.ranks), rankings.labels, list(features)),
        plan.measure,
        {} if found is None else dict(zip(found.rankers, found.scores[0].tolist(), strict=True)),
        None if found is None else found.verdict(),
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


def _auto(sample: Sample, plan: Plan, jobs: int | None) -> "Comparison | None":
    """Compare the rankers as prefero compare does; None if too few rows tell."""
    refuse_measure(sample, plan)
    n = sample.witnesses
    if n < _FEWEST_ROWS:
        say(f"Too few rankings to choose a ranker by ({n}): {BASELINE.title}.")
        return None
    sample.wonder()
    plan = replace(plan, folds=min(plan.folds, n))
    trials = run_trials(rankers_for(sample.multilabel), [sample], plan, jobs=jobs)
    for (name, _), reason in trials.failed.items():
        say(f"{name} is left out: {reason}")
    try:
        return trials.judged(plan.measure)
    except DataError:
        say(f"No ranker could be measured: {BASELINE.title}.")
        return None


def _tell(done: Trained) -> None:
    if done.verdict is not None:
        say(f"{done.measure} in cross-validation:")
        width = max(12, *(len(name) + 1 for name in done.cross_validated))
        for name, value in done.cross_validated.items():
            say(f"  {name:<{width}}{value:>7.3f}{'  <- chosen' if name == done.model else ''}")
        say(done.verdict)
    say(
        f"Trained {done.model} on {count(done.rows, 'ranking')} of "
        f"{count(len(done.labels), 'label')} by {count(len(done.features), 'feature')}; wrote "
        f"{done.file}."
    )

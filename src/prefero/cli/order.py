"""prefero order: learn from sample orders how to order new sets of objects."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._files import refuse_overwriting
from prefero._model_inputs import new_features, unseen_categories
from prefero._pipelines import at_final_step, final_step, fit_final
from prefero._prediction import load_orderer
from prefero.cli import models, options
from prefero.cli import train as training
from prefero.cli.compare import report_comparison
from prefero.cli.console import count, say
from prefero.cli.experiments import CrossValidation, FitResult, Sample, cross_validate
from prefero.cli.explain import check_row, show_explanation
from prefero.cli.tables import features_of, read, write

if TYPE_CHECKING:
    from prefero._typing import Values
    from prefero.tables import DataTable

EXAMPLES = (
    "prefero order train graded.csv -o model.prefero --group query --grade relevance",
    "prefero order train tasted.csv -o model.prefero --group panel --rank place --model rankboost",
    "prefero order predict model.prefero new.csv --group query",
    "prefero order compare mq2008.txt --orderers svm,trees,lightgbm --report page.html",
    "prefero order explain model.prefero new.csv --group query --row 3",
)

order = typer.Typer(
    help="Learn from sample orders how to order new sets of objects.", no_args_is_help=True
)

# The figure that train prints comes from so many folds, if there are enough groups or objects.
_FOLDS = 5

ReduceOption = Annotated[int | None, typer.Option(min=1)]


class OrderMetric(StrEnum):
    """The metric that orderers are compared by."""

    RHO = "rho"
    TAU = "tau"
    NDCG = "ndcg"
    MAP = "map"
    MRR = "mrr"


@dataclass(frozen=True)
class ObjectColumns:
    """Which columns hold the orders, their ranks or grades, and the features.

    Attributes
    ----------
    rank : COLUMN
        The column of ranks: 1 is best.
    grade : COLUMN
        Or the column of grades or scores: larger is better.
    features : COLUMNS
        The features: 'x_*' or a,b,c; by default all other columns.
    """

    group: str | None = None
    rank: str | None = None
    grade: str | None = None
    features: str | None = None


def read_objects(data: Path, columns: ObjectColumns, named: options.FeatureColumns) -> Sample:
    """Read objects from a table; a file of graded objects declares its columns itself."""
    from prefero.ordering import ranks_in_queries

    table = read(data)
    rank, grade = columns.rank, columns.grade
    grade = grade or (table.declared.grade if rank is None else None)
    if (rank is None) == (grade is None):
        raise typer.BadParameter("name the column of ranks by --rank, or of grades by --grade.")
    target, group = table.column(rank or grade or ""), columns.group or table.declared.group
    groups, values = _groups_of(table, group), table.numbers([target])[:, 0]
    if grade is None and groups is not None:
        _refuse_grades(table, target, values)
    ranks = values if grade is None else ranks_in_queries(values, groups, higher_is_better=True)
    used = {target}
    for pattern in filter(None, (group, named.ignore)):
        used.update(table.columns(pattern))
    names = [name for name in table.columns(columns.features or "*") if name not in used]
    if not names:
        raise table.error("no column is left as a feature to learn from.")
    X = features_of(table, names, named, len(table.frame)).set_axis(range(1, len(table) + 1))
    return Sample(data.stem, table, X, ranks, None if grade is None else values, groups)


def _groups_of(table: "DataTable", group: str | None) -> Any:
    """Return the group of each object; None if all are one."""
    return None if group is None else table.frame[table.column(group)].to_numpy()


def _refuse_grades(table: "DataTable", column: str, ranks: "Values") -> None:
    """Refuse ranks below 1, which nearly always are grades."""
    import numpy as np

    low = np.flatnonzero(ranks < 1).tolist()
    if low:
        raise table.error(
            f"column {column!r} holds {ranks[low[0]]:g}, but ranks start at 1, the best: if larger "
            f"is better, name it by --grade {column}.",
            low[0],
            low[1:],
        )


@dataclass(frozen=True)
class TrainedOrderer:
    """A fitted orderer and the sample that it was trained on."""

    fitted: FitResult
    sample: Sample

    @property
    def n_orders(self) -> int:
        """How many orders there are."""
        return 1 if self.sample.groups is None else self.sample.independent_units

    @property
    def rho(self) -> float | None:
        """Mean Spearman correlation on held-out data, if there was enough."""
        return self.fitted.held_out.get(self.fitted.name)

    def as_json(self, out: Path) -> dict[str, Any]:
        """Return what --json prints."""
        return {
            **{"model": self.fitted.name, "file": str(out), "orders": self.n_orders},
            **{"objects": len(self.sample.target), "features": list(self.sample.features)},
            "cross_validated_rho": self.rho,
        }

    def sentence(self, out: Path) -> str:
        """Return what was trained on what, and how good it is."""
        what = "objects" if self.sample.groups is None else "orders"
        quality = "prefero order compare tells how good it is."
        if self.rho is not None:
            quality = f"Mean Spearman rho on held-out {what}: {self.rho:.3f} (chance is 0)."
        return (
            f"Trained {self.fitted.name} on {count(self.n_orders, 'order')} of "
            f"{count(len(self.sample.target), 'object')}; wrote {out}. {quality}"
        )


@order.command()
@options.with_option_groups
def train(
    data: options.DataFile,
    out: options.ModelOutOption,
    *,
    columns: ObjectColumns,
    named: options.FeatureColumns,
    model: Annotated[
        str,
        typer.Option(
            callback=lambda name: models.known_name(
                name, dict.fromkeys((models.AUTO, *models.ORDERERS))
            ),
            autocompletion=lambda: [models.AUTO, *models.ORDERERS],
            metavar="NAME",
            help=f"{', '.join(models.ORDERERS)}; or {models.AUTO}, the best on held-out orders.",
        ),
    ] = models.AUTO,
    reduce: ReduceOption = None,
    preset: training.PresetOption = None,
    time_limit: training.TimeLimitOption = None,
    parameters: options.ParamOption = [],  # noqa: B006 (typer copies it)
    seed: options.SeedOption = 0,
    key_file: options.KeyFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Learn from sample orders, one row per object in one order.

    Cross-validation, which divides no group, says how good the orderer is.
    """
    refuse_overwriting(out, data)
    given = models.parse_parameters(parameters)
    training.refuse_unused(model, given, {"--preset": preset, "--time-limit": time_limit})
    if model == models.AUTO:
        options.refuse_together(f"--model {models.AUTO}", {"--reduce": reduce})
        given = {"preset": (preset or training.Preset.BALANCED).value, "time_limit": time_limit}
        given["verbose"] = True
    sample, choice = read_objects(data, columns, named), models.orderer_choice(model)
    rho = None if given else _cross_validated(sample, model, reduce, seed)
    orderer = models.build(
        choice, sample.features, models.seeded(choice, seed) | given, reduce=reduce
    )
    sample.refuse_missing(orderer, model)
    try:
        trained = fit_final(orderer, sample.features, sample.target, qid=sample.groups)
    except ValueError as error:
        raise sample.table.error(str(error)) from error
    if model == models.AUTO:
        model, rho = _chosen(final_step(trained))
    fitted = FitResult(trained, model, "rho", {} if rho is None else {model: rho})
    training.finish(TrainedOrderer(fitted, sample), out, options.read_key(key_file), as_json)


def _cross_validated(sample: Sample, name: str, reduce: int | None, seed: int) -> float | None:
    """The mean rho of an orderer in cross-validation; None if there are too few data."""
    folds = min(_FOLDS, sample.independent_units)
    if folds < 2 or (sample.groups is None and folds < _FOLDS):
        return None
    plan = CrossValidation(folds=folds, seed=seed)
    trials = cross_validate([models.orderer_choice(name)], [sample], plan, reduce=reduce)
    for reason in trials.failed.values():
        say(f"It could not be cross-validated: {reason}")
    values: Any = trials.results["rho"] if len(trials.results) else []
    known = [float(value) for value in values if value == value]
    return sum(known) / len(known) if known else None


def _chosen(orderer: Any) -> tuple[str, float | None]:
    """The orderer that was chosen, and its mean rho on held-out orders, if there were enough."""
    for line in orderer.skipped_:
        say(f"{line['ranker']} is left out: {line['why']}.")
    name = orderer.chosen_name_
    if orderer.improvement_ != orderer.improvement_:
        say(f"Too few orders to choose by: {name}.")
        return name, None
    held_out = {line["ranker"]: line["held_out"] for line in orderer.leaderboard_}
    training.say_held_out("rho", held_out, "orders", chosen=name)
    return name, float(held_out[name])


@order.command()
@options.with_option_groups
def predict(
    model: options.ModelFile,
    data: options.NewDataFile,
    group: str | None = None,
    keep: options.KeepOption = None,
    out: options.OutOption = None,
    key_file: options.KeyFileOption = None,
) -> None:
    """Order new sets of objects: print the group, rank and score of every row."""
    import pandas

    refuse_overwriting(out, data, model)
    trained = load_orderer(model, options.read_key(key_file))
    table = read(data)
    X = new_features(trained, table, models.ORDERERS_WITH_MISSING)
    models.say_unseen(unseen_categories(trained, X))
    orderer, X = at_final_step(trained, X)
    group = group or table.declared.group
    groups = _groups_of(table, group)
    columns: dict[str, Any] = {} if group is None else {table.column(group): groups}
    if keep is not None:
        columns |= {name: table.frame[name].to_numpy() for name in table.columns(keep)}
    predicted = {"rank": orderer.predict(X, groups)}
    if hasattr(orderer, "decision_function"):
        predicted["score"] = orderer.decision_function(X)
    if clash := [name for name in predicted if name in columns]:
        raise table.error(
            f"the output has a column {clash[0]!r} of its own, so the one of NEW cannot be kept "
            "beside it: rename it."
        )
    write(pandas.DataFrame(columns | predicted), out or Path("-"))


@order.command()
@options.with_option_groups
def compare(
    data: options.DataFiles,
    *,
    columns: ObjectColumns,
    named: options.FeatureColumns,
    orderers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {', '.join(models.ORDERERS)}; all by default. Also {models.AUTO}, and "
            f"{models.LIGHTGBM.name} if it is installed. {models.CONSTANT.name}, which ties all "
            "objects, is always included.",
        ),
    ] = None,
    reduce: ReduceOption = None,
    metric: OrderMetric = OrderMetric.RHO,
    folds: Annotated[int, typer.Option(min=2)] = _FOLDS,
    repeats: options.RepeatsOption = None,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = None,
    results: options.ResultOptions,
) -> None:
    """Compare orderers on tables of objects by cross-validation.

    All orderers get the same folds, which divide no group.

    Parameters
    ----------
    metric
        What to compare by, as a mean over groups: Spearman's rho, Kendall's tau, NDCG of the
        first ten, MAP or MRR.
    folds
        Number of folds, which divide no group.
    """
    for output in (results.out, results.report):
        refuse_overwriting(output, *data)
    names = list(models.ORDERERS) if orderers is None else map(str.strip, orderers.split(","))
    choices = {name: models.orderer_choice(name) for name in (models.CONSTANT.name, *names)}
    plan = CrossValidation(folds=folds, repeats=repeats or CrossValidation.repeats, seed=seed)
    samples = [read_objects(path, columns, named) for path in data]
    for sample in samples:
        sample.refuse_few(folds)
    trials = cross_validate(choices.values(), samples, plan, reduce=reduce, jobs=jobs)
    report_comparison(results, trials, samples, plan, metric.value, choices, reduce=reduce)
    if not results.as_json:
        say(f"{models.CONSTANT.name} ties all objects: it gets what a random order gets.")


@order.command()
@options.with_option_groups
def explain(
    model: options.ModelFile,
    data: options.NewDataFile,
    row: Annotated[int, typer.Option(min=1)] = 1,
    against: Annotated[int | None, typer.Option(min=1)] = None,
    group: str | None = None,
    top: options.ListedOption = 10,
    key_file: options.KeyFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Explain why a model puts one object before another.

    Parameters
    ----------
    row : N
        Which object; the first of NEW is 1.
    against : M
        Which other one; by default its neighbour in the predicted order.
    """
    from prefero.inspection import explain_objects

    trained = load_orderer(model, options.read_key(key_file))
    table = read(data)
    check_row(table, row)
    check_row(table, against or row, "--against")
    X = new_features(trained, table, models.ORDERERS_WITH_MISSING)
    groups = _groups_of(table, group or table.declared.group)
    other = None if against is None else against - 1
    why = explain_objects(trained, X, row - 1, other, qid=groups)
    show_explanation(why, row, top, as_json)

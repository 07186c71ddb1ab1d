"""prefero order: learn to order objects from sample orders, and order new sets of them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from prefero._names import did_you_mean
from prefero._pipelines import at_final_step, final_step, fit_final
from prefero._prediction import kind_of, new_features, unseen_names
from prefero.cli.automatic import Preset, PresetOption, TimeLimitOption
from prefero.cli.console import count, print_json, say
from prefero.cli.explain import tell
from prefero.cli.groups import with_groups
from prefero.cli.models import parse_settings, say_unseen
from prefero.cli.options import (
    DataFile,
    JsonOption,
    KeyFileOption,
    ListedOption,
    ModelFile,
    ModelOutOption,
    NewDataFile,
    ParamOption,
    SeedOption,
    read_key,
    table_out,
)
from prefero.cli.order_compare import EXAMPLES as COMPARE_EXAMPLES
from prefero.cli.order_compare import compare
from prefero.cli.orderers import (
    TAKE_MISSING,
    GroupOption,
    ObjectColumns,
    Objects,
    ReduceOption,
    build_orderer,
    groups_of,
    read_objects,
    refuse_gaps,
    try_orderers,
)
from prefero.cli.rankers import AUTO, ORDERERS
from prefero.cli.tables import read, write
from prefero.cli.trials import Plan
from prefero.exceptions import ModelFileError

EXAMPLES = (
    "prefero order train judged.csv -o model.prefero --group query --grade relevance",
    "prefero order train tasted.csv -o model.prefero --group panel --rank place --model rankboost",
    "prefero order predict model.prefero new.csv --group query",
    *COMPARE_EXAMPLES,
    "prefero order explain model.prefero new.csv --group query --row 3",
)

order = typer.Typer(
    help="Learn from sample orders how to order new sets of objects.",
    no_args_is_help=True,
)
order.command()(compare)

# The figure that train gives beside the model comes from so many folds, if there is enough.
_FOLDS = 5


def _known_orderer(name: str) -> str:
    known = (AUTO, *ORDERERS)
    if name not in known:
        raise typer.BadParameter(
            f"{name!r} is none of {', '.join(known)}{did_you_mean(name, known)}."
        )
    return name


@order.command()
@with_groups
def train(
    data: DataFile,
    out: ModelOutOption,
    *,
    columns: ObjectColumns,
    model: Annotated[
        str,
        typer.Option(
            callback=_known_orderer,
            autocompletion=lambda: [AUTO, *ORDERERS],
            metavar="NAME",
            help=f"{', '.join(ORDERERS)}; or {AUTO}, the best on orders it has not seen.",
        ),
    ] = AUTO,
    reduce: ReduceOption = None,
    preset: PresetOption = Preset.BALANCED,
    time_limit: TimeLimitOption = None,
    settings: ParamOption = [],  # noqa: B006 (typer copies it)
    seed: SeedOption = 0,
    key_file: KeyFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Learn from sample orders: one line an object in one order.

    How good it is, cross-validation says, which divides no group.
    """
    import prefero

    parameters = parse_settings(settings)
    if parameters and model == AUTO:
        raise typer.BadParameter("--param needs the name of one orderer: add --model.")
    objects = read_objects(data, columns)
    rho = None
    if model == AUTO:
        parameters = {"preset": preset.value, "time_limit": time_limit, "verbose": True}
    elif not parameters:
        rho = _cross_validated(objects, model, reduce, seed)
    orderer = build_orderer(model, objects.X, reduce=reduce, settings=parameters, seed=seed)
    refuse_gaps(objects, orderer, model)
    try:
        trained = fit_final(orderer, objects.X, objects.ranks, qid=objects.groups)
    except ValueError as error:
        raise objects.table.error(str(error)) from error
    if model == AUTO:
        model, rho = _chosen(final_step(trained))
    prefero.save(trained, out, key=read_key(key_file))
    if as_json:
        print_json(
            {
                **{"model": model, "file": str(out), "orders": objects.orders},
                **{"objects": len(objects.ranks), "features": list(objects.X)},
                "cross_validated_rho": rho,
            }
        )
        return
    say(
        f"Trained {model} on {count(objects.orders, 'order')} of "
        f"{count(len(objects.ranks), 'object')}; wrote {out}. {_told(objects, rho)}"
    )


def _told(objects: Objects, rho: float | None) -> str:
    """Say how good the orderer is, or why nobody knows."""
    if rho is not None:
        what = "orders" if objects.groups is not None else "objects"
        return f"Mean Spearman rho on {what} that it was not trained on: {rho:.3f} (chance is 0)."
    return "How good it is, prefero order compare tells."


def _cross_validated(objects: Objects, name: str, reduce: int | None, seed: int) -> float | None:
    """The mean rho of an orderer in cross-validation; None if there is too little for it."""
    folds = min(_FOLDS, objects.witnesses)
    if folds < 2 or (objects.groups is None and folds < _FOLDS):
        return None
    trials = try_orderers([name], [objects], Plan(folds=folds, seed=seed), reduce=reduce)
    for reason in trials.failed.values():
        say(f"It could not be cross-validated: {reason}")
    values: Any = trials.results["rho"] if len(trials.results) else []
    known = [float(value) for value in values if value == value]
    return sum(known) / len(known) if known else None


def _chosen(orderer: Any) -> tuple[str, float | None]:
    """The orderer that was chosen, and its mean rho on orders not seen, if they were enough."""
    for line in orderer.skipped_:
        say(f"{line['ranker']} is left out: {line['why']}.")
    name = orderer.chosen_name_
    if orderer.improvement_ != orderer.improvement_:
        say(f"Too few orders to choose by: {name}.")
        return name, None
    say("rho on orders not seen:")
    held_out = {line["ranker"]: line["held_out"] for line in orderer.leaderboard_}
    width = max(map(len, held_out)) + 2
    for tried, value in held_out.items():
        say(f"  {tried:<{width}}{value:>7.3f}{'  <- chosen' if tried == name else ''}")
    return name, float(held_out[name])


@order.command()
def predict(
    model: ModelFile,
    data: NewDataFile,
    group: GroupOption = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Columns of NEW to copy into the output, as an id."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--out", "-o", callback=table_out, help="The table to write; - is stdout."),
    ] = Path("-"),
    key_file: KeyFileOption = None,
) -> None:
    """Order new sets of objects: print group, rank and score of every line."""
    import pandas

    trained = load_orderer(model, read_key(key_file))
    table = read(data)
    X = new_features(trained, table, TAKE_MISSING)
    say_unseen(unseen_names(trained, X))
    orderer, X = at_final_step(trained, X)
    group = group or table.declared.group
    groups = groups_of(table, group)
    columns: dict[str, Any] = {} if group is None else {group: groups}
    if keep is not None:
        columns |= {name: table.frame[name].to_numpy() for name in table.columns(keep)}
    columns["rank"] = orderer.predict(X, groups)
    if hasattr(orderer, "decision_function"):
        columns["score"] = orderer.decision_function(X)
    write(pandas.DataFrame(columns), output)


@order.command()
def explain(
    model: ModelFile,
    data: NewDataFile,
    row: Annotated[
        int, typer.Option(min=1, metavar="N", help="Which object; the first of NEW is 1.")
    ] = 1,
    against: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="M",
            help="Which other one; by default its neighbour in the predicted order.",
        ),
    ] = None,
    group: GroupOption = None,
    top: ListedOption = 10,
    key_file: KeyFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a model puts one object before another."""
    from prefero.inspection import explain_objects

    trained = load_orderer(model, read_key(key_file))
    table = read(data)
    for number in (row, against or row):
        if number > len(table.frame):
            rows = count(len(table.frame), "row")
            raise table.error(f"there are {rows}, so --row and --against cannot be {number}.")
    X = new_features(trained, table, TAKE_MISSING)
    groups = groups_of(table, group or table.declared.group)
    other = None if against is None else against - 1
    why = explain_objects(trained, X, row - 1, other, qid=groups)
    tell(why, row, top, as_json)


def load_orderer(path: Path, key: bytes | None = None) -> Any:
    """Load an orderer of objects, or say what else the file holds."""
    import prefero

    trained = prefero.load(path, key=key)
    if kind_of(trained) != "orderer":
        name = type(final_step(trained)).__name__
        raise ModelFileError(f"{path} holds a {name}, which orders no objects.")
    return trained

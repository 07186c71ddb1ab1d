"""prefero order: learn to order objects from sample orders, and order new sets of them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._pipelines import at_final_step, final_step
from prefero.cli.console import say
from prefero.cli.features import features_of, refuse_missing
from prefero.cli.models import behind_columns, takes_missing
from prefero.cli.options import (
    DataFile,
    IgnoreOption,
    KeyFileOption,
    ModelFile,
    ModelOutOption,
    NewDataFile,
    SeedOption,
    TextOption,
    read_key,
    table_out,
)
from prefero.cli.predict import new_features
from prefero.cli.tables import read, write
from prefero.exceptions import ModelFileError

if TYPE_CHECKING:
    from prefero._typing import Values
    from prefero.tables import Table

EXAMPLES = (
    "prefero order train judged.csv -o model.prefero --group query --grade relevance",
    "prefero order train tasted.csv -o model.prefero --group panel --rank place --model rankboost",
    "prefero order predict model.prefero new.csv --group query",
)

order = typer.Typer(
    help="Learn from sample orders how to order new sets of objects.",
    no_args_is_help=True,
)


class Model(StrEnum):
    """A method that orders objects."""

    SVM = "svm"
    ORDER_SVM = "order-svm"
    REGRESSION = "regression"
    RANKBOOST = "rankboost"
    COHEN = "cohen"
    TREES = "trees"


_ORDERERS = {
    Model.SVM: "RankSVMOrderer",
    Model.ORDER_SVM: "OrderSVMOrderer",
    Model.REGRESSION: "ExpectedRankOrderer",
    Model.RANKBOOST: "RankBoostOrderer",
    Model.COHEN: "CohenOrderer",
    Model.TREES: "BoostingOrderer",
}
# What to train where numbers are missing.
_TAKE_MISSING = "--model rankboost or trees"
GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="COLUMN", help="Names the order a line belongs to; else all are one."
    ),
]


@order.command()
def train(
    data: DataFile,
    out: ModelOutOption,
    group: GroupOption = None,
    rank: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The place of the object: 1 is best.")
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Or a grade or score of it: larger is better."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Its features: 'x_*' or a,b,c; else all the rest."),
    ] = None,
    ignore: IgnoreOption = None,
    text: TextOption = None,
    model: Annotated[Model, typer.Option(help="The method.")] = Model.SVM,
    seed: SeedOption = 0,
    key_file: KeyFileOption = None,
) -> None:
    """Learn from sample orders: one line an object in one order."""
    import numpy as np

    import prefero
    from prefero.ordering import ranks_in_groups

    if rank is not None and grade is not None:
        raise typer.BadParameter("name the column of ranks by --rank, or of grades by --grade.")
    table = read(data)
    grade = grade or (table.declared.grade if rank is None else None)
    if rank is None and grade is None:
        raise typer.BadParameter("name the column of ranks by --rank, or of grades by --grade.")
    target = table.column(rank or grade or "")
    group = group or table.declared.group
    groups = _groups(table, group)
    y = table.numbers([target])[:, 0]
    if grade is not None:
        y = ranks_in_groups(y, groups, higher_is_better=True)
    elif groups is not None:
        _refuse_grades(table, target, y)
    X = _features(
        table, features, text, [target, *_columns(table, group), *_columns(table, ignore)]
    )
    orderer = getattr(prefero, _ORDERERS[model])()
    if "random_state" in orderer.get_params():
        orderer.set_params(random_state=seed)
    if not takes_missing(orderer):
        refuse_missing(table, X, np.arange(len(X)), model, _TAKE_MISSING)
    try:
        trained = behind_columns(orderer, X).fit(X, y, ranker__groups=groups)
    except ValueError as error:
        raise table.error(str(error)) from error
    prefero.save(trained, out, key=read_key(key_file))
    orders = 1 if groups is None else len(set(groups))
    fitted, seen = at_final_step(trained, X)
    rho = fitted.score(seen, y, groups)
    say(f"{model} from {orders} orders of {len(y)} objects; mean Spearman rho on them {rho:.3f}.")


@order.command()
def predict(
    model: ModelFile,
    data: NewDataFile,
    group: GroupOption = None,
    output: Annotated[
        Path,
        typer.Option("--out", "-o", callback=table_out, help="The table to write; - is stdout."),
    ] = Path("-"),
    key_file: KeyFileOption = None,
) -> None:
    """Order new sets of objects: print group, rank and score of every line."""
    import pandas

    import prefero

    trained = prefero.load(model, key=read_key(key_file))
    if final_step(trained).__sklearn_tags__().estimator_type != "orderer":
        name = type(final_step(trained)).__name__
        raise ModelFileError(f"{model} holds a {name}, which orders no objects.")
    table = read(data)
    orderer, X = at_final_step(trained, new_features(trained, table, _TAKE_MISSING))
    group = group or table.declared.group
    groups = _groups(table, group)
    columns: dict[str, Any] = {} if group is None else {group: groups}
    columns["rank"] = orderer.predict(X, groups)
    if hasattr(orderer, "decision_function"):
        columns["score"] = orderer.decision_function(X)
    write(pandas.DataFrame(columns), output)


def _refuse_grades(table: "Table", column: str, y: "Values") -> None:
    """Refuse ranks below 1, which nearly always are grades."""
    import numpy as np

    low = np.flatnonzero(y < 1).tolist()
    if low:
        raise table.error(
            f"column {column!r} holds {y[low[0]]:g}, but ranks start at 1, the best: if larger is "
            f"better, name it by --grade {column}.",
            low[0],
            low[1:],
        )


def _groups(table: "Table", group: str | None) -> Any:
    return None if group is None else table.frame[table.column(group)].to_numpy()


def _columns(table: "Table", pattern: str | None) -> list[str]:
    return [] if pattern is None else table.columns(pattern)


def _features(table: "Table", chosen: str | None, text: str | None, used: list[str]) -> Any:
    """The chosen columns, but for those that say something else."""
    names = [name for name in table.columns(chosen or "*") if name not in used]
    if not names:
        raise table.error("no column is left as a feature to learn from.")
    return features_of(table, names, text, len(table.frame))

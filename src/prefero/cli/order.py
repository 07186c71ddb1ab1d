"""prefero order: learn to order objects from sample orders, and order new sets of them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.console import say
from prefero.cli.options import DataFile
from prefero.cli.tables import Table, read_table
from prefero.cli.writing import write_table
from prefero.exceptions import ModelFileError

if TYPE_CHECKING:
    import pandas as pd

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
GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="COLUMN", help="Names the order a line belongs to; else all are one."
    ),
]


@order.command()
def train(
    data: DataFile,
    output: Annotated[Path, typer.Option("--out", "-o", help="The model file to write.")],
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
    model: Annotated[Model, typer.Option(help="The method.")] = Model.SVM,
    seed: Annotated[int, typer.Option(help="For methods that draw at random.")] = 0,
) -> None:
    """Learn from sample orders: one line an object in one order."""
    import prefero
    from prefero.ordering import ranks_in_groups

    if (rank is None) == (grade is None):
        raise typer.BadParameter("name the column of ranks by --rank, or of grades by --grade.")
    table = read_table(data)
    target = table.columns(rank or grade or "")[0]
    groups = _groups(table, group)
    y = table.finite_numbers([target])[:, 0]
    if grade is not None:
        y = ranks_in_groups(y, groups, higher_is_better=True)
    used = {target, *(table.columns(group) if group else ())}
    X = _features(table, table.columns(features or "*"), used)
    orderer = getattr(prefero, _ORDERERS[model])()
    if "random_state" in orderer.get_params():
        orderer.set_params(random_state=seed)
    orderer.fit(X, y, groups)
    prefero.save(orderer, output)
    orders = 1 if groups is None else len(set(groups))
    rho = orderer.score(X, y, groups)
    say(f"{model} from {orders} orders of {len(y)} objects; mean Spearman rho on them {rho:.3f}.")


@order.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that train wrote.")],
    data: DataFile,
    group: GroupOption = None,
    output: Annotated[
        Path, typer.Option("--out", "-o", help="The table to write; - is stdout.")
    ] = Path("-"),
) -> None:
    """Order new sets of objects: print group, rank and score of every line."""
    import pandas

    import prefero

    orderer = prefero.load(model)
    if not hasattr(orderer, "predict") or orderer.__sklearn_tags__().estimator_type != "orderer":
        raise ModelFileError(f"{model} holds a {type(orderer).__name__}, which orders no objects.")
    table = read_table(data)
    missing = [name for name in orderer.feature_names_in_ if name not in table.frame.columns]
    if missing:
        raise table.error(f"the model needs the columns {', '.join(map(repr, missing))}.")
    X = _features(table, list(orderer.feature_names_in_), set())
    groups = _groups(table, group)
    columns: dict[str, Any] = {} if group is None else {group: groups}
    columns["rank"] = orderer.predict(X, groups)
    if hasattr(orderer, "decision_function"):
        columns["score"] = orderer.decision_function(X)
    write_table(pandas.DataFrame(columns), output)


def _groups(table: Table, group: str | None) -> Any:
    return None if group is None else table.frame[table.columns(group)[0]].to_numpy()


def _features(table: Table, columns: list[str], used: set[str]) -> "pd.DataFrame":
    """Columns as numbers under their names, but for those that say something else."""
    import pandas

    chosen = [name for name in columns if name not in used]
    return pandas.DataFrame(table.finite_numbers(chosen), columns=chosen)

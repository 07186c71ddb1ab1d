"""Orderers as commands train them, and objects as commands find them in tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._names import did_you_mean
from prefero._prediction import refuse_missing, takes_missing
from prefero.cli.features import features_of
from prefero.cli.models import behind_columns, refuse_unknown
from prefero.cli.options import CategoricalOption, FeatureColumns, IgnoreOption, TextOption
from prefero.cli.rankers import AUTO, ORDERERS, make_orderer
from prefero.cli.tables import read
from prefero.cli.trials import Plan, Trial, Trials, cross_validate

if TYPE_CHECKING:
    import pandas as pd

    from prefero._typing import Values
    from prefero.tables import DataTable

CONSTANT, LIGHTGBM = "constant", "lightgbm"
# What to train where numbers are missing.
TAKE_MISSING = "--model rankboost or trees"
_REDUCE = "reduce__"

GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="COLUMN", help="Names the order a line belongs to; else all are one."
    ),
]
RankOption = Annotated[
    str | None,
    typer.Option("--rank", metavar="COLUMN", help="The place of the object: 1 is best."),
]
GradeOption = Annotated[
    str | None,
    typer.Option("--grade", metavar="COLUMN", help="Or a grade or score of it: larger is better."),
]
FeaturesOption = Annotated[
    str | None,
    typer.Option(
        "--features", metavar="COLUMNS", help="Its features: 'x_*' or a,b,c; else all the rest."
    ),
]
ReduceOption = Annotated[
    int | None,
    typer.Option(
        "--reduce",
        min=1,
        metavar="K",
        help="Learn from K components that rank correlation dimension reduction finds.",
    ),
]
FoldsOption = Annotated[
    int, typer.Option("--folds", min=2, help="Of the cross-validation, which divides no group.")
]


@dataclass(frozen=True)
class ObjectColumns:
    """Which columns of a table say what of objects."""

    group: GroupOption = None
    rank: RankOption = None
    grade: GradeOption = None
    features: FeaturesOption = None
    ignore: IgnoreOption = None
    categorical: CategoricalOption = None
    text: TextOption = None

    @property
    def of_features(self) -> FeatureColumns:
        """Those that say what of features."""
        return FeatureColumns(self.ignore, self.categorical, self.text)


@dataclass(frozen=True)
class Objects:
    """Objects with features, their ranks inside groups, and perhaps their grades."""

    name: str
    table: "DataTable"
    X: "pd.DataFrame"
    ranks: "Values"
    grades: "Values | None"
    groups: Any

    @property
    def orders(self) -> int:
        """How many orders there are."""
        return 1 if self.groups is None else len(set(self.groups.tolist()))

    @property
    def witnesses(self) -> int:
        """How many groups, or objects of the only one, folds can be made of."""
        return len(self.ranks) if self.groups is None else self.orders


def read_objects(data: Path, columns: ObjectColumns) -> Objects:
    """Read objects from a table; a file of graded objects names its columns itself."""
    from prefero.ordering import ranks_in_queries

    table = read(data)
    rank, grade = columns.rank, columns.grade
    grade = grade or (table.declared.grade if rank is None else None)
    if (rank is None) == (grade is None):
        raise typer.BadParameter("name the column of ranks by --rank, or of grades by --grade.")
    target, group = table.column(rank or grade or ""), columns.group or table.declared.group
    groups, values = groups_of(table, group), table.numbers([target])[:, 0]
    ranks = values
    if grade is not None:
        ranks = ranks_in_queries(values, groups, higher_is_better=True)
    elif groups is not None:
        _refuse_grades(table, target, values)
    used = {target, *_named(table, group), *_named(table, columns.ignore)}
    names = [name for name in table.columns(columns.features or "*") if name not in used]
    if not names:
        raise table.error("no column is left as a feature to learn from.")
    X = features_of(table, names, columns.of_features, len(table.frame))
    numbered = X.set_axis(range(1, len(X) + 1))
    return Objects(data.stem, table, numbered, ranks, None if grade is None else values, groups)


def groups_of(table: "DataTable", group: str | None) -> Any:
    """Return what group each object belongs to; None if all are one."""
    return None if group is None else table.frame[table.column(group)].to_numpy()


def build_orderer(
    name: str,
    X: "pd.DataFrame",
    *,
    reduce: int | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Any:
    """Return an untrained orderer for some features, with some parameters."""
    import prefero
    from prefero.study import ConstantOrderer, LightGBMOrderer

    peers = {CONSTANT: ConstantOrderer, LIGHTGBM: LightGBMOrderer, AUTO: prefero.AutoOrderer}
    orderer = peers[name]() if name in peers else make_orderer(name)
    given = dict(settings or {})
    of_reducer = {
        key.removeprefix(_REDUCE): given.pop(key) for key in [*given] if key.startswith(_REDUCE)
    }
    refuse_unknown(given, orderer)
    if seed is not None and "random_state" in orderer.get_params(deep=False):
        given = {"random_state": seed} | given
    model = behind_columns(orderer.set_params(**given), X)
    if name in peers or (reduce is None and not of_reducer):
        return model
    reducer = prefero.RankCorrelationReducer(reduce)
    refuse_unknown(of_reducer, reducer)
    model.steps.insert(len(model.steps) - 1, ("reduce", reducer.set_params(**of_reducer)))
    return model


def refuse_gaps(objects: Objects, model: Any, name: str) -> None:
    """Refuse missing numbers in the name of an orderer that needs them all."""
    import numpy as np

    reduced = "reduce" in dict(getattr(model, "steps", ()))
    if reduced or not takes_missing(model):
        rows = np.arange(len(objects.X))
        refuse_missing(
            objects.table, objects.X, rows, "--reduce" if reduced else name, TAKE_MISSING
        )


def chosen_orderers(names: str | None) -> list[str]:
    """Return the orderers that a list names, with the one that knows nothing."""
    if names is None:
        return [CONSTANT, *ORDERERS]
    wanted = [name.strip() for name in names.split(",")]
    known = (*ORDERERS, AUTO, LIGHTGBM, CONSTANT)
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, known)
            raise typer.BadParameter(f"{name!r} is none of {', '.join(known)}{near}.")
    return list(dict.fromkeys((CONSTANT, *wanted)))


def try_orderers(
    names: Iterable[str],
    tables: Iterable[Objects],
    plan: Plan,
    *,
    reduce: int | None = None,
    jobs: int | None = None,
) -> Trials:
    """Cross-validate orderers on tables; no group is divided."""
    trials = [_trial(name, objects, reduce, plan.seed) for objects in tables for name in names]
    return cross_validate(trials, plan, noun="orderer", jobs=jobs)


def _trial(name: str, objects: Objects, reduce: int | None, seed: int) -> Trial:
    model = build_orderer(name, objects.X, reduce=reduce, seed=seed)
    return Trial(
        name,
        objects.name,
        model,
        source(objects),
        lambda: refuse_gaps(objects, model, name),
        objects.groups,
    )


def source(objects: Objects) -> tuple[Any, ...]:
    """Return objects as experiments take them."""
    parts = (objects.X, objects.ranks, objects.grades)
    return parts if objects.grades is not None else parts[:2]


def _refuse_grades(table: "DataTable", column: str, y: "Values") -> None:
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


def _named(table: "DataTable", pattern: str | None) -> list[str]:
    return [] if pattern is None else table.columns(pattern)

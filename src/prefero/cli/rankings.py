"""Rankings out of a table, in any of the formats that users hold."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from prefero.cli.options import Format, Reading
from prefero.cli.tables import Table
from prefero.exceptions import RowError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclass
class Rankings:
    """Instances and their rankings.

    ``rows`` says which row of the table begins each instance, ``others`` which columns hold
    no ranking; ``scores`` are larger for better labels, and there only if the table holds
    scores.
    """

    table: Table
    ranks: "NDArray[np.float64]"
    labels: list[str]
    rows: "NDArray[np.intp]"
    others: list[str]
    scores: "NDArray[np.float64] | None" = None

    @property
    def features(self) -> "pd.DataFrame":
        """The other columns as features: numbers where all cells are numbers, else text."""
        return self.table.features(self.others).iloc[self.rows].reset_index(drop=True)

    @property
    def cells(self) -> "pd.DataFrame":
        """The other columns as they stand in the table."""
        return self.table.frame[self.others].iloc[self.rows].reset_index(drop=True)

    def ranked(self) -> "Rankings | None":
        """Return the instances that rank a label; None if none does."""
        import numpy as np

        some = np.asarray(~np.isnan(self.ranks).all(axis=1))
        if not some.any():
            return None
        scores = None if self.scores is None else self.scores[some]
        return replace(self, ranks=self.ranks[some], rows=self.rows[some], scores=scores)


@dataclass
class _Found:
    """What a format yields."""

    ranks: "NDArray[np.float64]"
    labels: list[str]
    rows: "NDArray[np.intp] | None" = None
    scores: "NDArray[np.float64] | None" = None


def read_rankings(table: Table, reading: Reading) -> Rankings:
    """Read the rankings of a table, or say where it does not hold them."""
    import numpy as np

    columns = label_columns(table, reading)
    if reading.instance is not None:
        table.columns(reading.instance)
    try:
        found = _READERS[reading.format](table, columns, reading)
    except RowError as error:
        problem = error.problem.replace("use ranks_from_scores", "try --format scores")
        raise table.error(problem, error.row) from error
    rows = np.arange(len(table.frame)) if found.rows is None else found.rows
    taken = {*columns, reading.instance}
    others = [str(name) for name in table.frame.columns if name not in taken]
    return Rankings(table, found.ranks, found.labels, rows, others, found.scores)


def label_columns(table: Table, reading: Reading) -> list[str]:
    """Return the columns that hold rankings: those named, or declared in the file, or all."""
    if reading.labels is not None:
        return table.columns(reading.labels)
    if table.label_columns is not None:
        return table.label_columns
    return [str(name) for name in table.frame.columns if name != reading.instance]


def _from_ranks(table: Table, columns: list[str], reading: Reading) -> _Found:
    import pandas

    from prefero.rankings import check_ranks

    ranks = pandas.DataFrame(table.finite_numbers(columns), columns=columns)
    return _Found(check_ranks(ranks, name="ranks"), columns)


def _from_scores(table: Table, columns: list[str], reading: Reading) -> _Found:
    from prefero.rankings import ranks_from_scores

    values = table.finite_numbers(columns)
    higher = _direction(reading)
    ranks = ranks_from_scores(values, higher_is_better=higher)
    return _Found(ranks, columns, scores=values if higher else -values)


def _from_orders(table: Table, columns: list[str], reading: Reading) -> _Found:
    from prefero.rankings import ranks_from_orders

    cells = table.frame[columns].astype(object)
    cells = cells.mask(cells.isna() | (cells == ""), None)
    orders = cells[columns[0]] if len(columns) == 1 else cells.to_numpy()
    ranks, labels = ranks_from_orders(orders, unranked=reading.unranked.value)
    return _Found(ranks, list(labels))


def _from_pairs(table: Table, columns: list[str], reading: Reading) -> _Found:
    from prefero.rankings import ranks_from_pairs

    preferred, other = _expect(table, columns, "the preferred and the other label")
    groups, rows = _instances(table, reading)
    pairs: list[list[tuple[str, str]]] = [[] for _ in rows]
    lines = zip(table.frame[preferred], table.frame[other], strict=True)
    for group, pair in zip(groups, lines, strict=True):
        pairs[group].append(pair)
    ranks, labels = _at_rows(rows, ranks_from_pairs, pairs)
    return _Found(ranks, list(labels), rows)


def _from_best_worst(table: Table, columns: list[str], reading: Reading) -> _Found:
    from prefero.rankings import ranks_from_best_worst

    if len(columns) < 2:
        raise table.error("best-worst needs the columns shown, then the best, then the worst.")
    cells = table.frame[columns].astype(object)
    cells = cells.mask(cells.isna() | (cells == ""), None)
    *shown, best, worst = (cells[column].tolist() for column in columns)
    ranks, labels = ranks_from_best_worst(
        best, worst, list(zip(*shown, strict=True)) if shown else None
    )
    return _Found(ranks, list(labels))


def _from_long(table: Table, columns: list[str], reading: Reading) -> _Found:
    from prefero.rankings import ranks_from_long

    label, value = _expect(table, columns, "the label and its value")
    if reading.instance is None:
        raise table.error("a long table needs --instance, the column that names the instance.")
    groups, rows = _instances(table, reading)
    ranks, labels = ranks_from_long(
        groups.tolist(),
        table.frame[label].tolist(),
        table.finite_numbers([value])[:, 0],
        higher_is_better=_direction(reading),
    )
    return _Found(ranks, list(labels), rows)


_READERS: dict[Format, Callable[[Table, list[str], Reading], _Found]] = {
    Format.RANKS: _from_ranks,
    Format.SCORES: _from_scores,
    Format.ORDERS: _from_orders,
    Format.PAIRS: _from_pairs,
    Format.BEST_WORST: _from_best_worst,
    Format.LONG: _from_long,
}


def _direction(reading: Reading) -> bool:
    from typer import BadParameter

    if reading.higher_is_better is None:
        raise BadParameter(
            f"--format {reading.format} needs --higher-is-better or --lower-is-better."
        )
    return reading.higher_is_better


def _expect(table: Table, columns: list[str], what: str) -> tuple[str, str]:
    if len(columns) != 2:
        raise table.error(f"--labels must name two columns: {what}; it means {columns}.")
    return columns[0], columns[1]


def _instances(table: Table, reading: Reading) -> tuple["NDArray[np.intp]", "NDArray[np.intp]"]:
    """The instance that each row is part of, counted from 0, and the first row of each."""
    import numpy as np

    if reading.instance is None:
        every = np.arange(len(table.frame))
        return every, every
    _, first, groups = np.unique(
        table.frame[reading.instance].astype(str).to_numpy(object),
        return_index=True,
        return_inverse=True,
    )
    by_appearance = np.argsort(first)
    return np.argsort(by_appearance)[groups], first[by_appearance]


def _at_rows(rows: "NDArray[np.intp]", convert: Callable[[Any], Any], instances: Any) -> Any:
    """Convert, turning the instance of an error into the row where it begins."""
    try:
        return convert(instances)
    except RowError as error:
        raise RowError(error.problem, error.name, int(rows[error.row])) from error

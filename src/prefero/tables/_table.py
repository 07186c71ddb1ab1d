"""A table as the room hands it on: cells, names, and where each row stands in its file."""

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prefero._names import did_you_mean
from prefero._typing import Indices, Values
from prefero.exceptions import DataError
from prefero.tables._cells import need, numbers_of, texts_of

if TYPE_CHECKING:
    import pandas as pd

Columns = str | Iterable[str]


@dataclass(frozen=True)
class BadCell:
    """A cell that is no finite number where one was expected.

    Examples
    --------
    >>> print(BadCell(3, "price", "cheap"))
    column 'price' holds 'cheap', which is no finite number.
    """

    row: int
    column: str
    cell: str

    def __str__(self) -> str:
        return f"column {self.column!r} holds {self.cell!r}, which is no finite number."


@dataclass(frozen=True)
class Declared:
    r"""What a file says of itself, so that nobody need say it.

    Attributes
    ----------
    labels : list of str, optional
        The columns that hold rankings.
    format : str, optional
        What they hold, as for `read_rankings`.
    higher_is_better : bool, optional
        The direction of scores.
    names : tuple of str
        Columns that name a row and are no features.
    group, grade : str, optional
        The columns of the set that an object belongs to, and of its grade.
    sparse : bool
        Whether a column that the file does not mention is all zeros.
    folds : ndarray of shape (n_rows, n_repetitions), optional
        The official folds of a cross-validation, for `sklearn.model_selection.PredefinedSplit`.
    cutoff : float, optional
        The run time at which a run was ended.

    Examples
    --------
    >>> import io
    >>> from prefero.tables import read_table
    >>> file = io.BytesIO(b"2 qid:1 1:0.5\n0 qid:1 1:0.1\n")
    >>> read_table(file).declared.group
    'query'
    """

    labels: list[str] | None = None
    format: str | None = None
    higher_is_better: bool | None = None
    names: tuple[str, ...] = ()
    group: str | None = None
    grade: str | None = None
    sparse: bool = False
    folds: Indices | None = None
    cutoff: float | None = None


NOTHING = Declared()


@dataclass(frozen=True)
class Table:
    """A table, and where it came from.

    Attributes
    ----------
    frame : DataFrame
        The cells: texts if the file is one of text, else with the types of the file.
    source : str
        The file, as errors call it.
    lines : ndarray of shape (n_rows,), optional
        The line of the file on which each row begins; None if it has no lines.
    declared : Declared
        What the file says of itself.
    note : str
        What was found out about the file that its owner may want to know; "" if nothing.
    first_row : int
        The number of the first row in the file, of which this may be a part.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"id": ["u", "v"], "y_a": ["1", "NA"], "y_b": ["2", "x"]}))
    >>> table.columns("y_*")
    ['y_a', 'y_b']
    >>> table.numbers("y_a")
    array([[ 1.],
           [nan]])
    >>> table.numbers("y_*")
    Traceback (most recent call last):
        ...
    prefero.exceptions.DataError: table: row 2: column 'y_b' holds 'x', which is no finite number.
    """

    frame: "pd.DataFrame"
    source: str = "table"
    lines: Indices | None = None
    declared: Declared = NOTHING
    note: str = ""
    first_row: int = 0

    def __post_init__(self) -> None:
        for name, n in Counter(map(str, self.frame.columns)).items():
            if n > 1:
                raise DataError(f"column {name!r} occurs twice: rename one.", self.source, 1)

    def __len__(self) -> int:
        return len(self.frame)

    def error(self, problem: str, row: int | None = None, others: Sequence[int] = ()) -> DataError:
        """Return an error about the table, or about one row of it and some others."""
        problem = readable(problem)
        if row is None:
            return DataError(problem, self.source)
        # People count from 1.
        rows = self.first_row + 1 + np.arange(len(self))
        numbers = rows if self.lines is None else self.lines
        if also := [int(numbers[other]) for other in others]:
            problem = more_of(problem, also, "row" if self.lines is None else "line")
        if self.lines is None:
            return DataError(f"row {numbers[row]}: {problem}", self.source)
        return DataError(problem, self.source, int(numbers[row]))

    def columns(self, wanted: Columns) -> list[str]:
        """Return the columns that names and patterns such as 'y_*', or a list of them, mean."""
        if isinstance(wanted, str):
            wanted = list(filter(None, map(str.strip, wanted.split(","))))
        names = dict.fromkeys(map(str, self.frame.columns))
        there_are = f"there are {listed(names)}."
        chosen: dict[str, None] = {}
        for pattern in wanted:
            found = [pattern] if pattern in names else fnmatch.filter(names, pattern)
            if not found:
                near = did_you_mean(pattern, names)
                raise self.error(f"no column is named {pattern!r}{near}; {there_are}")
            chosen.update(dict.fromkeys(found))
        if not chosen:
            raise self.error(f"the name of a column is missing; {there_are}")
        return list(chosen)

    def column(self, wanted: str) -> str:
        """Return the one column that a name or pattern means."""
        found = self.columns(wanted)
        if len(found) > 1:
            raise self.error(f"{wanted!r} means {len(found)} columns, but one was expected.")
        return found[0]

    def bad_cells(self, columns: Columns) -> list[BadCell]:
        """Return the cells that are neither finite numbers nor missing."""
        return [
            BadCell(int(row), name, str(self.frame[name].iloc[row]))
            for name in self.columns(columns)
            for row in numbers_of(self.frame[name])[1]
        ]

    def numbers(self, columns: Columns) -> Values:
        """Return columns as numbers, NaN for missing, refusing cells that are none."""
        names = self.columns(columns)
        values, wrong = np.empty((len(self), len(names))), {}
        for j, name in enumerate(names):
            values[:, j], bad = numbers_of(self.frame[name])
            if len(bad):
                wrong[name] = bad
        if wrong:
            raise self._no_numbers(wrong)
        return values

    def _no_numbers(self, wrong: Mapping[str, Indices]) -> DataError:
        """An error about all cells that are no numbers, the first of a few columns told."""
        (name, bad), *others = wrong.items()
        cell = BadCell(int(bad[0]), name, str(self.frame[name].iloc[bad[0]]))
        problem = str(cell)
        if others:
            told = listed(
                (f"{other!r} ({self.frame[other].iloc[rows[0]]!r})" for other, rows in others), 5
            )
            problem = f"{problem.removesuffix('.')}, and neither do {told}."
        return self.error(problem, cell.row, bad[1:].tolist())

    def weights(self, column: str) -> Values:
        """Return a column as weights, of which none may be missing or negative."""
        values = self.numbers(column)[:, 0]
        wrong = np.flatnonzero(~(values >= 0)).tolist()
        if wrong:
            problem = f"the weight in column {column!r} is missing or negative."
            raise self.error(problem, wrong[0], wrong[1:])
        return values

    def features(
        self, columns: Columns, categorical: Columns | None = None, *, narrow: bool = False
    ) -> "pd.DataFrame":
        """Return columns as features: numbers, or texts with NaN for missing.

        A column that mixes numbers with anything else is refused unless ``categorical`` names it: a
        typo must not turn a measurement into a set of words. With ``narrow``, numbers of single
        precision stay what they are, and take no more memory.
        """
        declared = set() if categorical is None else set(self.columns(categorical))
        features: dict[str, Any] = {}
        mixed: dict[str, Indices] = {}
        for name in self.columns(columns):
            values, bad = numbers_of(self.frame[name])
            if name not in declared and len(bad) and not np.isnan(values).all():
                mixed[name] = bad
            words = name in declared or len(bad) > 0
            if words:
                features[name] = texts_of(self.frame[name])
            else:
                kept = narrow and self.frame[name].dtype == np.float32
                features[name] = self.frame[name] if kept else values
        if mixed:
            raise self._mixed(mixed)
        return need("pandas").DataFrame(features, index=self.frame.index, copy=False)

    def _mixed(self, mixed: Mapping[str, Indices]) -> DataError:
        """An error about all columns that hold numbers and a few other things."""
        (name, bad), *others = mixed.items()
        cell = BadCell(int(bad[0]), name, str(self.frame[name].iloc[bad[0]]))
        names = ",".join(mixed)
        remedy = f"correct it or leave it empty, or add categorical={names!r} if they are names."
        if not others:
            problem = f"{cell!s} Other cells of the column are numbers: {remedy}"
        else:
            told = listed(
                (f"{other!r} ({self.frame[other].iloc[rows[0]]!r})" for other, rows in others), 5
            )
            problem = f"{cell!s} Other cells of the column are numbers, as in {told}: {remedy}"
        return self.error(problem, cell.row, bad[1:].tolist())

    def kind(self, column: str) -> str:
        """Return in words what a column holds: numbers, texts or a mixture, and how many."""
        values, bad = numbers_of(self.frame[column])
        texts = texts_of(self.frame[column])
        numbers = int(np.count_nonzero(~np.isnan(values)))
        kind = f"text, {texts.nunique()} values" if len(bad) else "numbers"
        if numbers and len(bad):
            kind = f"{numbers} numbers, {len(bad)} texts"
        missing = int(texts.isna().sum())
        return f"{kind}, {missing} missing" if missing else kind

    def blanked(self, cells: Iterable[BadCell]) -> "Table":
        """Return the table with some cells made missing."""
        frame = self.frame.astype({cell.column: object for cell in cells})
        for cell in cells:
            frame.loc[frame.index[cell.row], cell.column] = None
        return replace(self, frame=frame)

    def without(self, *columns: str | None) -> "Table":
        """Return the table without some columns; None is no column."""
        return replace(self, frame=self.frame.drop(columns=[c for c in columns if c is not None]))

    def parts(self, n_rows: int) -> Iterator["Table"]:
        """Yield the table some rows at a time."""
        for first in range(0, len(self), n_rows):
            rows = slice(first, first + n_rows)
            folds = self.declared.folds
            yield replace(
                self,
                frame=self.frame[rows].reset_index(drop=True),
                lines=None if self.lines is None else self.lines[rows],
                declared=replace(self.declared, folds=None if folds is None else folds[rows]),
                first_row=self.first_row + first,
            )


def more_of(problem: str, lines: Sequence[int], word: str = "line") -> str:
    """Return a sentence about one line with a word on the others that are wrong too."""
    if not lines:
        return problem
    words = f"{word} {lines[0]} is" if len(lines) == 1 else f"{word}s {listed(lines, 5)} are"
    return f"{problem.removesuffix('.')}; {words} wrong too."


def listed(things: Iterable[Any], most: int = 20) -> str:
    """Return things with commas between, and how many more there are."""
    words = [str(thing) for thing in things]
    rest = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + rest


def readable(problem: str) -> str:
    """Return a sentence that may quote a file without what a terminal or a person cannot read."""
    plain = "".join(char if char.isprintable() else repr(char)[1:-1] for char in problem)
    return re.sub(r"(\S{40})\S{40,}", r"\1...", plain)

"""A table: its cells, its column names, and where each row stands in its file."""

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prefero._names import did_you_mean
from prefero._optional import require
from prefero._typing import Indices, Values
from prefero.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

Columns = str | Iterable[str]


need = partial(require, extra="tables", purpose="Reading and writing tables")

_MOST_EMPTY, _EMPTY_PER_LINE = 16_000_000, 20

MISSING = frozenset(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")
)


def numbers_of(cells: "pd.Series[Any]") -> tuple[Values, Indices]:
    """Return cells as numbers, NaN where missing, and the rows whose cell is neither.

    Parameters
    ----------
    cells : Series
        Texts, numbers or a mixture.

    Returns
    -------
    values : ndarray of shape (n_rows,)
        Finite numbers, and NaN.
    bad : ndarray of int
        The rows whose cell is neither a finite number nor missing.
    """
    if need("pandas").api.types.is_numeric_dtype(cells.dtype):
        values = cells.to_numpy(np.float64, na_value=np.nan)
    else:
        texts = _texts(cells)
        try:
            values = np.fromiter(map(float, texts), np.float64, len(texts))
            plain = not np.isnan(values).any() and "_" not in "".join(texts)
        except ValueError:
            plain = False
        values = values if plain else _each_once(_number, texts).astype(np.float64)
    bad = np.flatnonzero(np.isinf(values))
    return np.where(np.isinf(values), np.nan, values), bad


def texts_of(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return cells as texts, NaN where missing."""
    texts = _each_once(lambda text: np.nan if text.strip() in MISSING else text, _texts(cells))
    return need("pandas").Series(texts, index=cells.index, dtype=object)


def _each_once(function: Callable[[str], Any], texts: list[str]) -> NDArray[Any]:
    """Apply a function to texts, to equal ones only once."""
    codes, different = need("pandas").factorize(np.array(texts, dtype=object))
    results = np.empty(len(different), dtype=object)
    results[:] = [function(text) for text in different]
    return results[codes]


def names_of(cells: "pd.Series[Any]") -> list[Any]:
    """Return cells as label names: any text may be one; only an empty cell is missing."""
    return [None if text.strip() == "" else text for text in _texts(cells)]


def _texts(cells: "pd.Series[Any]") -> list[str]:
    """The cells as texts; '' for missing values of pandas, Python or Excel."""
    plain = cells.tolist()
    if set(map(type, plain)) <= {str}:
        return plain
    return [
        cell if isinstance(cell, str) else "" if absent else str(cell)
        for cell, absent in zip(plain, cells.isna().tolist(), strict=True)
    ]


def _number(text: str) -> float:
    """Parse a text: NaN if it is missing, infinity if it is no number."""
    text = text.strip()
    if text in MISSING:
        return np.nan
    try:
        value = np.inf if "_" in text else float(text)
    except ValueError:
        return np.inf
    return np.inf if np.isnan(value) else value


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
    r"""What a file declares about itself.

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
class DataTable:
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
    >>> table = DataTable(pd.DataFrame({"id": ["u", "v"], "y_a": ["1", "NA"], "y_b": ["2", "x"]}))
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
        """Return the columns that match names or patterns such as 'y_*'."""
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
        """Return the one column that matches a name or pattern."""
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
        """Return columns as numbers, NaN where missing; refuse cells that are no numbers."""
        names = self.columns(columns)
        values, wrong = np.empty((len(self), len(names))), {}
        for j, name in enumerate(names):
            values[:, j], bad = numbers_of(self.frame[name])
            if len(bad):
                wrong[name] = bad
        if wrong:
            raise self._bad_columns(wrong)
        return values

    def _bad_columns(self, bad: Mapping[str, Indices], *, mixed: bool = False) -> DataError:
        """An error about columns with cells that are no numbers, or that mix both."""
        (name, rows), *others = bad.items()
        cell = BadCell(int(rows[0]), name, str(self.frame[name].iloc[rows[0]]))
        problem = str(cell)
        first = (f"{other!r} ({self.frame[other].iloc[at[0]]!r})" for other, at in others)
        shown = listed(first, 5)
        if mixed:
            names = ",".join(bad)
            problem += (
                f" Other cells of the column are numbers{', as in ' + shown if others else ''}: "
                f"correct it or leave it empty, or add categorical={names!r} if they are names."
            )
        elif others:
            problem = f"{problem.removesuffix('.')}, and neither do {shown}."
        return self.error(problem, cell.row, rows[1:].tolist())

    def weights(self, column: str) -> Values:
        """Return a column as weights; none may be missing or negative."""
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
        typo must not turn a measurement into a set of categories. With ``narrow``, numbers in
        single precision stay so, to save memory.
        """
        declared = set() if categorical is None else set(self.columns(categorical))
        features: dict[str, Any] = {}
        mixed: dict[str, Indices] = {}
        for name in self.columns(columns):
            cells = self.frame[name]
            if name in declared:
                features[name] = texts_of(cells)
                continue
            values, bad = numbers_of(cells)
            if len(bad):
                features[name] = texts_of(cells)
                if not np.isnan(values).all():
                    mixed[name] = bad
            else:
                features[name] = cells if narrow and cells.dtype == np.float32 else values
        if mixed:
            raise self._bad_columns(mixed, mixed=True)
        return need("pandas").DataFrame(features, index=self.frame.index, copy=False)

    def kind(self, column: str) -> str:
        """Describe what a column holds: numbers, texts or a mixture, and how many."""
        values, bad = numbers_of(self.frame[column])
        texts = texts_of(self.frame[column])
        numbers = int(np.count_nonzero(~np.isnan(values)))
        kind = f"text, {texts.nunique()} values" if len(bad) else "numbers"
        if numbers and len(bad):
            kind = f"{numbers} numbers, {len(bad)} texts"
        missing = int(texts.isna().sum())
        return f"{kind}, {missing} missing" if missing else kind

    def blanked(self, cells: Iterable[BadCell]) -> "DataTable":
        """Return the table with some cells made missing."""
        frame = self.frame.astype({cell.column: object for cell in cells})
        for cell in cells:
            frame.loc[frame.index[cell.row], cell.column] = None
        return replace(self, frame=frame)

    def without(self, *columns: str | None) -> "DataTable":
        """Return the table without some columns; None is skipped."""
        return replace(self, frame=self.frame.drop(columns=[c for c in columns if c is not None]))

    def parts(self, n_rows: int) -> Iterator["DataTable"]:
        """Yield the table in parts of ``n_rows`` rows."""
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


def refuse_sparse(n_lines: int, n_rows: int, n_labels: int) -> None:
    """Refuse lines that name so many rows and labels that nearly all cells would be empty."""
    if n_rows * n_labels > _MOST_EMPTY + _EMPTY_PER_LINE * n_lines:
        raise ValueError(
            f"{n_lines:,} lines name {n_rows:,} rankings of {n_labels:,} labels, nearly all of "
            "which they leave out: do the columns hold labels?"
        )


def more_of(problem: str, lines: Sequence[int], word: str = "line") -> str:
    """Add to a sentence about one line which other lines are wrong too."""
    if not lines:
        return problem
    words = f"{word} {lines[0]} is" if len(lines) == 1 else f"{word}s {listed(lines, 5)} are"
    return f"{problem.removesuffix('.')}; {words} wrong too."


def listed(items: Iterable[Any], most: int = 20) -> str:
    """Return the first ``most`` items separated by commas, and how many more there are."""
    words = [str(item) for item in items]
    rest = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + rest


def readable(problem: str) -> str:
    """Escape unprintable characters and shorten very long words of a sentence."""
    plain = "".join(char if char.isprintable() else repr(char)[1:-1] for char in problem)
    return re.sub(r"(\S{40})\S{40,}", r"\1...", plain)

"""The tidy table that experiments write and everything after them reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["Table"]

Row = dict[str, Any]


class Table(Sequence[Row]):
    """Rows with the same named columns: a list of dicts that can also be read by column.

    Parameters
    ----------
    rows : iterable of mappings
        One mapping a row, all with the same keys.
    columns : sequence of str, optional
        The columns and their order; by default the keys of the first row.

    Examples
    --------
    >>> table = Table([{"ranker": "tree", "tau": 0.5}, {"ranker": "forest", "tau": 0.75}])
    >>> table["tau"]
    array([0.5 , 0.75])
    >>> table[1]
    {'ranker': 'forest', 'tau': 0.75}
    >>> print(table.where(ranker="forest").to_text())
    | ranker |   tau |
    |--------|------:|
    | forest | 0.750 |
    """

    def __init__(
        self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None
    ) -> None:
        rows = list(rows)
        self.columns = tuple(columns or (rows[0] if rows else ()))
        self._rows = [{name: row[name] for name in self.columns} for row in rows]

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> "Table": ...
    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...

    def __getitem__(self, key: Any) -> Any:
        """Return a row by its number, some rows by a slice, or a column by its name."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice):
            return Table(self._rows[key], self.columns)
        return self._rows[key]

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise KeyError(f"The table has no column {name!r}, only {', '.join(self.columns)}.")
        values = [row[name] for row in self._rows]
        return np.array(values, dtype=object if isinstance(next(iter(values), ""), str) else None)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __add__(self, other: "Table") -> "Table":
        """Append the rows of another table; a column that one of them lacks is NaN there."""
        columns = tuple(dict.fromkeys((*self.columns, *other.columns)))
        blank = dict.fromkeys(columns, np.nan)
        return Table([blank | row for row in (*self._rows, *other._rows)], columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        # repr is what makes one NaN equal another.
        return self.columns == other.columns and repr(self._rows) == repr(other._rows)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def where(self, **values: Any) -> "Table":
        """Return the rows whose columns have the given values.

        Parameters
        ----------
        **values
            The value to insist on, by column.

        Returns
        -------
        Table
            The rows that are left.
        """
        kept = (row for row in self if all(row[name] == value for name, value in values.items()))
        return Table(kept, self.columns)

    def groups(self, *names: str) -> dict[tuple[Any, ...], "Table"]:
        """Split the rows by their values in some columns.

        Parameters
        ----------
        *names : str
            The columns to split by.

        Returns
        -------
        dict of tuple to Table
            The rows of each combination of values, in the order of first appearance.
        """
        members: dict[tuple[Any, ...], list[Row]] = {}
        for row in self:
            members.setdefault(tuple(row[name] for name in names), []).append(row)
        return {key: Table(rows, self.columns) for key, rows in members.items()}

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            The same rows and columns.
        """
        import pandas as pd

        return pd.DataFrame(self._rows, columns=list(self.columns))

    def to_text(self, digits: int = 3) -> str:
        """Return the table as text that is also a Markdown table.

        Parameters
        ----------
        digits : int, default=3
            Digits after the point of real numbers.

        Returns
        -------
        str
            One line a row, numbers to the right.
        """
        lines = [list(self.columns), *([_text(v, digits) for v in row.values()] for row in self)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        right = [any(isinstance(row[name], int | float) for row in self) for name in self.columns]
        rule = [
            "-" * (width + 1) + (":" if to_right else "-")
            for width, to_right in zip(widths, right, strict=True)
        ]
        head, *body = (_line(line, widths, right) for line in lines)
        return "\n".join([head, f"|{'|'.join(rule)}|", *body])


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = (
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    )
    return f"| {' | '.join(padded)} |"


def _text(value: Any, digits: int) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else number_text(value, digits)
    return str(value).replace("|", "\\|")


def number_text(value: float, digits: int = 3) -> str:
    """Return a number with some digits after the point; one that they cannot show is no zero."""
    least = 10.0**-digits
    return f"<{least:.{digits}f}" if 0 < value < least / 2 else f"{value:.{digits}f}"

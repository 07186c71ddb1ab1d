"""The errors of this package that a program may want to tell apart."""

__all__ = ["DataError", "ModelFileError", "RowError"]


class DataError(ValueError):
    """A file or table does not hold what it should; the message says where and what.

    Parameters
    ----------
    problem : str
        One sentence: what was expected, what was found, what to do.
    source : str, optional
        The file.
    line : int, optional
        The line in it, counted from 1.

    Examples
    --------
    >>> str(DataError("Column 'x' is missing.", "data.csv", 3))
    "data.csv:3: Column 'x' is missing."
    """

    def __init__(self, problem: str, source: str | None = None, line: int | None = None) -> None:
        self.problem, self.source, self.line = problem, source, line
        place = "".join(f"{part}:" for part in (source, line) if part is not None)
        super().__init__(f"{place} {problem}" if place else problem)

    def __reduce__(self) -> tuple[type, tuple[str, str | None, int | None]]:
        return type(self), (self.problem, self.source, self.line)


class RowError(ValueError):
    """One row of a matrix or list is wrong.

    Parameters
    ----------
    problem : str
        One sentence: what was expected, what was found, what to do.
    name : str
        What the user calls the matrix.
    row : int
        The row, counted from 0.

    Examples
    --------
    >>> str(RowError("label 'a' occurs twice.", "orders", 3))
    "orders[3]: label 'a' occurs twice."
    """

    def __init__(self, problem: str, name: str, row: int) -> None:
        self.problem, self.name, self.row = problem, name, row
        super().__init__(f"{name}[{row}]: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, str, int]]:
        return type(self), (self.problem, self.name, self.row)


class ModelFileError(ValueError):
    """A file is not a model this version can load safely.

    Examples
    --------
    >>> import tempfile
    >>> from prefero import load
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         load(file.name)
    ...     except ModelFileError as error:
    ...         print("refused")
    refused
    """

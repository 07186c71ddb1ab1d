"""Readers of files that hold label-ranking data in the layouts of the literature."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from prefero._files import read_text
from prefero.datasets._bunch import ranking_bunch
from prefero.datasets._columns import encode_columns
from prefero.exceptions import DataError, RowError
from prefero.rankings import check_ranks, ranks_from_orders, ranks_from_scores

PathLike = str | os.PathLike[str]


def read_kebi(
    path: PathLike,
    *,
    higher_is_better: bool | None = None,
    missing_score: float | None = None,
    as_frame: bool = False,
) -> Bunch:
    """Read the layout of the KEBI label-ranking collection.

    The first line holds the numbers of instances, features and labels; each other line the
    features of an instance, then a number for each label, with commas between.

    Parameters
    ----------
    path : str or path-like
        The file.
    higher_is_better : bool, optional
        The direction of the numbers if they are scores. By default they are ranks.
    missing_score : float, optional
        The score that stands for a missing one.
    as_frame : bool, default=False
        Whether ``data`` and ``target`` are pandas tables.

    Returns
    -------
    Bunch
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names``, ``DESCR``, and
        ``scores`` if the file holds scores.
    """
    lines = read_text(path).rstrip().splitlines()
    n_features, n_labels = _kebi_sizes(lines, path)
    values = _numbers(lines, path, n_features + n_labels)
    data, target = values[:, :n_features], values[:, n_features:]
    try:
        ranks = _ranks_of(target, higher_is_better, missing_score)
    except RowError as error:
        raise DataError(error.problem, str(path), error.row + 2) from error
    bunch = ranking_bunch(
        data,
        ranks,
        feature_names=[f"A{j + 1}" for j in range(n_features)],
        label_names=[f"L{j + 1}" for j in range(n_labels)],
        description=f"Read from {Path(path).name}.",
        as_frame=as_frame,
    )
    if higher_is_better is not None:
        bunch.scores = _blank(target, missing_score)
    return bunch


def read_orders(
    path: PathLike,
    *,
    column: str | None = None,
    labels: Sequence[str] | None = None,
    letters: bool = False,
    as_frame: bool = False,
) -> Bunch:
    """Read a CSV file of features with one column of orders such as ``b > a ~ c``.

    Parameters
    ----------
    path : str or path-like
        The file, with names in its first line.
    column : str, optional
        The column that holds the orders. By default the last one.
    labels : sequence of str, optional
        All labels. By default those that occur, sorted.
    letters : bool, default=False
        Whether every label is one letter and letters written together are tied: ``b>a>cd``.
    as_frame : bool, default=False
        Whether ``data`` and ``target`` are pandas tables.

    Returns
    -------
    Bunch
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names``, ``DESCR`` and
        ``categories``, which lists what the codes of each nominal feature stand for.
    """
    header, rows, lines = _csv_rows(path)
    if column is not None and column not in header:
        raise DataError(f"there is no column {column!r} in {', '.join(header)}.", str(path), 1)
    at = len(header) - 1 if column is None else header.index(column)
    texts = [row.pop(at) for row in rows]
    names = [name for j, name in enumerate(header) if j != at]
    orders = [_tied_letters(text) for text in texts] if letters else texts
    try:
        ranks, found = ranks_from_orders(orders, labels)
    except RowError as error:
        raise DataError(error.problem, str(path), lines[error.row]) from error
    data, categories = encode_columns(rows, names)
    bunch = ranking_bunch(
        data,
        ranks,
        feature_names=names,
        label_names=list(found),
        description=f"Read from {Path(path).name}.",
        as_frame=as_frame,
    )
    bunch.categories = categories
    return bunch


def _kebi_sizes(lines: list[str], path: PathLike) -> tuple[int, int]:
    """The numbers of features and labels, once that of instances is found to be true."""
    first = lines[0].split(",") if lines else []
    if len(first) != 3 or not all(number.strip().isdigit() for number in first):
        problem = "the first line must hold the numbers of instances, features and labels."
        raise DataError(problem, str(path), 1)
    n, n_features, n_labels = (int(number) for number in first)
    if not 0 < n == len(lines) - 1:
        problem = f"the first line promises {n} instances, but {len(lines) - 1} follow."
        raise DataError(problem, str(path), len(lines))
    return n_features, n_labels


def _numbers(lines: list[str], path: PathLike, width: int) -> NDArray[np.float64]:
    """The numbers after the first line; the line to blame is sought only if there is one."""
    try:
        values = np.loadtxt(lines[1:], delimiter=",", ndmin=2, comments=None)
    except ValueError:
        values = None
    if values is not None and values.shape[1] == width:
        return values
    for line, text in enumerate(lines[1:], start=2):
        cells = text.split(",")
        if len(cells) != width:
            raise DataError(f"{width} numbers were expected, got {len(cells)}.", str(path), line)
        for cell in cells:
            _refuse_text(cell, str(path), line)
    raise DataError(f"{width} numbers a line were expected.", str(path))


def _refuse_text(cell: str, path: str, line: int) -> None:
    try:
        float(cell)
    except ValueError:
        raise DataError(f"{cell.strip()!r} is not a number.", path, line) from None


def _blank(scores: NDArray[np.float64], missing: float | None) -> NDArray[np.float64]:
    return scores if missing is None else np.where(scores == missing, np.nan, scores)


def _ranks_of(
    target: NDArray[np.float64], higher_is_better: bool | None, missing: float | None
) -> NDArray[np.float64]:
    if higher_is_better is None:
        return check_ranks(target)
    return ranks_from_scores(_blank(target, missing), higher_is_better=higher_is_better)


def _csv_rows(path: PathLike) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows and the line each row ends on, all rows as long as the header."""
    reader = csv.reader(read_text(path).splitlines(keepends=True), skipinitialspace=True)
    header: list[str] = next(reader, [])
    if not header:
        raise DataError("the file is empty.", str(path), 1)
    rows, lines = [], []
    for row in reader:
        if row and len(row) != len(header):
            problem = f"{len(header)} cells were expected, got {len(row)}."
            raise DataError(problem, str(path), reader.line_num)
        if row:
            rows.append(row)
            lines.append(reader.line_num)
    if not rows:
        raise DataError("there is no row after the names.", str(path), 1)
    return header, rows, lines


def _tied_letters(text: str) -> list[Any]:
    return [tuple(place.strip()) for place in text.split(">")]

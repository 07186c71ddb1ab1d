"""The XARFF layout: an ARFF file with an attribute of the type ``ranking``."""

import re
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from prefero._files import read_text
from prefero.datasets._bunch import ranking_bunch
from prefero.datasets._columns import MISSING, encode_columns
from prefero.datasets._files import PathLike
from prefero.exceptions import DataError, RowError
from prefero.rankings import pairs_from_ranks, ranks_from_orders, ranks_from_pairs

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CELL = re.compile(rf"""(?:{_QUOTED}|[^,'"])+""")
_ATTRIBUTE = re.compile(
    rf"@attribute\s+(?P<name>{_QUOTED}|\S+)\s+(?P<kind>\w*)\s*(?:\{{(?P<values>.*)\}})?\s*$",
    re.IGNORECASE,
)
_NUMERIC = ("numeric", "real", "integer")


@dataclass
class _Header:
    names: list[str] = field(default_factory=list)
    categories: dict[str, list[str]] = field(default_factory=dict)
    ranking: int | None = None
    labels: list[str] = field(default_factory=list)


def read_xarff(path: PathLike, *, as_frame: bool = False) -> Bunch:
    """Read an XARFF file.

    XARFF is ARFF with one attribute declared as ``@attribute L ranking {a,b,c}``, whose
    values are orders such as ``b>a>c``. A value may leave labels out and may consist of
    several orders with ``|`` between, if together they are one order with ties.

    Parameters
    ----------
    path : str or path-like
        The file.
    as_frame : bool, default=False
        Whether ``data`` and ``target`` are pandas tables.

    Returns
    -------
    Bunch
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names``, ``DESCR`` and
        ``categories``, which lists what the codes of each nominal feature stand for.
    """
    lines = read_text(path).splitlines()
    header, start = _read_header(lines, str(path))
    rows, at = _read_rows(lines, start, header, str(path))
    if header.ranking is None:
        raise DataError("no attribute has the type ranking: @attribute L ranking {a,b}.", str(path))
    texts = [row.pop(header.ranking) for row in rows]
    names = [name for j, name in enumerate(header.names) if j != header.ranking]
    try:
        ranks = _ranks(texts, header.labels)
    except RowError as error:
        raise DataError(error.problem, str(path), at[error.row]) from error
    data, categories = encode_columns(rows, names, header.categories)
    bunch = ranking_bunch(
        data,
        ranks,
        feature_names=names,
        label_names=header.labels,
        description=f"Read from {Path(path).name}.",
        as_frame=as_frame,
    )
    bunch.categories = categories
    return bunch


def _read_header(lines: list[str], path: str) -> tuple[_Header, int]:
    """The declarations, and the index of the first line of data."""
    header = _Header()
    for index, text in enumerate(map(str.strip, lines)):
        keyword = text.split(maxsplit=1)[0].lower() if text else ""
        if keyword == "@data":
            return header, index + 1
        if keyword == "@attribute":
            _declare(header, text, path, index + 1)
        elif text and keyword != "@relation" and not text.startswith("%"):
            raise DataError(f"{text[:40]!r} is no declaration of an ARFF file.", path, index + 1)
    raise DataError("the line @data is missing.", path, len(lines) or 1)


def _declare(header: _Header, text: str, path: str, line: int) -> None:
    match = _ATTRIBUTE.match(text)
    if match is None or (match["values"] is None and match["kind"].lower() not in _NUMERIC):
        problem = "an attribute must be numeric, nominal {a,b} or a ranking {a,b}"
        raise DataError(f"{problem}, got {text!r}.", path, line)
    name = _unquote(match["name"])
    if name in header.names:
        raise DataError(f"attribute {name!r} is declared twice.", path, line)
    header.names.append(name)
    if match["values"] is None:
        return
    members = _cells(match["values"])
    if match["kind"].lower() != "ranking":
        header.categories[name] = members
    elif header.ranking is None:
        header.ranking, header.labels = len(header.names) - 1, members
    else:
        raise DataError("a second attribute has the type ranking.", path, line)


def _read_rows(
    lines: list[str], start: int, header: _Header, path: str
) -> tuple[list[list[str]], list[int]]:
    """The cells of each row of data, and its line."""
    rows, at = [], []
    for line, text in enumerate(lines[start:], start=start + 1):
        if not text.strip() or text.lstrip().startswith("%"):
            continue
        if text.lstrip().startswith("{"):
            raise DataError("sparse rows are not supported.", path, line)
        row = _cells(text)
        if len(row) != len(header.names):
            problem = f"{len(header.names)} values were expected, got {len(row)}."
            raise DataError(problem, path, line)
        _refuse_undeclared(row, header, path, line)
        rows.append(row)
        at.append(line)
    if not rows:
        raise DataError("there is no row after @data.", path, len(lines))
    return rows, at


def _refuse_undeclared(row: list[str], header: _Header, path: str, line: int) -> None:
    for j, (cell, name) in enumerate(zip(row, header.names, strict=True)):
        if cell in MISSING or j == header.ranking:
            continue
        declared = header.categories.get(name)
        if declared is None:
            try:
                float(cell)
            except ValueError:
                problem = f"attribute {name!r} is numeric, but holds {cell!r}."
                raise DataError(problem, path, line) from None
        elif cell not in declared:
            raise DataError(f"{cell!r} is not declared for attribute {name!r}.", path, line)


def _ranks(texts: list[str], labels: list[str]) -> NDArray[np.float64]:
    """The ranks of every row; rows of several orders go through their pairs."""
    orders = [None if text in MISSING or "|" in text else text for text in texts]
    ranks, _ = ranks_from_orders(orders, labels)
    for row, text in enumerate(texts):
        if "|" in text:
            try:
                parts, _ = ranks_from_orders(text.split("|"), labels)
                pairs = list(chain.from_iterable(pairs_from_ranks(parts, labels)))
                ranks[row] = ranks_from_pairs([pairs], labels)[0][0]
            except RowError as error:
                raise RowError(error.problem, "orders", row) from error
    return ranks


def _cells(text: str) -> list[str]:
    """Split at commas outside quotes."""
    return [_unquote(cell) for cell in _CELL.findall(text)]


def _unquote(cell: str) -> str:
    cell = cell.strip()
    if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", cell[1:-1])
    return cell

"""Graded objects of queries: svmlight with qid (LETOR), or with sizes in a ``.query`` file."""

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from prefero._files import read_text
from prefero._typing import Indices, Values
from prefero.exceptions import DataError
from prefero.tables._format import FileFormat, SourceFile
from prefero.tables._table import DataTable, Declared, need

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LINE = re.compile(rf"\s*{_NUMBER}(?:\s+qid:\d{{1,18}})?(?:\s+\d{{1,9}}:{_NUMBER})*\s*(?:#.*)?")
_BEGINS = re.compile(rf"(?:\s*#[^\n]*\n)*\s*{_NUMBER}[ \t]+(?:qid:\d+|\d+:{_NUMBER})\s".encode())
# Up to this number, features that no object has are columns too.
_MOST_IMPLIED = 1000


def read_letor(
    *paths: str | PathLike[str], n_features: int | None = None, max_cells: int | None = None
) -> tuple[Values, Values, Indices]:
    r"""Read graded objects of queries from files of the LETOR (svmlight with qid) format.

    Parameters
    ----------
    *paths : str or path
        The files, read one after the other. Where a file names no queries, a file of the same
        name with ``.query`` after it, or in place of its ending, holds their sizes.
    n_features : int, optional
        The number of features, if a file may lack the last ones.
    max_cells : int, optional
        How many numbers the files may make together, as for `read_table`.

    Returns
    -------
    X : ndarray of shape (n_objects, n_features)
        Features.
    grades : ndarray of shape (n_objects,)
        Relevance, larger is better: `prefero.ordering.ranks_in_queries` makes ranks of it.
    groups : ndarray of shape (n_objects,)
        Query ids.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("2 qid:7 1:0.5 2:1 # doc\n0 qid:7 2:0.25\n")
    ...     file.flush()
    ...     X, grades, groups = read_letor(file.name)
    >>> X, grades, groups
    (array([[0.5 , 1.  ],
            [0.  , 0.25]]), array([2., 0.]), array([7, 7]))
    """
    if not paths:
        raise ValueError("read_letor needs the path of at least one file.")
    parts = []
    for path in map(Path, paths):
        with path.open("rb") as file:
            given = SourceFile(file, str(path), path=path, max_cells=max_cells)
            parts.append(_load(given))
            width = max(n_features or 0, *(part[0].shape[1] - 1 for part in parts))
            given.refuse_beyond(len(parts[-1][1]), width)
    if any(part[2] is None for part in parts):
        raise DataError("no line has a qid, and there is no .query file.", str(paths[0]))
    columns = np.arange(1, width + 1)
    X = np.vstack([_dense(part[0], columns) for part in parts])
    return X, np.concatenate([part[1] for part in parts]), np.concatenate([p[2] for p in parts])


def read(given: SourceFile, n_rows: int | None) -> Iterator[DataTable]:
    """Yield the table of a file: relevance, query, and features x1, x2, ...

    Of many features only those that some object has are columns: the file is sparse.
    """
    X, grades, groups = _load(given)
    used = np.unique(X.indices[X.data != 0])
    if X.shape[1] <= _MOST_IMPLIED:
        used = np.arange(0 if 0 in used else 1, X.shape[1])
    given.refuse_beyond(len(grades), len(used))
    dense = _dense(X, used)
    columns: dict[str, Any] = {"relevance": grades}
    if groups is not None:
        columns["query"] = groups
    columns |= {f"x{j}": dense[:, i] for i, j in enumerate(used.tolist())}
    declared = Declared(group=None if groups is None else "query", grade="relevance", sparse=True)
    lines = np.array([line for line, _ in _records(given)], dtype=np.int64)
    yield DataTable(need("pandas").DataFrame(columns), given.source, lines, declared)


def _load(given: SourceFile) -> tuple[Any, Values, Indices | None]:
    """The features, by their numbers in the file; the grades and, if there are any, queries."""
    from sklearn.datasets import load_svmlight_file  # a tenth of a second that few need

    with_queries = b"qid:" in given.head
    given.file.seek(0)
    try:
        found = load_svmlight_file(given.file, query_id=with_queries, zero_based=True)
    except (ValueError, OverflowError) as error:
        _refuse_lines(given, with_queries)
        raise given.error(f"this is no svmlight file ({error}).") from error
    X, grades = found[:2]
    if not np.isfinite(X.data).all() or not np.isfinite(grades).all():
        raise given.error("a number is infinite or no number.")
    if not len(grades):
        raise given.error("the file is empty.", 1)
    if not with_queries:
        return X, grades, _queries(given, len(grades))
    if len(found[2]) != len(grades):
        _refuse_lines(given, with_queries)
    return X, grades, found[2].astype(np.int64)


def _records(given: SourceFile) -> Iterator[tuple[int, str]]:
    """The lines that hold an object, without comments."""
    for line, text in enumerate(given.lines, start=1):
        record = text.partition("#")[0].strip()
        if record:
            yield line, record


def _refuse_lines(given: SourceFile, with_queries: bool) -> None:
    """Raise for the first line that is none of the format."""
    for line, record in _records(given):
        if _LINE.fullmatch(record) is None or with_queries != ("qid:" in record):
            query = " qid:QUERY" if with_queries else ""
            problem = f"'GRADE{query} FEATURE:NUMBER ...' was expected, got {record[:40]!r}."
            raise given.error(problem, line)
        features = [int(pair.partition(":")[0]) for pair in record.split()[1 + with_queries :]]
        if sorted(set(features)) != features:
            raise given.error("the numbers of the features must ascend.", line)


def _queries(given: SourceFile, n_rows: int) -> Indices | None:
    """The query of each row by the sizes in the file beside; None if there is no such file."""
    path = given.path
    if path is None:
        return None
    beside = path.with_name(f"{path.name}.query"), path.with_suffix(".query")
    for name in filter(Path.is_file, beside):
        sizes = read_text(name).split()
        wrong = next((size for size in sizes if not re.fullmatch(r"\d{1,9}", size)), None)
        if wrong is not None:
            raise DataError(f"{wrong[:40]!r} is no number of objects.", str(name))
        total = sum(map(int, sizes))
        if total != n_rows:
            problem = f"the sizes of the queries sum to {total}, but {given.source} has {n_rows}"
            raise DataError(f"{problem} objects.", str(name))
        return np.repeat(np.arange(len(sizes)), [int(size) for size in sizes])
    return None


def _dense(X: Any, columns: Indices) -> Values:
    """Return some columns of a sparse matrix, ascending; it may have a billion."""
    dense = np.zeros((X.shape[0], len(columns)))
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    at = np.searchsorted(columns, X.indices)
    known = np.isin(X.indices, columns)
    dense[rows[known], at[known]] = X.data[known]
    return dense


FORMAT = FileFormat(
    "svmlight",
    (".svm", ".svmlight", ".libsvm", ".letor"),
    holds=lambda given: _BEGINS.match(given.head) is not None,
    read=read,
)

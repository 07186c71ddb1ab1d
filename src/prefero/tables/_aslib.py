"""Scenarios of algorithm selection in the layout of ASlib: a folder with a description."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prefero._files import read_text
from prefero.exceptions import DataError
from prefero.tables._arff import parse
from prefero.tables._format import FileFormat, SourceFile
from prefero.tables._table import DataTable, Declared, need, numbers_of, refuse_sparse

if TYPE_CHECKING:
    import pandas as pd

DESCRIPTION = "description.txt"
_INSTANCE, _REPETITION, _PENALTY = "instance_id", "repetition", 10


def read(given: SourceFile, n_rows: int | None) -> Iterator[DataTable]:
    """Yield one table: the instance, its features, and the performance of every algorithm."""
    if given.path is None:
        raise given.error(f"a scenario is read from its folder, not from {DESCRIPTION} alone.")
    folder = given.path.parent
    described = _described(folder)
    runs = _arff(folder, "algorithm_runs", "algorithm", "runstatus")
    cutoff = _cutoff(described)
    measure = (described.get("performance_measures") or [""])[0]
    higher = (described.get("maximize") or [""])[0].lower() == "true"
    performance = _performance(runs, measure, described, cutoff, folder)
    features = _arff(folder, "feature_values").drop(columns=_REPETITION, errors="ignore")
    features = features.drop_duplicates(_INSTANCE).set_index(_INSTANCE)
    labels = [str(name) for name in performance.columns]
    clash = [name for name in labels if name in features.columns]
    if clash:
        raise given.error(f"{clash[0]!r} is both a feature and an algorithm: rename one.")
    frame = features.reindex(performance.index).join(performance).reset_index()
    declared = Declared(
        labels,
        "scores",
        higher,
        names=(_INSTANCE,),
        folds=_folds(folder, frame[_INSTANCE]),
        cutoff=cutoff,
    )
    yield DataTable(frame.rename(columns=str), str(folder), declared=declared)


def _described(folder: Path) -> dict[str, list[str]]:
    """The values at the top level of the description, which is YAML of a simple kind."""
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for line in read_text(folder / DESCRIPTION).splitlines():
        if key := re.match(r"(\w+)\s*:(.*)$", line):
            values = found.setdefault(key[1], [])
            values += filter(None, (part.strip(" '\"[]") for part in key[2].split(",")))
        elif item := re.match(r"\s*-\s+(.*)$", line):
            values.append(item[1].strip(" '\""))
    return found


def _cutoff(described: dict[str, list[str]]) -> float | None:
    text = (described.get("algorithm_cutoff_time") or [""])[0]
    values, bad = numbers_of(need("pandas").Series([text], dtype=object))
    return float(values[0]) if not len(bad) and values[0] > 0 else None


def _performance(
    runs: "pd.DataFrame",
    measure: str,
    described: dict[str, list[str]],
    cutoff: float | None,
    folder: Path,
) -> "pd.DataFrame":
    """The mean of the repetitions, one row per instance and one column per algorithm.

    A run that found no solution in time counts ten times the cutoff, which ties all such runs
    behind the others. If the measure is not a time, it is unknown.
    """
    if measure not in runs.columns:
        names = ", ".join(map(str, runs.columns))
        raise DataError(f"no column is named {measure!r}; there are {names}.", str(folder))
    values, bad = numbers_of(runs[measure])
    if len(bad):
        problem = f"{measure} is {runs[measure].iloc[bad[0]]!r}, which is no finite number."
        raise DataError(problem, str(folder / "algorithm_runs.arff"))
    solved = (runs["runstatus"] == "ok").to_numpy()
    timed = "runtime" in described.get("performance_type", ["runtime"])
    longest = cutoff or float(np.nanmax(values, initial=0.0, where=solved))
    values = np.where(solved, values, _PENALTY * longest if timed else np.nan)
    keys = [runs[_INSTANCE], runs["algorithm"]]
    try:
        refuse_sparse(len(runs), *(key.nunique() for key in keys))
    except ValueError as error:
        raise DataError(str(error), str(folder)) from error
    means = need("pandas").Series(values).groupby(keys, sort=False).mean().unstack(sort=False)
    return means.rename_axis(index=_INSTANCE, columns=None)


def _folds(folder: Path, instances: "pd.Series[Any]") -> Any:
    """The fold of each instance in each repetition, if there are official ones; -1 is none."""
    if not (folder / "cv.arff").is_file():
        return None
    folds = _arff(folder, "cv", "fold")
    table = folds.pivot_table("fold", _INSTANCE, _REPETITION, aggfunc="first")
    return table.reindex(instances).fillna(-1).to_numpy(np.int64)


def _arff(folder: Path, name: str, *columns: str) -> "pd.DataFrame":
    """One file of the scenario, which must have some columns."""
    path = folder / f"{name}.arff"
    if not path.is_file():
        raise DataError(f"the scenario has no file {path.name}.", str(folder))
    with path.open("rb") as file:
        given = SourceFile(file, str(path), ".arff", path)
        frame = parse(given).frame(given)
    for column in (_INSTANCE, _REPETITION, *columns):
        if column not in frame.columns:
            raise given.error(f"the attribute {column!r} is missing.")
    return frame


FORMAT = FileFormat(
    "ASlib",
    (),
    holds=lambda given: (
        given.path is not None
        and given.path.name == DESCRIPTION
        and (given.path.parent / "algorithm_runs.arff").is_file()
    ),
    read=read,
)

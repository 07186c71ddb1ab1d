"""Benchmark data sets of the literature: downloaded, or in a local folder."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_openml, get_data_home
from sklearn.utils import Bunch

from prefero._typing import Values
from prefero.datasets._constructions import ranking_bunch, ranks_from_classes, ranks_from_columns
from prefero.exceptions import DataError


@dataclass(frozen=True)
class _Source:
    """A set of OpenML; ``n_labels`` columns become labels, or its classes if that is 0."""

    name: str
    version: int = 1
    n_labels: int = 0


# Friedman is missing: its labels are not columns of the source.
_SOURCES = {
    "authorship": _Source("analcatdata_authorship"),
    "bodyfat": _Source("bodyfat", n_labels=7),
    "calhousing": _Source("houses", n_labels=4),
    "cpu-small": _Source("cpu_small", n_labels=5),
    "elevators": _Source("elevators", n_labels=9),
    "glass": _Source("glass"),
    "housing": _Source("boston", n_labels=6),
    "iris": _Source("iris"),
    "pendigits": _Source("pendigits"),
    "segment": _Source("segment"),
    "stock": _Source("stock", n_labels=5),
    "vehicle": _Source("vehicle"),
    "vowel": _Source("vowel", version=2),
    "wine": _Source("wine"),
    "wisconsin": _Source("wisconsin", n_labels=16),
}


@dataclass(frozen=True)
class _Upload:
    """A set of rankings on OpenML, and how the ranks begin that it may hold, as SHA-256."""

    data_id: int
    n_labels: int
    strict: str
    tied: str = ""


_UPLOADS = {
    "authorship": _Upload(42834, 4, "7ee6eb1209f28a56"),
    "glass": _Upload(42847, 6, "3a1d5196a33dac01", "f90c3e0b3e37b9e6"),
    "iris": _Upload(42851, 3, "4b9372214dc1e99c", "b384c2ee1a1e5128"),
    "pendigits": _Upload(42856, 10, "f1838a189f3b5bf9"),
    "segment": _Upload(42859, 7, "d909a66f88651431", "d9a8bdd1c2dd99e2"),
    "vehicle": _Upload(42863, 4, "0657e459f6a87632", "4d28060772ecad80"),
    "vowel": _Upload(42865, 11, "ee9615b2b9973556"),
    "wine": _Upload(42867, 3, "5d90a12273477a9b", "e0742e6398ea140a"),
}


def fetch_benchmark(
    name: str,
    *,
    exact: bool = False,
    data_home: str | os.PathLike[str] | None = None,
    as_frame: bool = False,
) -> Bunch:
    """Download a data set from OpenML and make it a label-ranking data set.

    The constructions are those of the label-ranking literature (`ranks_from_classes`, and
    `ranks_from_columns` on the last numeric columns); the papers do not say which columns they
    took and used another naive Bayes, so results compare in kind, not to the digit.

    Parameters
    ----------
    name : str
        The name in the literature, such as "iris" or "bodyfat".
    exact : bool, default=False
        Whether to download the rankings that papers used, where they were uploaded, and verify
        them. By default rankings are constructed again.
    data_home : str or path-like, optional
        The folder of downloads. By default scikit-learn's data folder.
    as_frame : bool, default=False
        Whether ``data`` and ``target`` are pandas tables.

    Returns
    -------
    Bunch
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names`` and ``DESCR``,
        which says the licence and what to cite if the set was uploaded as rankings.

    Raises
    ------
    ConnectionError
        If the data set is not in the folder and cannot be downloaded.

    Examples
    --------
    >>> fetch_benchmark("irises")
    Traceback (most recent call last):
        ...
    ValueError: There is no benchmark 'irises'; there are ...
    >>> fetch_benchmark("iris").target.shape  # doctest: +SKIP
    (150, 3)
    """
    known = _UPLOADS if exact else _SOURCES
    if name not in known:
        raise ValueError(f"There is no benchmark {name!r}; there are {', '.join(known)}.")
    if exact:
        return _uploaded(name, data_home, as_frame)
    source = _SOURCES[name]
    raw = _download(name, data_home, name=source.name, version=source.version)
    data, features = _numeric_part(raw)
    if source.n_labels:
        labels = features[-source.n_labels :]
        data, target = ranks_from_columns(data, range(data.shape[1])[-source.n_labels :])
        features = features[: -source.n_labels]
    else:
        target, classes = ranks_from_classes(data, raw.target)
        labels = [str(label) for label in classes]
    return ranking_bunch(
        data,
        target,
        feature_names=features,
        label_names=labels,
        description=(
            f"{name}: construction ({'B' if source.n_labels else 'A'}) of Cheng, Hühn & "
            f"Hüllermeier (2009), section 6.1, from {source.name} (version {source.version}) of "
            "openml.org."
        ),
        as_frame=as_frame,
    )


def _uploaded(name: str, data_home: str | os.PathLike[str] | None, as_frame: bool) -> Bunch:
    """Take the last columns as ranks, after verifying them."""
    upload = _UPLOADS[name]
    raw = _download(name, data_home, data_id=upload.data_id, target_column=None)
    values, c = np.asarray(raw.data, dtype=np.float64), upload.n_labels
    ranks = values[:, -c:]
    digest = hashlib.sha256(np.ascontiguousarray(ranks, dtype=np.int8).tobytes()).hexdigest()
    kinds = {upload.strict: "strict rankings", upload.tied: "rankings with ties"}
    if digest[:16] not in kinds:
        raise DataError(
            f"the set {upload.data_id} of openml.org does not hold the rankings of {name} in its "
            f"last {c} columns that papers used: use exact=False, which constructs them again."
        )
    details = raw.get("details") or {}
    licence, cite = details.get("licence", "not stated"), details.get("citation", "not stated")
    return ranking_bunch(
        values[:, :-c],
        ranks,
        feature_names=[str(feature) for feature in raw.feature_names[:-c]],
        label_names=[str(label) for label in raw.feature_names[-c:]],
        description=(
            f"{name}: {kinds[digest[:16]]} of the collection, set {upload.data_id} of openml.org. "
            f"Licence: {licence}. To cite: {cite}."
        ),
        as_frame=as_frame,
    )


def benchmarks_folder() -> Path | None:
    """Return the folder of benchmark files, if there is one.

    It is named by the environment variable ``PREFERO_DATA``; a checkout of the project also
    looks at ``../shared/data`` beside itself.

    Returns
    -------
    Path or None
        The folder.

    Examples
    --------
    >>> folder = benchmarks_folder()
    >>> folder is None or folder.is_dir()
    True
    """
    named = os.environ.get("PREFERO_DATA")
    folder = Path(named) if named else Path(__file__).parents[3].parent / "shared" / "data"
    return folder if folder.is_dir() else None


def benchmark_path(name: str) -> Path:
    """Return the path of a benchmark file, or say how to make it available.

    Parameters
    ----------
    name : str
        The file inside the folder, such as "kebi/iris.csv".

    Returns
    -------
    Path
        The file, which exists.

    Examples
    --------
    >>> benchmark_path("no such file")
    Traceback (most recent call last):
        ...
    FileNotFoundError: There is no benchmark file 'no such file': set PREFERO_DATA to ...
    """
    folder = benchmarks_folder()
    if folder is None or not (folder / name).exists():
        raise FileNotFoundError(
            f"There is no benchmark file {name!r}: set PREFERO_DATA to the folder that holds it."
        )
    return folder / name


def _download(benchmark: str, data_home: str | os.PathLike[str] | None, **which: Any) -> Bunch:
    folder = get_data_home(data_home)
    try:
        return fetch_openml(**which, data_home=folder, as_frame=False, parser="liac-arff")
    except OSError as error:
        raise ConnectionError(
            f"The benchmark {benchmark!r} is not in {folder} and could not be downloaded from "
            f"openml.org ({error}): try again with a network connection, or use "
            "load_dataset, which needs none."
        ) from error


def _numeric_part(raw: Bunch) -> tuple[Values, list[str]]:
    """The numeric features; constructions take no others."""
    nominal = set(raw.get("categories") or ())
    kept = [j for j, feature in enumerate(raw.feature_names) if feature not in nominal]
    data = np.asarray(raw.data)[:, kept].astype(np.float64)
    return data, [str(raw.feature_names[j]) for j in kept]

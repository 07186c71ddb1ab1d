"""The benchmark sets of the literature: fetched and made anew, or found in a local folder."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, get_data_home
from sklearn.utils import Bunch

from prefero.datasets._bunch import ranking_bunch
from prefero.datasets._constructions import ranks_from_classes, ranks_from_columns


@dataclass(frozen=True)
class _Source:
    """A set of OpenML; ``n_labels`` columns become labels, or its classes if that is 0."""

    name: str
    version: int = 1
    n_labels: int = 0


# The Friedman data of the collection is missing: its labels are not columns of the source.
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


def fetch_benchmark(
    name: str, *, data_home: str | os.PathLike[str] | None = None, as_frame: bool = False
) -> Bunch:
    """Download a set from OpenML and make a label-ranking set of it.

    The constructions are those of the label-ranking literature (`ranks_from_classes`, and
    `ranks_from_columns` on the last numeric columns); the papers do not say which columns they
    took and used another naive Bayes, so results compare in kind, not to the digit.

    Parameters
    ----------
    name : str
        The name in the literature, such as "iris" or "bodyfat".
    data_home : str or path-like, optional
        Where downloads are kept. By default scikit-learn's data folder.
    as_frame : bool, default=False
        Whether ``data`` and ``target`` are pandas tables.

    Returns
    -------
    Bunch
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names`` and ``DESCR``.

    Raises
    ------
    ConnectionError
        If the set is not yet kept and cannot be downloaded.
    """
    if name not in _SOURCES:
        raise ValueError(f"There is no benchmark {name!r}; there are {', '.join(_SOURCES)}.")
    source = _SOURCES[name]
    raw = _download(name, source, data_home)
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


def benchmarks_folder() -> Path | None:
    """Return the folder of benchmark files, if there is one.

    It is named by the environment variable ``PREFERO_DATA``; a checkout of the project also
    looks at ``../shared/data`` beside itself.

    Returns
    -------
    Path or None
        The folder.
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
    """
    folder = benchmarks_folder()
    if folder is None or not (folder / name).exists():
        raise FileNotFoundError(
            f"There is no benchmark file {name!r}: set PREFERO_DATA to the folder that holds it."
        )
    return folder / name


def _download(name: str, source: _Source, data_home: str | os.PathLike[str] | None) -> Bunch:
    folder = get_data_home(data_home)
    try:
        return fetch_openml(
            source.name,
            version=source.version,
            data_home=folder,
            as_frame=False,
            parser="liac-arff",
        )
    except OSError as error:
        raise ConnectionError(
            f"The benchmark {name!r} is not in {folder} and could not be downloaded from "
            f"openml.org ({error}): try again with a network connection, or use "
            "load_dataset, which needs none."
        ) from error


def _numeric_part(raw: Bunch) -> tuple[NDArray[np.float64], list[str]]:
    """The features that are numbers, for the constructions know no others."""
    nominal = set(raw.get("categories") or ())
    kept = [j for j, feature in enumerate(raw.feature_names) if feature not in nominal]
    data = np.asarray(raw.data)[:, kept].astype(np.float64)
    return data, [str(raw.feature_names[j]) for j in kept]

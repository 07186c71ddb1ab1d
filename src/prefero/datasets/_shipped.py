"""Data sets and results that ship with Prefero."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import sklearn.datasets
from sklearn.utils import Bunch

from prefero._optional import require
from prefero.datasets._constructions import ranking_bunch, ranks_from_classes, ranks_from_columns

# Blood measurements of the diabetes data, which become the labels.
_SERUM = {
    "s1": "cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "cholesterol/hdl",
    "s5": "triglycerides",
    "s6": "glucose",
}


@dataclass(frozen=True)
class _Shipped:
    source: Callable[..., Any]
    about: str
    columns: Mapping[str, str] | None = None

    @property
    def construction(self) -> str:
        return "A" if self.columns is None else "B"


_SHIPPED = {
    "breast_cancer": _Shipped(sklearn.datasets.load_breast_cancer, "malignant or benign"),
    "diabetes": _Shipped(sklearn.datasets.load_diabetes, "six blood measurements", _SERUM),
    "digits": _Shipped(sklearn.datasets.load_digits, "ten digits by how alike they look"),
    "iris": _Shipped(sklearn.datasets.load_iris, "three species of iris"),
    "wine": _Shipped(sklearn.datasets.load_wine, "three cultivars of wine"),
}


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` takes.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> dataset_names()
    ['breast_cancer', 'diabetes', 'digits', 'iris', 'wine']
    """
    return list(_SHIPPED)


def load_dataset(name: str, *, as_frame: bool = False) -> Bunch:
    """Load a label-ranking data set made from data that ships with scikit-learn.

    Classification data is turned by `ranks_from_classes`, regression data by
    `ranks_from_columns`.

    Parameters
    ----------
    name : str
        One of `dataset_names`.
    as_frame : bool, default=False
        Whether ``data`` and ``target`` are pandas tables.

    Returns
    -------
    Bunch
        With ``data``, ``target`` (ranks), ``feature_names``, ``label_names`` and ``DESCR``.

    Examples
    --------
    >>> wine = load_dataset("wine")
    >>> wine.data.shape, wine.target[0], wine.label_names
    ((178, 13), array([1, 2, 3]), ['class_0', 'class_1', 'class_2'])
    """
    if name not in _SHIPPED:
        raise ValueError(f"No data set {name!r} ships; there are {', '.join(_SHIPPED)}.")
    shipped = _SHIPPED[name]
    raw = shipped.source()
    features = [str(feature) for feature in raw.feature_names]
    if shipped.columns is None:
        data = raw.data
        target, classes = ranks_from_classes(raw.data, raw.target)
        labels = [str(raw.target_names[index]) for index in classes]
    else:
        chosen = [features.index(column) for column in shipped.columns]
        data, target = ranks_from_columns(raw.data, chosen)
        features = [feature for feature in features if feature not in shipped.columns]
        labels = list(shipped.columns.values())
    return ranking_bunch(
        data,
        target,
        feature_names=features,
        label_names=labels,
        description=(
            f"{name}: the order of {shipped.about}, by construction ({shipped.construction}) of "
            "Cheng, Hühn & Hüllermeier (2009), section 6.1, from the data of the same name in "
            "scikit-learn."
        ),
        as_frame=as_frame,
    )


_NAMES = ("real",)
_WORDS = ("dataset", "ranker")


def get_results(name: str = "real", *, as_frame: bool = False) -> Bunch:
    """Return the results of a benchmark, as of the release of Prefero.

    Parameters
    ----------
    name : {"real"}, default="real"
        ``"real"`` is ``prefero reproduce real``: rankings that people, fields and solvers gave,
        every ranker beside the consensus baseline.
    as_frame : bool, default=False
        Whether ``data`` is a pandas table.

    Returns
    -------
    Bunch
        ``data``: one dict of results per data set and ranker, NaN where undefined;
        ``DESCR``: the version, the date and the command that made them.

    Examples
    --------
    >>> results = get_results("real")
    >>> rows = [row for row in results.data if row["dataset"] == "political"]
    >>> {"Forest", "consensus order"} <= {row["ranker"] for row in rows}
    True
    """
    if name not in _NAMES:
        raise ValueError(f"There are no results {name!r}; there are {', '.join(_NAMES)}.")
    text = (files("prefero.datasets") / "results" / f"{name}.csv").read_text(encoding="utf-8")
    made, *lines = text.splitlines()
    rows: list[dict[str, Any]] = [
        {
            key: value if key in _WORDS else float(value) if value else float("nan")
            for key, value in row.items()
        }
        for row in csv.DictReader(lines)
    ]
    data: Any = rows
    if as_frame:
        data = require("pandas", extra="cli", purpose="as_frame=True").DataFrame(rows)
    return Bunch(data=data, DESCR=made.removeprefix("# "))

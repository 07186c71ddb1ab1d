"""Figures of experiments that ship with Prefero."""

import csv
from importlib.resources import files
from typing import Any

from sklearn.utils import Bunch

from prefero._optional import require

_NAMES = ("real",)
_WORDS = ("dataset", "ranker")


def get_results(name: str = "real", *, as_frame: bool = False) -> Bunch:
    """Return the figures of a benchmark, as they were when Prefero was released.

    Parameters
    ----------
    name : {"real"}, default="real"
        ``"real"`` is ``prefero reproduce real``: rankings that people, fields and solvers gave,
        every ranker beside the constant order.
    as_frame : bool, default=False
        Whether ``data`` is a pandas table.

    Returns
    -------
    Bunch
        ``data``: one entry a data set and ranker, a dict of its figures, NaN where one is not
        defined; ``DESCR``: the version, the date and the command that made them.

    Examples
    --------
    >>> results = get_results("real")
    >>> rows = [row for row in results.data if row["dataset"] == "political"]
    >>> {"Forest", "constant order"} <= {row["ranker"] for row in rows}
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

"""Tables of results: one row per run, means over runs, and which direction is better."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from prefero._typing import Indices, Values

Row = dict[str, Any]

# What tells a run from another; all other columns are metrics.
RUN_COLUMNS = ("dataset", "ranker", "missing", "repetition", "fold")


class MetricInfo(NamedTuple):
    """Title, direction and bounds of a column of results."""

    title: str
    greater_is_better: bool
    low: float = -np.inf
    high: float = np.inf


# All metrics that Prefero itself writes, in the order in which they are shown.
METRICS = {
    "tau": MetricInfo("tau", True, -1, 1),
    "tau_x": MetricInfo("tau-x", True, -1, 1),
    "rho": MetricInfo("rho", True, -1, 1),
    "top1": MetricInfo("right first choice", True, 0, 1),
    "regret": MetricInfo("regret", False, 0),
    "gap_closed": MetricInfo("gap closed", True, -np.inf, 1),
    "utility": MetricInfo("utility", True),
    "score": MetricInfo("score", True),
    "cost": MetricInfo("cost", False, 0),
    "PAR10": MetricInfo("PAR10", False, 0),
    "average_precision": MetricInfo("precision", True, 0, 1),
    "ranking_loss": MetricInfo("ranking loss", False, 0, 1),
    "one_error": MetricInfo("one-error", False, 0, 1),
    "hamming_loss": MetricInfo("Hamming loss", False, 0, 1),
    "subset_loss": MetricInfo("subset loss", False, 0, 1),
    "micro_f1": MetricInfo("micro F1", True, 0, 1),
    "macro_f1": MetricInfo("macro F1", True, 0, 1),
    "ndcg": MetricInfo("NDCG", True, 0, 1),
    "map": MetricInfo("MAP", True, 0, 1),
    "mrr": MetricInfo("MRR", True, 0, 1),
    "placed": MetricInfo("placed", True, 0, 1),
    "fit_seconds": MetricInfo("seconds to train", False),
    "predict_seconds": MetricInfo("seconds to predict", False),
}


@dataclass(frozen=True, eq=False)
class RunPredictions:
    """What one run predicted for the rows that it was not trained on.

    Attributes
    ----------
    train, test : ndarray
        The numbers of the rows that were trained on, and of those that were predicted.
    predicted : ndarray of shape (n_test, n_labels)
        Predicted ranks; of objects one each.
    metrics : dict of str to ndarray of shape (n_units,)
        By metric, its value for each test row; for objects, for each query.
    units : ndarray of shape (n_units,)
        The number of each of these rows or queries in the data set.
    groups : ndarray of shape (n_units,)
        What each belongs to: units of one group are not independent of each other.
    random_state : int
        The seed of the experiment, from which that of the run follows.
    use_scores : bool
        Whether the ranker was given the scores of the labels.
    """

    train: Indices
    test: Indices
    predicted: Values
    metrics: dict[str, Values]
    units: Indices
    groups: Indices
    random_state: int
    use_scores: bool


class ResultTable(Sequence[Row]):
    """Rows with the same named columns: a list of dicts that can also be read by column.

    Parameters
    ----------
    rows : iterable of mappings
        One mapping per row, all with the same keys.
    columns : sequence of str, optional
        The columns and their order; by default the keys of the first row.
    greater_is_better : mapping of str to bool, optional
        By column, whether larger values are better. The columns that Prefero itself writes
        are known.
    predictions : mapping of tuple to RunPredictions, optional
        What single runs predicted, by their values in `RUN_COLUMNS`.

    Examples
    --------
    >>> table = ResultTable([{"ranker": "tree", "tau": 0.5}, {"ranker": "forest", "tau": 0.75}])
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
        self,
        rows: Iterable[Mapping[str, Any]],
        columns: Sequence[str] | None = None,
        greater_is_better: Mapping[str, bool] | None = None,
        predictions: Mapping[tuple[Any, ...], RunPredictions] | None = None,
    ) -> None:
        rows = list(rows)
        self.columns = tuple(columns or (rows[0] if rows else ()))
        self.greater_is_better = dict(greater_is_better or {})
        self.predictions = dict(predictions or {})
        self._rows = [{name: row[name] for name in self.columns} for row in rows]

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> "ResultTable": ...
    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...

    def __getitem__(self, key: Any) -> Any:
        """Return a row by its number, some rows by a slice, or a column by its name."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice):
            return self.with_rows(self._rows[key])
        return self._rows[key]

    def with_rows(self, rows: Iterable[Row]) -> "ResultTable":
        """Return a table of other rows, such as some of these, with all else that is known.

        Parameters
        ----------
        rows : iterable of mappings
            The rows.

        Returns
        -------
        ResultTable
            The same columns and directions, and what single runs predicted.
        """
        return ResultTable(rows, self.columns, self.greater_is_better, self.predictions)

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise KeyError(f"The table has no column {name!r}, only {', '.join(self.columns)}.")
        values = [row[name] for row in self._rows]
        return np.array(values, dtype=object if isinstance(next(iter(values), ""), str) else None)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __add__(self, other: "ResultTable") -> "ResultTable":
        """Append the rows of another table; a column that one of them lacks is NaN there."""
        columns = tuple(dict.fromkeys((*self.columns, *other.columns)))
        blank = dict.fromkeys(columns, np.nan)
        known = self.greater_is_better | other.greater_is_better
        rows = [blank | row for row in (*self._rows, *other._rows)]
        return ResultTable(rows, columns, known, self.predictions | other.predictions)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ResultTable):
            return NotImplemented
        # repr is what makes one NaN equal another.
        return self.columns == other.columns and repr(self._rows) == repr(other._rows)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<ResultTable of {len(self)} rows: {', '.join(self.columns)}>"

    def where(self, **values: Any) -> "ResultTable":
        """Return the rows whose columns have the given values.

        Parameters
        ----------
        **values
            The required value, by column.

        Returns
        -------
        ResultTable
            The rows that have them.
        """
        kept = (row for row in self if all(row[name] == value for name, value in values.items()))
        return self.with_rows(kept)

    def groups(self, *names: str) -> dict[tuple[Any, ...], "ResultTable"]:
        """Split the rows by their values in some columns.

        Parameters
        ----------
        *names : str
            The columns to split by.

        Returns
        -------
        dict of tuple to ResultTable
            The rows of each combination of values, in the order of first appearance.
        """
        members: dict[tuple[Any, ...], list[Row]] = {}
        for row in self:
            members.setdefault(tuple(row[name] for name in names), []).append(row)
        return {key: self.with_rows(rows) for key, rows in members.items()}

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
            Digits after the decimal point.

        Returns
        -------
        str
            One line per row, numbers aligned to the right.
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
    """Return a number with so many decimals, fewer if it is large; a tiny one is not zero."""
    least = 10.0**-digits
    if 1e-12 < value < least / 2:
        return f"<{least:.{digits}f}"
    return f"{value:.{digits}f}" if abs(value) < 100 else f"{value:,.{int(abs(value) < 1000)}f}"


def summarize(
    results: ResultTable, by: Sequence[str] = ("dataset", "ranker", "missing")
) -> ResultTable:
    """Return the mean and the standard deviation of every metric over folds and repetitions.

    Parameters
    ----------
    results : ResultTable
        What `run_experiment` returned.
    by : sequence of str, default=("dataset", "ranker", "missing")
        The columns whose combinations get one row each.

    Returns
    -------
    ResultTable
        The columns ``by``, then ``runs`` (their number), then for every metric ``m`` of the
        results ``m`` (the mean) and ``m_sd`` (the sample standard deviation, NaN for a single
        run). Undefined metrics count in neither. Of one data set the closed gap is no mean of
        ratios but one ratio, of what is lost in all test rows.

    Examples
    --------
    >>> rows = [{"dataset": "toy", "ranker": "tree", "fold": f, "tau": f / 2} for f in range(3)]
    >>> print(summarize(ResultTable(rows), by=("dataset", "ranker")).to_text())
    | dataset | ranker | runs |   tau | tau_sd |
    |---------|--------|-----:|------:|-------:|
    | toy     | tree   |    3 | 0.500 |  0.500 |
    """
    places = (*RUN_COLUMNS, "train_rows", "test_rows")
    metrics = [name for name in results.columns if name not in places]
    rows = []
    for key, members in results.groups(*by).items():
        row = dict(zip(by, key, strict=True)) | {"runs": len(members)}
        for name in metrics:
            values = np.asarray(members[name], dtype=np.float64)
            known = values[~np.isnan(values)]
            row[name] = float(known.mean()) if known.size else float("nan")
            row[f"{name}_sd"] = float(known.std(ddof=1)) if known.size > 1 else float("nan")
        scored = {"gap_closed", "single_best_regret"} <= set(metrics)
        if scored and len(set(members["dataset"])) == 1:
            row["gap_closed"] = _pooled_gap_closed(members)
        rows.append(row)
    return ResultTable(rows, greater_is_better=results.greater_is_better)


def _pooled_gap_closed(runs: ResultTable) -> float:
    """Return how much of the single best label's regret in all runs a ranker avoids."""
    lost, single = (runs["test_rows"] * runs[name] for name in ("regret", "single_best_regret"))
    return float(1 - np.nansum(lost) / np.nansum(single)) if np.nansum(single) > 0 else np.nan


def score_matrix(
    results: ResultTable, scoring: str = "tau", missing: float | None = None
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Return the data sets, the rankers and their mean scores as a matrix.

    Parameters
    ----------
    results : ResultTable
        What `run_experiment` returned.
    scoring : str, default="tau"
        The column to take.
    missing : float, optional
        The missing rate to use, if the results hold several.

    Returns
    -------
    datasets, rankers : list of str
        The names, in order of first appearance.
    scores : ndarray of shape (n_datasets, n_rankers)
        The means over folds and repetitions; NaN where there is no result.
    """
    means = {
        (row["dataset"], row["ranker"]): row[scoring]
        for row in summarize(at_missing_rate(results, missing), by=("dataset", "ranker"))
    }
    datasets = list(dict.fromkeys(dataset for dataset, _ in means))
    rankers = list(dict.fromkeys(ranker for _, ranker in means))
    scores = [[means.get((row, column), np.nan) for column in rankers] for row in datasets]
    return datasets, rankers, np.array(scores, dtype=np.float64)


def relative_sizes(
    results: ResultTable, reference: str, *, size: str = "leaves", missing: float | None = None
) -> ResultTable:
    """Divide the mean size of every ranker's models by that of a reference ranker.

    Cheng et al. (2009) report the leaves of label ranking trees relative to classification trees
    in this way. Sizes are a column that ``details`` of `run_experiment` made.

    Parameters
    ----------
    results : ResultTable
        What `run_experiment` returned.
    reference : str
        The ranker to divide by.
    size : str, default="leaves"
        The column of the sizes.
    missing : float, optional
        The missing rate to use, if the results hold several.

    Returns
    -------
    ResultTable
        One row per data set, one column per ranker other than the reference.

    Examples
    --------
    >>> rows = [{"dataset": "d", "ranker": r, "leaves": n} for r, n in [("LRT", 30), ("CART", 20)]]
    >>> relative_sizes(ResultTable(rows), "CART")[0]
    {'dataset': 'd', 'LRT': 1.5}
    """
    datasets, rankers, sizes = score_matrix(results, size, missing)
    if reference not in rankers:
        raise ValueError(f"There is no ranker {reference!r}, only {', '.join(rankers)}.")
    ratios = sizes / sizes[:, [rankers.index(reference)]]
    return ResultTable(
        {"dataset": name}
        | {who: float(ratio) for who, ratio in zip(rankers, row, strict=True) if who != reference}
        for name, row in zip(datasets, ratios, strict=True)
    )


def at_missing_rate(results: ResultTable, missing: float | None) -> ResultTable:
    """Return the results at one missing rate, which may be None if there is only one."""
    if "missing" not in results.columns:
        return results
    if missing is None:
        rates = sorted(set(results["missing"]))
        if len(rates) > 1:
            listed = ", ".join(f"{rate:g}" for rate in rates)
            raise ValueError(f"The results hold the missing rates {listed}: choose one.")
        return results
    chosen = results.where(missing=missing)
    if not len(chosen):
        raise ValueError(f"The results hold no missing rate {missing!r}.")
    return chosen


def larger_is_better(
    scoring: str, given: bool | None = None, results: ResultTable | None = None
) -> bool:
    """Return whether larger values of a metric are better, which is never guessed."""
    if given is not None:
        return given
    known = {name: info.greater_is_better for name, info in METRICS.items()}
    known |= {} if results is None else results.greater_is_better
    if scoring not in known:
        raise ValueError(
            f"Whether larger values of {scoring!r} are better is not known: give "
            "greater_is_better=True or False."
        )
    return known[scoring]

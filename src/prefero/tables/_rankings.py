"""Read rankings from a table, whatever their format."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from prefero._typing import Indices, Values
from prefero.exceptions import DataError, RowError
from prefero.rankings import split_calibrated
from prefero.tables._ranking_formats import DIRECTED, RANKING_FORMATS, ReadOptions
from prefero.tables._reading import Source, read_table
from prefero.tables._table import Columns, DataTable, listed, need

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Rankings:
    """Instances and their rankings.

    Attributes
    ----------
    table : DataTable
        Where they come from.
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks, NaN where unknown.
    labels : list of str
        The names of the columns of ``ranks``.
    rows : ndarray of shape (n_samples,)
        The row of the table with which each instance begins.
    others : list of str
        The columns that hold no ranking.
    scores : ndarray of shape (n_samples, n_labels), optional
        Larger is better; only if the table holds scores.
    calibrated : ndarray of shape (n_samples, n_labels + 1), optional
        Ranks of the labels and, last, of the virtual label between relevant and irrelevant ones;
        only if the table says which labels are relevant.
    values : mapping of str to ndarray of shape (n_samples, n_labels)
        Other values of the labels, in the unit of the table: costs (`with_costs`), or ``"PAR10"``,
        run times with time-outs penalised.
    lower_is_better : bool
        Whether the scores were turned around, so that larger is better.
    cost_weight : float, optional
        The score that one unit of cost is worth, if there are costs (`with_costs`).

    Examples
    --------
    >>> import pandas as pd
    >>> from prefero.tables import read_rankings
    >>> table = pd.DataFrame({"age": [31, 45], "tea": [1, 2], "milk": [2, 1]})
    >>> rankings = read_rankings(table, "tea,milk")
    >>> rankings.labels, rankings.features
    (['tea', 'milk'], ['age'])
    >>> rankings.ranks
    array([[1., 2.],
           [2., 1.]])
    """

    table: DataTable
    ranks: Values
    labels: list[str]
    rows: Indices
    others: list[str]
    scores: Values | None = None
    calibrated: Values | None = None
    values: Mapping[str, Values] = field(default_factory=dict)
    lower_is_better: bool = False
    cost_weight: float | None = None

    @property
    def features(self) -> list[str]:
        """The other columns, less those that the file declares to be names."""
        return [name for name in self.others if name not in self.table.declared.names]

    @property
    def X(self) -> "pd.DataFrame":
        """The features as an estimator takes them: numbers, and texts as categories."""
        if not self.features:
            return self.table.frame[[]].iloc[self.rows].reset_index(drop=True)
        X = self.table.features(self.features).iloc[self.rows].reset_index(drop=True)
        return X.astype({name: "category" for name in X.columns if X[name].dtype == object})

    @property
    def y(self) -> "pd.DataFrame":
        """The ranks as a table with the labels as names."""
        return need("pandas").DataFrame(self.ranks, columns=self.labels)

    @property
    def relevance(self) -> "pd.DataFrame | None":
        """Which labels are relevant: 1, 0 or NaN; None if the table does not say."""
        if self.calibrated is None:
            return None
        return need("pandas").DataFrame(split_calibrated(self.calibrated)[0], columns=self.labels)

    @property
    def folds(self) -> Indices | None:
        """The official folds, one column per repetition, if the file has some."""
        folds = self.table.declared.folds
        return None if folds is None else folds[self.rows]

    def ranked(self) -> "Rankings | None":
        """Return the instances that rank a label; None if none does."""
        some = ~np.isnan(self.ranks).all(axis=1)
        if some.all():
            return self
        if not some.any():
            return None
        scores, calibrated = (
            None if part is None else part[some] for part in (self.scores, self.calibrated)
        )
        return replace(
            self,
            ranks=self.ranks[some],
            rows=self.rows[some],
            scores=scores,
            calibrated=calibrated,
            values={name: values[some] for name, values in self.values.items()},
        )


def read_rankings(
    source: "Source | DataTable | pd.DataFrame",
    labels: Columns | None = None,
    *,
    format: str = "ranks",
    higher_is_better: bool | None = None,
    unranked: Literal["unknown", "below"] = "unknown",
    instance: str | None = None,
    letters: bool = False,
    missing_score: float | None = None,
    cutoff: float | None = None,
) -> Rankings:
    r"""Read rankings, and the features beside them, from a table.

    Parameters
    ----------
    source : str, path, binary file, DataTable or DataFrame
        The table, or the file that holds it (`read_table`).
    labels : str or list of str, optional
        The columns that hold rankings: ``'y_*'``, ``'a,b,c'`` or ``['a', 'b', 'c']``. By
        default those that the file declares, else all.
    format : str, default="ranks"
        What they hold, unless the file declares it: ``"ranks"``, ``"scores"``, ``"orders"``,
        ``"pairs"``, ``"best-worst"``, ``"long"``, ``"relevance"`` or ``"calibrated"``. Ranks or
        scores, one column per label; orders, one column of text such as ``b > a ~ c`` or names by
        position; two columns of preferred and other label, one row per pair; the labels shown,
        then the best, then the worst; two columns of label and value, one row each; 1 or 0 for
        relevant or not, one column per label; or calibrated rankings, one column of text such as
        ``[b > a][c]``, the relevant labels first, or signed scores, one column per label, where
        positive is relevant.
    higher_is_better : bool, optional
        The direction of scores and long tables. It is never guessed.
    unranked : {"unknown", "below"}, default="unknown"
        How to treat labels that an order leaves out.
    instance : str, optional
        For pairs and long tables: the column that says which ranking a row belongs to.
    letters : bool, default=False
        Whether every label of an order is one letter, and those together are tied: ``b>a>cd``.
    missing_score : float, optional
        The score that stands for a missing one.
    cutoff : float, optional
        The run time at which runs were stopped. Runs that reach it are tied behind all others, and
        count ten times the cutoff (PAR10).

    Returns
    -------
    Rankings
        With ``X`` and ``y`` for ``fit``, ``labels``, ``ranks`` and perhaps ``scores``.

    Raises
    ------
    DataError
        If the table does not hold such rankings; the message names file, line and column.

    See Also
    --------
    write_rankings : Writes them in any format.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"age,town,y_tea,y_milk\n31,Ulm,1,2\n45,Bonn,2,NA\n")
    >>> rankings = read_rankings(file, "y_*")
    >>> rankings.y
       y_tea  y_milk
    0    1.0     2.0
    1    2.0     NaN
    >>> rankings.X.dtypes.astype(str).to_dict()
    {'age': 'float64', 'town': 'category'}
    """
    table = as_table(source)
    format = table.declared.format or format
    if format not in RANKING_FORMATS:
        raise ValueError(f"format must be one of {', '.join(RANKING_FORMATS)}, got {format!r}.")
    if table.declared.higher_is_better is not None:
        higher_is_better = table.declared.higher_is_better
    instance = None if instance is None else table.column(instance)
    columns = label_columns(table, labels, instance)
    if not columns:
        raise table.error("no column is left that could hold rankings.")
    if format in DIRECTED and higher_is_better is None:
        raise ValueError(f"format={format!r} needs higher_is_better, which is never guessed.")
    if cutoff is not None and (format != "scores" or higher_is_better):
        raise ValueError("cutoff is for run times: format='scores' where lower is better.")
    options = ReadOptions(
        bool(higher_is_better), unranked, instance, letters, missing_score, cutoff
    )
    try:
        found = RANKING_FORMATS[format](table, columns, options)
    except RowError as error:
        problem = error.problem.replace("use ranks_from_scores", "try format='scores'")
        problem = problem.replace(
            "for signed scores use calibrated_from_scores",
            "if they are signed scores, try format='calibrated'",
        )
        raise table.error(problem, error.row) from error
    except DataError:
        raise
    except ValueError as error:
        raise table.error(str(error)) from error
    if not found.labels:
        raise table.error(f"no cell of {listed(columns)} names a label.")
    rows = np.arange(len(table)) if found.rows is None else found.rows
    names = [str(name) for name in table.frame.columns]
    others = [name for name in names if name not in {*columns, instance}]
    return Rankings(
        *(table, found.ranks, [str(c) for c in found.labels], rows, others),
        scores=found.scores,
        calibrated=found.calibrated,
        values=_penalized(found.scores, cutoff or table.declared.cutoff, bool(higher_is_better)),
        lower_is_better=format in DIRECTED and not higher_is_better,
    )


def _penalized(
    scores: Values | None, cutoff: float | None, higher_is_better: bool
) -> dict[str, Values]:
    """The penalised run times behind scores."""
    timed = scores is not None and cutoff is not None and not higher_is_better
    return {"PAR10": -scores} if timed and scores is not None else {}


def label_columns(table: DataTable, labels: Columns | None, instance: str | None) -> list[str]:
    """Return the columns that hold rankings: those named, or declared in the file, or all.

    Examples
    --------
    >>> import pandas as pd
    >>> table = DataTable(pd.DataFrame({"age": [31], "y_a": [1], "y_b": [2]}))
    >>> label_columns(table, "y_*", None)
    ['y_a', 'y_b']
    """
    if labels is not None:
        return table.columns(labels)
    if table.declared.labels is not None:
        return table.declared.labels
    return [name for name in map(str, table.frame.columns) if name != instance]


def as_table(source: Any) -> DataTable:
    """Return a table of a file, a DataFrame or itself."""
    if isinstance(source, DataTable):
        return source
    if hasattr(source, "columns"):
        return DataTable(source.reset_index(drop=True).rename(columns=str))
    return read_table(source)

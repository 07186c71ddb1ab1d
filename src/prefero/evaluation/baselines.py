"""What to compare with: constant and perfect choices, and orderers that are not ours."""

from typing import Any

import numpy as np

from prefero._names import without_common_start
from prefero._optional import require
from prefero._typing import Values
from prefero.base import BaseOrderer
from prefero.base._ordering import SampleOrders
from prefero.evaluation._data import DataSet
from prefero.evaluation._tasks import (
    choice_metrics,
    defined_mean,
    ranks_by_mean,
    with_gap_closed,
)
from prefero.evaluation.results import ResultTable
from prefero.rankings import strict_ranks

# LightGBM's gains are powers of two: with more grades only the best object would count.
_MOST_GRADES = 31


class ConstantOrderer(BaseOrderer):
    """Tie all objects: the baseline of every orderer.

    Examples
    --------
    >>> ConstantOrderer().fit([[0], [1]], [1, 2]).predict([[5], [7]])
    array([1, 1])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, orders: SampleOrders) -> None:
        pass

    def _decision(self, X: Any) -> Values:
        return np.zeros(X.shape[0])


class LightGBMOrderer(BaseOrderer):
    """LightGBM's ranker (lambdarank) with its default parameters.

    Parameters
    ----------
    random_state : int, optional
        The seed.

    Attributes
    ----------
    booster_ : LGBMRanker
        The trained ranker.

    Examples
    --------
    >>> X, y, qid = [[0.1], [0.9]] * 40, [2, 1] * 40, [k // 2 for k in range(80)]
    >>> orderer = LightGBMOrderer(random_state=0)
    >>> orderer.fit(X, y, qid).predict([[0.9], [0.1]]).shape  # doctest: +SKIP
    (2,)
    """

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, orders: SampleOrders) -> None:
        lightgbm = require("lightgbm", extra="all", purpose="LightGBM's ranker")
        queries = orders.queries
        levels = queries.levels(orders.positions)
        deepest = np.maximum.reduceat(levels, queries.starts[:-1])
        grades = np.minimum(deepest[queries.codes] - levels, _MOST_GRADES - 1)
        ranker = lightgbm.LGBMRanker(
            random_state=self.random_state, n_jobs=1, verbose=-1, deterministic=True
        )
        self.booster_ = ranker.fit(np.asarray(orders.X), grades, group=queries.sizes)

    def _decision(self, X: Any) -> Values:
        return np.asarray(self.booster_.predict(np.asarray(X)), dtype=np.float64)


def reference_choices(results: ResultTable, dataset: str, data: DataSet) -> ResultTable:
    """Return what the single best label and the virtual best reach on the test rows of a data set.

    The single best label is that of the best mean score on the training rows of each fold; it is
    named after the one that is best on all rows. The virtual best takes the best label of each row.
    Both are what rankers are measured by, not rankers.

    Parameters
    ----------
    results : ResultTable
        Results of rankers, with their predictions.
    dataset : str
        The name of the data set.
    data : DataSet
        The data set.

    Returns
    -------
    ResultTable
        Two rows with the columns ``ranker``, ``label`` (empty for the virtual best) and all metrics
        of a choice; no rows without scores or predictions.
    """
    runs = [run for (name, *_), run in results.predictions.items() if name == dataset]
    if data.scores is None or not runs:
        return ResultTable([])
    single: list[dict[str, Values]] = []
    virtual: list[dict[str, Values]] = []
    for run in {tuple(run.test.tolist()): run for run in runs}.values():
        scores = np.nan_to_num(data.scores[run.test], nan=np.finfo(float).min)
        constant = np.tile(ranks_by_mean(data.scores[run.train]), (len(run.test), 1))
        for found, ranks in ((single, constant), (virtual, strict_ranks(scores))):
            found.append(choice_metrics(ranks, data, run.test, run.train))
    label = without_common_start(data.labels)[1][int(np.argmin(ranks_by_mean(data.scores)))]
    rows = []
    for name, called, found in (
        (f"single best: {label}", label, single),
        ("virtual best", "", virtual),
    ):
        means = {key: defined_mean(np.concatenate([one[key] for one in found])) for key in found[0]}
        rows.append({"ranker": name, "label": called} | with_gap_closed(means))
    return ResultTable(rows)

"""The three tasks in experiments: how models are trained, and what is measured."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from prefero._pipelines import at_final_step, final_step, fit_final
from prefero._typing import Indices, Values
from prefero._warnings import silenced
from prefero.evaluation._data import DataSet, check_label_ranks
from prefero.metrics import (
    kendall_tau,
    ordering,
    regret,
    spearman_rho,
    top_accuracy,
    utility,
)
from prefero.metrics import multilabel as sets
from prefero.rankings import check_calibrated, label_names, split_calibrated, strict_ranks

# The length of the head of an order that NDCG looks at.
HEAD = 10


class RankingTask:
    """What an experiment does differently for each task: here, for label ranking.

    Attributes
    ----------
    kind : str
        The ``estimator_type`` of its rankers.
    metrics : tuple of str
        The columns of results; rankers are compared by the first by default.
    """

    kind: ClassVar[str] = "label_ranker"
    metrics: ClassVar[tuple[str, ...]] = (
        *("tau", "tau_x", "rho", "top1"),
        *("regret", "utility", "gap_closed", "single_best_regret"),
    )

    def check(self, y: Any, name: str) -> tuple[Values, NDArray[Any] | None]:
        """Return a target as numbers, and the names of its labels; errors call it by a name."""
        return check_label_ranks(y, name)

    def fit(self, model: Any, X: Any, ranks: Any, data: DataSet, rows: Indices) -> Any:
        """Train a model on instances and their ranks, which are rows of a data set."""
        if data.scores is None or not has_fit_parameter(final_step(model), "scores"):
            return model.fit(X, ranks)
        known = np.where(np.isnan(ranks), np.nan, data.scores[rows])
        return fit_final(model, X, ranks, scores=known)

    def predict(self, model: Any, X: Any, data: DataSet, rows: Indices) -> Any:
        """Predict instances, which are rows of a data set."""
        return model.predict(X)

    def ranks_of(self, predicted: Any) -> Values:
        """Return the ranks in what was predicted."""
        return np.asarray(predicted, dtype=np.float64)

    def units(self, data: DataSet, rows: Indices) -> NDArray[Any]:
        """Return what has a metric of its own among rows of a data set: here, each row."""
        return rows

    def metrics_of(
        self, model: Any, X: Any, predicted: Any, data: DataSet, rows: Indices, train: Indices
    ) -> tuple[dict[str, float], dict[str, Values]]:
        """Return the metrics of predictions for rows of a data set, in all and by unit.

        A metric that is no mean over units is not among the second ones.
        """
        truth, tied = data.ranks[rows], predicted
        if data.tied and hasattr(final_step(model), "predict_buckets"):
            ranker, reaching = at_final_step(model, X)
            tied = ranker.predict_buckets(reaching)
        found = {
            "tau": kendall_tau(truth, predicted, average=False),
            "tau_x": kendall_tau(truth, tied, variant="x", average=False),
            "rho": spearman_rho(truth, predicted, average=False),
            "top1": top_accuracy(truth, predicted, average=False),
        }
        found |= choice_metrics(predicted, data, rows, train)
        by_row = {name: np.asarray(values) for name, values in found.items()}
        means = {name: defined_mean(values) for name, values in by_row.items()}
        return dict.fromkeys(self.metrics, float("nan")) | with_gap_closed(means), by_row


class MultilabelTask(RankingTask):
    """Multilabel ranking: targets are calibrated ranks."""

    kind = "multilabel_ranker"
    metrics = (
        "rho",
        "average_precision",
        "ranking_loss",
        "one_error",
        "hamming_loss",
        "subset_loss",
        "micro_f1",
        "macro_f1",
    )

    def check(self, y: Any, name: str) -> tuple[Values, NDArray[Any] | None]:
        """Return calibrated ranks as numbers, and the names of the labels."""
        names = label_names(y)
        return check_calibrated(y, name=name), None if names is None else names[:-1]

    def fit(self, model: Any, X: Any, ranks: Any, data: DataSet, rows: Indices) -> Any:
        """Train a model on the relevance and the ranks in calibrated ranks."""
        relevance, inner = split_calibrated(ranks)
        names = label_names(ranks)
        if names is not None:
            relevance, inner = (
                type(ranks)(part, columns=names[:-1]) for part in (relevance, inner)
            )
        return fit_final(model, X, relevance, ranks=inner)

    def predict(self, model: Any, X: Any, data: DataSet, rows: Indices) -> Any:
        """Return scores and calibrated ranks."""
        ranker, inner = at_final_step(model, X)
        return ranker.decision_function(inner), ranker.predict_calibrated(inner)

    def ranks_of(self, predicted: Any) -> Values:
        """Return the calibrated ranks."""
        return np.asarray(predicted[1], dtype=np.float64)

    def metrics_of(
        self, model: Any, X: Any, predicted: Any, data: DataSet, rows: Indices, train: Indices
    ) -> tuple[dict[str, float], dict[str, Values]]:
        """Return the metrics of orders and of label sets."""
        scores, calibrated = predicted
        truth = data.ranks[rows]
        relevance, _ = split_calibrated(truth)
        chosen = (calibrated[:, :-1] < calibrated[:, -1:]).astype(np.float64)
        rho = np.asarray(sets.calibrated_rho(truth, calibrated, average=False))
        return {
            "rho": defined_mean(rho),
            "average_precision": sets.average_precision(relevance, scores),
            "ranking_loss": sets.ranking_loss(relevance, scores),
            "one_error": sets.one_error(relevance, scores),
            "hamming_loss": sets.hamming_loss(relevance, chosen),
            "subset_loss": sets.subset_loss(relevance, chosen),
            "micro_f1": sets.f1_score(relevance, chosen),
            "macro_f1": sets.f1_score(relevance, chosen, average="macro"),
        }, {"rho": rho}


class OrderingTask(RankingTask):
    """Supervised ordering: one rank per object, queries as groups, grades as scores."""

    kind = "orderer"
    metrics = ("rho", "tau", "ndcg", "map", "mrr")

    def check(self, y: Any, name: str) -> tuple[Values, NDArray[Any] | None]:
        """Return the ranks of objects as numbers."""
        ranks = np.asarray(y, dtype=np.float64)
        if ranks.ndim != 1:
            raise ValueError(f"{name} must hold one rank per object, got shape {ranks.shape}.")
        return ranks, None

    def fit(self, model: Any, X: Any, ranks: Any, data: DataSet, rows: Indices) -> Any:
        """Train a model on the orders of queries."""
        return fit_final(model, X, ranks, qid=_some(data.groups, rows))

    def predict(self, model: Any, X: Any, data: DataSet, rows: Indices) -> Any:
        """Return the ranks of objects within their queries."""
        orderer, inner = at_final_step(model, X)
        return orderer.predict(inner, _some(data.groups, rows))

    def units(self, data: DataSet, rows: Indices) -> NDArray[Any]:
        """Return the number of each query."""
        if data.groups is None:
            return np.zeros(1, dtype=np.intp)
        return np.unique(np.unique(data.groups, return_inverse=True)[1][rows])

    def metrics_of(
        self, model: Any, X: Any, predicted: Any, data: DataSet, rows: Indices, train: Indices
    ) -> tuple[dict[str, float], dict[str, Values]]:
        """Return the means of metrics over queries, and the metrics of each."""
        truth, scores = data.ranks[rows], -np.asarray(predicted, dtype=np.float64)
        gains, relevant = gains_and_relevance(data, rows)
        qid = np.zeros(len(rows)) if data.groups is None else data.groups[rows]

        def metrics(some: Any) -> dict[str, float]:
            return {
                "rho": ordering.query_rho(truth[some], scores[some], qid[some]),
                "tau": ordering.query_tau(truth[some], scores[some], qid[some]),
                "ndcg": ordering.ndcg(gains[some], scores[some], qid[some], k=HEAD),
                "map": ordering.mean_average_precision(relevant[some], scores[some], qid[some]),
                "mrr": ordering.mean_reciprocal_rank(relevant[some], scores[some], qid[some]),
            }

        members = np.split(
            np.argsort(qid, kind="stable"), np.cumsum(np.unique(qid, return_counts=True)[1])[:-1]
        )
        with silenced():  # the metrics of all queries say what is undefined
            each = [metrics(some) for some in members]
        return metrics(slice(None)), {
            name: np.array([one[name] for one in each]) for name in self.metrics
        }


TASKS = {task.kind: task for task in (RankingTask(), MultilabelTask(), OrderingTask())}


def task_of(rankers: Mapping[str, Any]) -> RankingTask:
    """Return the task of rankers, which all must share; label ranking if they declare none."""
    kinds = {name: get_tags(final_step(ranker)).estimator_type for name, ranker in rankers.items()}
    tasks = {name: TASKS.get(kind, TASKS["label_ranker"]) for name, kind in kinds.items()}
    for name, task in tasks.items():
        first = next(iter(tasks))
        if task is not tasks[first]:
            raise ValueError(f"{name!r} and {first!r} do not do the same task.")
    return next(iter(tasks.values()), TASKS["label_ranker"])


def _some(values: NDArray[Any] | None, rows: Indices) -> Any:
    return None if values is None else values[rows]


def choice_metrics(
    predicted: Any, data: DataSet, rows: Indices, train: Indices
) -> dict[str, Values]:
    """Return by row what the labels predicted first are worth, beside the single best label."""
    found: dict[str, Any] = {}
    if data.scores is not None:
        scores = data.scores[rows]
        single = np.tile(ranks_by_mean(data.scores[train]), (len(rows), 1))
        found = {
            "regret": regret(scores, predicted, average=False),
            "utility": utility(scores, predicted, average=False),
            "single_best_regret": regret(scores, single, average=False),
        }
    return found | {
        name: values_of_first(values[rows], predicted) for name, values in data.values.items()
    }


def with_gap_closed(means: dict[str, float]) -> dict[str, float]:
    """Add to means how much of the single best label's regret is avoided, if there is any."""
    lost, single = means.get("regret", np.nan), means.get("single_best_regret", np.nan)
    return means | {"gap_closed": 1 - lost / single if single > 0 else np.nan}


def ranks_by_mean(scores: Values) -> Values:
    """Return the ranks of the labels by mean score; a label without any score comes last."""
    known = ~np.isnan(scores)
    counts = known.sum(axis=0)
    sums = np.where(known, scores, 0).sum(axis=0)
    means = np.divide(sums, counts, out=np.full(len(sums), np.finfo(float).min), where=counts > 0)
    return strict_ranks(means[None])[0]


def values_of_first(values: Values, predicted: Any) -> Values:
    """Return by row the value of the label predicted first among those with a known value."""
    ranks = np.where(np.isnan(values), np.inf, predicted)
    # Where no value is known, that of any label is NaN.
    return np.take_along_axis(values, np.argmin(ranks, axis=1)[:, None], axis=1)[:, 0]


def defined_mean(values: Values) -> float:
    """Return the mean of the values that are not NaN; NaN if there is none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def gains_and_relevance(data: DataSet, rows: Indices) -> tuple[Values, Values]:
    """Return the gain of each object for NDCG, and which objects are relevant.

    For grades that are not negative the gain is 2^grade - 1, and positive grades are relevant.
    Otherwise the gain is the number of objects behind, and the first of each query is relevant.
    """
    ranks, members = data.ranks[rows], _some(data.groups, rows)
    # Asked of all rows, so that every fold has the same gains.
    known = np.empty(0) if data.scores is None else data.scores[~np.isnan(data.scores)]
    if data.scores is not None and known.size and known.min() >= 0:
        grades = data.scores[rows]
        # Grades of a wide range are scores: as exponents they would leave only the best object.
        gains = 2**grades - 1 if known.max() <= HEAD else grades
        return gains, np.where(np.isnan(grades), np.nan, grades > 0)
    codes = (
        np.zeros(len(ranks), int) if members is None else np.unique(members, return_inverse=True)[1]
    )
    last = np.full(int(codes.max(initial=0)) + 1, -np.inf)
    np.fmax.at(last, codes, ranks)
    first = np.full(len(last), np.inf)
    np.fmin.at(first, codes, ranks)
    relevant = np.where(np.isnan(ranks), np.nan, ranks == first[codes])
    return last[codes] - ranks, relevant

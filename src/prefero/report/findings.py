"""Sentences and tables of the page, from the results of an experiment."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from prefero._pipelines import final_step
from prefero.evaluation._data import DataSet
from prefero.evaluation.baselines import ConstantOrderer
from prefero.evaluation.comparison import Comparison
from prefero.evaluation.paired_comparison import by_unit
from prefero.evaluation.results import METRICS, ResultTable, at_missing_rate, summarize
from prefero.label_ranking import ConsensusLabelRanker
from prefero.multilabel import ConsensusMultilabelRanker
from prefero.rankings import bucket_positions

# So many numbers take about half a megabyte.
_MOST_NUMBERS = 60_000


def all_metrics(found: Comparison, results: ResultTable) -> ResultTable:
    """Return the mean of every metric that has values, one row per ranker, the best first.

    Parameters
    ----------
    found : Comparison
        The comparison of the rankers.
    results : ResultTable
        The results of one missing rate.

    Returns
    -------
    ResultTable
        The column ``ranker``, and one column per metric.
    """
    means = {row["ranker"]: row for row in summarize(results, by=("ranker",))}
    known = known_metrics(found, results)
    names = [found.rankers[i] for i in found.order]
    return ResultTable(
        {"ranker": name} | {METRICS[scoring].title: means[name][scoring] for scoring in known}
        for name in names
    )


def known_metrics(found: Comparison, results: ResultTable) -> list[str]:
    """Return the metrics that have values and do not repeat another one."""
    means = list(summarize(results, by=("ranker",)))
    known = [name for name in METRICS if name in results.columns]
    known = [name for name in known if not all(np.isnan(row[name]) for row in means)]
    # Without ties tau-x equals tau.
    if "tau_x" in known and all(row["tau_x"] == row["tau"] for row in means):
        known.remove("tau_x")
    if "utility" in known and "cost" not in known and found.scoring != "utility":
        known.remove("utility")
    return known


def per_row(found: Comparison, results: ResultTable, dataset: str) -> dict[str, Any] | None:
    """Return the metrics of every row, or query, of a data set, as JSON takes them.

    The metric that rankers are compared by comes first, others as far as they leave the page small.
    """
    names = [found.scoring, *(name for name in METRICS if name != found.scoring)]
    if found.scoring == "gap_closed":
        names = ["regret", "single_best_regret", *names[1:]]
    metrics: dict[str, dict[str, list[float | None]]] = {}
    rows: dict[str, Any] = {}
    left = _MOST_NUMBERS
    for name in dict.fromkeys(names):
        units = by_unit(results.where(dataset=dataset), name) if name != "gap_closed" else None
        left -= 0 if units is None else len(units.values) * len(units.groups)
        if units is None or left < 0:
            continue
        rows = rows or {"rows": units.rows.tolist(), "groups": units.groups.tolist()}
        metrics[name] = {
            ranker: [float(f"{value:.6g}") for value in units.values[ranker].tolist()]
            for ranker in (found.rankers[i] for i in found.order)
        }
    return {"dataset": dataset, **rows, "metrics": metrics} if metrics else None


def baseline_names(rankers: Mapping[str, Any]) -> list[str]:
    """Return the names of the consensus baselines, which predict the same order for everyone."""
    kinds = (ConsensusLabelRanker, ConsensusMultilabelRanker, ConstantOrderer)
    return [name for name, ranker in rankers.items() if isinstance(final_step(ranker), kinds)]


def scores_by_dataset(found: Comparison) -> ResultTable:
    """Return the score of every ranker on every data set.

    Parameters
    ----------
    found : Comparison
        The comparison of the rankers.

    Returns
    -------
    ResultTable
        One row per data set, one column per ranker, the best ranker first.
    """
    return ResultTable(
        {"data set": name} | {found.rankers[i]: float(row[i]) for i in found.order}
        for name, row in zip(found.datasets, found.scores, strict=True)
    )


def data_summary(sets: Mapping[str, DataSet]) -> ResultTable:
    """Describe each data set.

    Parameters
    ----------
    sets : mapping of str to DataSet
        The data sets by name.

    Returns
    -------
    ResultTable
        One row per data set: its size, and the shares of labels that are missing and of rows
        with ties.
    """
    return ResultTable(_data_row(name, data) for name, data in sets.items())


def _data_row(name: str, data: DataSet) -> dict[str, Any]:
    ranks = data.ranks
    if ranks.ndim == 1:
        orders = 1 if data.groups is None else len(np.unique(data.groups))
        return {
            "data set": name,
            "objects": len(ranks),
            "groups": orders,
            "features": np.shape(data.X)[1],
            "objects not ranked": f"{np.isnan(ranks).mean():.1%}",
        }
    if ranks.shape[1] > len(data.labels):
        sides = ranks[:, :-1]
        relevant = (sides < ranks[:, -1:]).sum(axis=1)
        return {
            "data set": name,
            "rows": len(ranks),
            "features": np.shape(data.X)[1],
            "labels": len(data.labels),
            "labels of unknown relevance": f"{np.isnan(sides).mean():.1%}",
            "relevant labels per row": float(relevant.mean()),
        }
    positions = np.sort(bucket_positions(ranks), axis=1)
    tied = (np.diff(positions, axis=1) == 0).any(axis=1)
    return {
        "data set": name,
        "rows": len(ranks),
        "features": np.shape(data.X)[1],
        "labels": ranks.shape[1],
        "labels not ranked": f"{np.isnan(ranks).mean():.1%}",
        "rows with ties": f"{tied.mean():.1%}",
        "scores": "yes" if data.scores is not None else "no",
    }


def protocol(results: ResultTable) -> str:
    """Describe how the results were obtained, as far as the table tells.

    Parameters
    ----------
    results : ResultTable
        The results of one missing rate.

    Returns
    -------
    str
        A sentence.
    """
    if not {"fold", "repetition"} <= set(results.columns):
        return "The results were given as a table."
    folds, repeats = len(set(results["fold"])), len(set(results["repetition"]))
    often = "" if repeats == 1 else f", repeated {repeats} times"
    rates = sorted(set(results["missing"])) if "missing" in results.columns else [0.0]
    dropped = f", {rates[0]:.0%} of the labels of training rows dropped" if rates[0] > 0 else ""
    return f"{folds}-fold cross-validation{often}{dropped}; the same folds for every ranker."


def lowest_rate(results: ResultTable, missing: float | None) -> tuple[ResultTable, list[float]]:
    """Return the results of one missing rate, by default the lowest, and all rates there are."""
    if "missing" not in results.columns:
        return results, []
    rates = sorted(set(results["missing"]))
    return at_missing_rate(results, rates[0] if missing is None else missing), rates

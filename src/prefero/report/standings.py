"""The leaderboard: every ranker by its main metrics, with intervals to be drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from prefero._typing import Values
from prefero.evaluation.comparison import Comparison
from prefero.evaluation.paired_comparison import by_unit, scores_by_fold, tested_to_trained
from prefero.evaluation.results import METRICS, MetricInfo, ResultTable, number_text, score_matrix
from prefero.report.findings import known_metrics

# What stands side by side, by task; the metric that rankers are compared by joins them.
_MAIN = {
    "label_ranker": ("tau", "top1", "regret"),
    "multilabel_ranker": ("rho", "average_precision", "hamming_loss"),
    "orderer": ("rho", "tau", "ndcg"),
}
_LEVEL = 0.95

_MEANINGS = {
    "tau": "Kendall’s correlation of true and predicted order: 1 is every pair right, 0 is chance.",
    "tau_x": "As tau, but ties that are missed, or predicted where there are none, count too.",
    "rho": "Spearman’s correlation of true and predicted ranks: 1 is right, 0 is chance.",
    "top1": "The share of rows whose predicted first label is the true one: 1 is best.",
    "regret": "How much worse the first label is than the best one, in the unit of the scores: "
    "0 is best.",
    "gap_closed": "How far from one label for all (0) to the best label for each row (1).",
    "utility": "The mean score of the first label, minus its cost.",
    "score": "The mean score of the first label.",
    "cost": "The mean cost of the first label.",
    "PAR10": "The mean time of the first label, ten times the cutoff where it ran out.",
    "average_precision": "The mean share of relevant labels at or above each relevant one: 1 is "
    "best.",
    "ranking_loss": "The share of relevant and irrelevant labels in the wrong order: 0 is best.",
    "one_error": "The share of rows whose first label is irrelevant: 0 is best.",
    "hamming_loss": "The share of labels on the wrong side of the virtual label: 0 is best.",
    "subset_loss": "The share of rows with any label on the wrong side: 0 is best.",
    "ndcg": "The quality of the first ten, where the first counts most: 1 is best.",
    "map": "The mean share of relevant objects at or above each relevant one: 1 is best.",
    "mrr": "One over the place of the first relevant object: 1 is best.",
    "placed": "The share of the new label's pairs in the right order: 1 is best.",
}


@dataclass(frozen=True)
class Mark:
    """A value, and where it is drawn, in percent of the width: itself and its interval."""

    value: float
    text: str
    margin: str
    at: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Column:
    """A metric: its title and meaning, and one mark per ranker."""

    title: str
    meaning: str
    marks: list[Mark]
    # Where the baseline is, in percent of the width.
    baseline: float | None


@dataclass(frozen=True)
class Standing:
    """A ranker: its place, its tags, and how far it is behind the best."""

    place: int
    name: str
    tags: list[str]
    behind: str
    p_value: str
    p: float


@dataclass(frozen=True)
class Standings:
    """The leaderboard, the best ranker first."""

    columns: list[Column]
    rows: list[Standing]
    lines: str
    # Of each metric: title, meaning, values of the best ranker and of the baseline.
    figures: list[tuple[str, str, str, str]]


def standings(
    kind: str, found: Comparison, results: ResultTable, baselines: Sequence[str]
) -> Standings:
    """Return the leaderboard of a comparison.

    Parameters
    ----------
    kind : str
        The task.
    found : Comparison
        The comparison of the rankers.
    results : ResultTable
        The results of one missing rate.
    baselines : sequence of str
        The consensus baselines among the rankers.

    Returns
    -------
    Standings
        Its columns and rows, the best ranker first.
    """
    chosen = [name for name in _MAIN[kind] if name in known_metrics(found, results)]
    chosen = list(dict.fromkeys((found.scoring, *chosen)))
    baseline = next((name for name in baselines if name in found.rankers), None)
    columns = [_metric_of(name, found, results, baseline) for name in chosen]
    figures = _figures(columns, found, baseline)
    if len(found.datasets) > 1:
        columns.insert(0, _average_ranks(found, baseline))
    return Standings(columns, _rows(found, baselines), _lines(found, results), figures)


def p_text(p: float) -> str:
    """Return a p-value as text."""
    if np.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _rows(found: Comparison, baselines: Sequence[str]) -> list[Standing]:
    alike = found.alike()
    against_best = {row["ranker"]: row for row in found.against_best}
    best = found.order[0]
    rows = []
    for place, i in enumerate(found.order, start=1):
        name = found.rankers[i]
        tags = ["best"] if i == best else []
        if found.tested and name in alike:
            tags.append("not significantly worse than the best")
        if name in baselines:
            tags.append("baseline")
        p, behind = float("nan"), float("nan")
        if name in against_best:
            p, behind = against_best[name]["p_value"], against_best[name]["behind"]
        elif i != best and len(found.datasets) > 1:
            p = float(found.pair_p_values[best, i])
        shown = "–" if np.isnan(behind) else number_text(behind)
        rows.append(Standing(place, name, tags, shown, p_text(p), p))
    return rows


def _place(found: Comparison, ranker: str | None) -> int | None:
    return None if ranker is None else found.order.tolist().index(found.rankers.index(ranker))


def _metric_of(name: str, found: Comparison, results: ResultTable, baseline: str | None) -> Column:
    means = _means(name, found, results)
    halves = _half_widths_of_rows(name, found, results)
    if not halves:
        values = _values(name, found, results)
        halves = _half_widths(found, [values[i] for i in found.order], results)
    info = METRICS.get(name, MetricInfo(name, True))
    ends = [
        (max(info.low, mean - half), min(info.high, mean + half))
        for mean, half in zip(means, halves, strict=True)
    ]
    at = _place(found, baseline)
    return _drawn(info.title, _MEANINGS.get(name, ""), means, halves, ends, at)


def _average_ranks(found: Comparison, baseline: str | None) -> Column:
    means = [float(found.average_ranks[i]) for i in found.order]
    half = found.critical_difference / 2
    ends = [(max(1, mean - half), min(len(means), mean + half)) for mean in means]
    at = _place(found, baseline)
    meaning = "Its mean place among the rankers over the data sets: 1 is best."
    if not np.isnan(half):
        meaning += " Lines are half a critical difference: those apart differ significantly."
    return _drawn("average rank", meaning, means, [half] * len(means), ends, at)


def _drawn(
    title: str,
    meaning: str,
    means: list[float],
    halves: list[float],
    ends: list[tuple[float, float]],
    baseline: int | None,
) -> Column:
    """Put values and intervals on one scale, a twentieth of which is left free at both ends."""
    known = [value for pair in ends for value in pair if np.isfinite(value)] + [
        mean for mean in means if np.isfinite(mean)
    ]
    lowest, highest = (min(known), max(known)) if known else (0.0, 1.0)
    span = (highest - lowest) or 1.0

    def place(value: float) -> float:
        return 5 + 90 * (value - lowest) / span

    marks = [
        Mark(
            mean,
            "–" if np.isnan(mean) else number_text(mean),
            "" if np.isnan(half) else f"± {number_text(half)}",
            place(mean) if np.isfinite(mean) else 0.0,
            None if np.isnan(half) else place(low),
            None if np.isnan(half) else place(high),
        )
        for mean, half, (low, high) in zip(means, halves, ends, strict=True)
    ]
    at = None if baseline is None or not np.isfinite(means[baseline]) else marks[baseline].at
    return Column(title, meaning, marks, at)


def _figures(
    columns: list[Column], found: Comparison, baseline: str | None
) -> list[tuple[str, str, str, str]]:
    at = _place(found, baseline)
    return [
        (
            column.title,
            column.meaning,
            column.marks[0].text,
            "" if not at else column.marks[at].text,
        )
        for column in columns
    ]


def _values(name: str, found: Comparison, results: ResultTable) -> list[Values]:
    """The values behind the means: by fold, or by data set if there are several."""
    if len(found.datasets) > 1:
        kept = [row for row in results if row["dataset"] in found.datasets]
        _, rankers, scores = score_matrix(ResultTable(kept, results.columns), name)
        return [scores[:, rankers.index(ranker)] for ranker in found.rankers]
    members = results.where(dataset=found.datasets[0])
    if {"repetition", "fold"} <= set(results.columns):
        by_fold = scores_by_fold(members, name)
        return [np.array(list(by_fold[ranker].values())) for ranker in found.rankers]
    return [members.where(ranker=ranker)[name] for ranker in found.rankers]


def _means(name: str, found: Comparison, results: ResultTable) -> list[float]:
    """The mean of a metric over data sets of each ranker, the best first."""
    kept = [row for row in results if row["dataset"] in found.datasets]
    _, rankers, scores = score_matrix(ResultTable(kept, results.columns), name)
    return [float(scores[:, rankers.index(found.rankers[i])].mean()) for i in found.order]


def _half_widths_of_rows(name: str, found: Comparison, results: ResultTable) -> list[float]:
    """Half the width of the interval of each mean, from single rows; none if they are unknown."""
    if len(found.datasets) > 1:
        return []
    units = by_unit(results.where(dataset=found.datasets[0]), name)
    if units is None:
        return []
    quantile = float(stats.t.ppf((1 + _LEVEL) / 2, len(np.unique(units.groups)) - 1))
    return [quantile * units.standard_error(units.values[found.rankers[i]]) for i in found.order]


def _half_widths(found: Comparison, values: list[Values], results: ResultTable) -> list[float]:
    """Half the width of the interval of each mean; NaN where it is unknown.

    Folds share training rows, for which their variance is corrected as in `compare_folds`. Over
    data sets, differences that all rankers share are removed (Cousineau 2005; Morey 2008).
    """
    n = min(map(len, values))
    if n < 2:
        return [float("nan")] * len(values)
    quantile = float(stats.t.ppf((1 + _LEVEL) / 2, n - 1))
    if len(found.datasets) > 1:
        matrix = np.array(values)
        k = len(matrix)
        if k > 1:
            matrix = (matrix - matrix.mean(axis=0)) * np.sqrt(k / (k - 1))
        return (quantile * matrix.std(axis=1, ddof=1) / np.sqrt(n)).tolist()
    ratio = (
        tested_to_trained(results, len(set(results["fold"]))) if "fold" in results.columns else 0
    )
    return [quantile * float(np.sqrt((1 / n + ratio) * row.var(ddof=1))) for row in values]


def _lines(found: Comparison, results: ResultTable) -> str:
    if len(found.datasets) > 1:
        return (
            f"Lines are {_LEVEL:.0%} intervals of the means over {len(found.datasets)} data sets, "
            "without the differences between data sets that all rankers share."
        )
    return (
        f"Lines are {_LEVEL:.0%} intervals of the means, from {found.unit or 'the folds'}; their "
        "variance is corrected for the training rows that folds share."
    )

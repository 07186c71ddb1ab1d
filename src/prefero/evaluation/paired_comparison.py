"""Which rankers differ on a single data set."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from prefero._typing import Indices, Values
from prefero.evaluation.results import (
    RUN_COLUMNS,
    ResultTable,
    RunPredictions,
    at_missing_rate,
    larger_is_better,
)

N_RESAMPLES = 1000
# The share of Nadeau & Bengio's correction at which the test keeps its level: theirs is for means
# of folds, and is conservative for rows. docs/results/paired_tests.md
_OF_TRAINING = 2 / 3


def compare_rows(
    results: ResultTable,
    reference: str | None = None,
    *,
    scoring: str = "tau",
    greater_is_better: bool | None = None,
    missing: float | None = None,
    alpha: float = 0.05,
) -> ResultTable:
    """Compare one ranker with all others over the test rows of a single data set.

    Every row is predicted by each ranker from the same training rows, so that differences are taken
    row by row. Rows of one group count as one observation, of objects so do those of one query.
    Other training rows would have given other models, so that the variance of the mean difference
    over n test rows is increased from 1/n to 1/n + 2/(3 n'), with n' training rows: two thirds of
    what the corrected resampled t-test adds (Nadeau & Bengio 2003), as single rows show.

    Parameters
    ----------
    results : ResultTable
        Results of one data set, as `run_experiment` returns; several predictions of a row, from
        repetitions, are averaged.
    reference : str, optional
        The ranker to compare with all others; by default the best one.
    scoring : str, default="tau"
        The metric to compare.
    greater_is_better : bool, optional
        Whether larger values are better, as for `compare`.
    missing : float, optional
        The missing rate to use, if the results hold several.
    alpha : float, default=0.05
        One less the coverage of the intervals.

    Returns
    -------
    ResultTable
        One row for each other ranker, the best first: ``ranker``, its mean, ``behind`` (how
        much worse it is than the reference on average), ``low`` and ``high`` (an interval for it)
        and ``p_value`` (two-sided), adjusted for the number of comparisons: with a reference by
        Holm's method; with the best one, which the same rows have chosen, by Tukey's for all pairs.

    References
    ----------
    Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker, NeighborsLabelRanker
    >>> from prefero.datasets import load_dataset
    >>> from prefero.evaluation import run_experiment
    >>> rankers = {"consensus": ConsensusLabelRanker(), "neighbors": NeighborsLabelRanker()}
    >>> found = compare_rows(run_experiment(rankers, {"iris": load_dataset("iris")}, n_splits=3))
    >>> found["ranker"].tolist(), bool(found["p_value"][0] < 0.001)
    (['consensus'], True)
    """
    results = _of_one_set(results, missing)
    found = by_unit(results, scoring)
    if found is None:
        raise ValueError(f"The results hold no {scoring} of single rows for every ranker.")
    sign = 1 if larger_is_better(scoring, greater_is_better, results) else -1
    means = {name: float(values.mean()) for name, values in found.values.items()}
    first, others = _reference(means, reference, sign)
    gaps = [sign * (found.values[first] - found.values[name]) for name in others]
    errors = np.array([found.standard_error(gap) for gap in gaps])
    freedom = len(np.unique(found.groups)) - 1
    behind = np.array([gap.mean() for gap in gaps])
    # Without any variance a difference is either none or certain.
    t = np.divide(np.abs(behind), errors, np.where(behind == 0, 0, np.inf), where=errors > 0)
    if reference is None and len(others) > 1:
        p_values = stats.studentized_range.sf(t * np.sqrt(2), len(means), freedom)
    else:
        p_values = _holm(2 * stats.t.sf(t, freedom))
    width = stats.t.ppf(1 - alpha / 2, freedom) * errors
    return ResultTable(
        (
            {"ranker": name, scoring: means[name], "behind": float(gap)}
            | {"low": float(gap - w), "high": float(gap + w), "p_value": float(p)}
            for name, gap, w, p in zip(others, behind, width, p_values, strict=True)
        ),
        columns=("ranker", scoring, "behind", "low", "high", "p_value"),
    )


def paired_tests(
    results: ResultTable,
    scoring: str,
    larger: bool,
    alpha: float,
    baseline: str | None,
) -> tuple[ResultTable, ResultTable, str]:
    """Compare all rankers of one data set with the best and with the baseline, and say over what.

    Rows are taken if all rankers have predictions for the same ones, or else the same folds.
    """
    none = ResultTable([])
    rankers = set(results["ranker"]) if len(results) else set()
    if len(rankers) < 2:
        return none, none, ""
    options: dict[str, Any] = {"scoring": scoring, "greater_is_better": larger}
    units = by_unit(results, scoring)
    test: Callable[..., ResultTable]
    if units is not None:
        n = len(np.unique(units.groups))
        unit = count(n, "row" if n == len(units.groups) else "group")
        test, options = compare_rows, options | {"alpha": alpha}
    elif _same_folds(results, scoring):
        unit, test = "the folds", compare_folds
    else:
        return none, none, ""
    of_baseline = test(results, baseline, **options) if baseline in rankers else none
    return test(results, **options), of_baseline, unit


def _same_folds(results: ResultTable, scoring: str) -> bool:
    """Whether all rankers have a result on the same folds, and on more than one."""
    if not {"repetition", "fold"} <= set(results.columns) or len(set(results["fold"])) < 2:
        return False
    folds = [set(scores) for scores in scores_by_fold(results, scoring).values()]
    return len(folds[0]) > 1 and all(other == folds[0] for other in folds)


def count(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one."""
    return f"{n} {noun}" + ("" if n == 1 else "s")


class UnitMetrics(NamedTuple):
    """A metric of several rankers for the same rows or queries.

    Attributes
    ----------
    values : dict of str to ndarray of shape (n_units,)
        By ranker.
    groups : ndarray of shape (n_units,)
        What each unit belongs to.
    trained : float
        The number of training rows for each test row.
    rows : ndarray of shape (n_units,)
        The number of each unit in the data set.
    """

    values: dict[str, Values]
    groups: Indices
    trained: float
    rows: Indices

    def standard_error(self, differences: Values) -> float:
        """Return the standard error of the mean of differences of units."""
        centred = np.bincount(self.groups, differences - differences.mean())
        n_groups = len(np.unique(self.groups))
        variance = (centred**2).sum() * n_groups / (n_groups - 1) / len(differences) ** 2
        return float(np.sqrt(variance * (1 + _OF_TRAINING / self.trained)))


def resampled_interval(
    statistic: Callable[[Indices], float], groups: Indices, level: float = 0.95
) -> tuple[float, float]:
    """Return the ends of an interval of a statistic of rows, by drawing groups again (bootstrap).

    Parameters
    ----------
    statistic : callable
        Returns the statistic of some rows, by their numbers.
    groups : ndarray of shape (n_rows,)
        What each row belongs to.
    level : float, default=0.95
        The coverage.

    Returns
    -------
    tuple of float
        The percentiles of `N_RESAMPLES` draws.
    """
    random = np.random.default_rng(0)
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(np.unique(groups, return_counts=True)[1])[:-1])
    found = []
    for _ in range(N_RESAMPLES):
        drawn = random.integers(len(members), size=len(members))
        found.append(statistic(np.concatenate([members[k] for k in drawn.tolist()])))
    tail = (1 - level) / 2
    low, high = np.nanquantile(found, (tail, 1 - tail))
    return float(low), float(high)


def gap_interval(
    lost: Values, at_best: Values, groups: Indices, level: float = 0.95
) -> tuple[float, float]:
    """Return the ends of an interval of the closed gap, from the regrets of rows."""
    return resampled_interval(
        lambda rows: 1 - np.nansum(lost[rows]) / np.nansum(at_best[rows]), groups, level
    )


def by_unit(results: ResultTable, scoring: str) -> UnitMetrics | None:
    """Return a metric of all rankers by row or query; None unless all have it for the same ones."""
    kept = {str(name): _kept(runs) for (name,), runs in results.groups("ranker").items()}
    values = {name: _means_by_unit(runs, scoring) for name, runs in kept.items()}
    if len({len(found) for found in values.values()}) != 1 or any(map(len, values.values())) == 0:
        return None
    matrix = np.array(list(values.values()))
    defined = ~np.isnan(matrix).any(axis=0)
    runs = next(iter(kept.values()))
    groups = np.full(len(defined), -1)
    for run in runs:
        groups[run.units] = run.groups
    if len(np.unique(groups[defined])) < 2:
        return None
    n_trained = np.mean([len(run.train) for run in runs])
    n_tested = len(np.unique(np.concatenate([run.test for run in runs])))
    found = dict(zip(values, matrix[:, defined], strict=True))
    return UnitMetrics(found, groups[defined], float(n_trained / n_tested), np.flatnonzero(defined))


def _kept(runs: ResultTable) -> list[RunPredictions]:
    """What was kept of some runs; nothing unless it is there for all of them."""
    if not set(RUN_COLUMNS) <= set(runs.columns):
        return []
    keys = [tuple(run[column] for column in RUN_COLUMNS) for run in runs]
    return [runs.predictions[key] for key in keys] if set(keys) <= runs.predictions.keys() else []


def _means_by_unit(runs: list[RunPredictions], scoring: str) -> Values:
    """The mean of a metric over the predictions of each row or query; nothing if it is unknown."""
    if scoring == "gap_closed":
        lost, at_best = (_means_by_unit(runs, name) for name in ("regret", "single_best_regret"))
        # The mean of these is one less the ratio of the sums.
        return (at_best - lost) / np.nanmean(at_best) if np.nansum(at_best) > 0 else at_best[:0]
    if not runs or any(scoring not in run.metrics for run in runs):
        return np.empty(0)
    units = np.concatenate([run.units for run in runs])
    values = np.concatenate([run.metrics[scoring] for run in runs])
    counts = np.bincount(units)
    # Rows that were not tested have no mean.
    return np.divide(
        np.bincount(units, values), counts, np.full(len(counts), np.nan), where=counts > 0
    )


def compare_folds(
    results: ResultTable,
    reference: str | None = None,
    *,
    scoring: str = "tau",
    greater_is_better: bool | None = None,
    missing: float | None = None,
) -> ResultTable:
    """Compare one ranker with all others over the folds of a single data set.

    Folds share most of their training rows, so that their differences vary less than those on new
    data, and an ordinary t-test is far too optimistic. The corrected resampled t-test (Nadeau &
    Bengio 2003) adds the ratio of test to training rows to the variance. P-values are adjusted
    for the number of comparisons (Holm).

    Parameters
    ----------
    results : ResultTable
        Results of one data set, as `run_experiment` returns; more repetitions have more power.
    reference : str, optional
        The ranker to compare with all others; by default the best one.
    scoring : str, default="tau"
        The column to compare.
    greater_is_better : bool, optional
        Whether larger values are better, as for `compare`.
    missing : float, optional
        The missing rate to use, if the results hold several.

    Returns
    -------
    ResultTable
        One row for each other ranker, the best first: ``ranker``, its mean, ``behind`` (how
        much worse it is than the reference on average) and ``p_value`` (two-sided).

    References
    ----------
    Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "d", "ranker": name, "repetition": 0, "fold": fold, "tau": tau}
    ...     for name, taus in [("forest", (0.9, 0.8, 0.9)), ("consensus", (0.2, 0.3, 0.1))]
    ...     for fold, tau in enumerate(taus)
    ... ]
    >>> print(compare_folds(ResultTable(rows)).to_text())
    | ranker    |   tau | behind | p_value |
    |-----------|------:|-------:|--------:|
    | consensus | 0.200 |  0.667 |   0.041 |
    """
    results = _of_one_set(results, missing)
    scores = _aligned(scores_by_fold(results, scoring))
    n_splits = len(set(results["fold"]))
    if n_splits < 2:
        raise ValueError("The results hold a single fold: there is nothing to compare over.")
    sign = 1 if larger_is_better(scoring, greater_is_better, results) else -1
    first, others = _reference({n: float(v.mean()) for n, v in scores.items()}, reference, sign)
    behind = [sign * (scores[first] - scores[name]) for name in others]
    ratio = tested_to_trained(results, n_splits)
    p_values = _holm(np.array([_corrected_t_test(gap, ratio) for gap in behind]))
    return ResultTable(
        (
            {"ranker": name, scoring: float(scores[name].mean()), "behind": float(gap.mean())}
            | {"p_value": float(p)}
            for name, gap, p in zip(others, behind, p_values, strict=True)
        ),
        columns=("ranker", scoring, "behind", "p_value"),
    )


def _of_one_set(results: ResultTable, missing: float | None) -> ResultTable:
    results = at_missing_rate(results, missing)
    datasets = set(results["dataset"])
    if len(datasets) != 1:
        raise ValueError(
            f"The results hold {len(datasets)} data sets: choose one, or use compare for all."
        )
    return results


def _reference(means: dict[str, float], reference: str | None, sign: int) -> tuple[str, list[str]]:
    """The ranker to compare with, by default the best, and all others, the best first."""
    order = sorted(means, key=lambda name: -sign * means[name])
    first = order[0] if reference is None else reference
    if first not in means:
        raise ValueError(f"There is no ranker {first!r}, only {', '.join(order)}.")
    return first, [name for name in order if name != first]


def scores_by_fold(results: ResultTable, scoring: str) -> dict[str, dict[tuple[int, int], float]]:
    """Return the score of every ranker by repetition and fold, where it is defined."""
    return {
        str(name): {
            (row["repetition"], row["fold"]): row[scoring]
            for row in members
            if not np.isnan(row[scoring])
        }
        for (name,), members in results.groups("ranker").items()
    }


def tested_to_trained(results: ResultTable, n_splits: int) -> float:
    """Return the ratio of test to training rows, from the results or the number of folds."""
    if "test_rows" in results.columns:
        return float(np.mean(results["test_rows"] / results["train_rows"]))
    return 1 / (n_splits - 1)


def _aligned(scores: dict[str, dict[tuple[int, int], float]]) -> dict[str, Values]:
    """Return the scores of every ranker with the folds in the same order."""
    places = sorted(set().union(*scores.values()))
    for name, values in scores.items():
        if len(values) < len(places):
            raise ValueError(f"{name} was not run on every fold that others were run on.")
    return {name: np.array([values[at] for at in places]) for name, values in scores.items()}


def _corrected_t_test(gaps: Values, test_to_train: float) -> float:
    """Return the two-sided p-value for a mean gap of zero; 1 if all gaps are zero."""
    variance = gaps.var(ddof=1)
    if variance == 0:
        return 1.0 if gaps[0] == 0 else float(np.finfo(float).tiny)
    statistic = gaps.mean() / np.sqrt((1 / len(gaps) + test_to_train) * variance)
    return float(2 * stats.t.sf(abs(statistic), len(gaps) - 1))


def _holm(p_values: Values) -> Values:
    """Adjust p-values for their number by Holm's method."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return adjusted

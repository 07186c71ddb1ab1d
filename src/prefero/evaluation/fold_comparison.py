"""Which rankers differ on a single data set."""

import numpy as np
from scipy import stats

from prefero._typing import Values
from prefero.evaluation.results import ResultTable, at_missing_rate, larger_is_better


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
    results = at_missing_rate(results, missing)
    datasets = sorted(set(results["dataset"]))
    if len(datasets) != 1:
        raise ValueError(
            f"The results hold {len(datasets)} data sets: choose one, or use compare for all."
        )
    scores = _aligned(scores_by_fold(results, scoring))
    n_splits = len(set(results["fold"]))
    if n_splits < 2:
        raise ValueError("The results hold a single fold: there is nothing to compare over.")
    sign = 1 if larger_is_better(scoring, greater_is_better, results) else -1
    order = sorted(scores, key=lambda name: -sign * scores[name].mean())
    first = order[0] if reference is None else reference
    if first not in scores:
        raise ValueError(f"There is no ranker {first!r}, only {', '.join(order)}.")
    others = [name for name in order if name != first]
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

"""Comparison of rankers: tests over data sets, average ranks, wins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from prefero._optional import require
from prefero._typing import Values
from prefero.evaluation.paired_comparison import count, paired_tests
from prefero.evaluation.results import (
    ResultTable,
    at_missing_rate,
    larger_is_better,
    number_text,
    score_matrix,
)

Posthoc = Literal["nemenyi", "dunn"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of rankers over data sets. Made by `compare`.

    Attributes
    ----------
    rankers, datasets : list of str
        The names.
    scoring : str
        The metric.
    scores : ndarray of shape (n_datasets, n_rankers)
        The mean of the metric over folds and repetitions.
    average_ranks : ndarray of shape (n_rankers,)
        The mean rank of each ranker over data sets; equal scores share a rank.
    test : str
        The test of whether there is any difference: Friedman's, for two rankers Wilcoxon's.
    statistic, p_value : float
        Its outcome; NaN for a single data set or a single ranker.
    posthoc : {"nemenyi", "dunn"}
        The test of each pair.
    pair_p_values : ndarray of shape (n_rankers, n_rankers)
        Two-sided p-values; 1 on the diagonal.
    alpha : float
        The level of significance.
    critical_difference : float
        The difference of average ranks that is significant by Nemenyi's test; NaN without
        that test.
    wins : ndarray of shape (n_rankers, n_rankers)
        ``[i, j]`` is the number of data sets on which ranker i beats ranker j.
    left_out : list of str
        Data sets without a score for every ranker.
    against_best : ResultTable
        On a single data set how far each other ranker is behind the best one, by `compare_rows`
        or, where no predictions were kept, `compare_folds`; no rows if there are several sets.
    against_baseline : ResultTable
        In the same way how far each ranker is behind the baseline: negative for better ones.
    unit : str
        What the test on a single data set is taken over, such as "600 rows".
    baseline : str or None
        The ranker that the summary compares the others with first.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": f"set {k}", "ranker": ranker, "tau": 0.5 + gain + 0.01 * k}
    ...     for k in range(6)
    ...     for ranker, gain in (("forest", 0.2), ("tree", 0.1), ("constant", 0.0))
    ... ]
    >>> found = compare(ResultTable(rows))
    >>> found.best, found.average_ranks.tolist()
    ('forest', [1.0, 2.0, 3.0])
    """

    rankers: list[str]
    datasets: list[str]
    scoring: str
    scores: Values
    average_ranks: Values
    test: str
    statistic: float
    p_value: float
    posthoc: Posthoc
    pair_p_values: Values
    alpha: float
    critical_difference: float
    wins: NDArray[np.int64]
    left_out: list[str]
    against_best: ResultTable
    against_baseline: ResultTable
    unit: str
    baseline: str | None = None

    @property
    def order(self) -> NDArray[np.intp]:
        """The indices of the rankers, the best average rank first."""
        return np.argsort(self.average_ranks, kind="stable")

    @property
    def best(self) -> str:
        """The ranker with the best average rank."""
        return self.rankers[self.order[0]]

    @property
    def tested(self) -> bool:
        """Whether there was a test, over data sets or over folds."""
        return len(self.against_best) > 0 or not np.isnan(self.p_value)

    def significant(self) -> NDArray[np.bool_]:
        """Return which rankers are significantly better than which.

        A pair counts only if the test of all rankers found a difference at all.

        Returns
        -------
        ndarray of shape (n_rankers, n_rankers), dtype bool
            ``[i, j]`` is True where ranker i is significantly better than ranker j.
        """
        better = self.average_ranks[:, None] < self.average_ranks
        return better & (self.pair_p_values < self.alpha) & (self.p_value < self.alpha)

    def groups(self) -> list[list[str]]:
        """Return the maximal groups of rankers that do not differ significantly.

        Returns
        -------
        list of list of str
            Adjacent rankers by average rank; a ranker that differs from all others is in no
            group.
        """
        better = self.significant()
        alike = ~(better | better.T)[np.ix_(self.order, self.order)]
        ends = [_end_of_run(alike, first) for first in range(len(alike))]
        return [
            [self.rankers[i] for i in self.order[first:end]]
            for first, end in enumerate(ends)
            if end - first > 1 and end not in ends[:first]
        ]

    def summary(self) -> str:
        """Summarize the comparison in two or three sentences.

        Returns
        -------
        str
            Whether the best ranker beats the baseline, if there is one. Then the best ranker,
            which others cannot be told apart from it, and than which it is significantly better:
            over data sets, or on a single one over its folds.
        """
        return f"{self._against_baseline()}{self._standing()}"

    def _against_baseline(self) -> str:
        """Whether anything was learnt: how the best ranker stands to the baseline."""
        if not self.tested or self.baseline not in self.rankers or len(self.rankers) < 2:
            return ""
        clear = self._clearly_better()
        name = clear[0] if clear else next(n for n in self._in_order() if n != self.baseline)
        of, base = (self.scores[:, self.rankers.index(n)].mean() for n in (name, self.baseline))
        figures = f"mean {self.scoring} {number_text(of)} against {number_text(base)}"
        figures += self._interval(name)
        if clear:
            return f"{name} beats the baseline, {self.baseline}, on unseen rows: {figures}. "
        return (
            f"No ranker is shown to beat the baseline, {self.baseline}, on unseen rows: the best "
            f"other one, {name}, has {figures}. "
        )

    def _clearly_better(self) -> list[str]:
        """The rankers that are significantly better than the baseline, the best first."""
        if len(self.datasets) == 1:
            better = {
                row["ranker"]
                for row in self.against_baseline
                if row["p_value"] < self.alpha and row["behind"] < 0
            }
        else:
            at = self.rankers.index(str(self.baseline))
            better = {self.rankers[i] for i in np.flatnonzero(self.significant()[:, at])}
        return [name for name in self._in_order() if name in better]

    def _interval(self, name: str) -> str:
        """How much better than the baseline a ranker is, with an interval if there is one."""
        for row in self.against_baseline:
            if row["ranker"] == name and "low" in row:
                ends = " to ".join(number_text(-row[end]) for end in ("high", "low"))
                return f", better by {ends} ({1 - self.alpha:.0%} interval)"
        return ""

    def _standing(self) -> str:
        best = self.order[0]
        if len(self.datasets) == 1:
            text = f"{self.best} is best on {self.datasets[0]}: its mean {self.scoring} "
            text += f"is {number_text(self.scores[0, best])}."
            if not len(self.against_best):
                return f"{text} A test needs at least two rankers and several rows or folds."
        else:
            n, k = self.scores.shape
            text = f"{self.best} is best: its average rank by {self.scoring} is "
            text += f"{self.average_ranks[best]:.2f} of {k} over {count(n, 'data set')}."
            if np.isnan(self.p_value):
                return f"{text} A test needs at least two rankers."
        alike = self.alike()
        beaten = [name for name in self._others() if name not in alike]
        parts = [f"cannot be told apart from {', '.join(alike)}"] if alike else []
        parts += [f"is significantly better than {', '.join(beaten)}"] if beaten else []
        return f"{text} It {'; it '.join(parts)} {self._level()}."

    def alike(self) -> list[str]:
        """Return the rankers that cannot be told apart from the best one.

        Returns
        -------
        list of str
            The best of them first: all that are not significantly worse, over data sets or over the
            folds of a single one. All, if there is no test.
        """
        if len(self.datasets) == 1:
            beaten = {row["ranker"] for row in self.against_best if row["p_value"] < self.alpha}
        else:
            beaten = {self.rankers[i] for i in np.flatnonzero(self.significant()[self.order[0]])}
        return [name for name in self._others() if name not in beaten]

    def _in_order(self) -> list[str]:
        return [self.rankers[i] for i in self.order]

    def _others(self) -> list[str]:
        return self._in_order()[1:]

    def _level(self) -> str:
        if len(self.datasets) == 1:
            test = f"paired differences of {self.unit}"
        else:
            p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
            then = f", then {self.posthoc.capitalize()}" if len(self.rankers) > 2 else ""
            test = f"{self.test} {p}{then}"
        return f"({test}, level {self.alpha:g})"

    def leaderboard(self) -> ResultTable:
        """Return one row per ranker, the best average rank first.

        Returns
        -------
        ResultTable
            The columns ``ranker``, ``average rank``, ``mean`` (of the metric) and ``wins``
            (over all other rankers and data sets).
        """
        return ResultTable(
            {
                "ranker": self.rankers[i],
                "average rank": float(self.average_ranks[i]),
                f"mean {self.scoring}": float(self.scores[:, i].mean()),
                "wins": int(self.wins[i].sum()),
            }
            for i in self.order
        )

    def win_table(self) -> ResultTable:
        """Return how often each ranker beats each other one (Table 8 of de Sá et al.).

        Returns
        -------
        ResultTable
            One row and one column per ranker, then the total.
        """
        return self._square(self.wins.tolist(), total=True)

    def p_table(self) -> ResultTable:
        """Return the p-values of all pairs.

        Returns
        -------
        ResultTable
            One row and one column per ranker.
        """
        return self._square(self.pair_p_values.tolist(), total=False)

    def _square(self, values: list[list[Any]], *, total: bool) -> ResultTable:
        rows = []
        for i in self.order:
            row: dict[str, Any] = {"ranker": self.rankers[i]}
            row |= {self.rankers[j]: "" if i == j else values[i][j] for j in self.order}
            rows.append(row | ({"total": sum(values[i])} if total else {}))
        return ResultTable(rows)

    def to_text(self) -> str:
        """Return the whole comparison as text that is also Markdown.

        Returns
        -------
        str
            The summary, the leaderboard, the p-values and the wins.
        """
        parts = [self.summary(), self.leaderboard().to_text()]
        if not np.isnan(self.p_value) and len(self.rankers) > 2:
            parts += [f"{self.posthoc.capitalize()}'s p-values:", self.p_table().to_text()]
        if len(self.against_best):
            parts += [f"How far behind the best, over {self.unit}:", self.against_best.to_text()]
        if len(self.datasets) > 1:
            parts += ["Data sets on which the row's ranker beats the column's:"]
            parts += [self.win_table().to_text()]
        if self.left_out:
            parts += [f"Skipped, without a result for every ranker: {', '.join(self.left_out)}."]
        return "\n\n".join(parts)


def compare(
    results: ResultTable,
    *,
    scoring: str = "tau",
    greater_is_better: bool | None = None,
    missing: float | None = None,
    posthoc: Posthoc = "nemenyi",
    alpha: float = 0.05,
    baseline: str | None = None,
) -> Comparison:
    """Compare rankers over data sets, or over the folds of a single one.

    Friedman's test asks whether the rankers differ at all; if so, Nemenyi's or Dunn's test
    says which pairs do (Demšar 2006). Two rankers are compared by Wilcoxon's signed-rank
    test. On a single data set the best ranker is compared with each other one by
    `compare_rows`, or by `compare_folds` where no predictions of single rows were kept.

    Parameters
    ----------
    results : ResultTable
        With the columns ``dataset``, ``ranker`` and the metric, such as `run_experiment`
        returns. Several rows of a ranker on a data set are averaged.
    scoring : str, default="tau"
        The column to compare.
    greater_is_better : bool, optional
        Whether larger values are better; needed for a column of your own, unless
        `run_experiment` was told.
    missing : float, optional
        The missing rate to use, if the results hold several.
    posthoc : {"nemenyi", "dunn"}, default="nemenyi"
        Nemenyi's test as in Cheng et al. (2009), on ranks inside data sets; or Dunn's as in
        de Sá et al. (2017), on ranks pooled over all data sets, not adjusted for the number
        of pairs. Dunn's p-values are two-sided here; that paper prints one-sided ones, the
        half.
    alpha : float, default=0.05
        The level of significance.
    baseline : str, optional
        The ranker that the summary compares the best one with first, such as the consensus.

    Returns
    -------
    Comparison
        The comparison, with ``to_text()``.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    Examples
    --------
    >>> tau = {"a": (0.9, 0.8, 0.7, 0.9), "b": (0.8, 0.9, 0.6, 0.8), "c": (0.1, 0.2, 0.3, 0.2)}
    >>> results = ResultTable(
    ...     {"dataset": f"d{i}", "ranker": name, "tau": value}
    ...     for name, values in tau.items()
    ...     for i, value in enumerate(values)
    ... )
    >>> print(compare(results).summary())
    a is best: its average rank by tau is 1.25 of 3 over 4 data sets. It cannot be told apart
    from b; it is significantly better than c (Friedman p = 0.039, then Nemenyi, level 0.05).
    """
    if posthoc not in ("nemenyi", "dunn"):
        raise ValueError(f"posthoc must be 'nemenyi' or 'dunn', got {posthoc!r}.")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha!r}.")
    larger = larger_is_better(scoring, greater_is_better, results)
    results = at_missing_rate(results, missing)
    datasets, rankers, scores = score_matrix(results, scoring)
    whole = np.asarray(~np.isnan(scores).any(axis=1))
    scores = scores[whole]
    if not len(scores):
        raise ValueError(f"No data set has a {scoring} for every ranker.")
    signed = scores if larger else -scores
    ranks = stats.rankdata(-signed, axis=1)
    test, statistic, p_value = _any_difference(signed)
    pairs = _pair_tests(signed, posthoc, p_value)
    kept = [name for name, is_kept in zip(datasets, whole, strict=True) if is_kept]
    nemenyi = posthoc == "nemenyi" and len(rankers) > 2 and not np.isnan(p_value)
    single = results.where(dataset=kept[0]) if len(kept) == 1 else ResultTable([])
    paired = paired_tests(single, scoring, larger, alpha, baseline)
    return Comparison(
        rankers=rankers,
        datasets=kept,
        scoring=scoring,
        scores=scores,
        average_ranks=ranks.mean(axis=0),
        test=test,
        statistic=statistic,
        p_value=p_value,
        posthoc=posthoc,
        pair_p_values=pairs,
        alpha=alpha,
        critical_difference=_critical_difference(ranks.shape, alpha) if nemenyi else float("nan"),
        wins=(signed[:, :, None] > signed[:, None, :]).sum(axis=0),
        left_out=[name for name in datasets if name not in kept],
        against_best=paired[0],
        against_baseline=paired[1],
        unit=paired[2],
        baseline=baseline,
    )


def _any_difference(scores: Values) -> tuple[str, float, float]:
    """Return the name, the statistic and the p-value of the test of all rankers at once."""
    n, k = scores.shape
    test = "Wilcoxon" if k == 2 else "Friedman"
    if n < 2 or k < 2:
        return test, float("nan"), float("nan")
    if (scores == scores[:, :1]).all():
        return test, 0.0, 1.0
    columns = scores.T
    outcome = stats.wilcoxon(*columns) if k == 2 else stats.friedmanchisquare(*columns)
    return test, float(outcome.statistic), float(outcome.pvalue)


def _pair_tests(scores: Values, posthoc: Posthoc, p_value: float) -> Values:
    k = scores.shape[1]
    if k == 2 or np.isnan(p_value):
        return np.where(np.eye(k, dtype=bool), 1.0, p_value)
    posthocs = require("scikit_posthocs", extra="study", purpose=f"{posthoc.capitalize()}'s test")
    if posthoc == "nemenyi":
        found = posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    else:
        found = posthocs.posthoc_dunn(list(scores.T)).to_numpy()
    # Far in the tail p-values are computed as 0, which no p-value is.
    return np.maximum(found, np.finfo(float).tiny)


def _critical_difference(shape: Sequence[int], alpha: float) -> float:
    """Return the difference of average ranks that is significant (Demšar 2006, equation 3.2)."""
    n, k = shape
    quantile = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(k * (k + 1) / (6 * n)))


def _end_of_run(alike: NDArray[np.bool_], first: int) -> int:
    """Return the end of the longest run from here of rankers that do not differ pairwise."""
    end = first + 1
    while end < len(alike) and alike[first:end, end].all():
        end += 1
    return end

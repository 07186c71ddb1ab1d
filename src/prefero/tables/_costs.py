"""Labels that have costs beside their scores."""

from dataclasses import replace
from os.path import commonprefix

import numpy as np

from prefero._typing import Values
from prefero.rankings import ranks_from_scores
from prefero.tables._rankings import Rankings
from prefero.tables._table import listed

SCORE, COST, UTILITY = "score", "cost", "utility"


def with_costs(
    rankings: Rankings,
    columns: str,
    *,
    weight: float | None = None,
    budget: float | None = None,
    mean_budget: float | None = None,
) -> Rankings:
    """Rank labels by their scores less their weighted costs.

    Parameters
    ----------
    rankings : Rankings
        Read with ``format="scores"``.
    columns : str
        The columns of the costs, one per label: a pattern such as ``'cost *'``, whose matches are
        named like the labels, or a list in the order of the labels.
    weight : float, optional
        The score that one unit of cost is worth: the utility is score - weight * cost.
    budget : float, optional
        The most that a row may cost: a label that costs more gets the worst score of the table.
    mean_budget : float, optional
        The most that rows may cost on average: the weight is the smallest at which the best label
        of each row meets it.

    Returns
    -------
    Rankings
        With the utilities as scores, ranks by them, the values ``"utility"``, ``"score"``
        and ``"cost"``, and the columns of the costs no longer among the features. Where a
        score or a cost is unknown, so is the utility.

    Examples
    --------
    >>> import pandas as pd
    >>> from prefero.tables import read_rankings
    >>> table = pd.DataFrame({"q a": [0.9], "q b": [0.8], "c a": [30.0], "c b": [2.0]})
    >>> rankings = read_rankings(table, "q *", format="scores", higher_is_better=True)
    >>> with_costs(rankings, "c *", weight=0.01).ranks
    array([[2., 1.]])
    """
    if sum(one is not None for one in (weight, budget, mean_budget)) != 1:
        raise ValueError("costs need one of weight, budget and mean_budget.")
    table, scores = rankings.table, rankings.scores
    if scores is None:
        raise table.error("costs are weighed against scores: try format='scores'.")
    names = _matched(rankings, columns)
    costs = table.numbers(names)[rankings.rows]
    known = np.where(np.isnan(costs), np.nan, scores)
    if mean_budget is not None:
        try:
            weight = least_weight(known, costs, mean_budget)
        except ValueError as error:
            raise table.error(str(error)) from error
    worst = np.nanmin(scores, initial=np.inf)
    affordable = costs <= (np.inf if budget is None else budget)
    utility = np.where(affordable, known - (weight or 0.0) * costs, worst)
    utility[np.isnan(known)] = np.nan
    values = {UTILITY: utility, SCORE: -scores if rankings.lower_is_better else scores, COST: costs}
    return replace(
        rankings,
        ranks=ranks_from_scores(utility, higher_is_better=True),
        scores=utility,
        values=values,
        cost_weight=weight,
        others=[name for name in rankings.others if name not in names],
    )


def least_weight(scores: Values, costs: Values, mean_budget: float) -> float:
    """Return the smallest weight of costs at which the best labels meet a mean budget.

    Parameters
    ----------
    scores, costs : ndarray of shape (n_samples, n_labels)
        The score, larger is better, and the cost of each label; NaN where unknown.
    mean_budget : float
        The most that the labels with the largest score - weight * cost may cost on average.

    Returns
    -------
    float
        The weight, to one part in a million; 0 if the budget bounds nothing.

    Raises
    ------
    ValueError
        If even the cheapest labels cost more.

    Examples
    --------
    >>> scores, costs = np.array([[0.9, 0.8], [0.9, 0.5]]), np.array([[5.0, 1.0], [5.0, 1.0]])
    >>> round(least_weight(scores, costs, 3.0), 3)
    0.025
    """
    known = ~np.isnan(scores + costs)
    some = known.any(axis=1)
    value = np.where(known, scores, -np.inf)[some]
    price = np.where(known, costs, np.inf)[some]
    cheapest = price.min(axis=1, initial=np.inf).mean() if some.any() else 0.0
    if cheapest > mean_budget:
        raise ValueError(
            f"even the cheapest label of each row costs {cheapest:g} on average, more than the "
            f"budget of {mean_budget:g}."
        )
    finite = np.where(known[some], price, 0.0)

    def fits(weight: float) -> bool:
        utility = value - weight * finite
        best = utility == utility.max(axis=1, keepdims=True)
        # Of labels with the same utility, the cheapest.
        return bool(np.where(best, price, np.inf).min(axis=1).mean() <= mean_budget)

    if not some.any() or fits(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _matched(rankings: Rankings, columns: str) -> list[str]:
    """Return the column with the cost of each label."""
    table, labels = rankings.table, rankings.labels
    names = table.columns(columns)
    if "*" not in columns:
        if len(names) != len(labels):
            raise table.error(f"{len(labels)} labels need as many costs, not {len(names)}.")
        return names
    own, costly = _stems(labels), dict(zip(_stems(names), names, strict=True))
    lacking = [label for label, stem in zip(labels, own, strict=True) if stem not in costly]
    if lacking:
        raise table.error(
            f"no column of {columns!r} holds the cost of {listed(map(repr, lacking), 3)}: they "
            "must be named like the labels."
        )
    return [costly[stem] for stem in own]


def _stems(names: list[str]) -> list[str]:
    """What tells names apart: all but their common beginning and end."""
    if len(names) < 2:
        return ["" for _ in names]
    begin = len(commonprefix(names))  # noqa: RUF071 (names, not paths)
    end = len(commonprefix([name[begin:][::-1] for name in names]))  # noqa: RUF071
    return [name[begin : len(name) - end] for name in names]

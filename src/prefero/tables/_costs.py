"""Scores of two kinds: what a label is worth, and what it costs."""

from dataclasses import replace
from itertools import takewhile

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
    """Rank labels by what they are worth less what they cost.

    Parameters
    ----------
    rankings : Rankings
        Read with ``format="scores"``.
    columns : str
        The columns of the costs, one a label: a pattern such as ``'cost *'``, whose names
        differ as those of the labels do, or a list in the order of the labels.
    weight : float, optional
        How much score one unit of cost is worth. The utility is score - weight * cost.
    budget : float, optional
        What a row may cost at most: a label that costs more is worth as little as the worst
        score of the table.
    mean_budget : float, optional
        What rows may cost in the mean: the weight is then the least at which the best label
        of each row keeps to it.

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
    worth = np.where(affordable, known - (weight or 0.0) * costs, worst)
    worth[np.isnan(known)] = np.nan
    values = {UTILITY: worth, SCORE: -scores if rankings.lower_is_better else scores, COST: costs}
    return replace(
        rankings,
        ranks=ranks_from_scores(worth, higher_is_better=True),
        scores=worth,
        values=values,
        cost_weight=weight,
        others=[name for name in rankings.others if name not in names],
    )


def least_weight(scores: Values, costs: Values, mean_budget: float) -> float:
    """Return the least weight of costs at which the best labels keep to a budget in the mean.

    Parameters
    ----------
    scores, costs : ndarray of shape (n_samples, n_labels)
        What each label is worth, larger is better, and what it costs; NaN where unknown.
    mean_budget : float
        What the labels of the largest score - weight * cost, one a row, may cost in the mean.

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
    told = known.any(axis=1)
    worth = np.where(known, scores, -np.inf)[told]
    price = np.where(known, costs, np.inf)[told]
    cheapest = price.min(axis=1, initial=np.inf).mean() if told.any() else 0.0
    if cheapest > mean_budget:
        raise ValueError(
            f"even the cheapest label of each row costs {cheapest:g} in the mean, more than the "
            f"budget of {mean_budget:g}."
        )
    finite = np.where(known[told], price, 0.0)

    def fits(weight: float) -> bool:
        utility = worth - weight * finite
        best = utility == utility.max(axis=1, keepdims=True)
        # Of labels that are worth the same, the cheapest.
        return bool(np.where(best, price, np.inf).min(axis=1).mean() <= mean_budget)

    if not told.any() or fits(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _matched(rankings: Rankings, columns: str) -> list[str]:
    """The column of the cost of each label."""
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
            f"no column of {columns!r} holds the cost of {listed(map(repr, lacking), 3)}: their "
            "names must differ as those of the labels do."
        )
    return [costly[stem] for stem in own]


def _stems(names: list[str]) -> list[str]:
    """What tells names apart: all but the words that they begin and end with alike."""
    if len(names) < 2:
        return ["" for _ in names]
    begin = _alike(names)
    end = _alike([name[begin:][::-1] for name in names])
    return [name[begin : len(name) - end] for name in names]


def _alike(names: list[str]) -> int:
    """How many letters all names begin with."""
    letters = zip(*names, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, letters))

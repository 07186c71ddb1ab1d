"""Quality against cost of the first choices of a ranker."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import has_fit_parameter

from prefero._pipelines import final_step, fit_final
from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero._warnings import silenced
from prefero.evaluation._runs import seeded
from prefero.evaluation._tasks import defined_mean, values_of_first
from prefero.evaluation.results import ResultTable
from prefero.rankings import ranks_from_scores

# Their names among the values of a data set.
SCORE, COST = "score", "cost"
# Multiples of the weight at which scores and costs vary equally within a row.
_MULTIPLES = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def cost_curve(
    ranker: Any,
    X: Any,
    scores: ArrayLike,
    costs: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_splits: int = 5,
    random_state: int = 0,
) -> ResultTable:
    """Train a ranker for several weights of the cost; return score and cost of its choices.

    For each weight the labels of the training rows are ranked by score - weight * cost. The
    means of score and cost are those of the first choices on held-out rows.

    Parameters
    ----------
    ranker : estimator
        A label ranker, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Instances.
    scores, costs : array-like of shape (n_samples, n_labels)
        Score (larger is better) and cost of each label; NaN where unknown.
    weights : array-like, optional
        How much score one unit of cost offsets; by default 0 and multiples of the weight at
        which scores and costs vary equally within a row.
    groups : array-like of shape (n_samples,), optional
        The group of each row; folds do not divide groups.
    n_splits : int, default=5
        The number of folds.
    random_state : int, default=0
        The seed of folds and ranker.

    Returns
    -------
    ResultTable
        One row per weight: ``weight``, and the means ``score`` and ``cost`` of the first choices.

    Examples
    --------
    >>> import numpy as np
    >>> from prefero import ConsensusLabelRanker
    >>> scores, costs = np.tile([0.9, 0.8], (10, 1)), np.tile([5.0, 1.0], (10, 1))
    >>> curve = cost_curve(
    ...     ConsensusLabelRanker(), np.zeros((10, 1)), scores, costs, weights=[0, 1], n_splits=2
    ... )
    >>> curve["cost"]
    array([5., 1.])
    """
    utilities, prices = _known(scores, "scores"), _known(costs, "costs")
    check_consistent_length(X, utilities, prices, groups)
    known = ~np.isnan(utilities + prices)
    utilities, prices = (np.where(known, part, np.nan) for part in (utilities, prices))
    chosen = _default_weights(utilities, prices) if weights is None else np.asarray(weights, float)
    kind = KFold if groups is None else GroupKFold
    folds = list(
        kind(n_splits, shuffle=True, random_state=random_state).split(utilities, groups=groups)
    )
    rows = []
    for weight in chosen.tolist():
        predicted = _predicted(ranker, X, utilities - weight * prices, folds, random_state)
        rows.append(
            {
                "weight": weight,
                "score": defined_mean(values_of_first(utilities, predicted)),
                "cost": defined_mean(values_of_first(prices, predicted)),
            }
        )
    return ResultTable(rows)


def single_choices(labels: Any, scores: ArrayLike, costs: ArrayLike) -> ResultTable:
    """Return the mean score and cost of each label: the result of always choosing it.

    Examples
    --------
    >>> table = single_choices(["large", "small"], [[0.9, 0.8], [0.7, 0.8]], [[5, 1], [5, 1]])
    >>> table["score"], table["cost"]
    (array([0.8, 0.8]), array([5., 1.]))
    """
    utilities, prices = _known(scores, "scores"), _known(costs, "costs")
    known = ~np.isnan(utilities + prices)
    return ResultTable(
        {
            "label": str(label),
            "score": float(utilities[known[:, j], j].mean()),
            "cost": float(prices[known[:, j], j].mean()),
        }
        for j, label in enumerate(labels)
        if known[:, j].any()
    )


def _predicted(ranker: Any, X: Any, utility: Values, folds: Any, random_state: int) -> Values:
    """Out-of-fold ranks, by models that order labels by utility."""
    ranks = ranks_from_scores(utility, higher_is_better=True)
    predicted = np.full(ranks.shape, np.nan)
    for train, test in folds:
        train = train[~np.isnan(ranks[train]).all(axis=1)]
        model = seeded(ranker, random_state)
        takes = has_fit_parameter(final_step(model), "scores")
        with silenced():  # the experiment has shown the warnings
            fit_final(
                model,
                safe_indexing(X, train),
                ranks[train],
                scores=utility[train] if takes else None,
            )
        predicted[test] = model.predict(safe_indexing(X, test))
    return predicted


def _default_weights(scores: Values, costs: Values) -> Values:
    rows = ~np.isnan(scores).all(axis=1)
    spreads = [np.nanmean(np.nanstd(part[rows], axis=1)) for part in (scores, costs)]
    unit = spreads[0] / spreads[1] if spreads[1] > 0 else 1.0
    return np.array(_MULTIPLES) * unit


def _known(values: ArrayLike, name: str) -> Values:
    return check_array(values, dtype=np.float64, ensure_all_finite="allow-nan", input_name=name)

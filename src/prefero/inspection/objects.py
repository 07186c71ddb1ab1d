"""Why an orderer puts one object before another."""

from typing import Any

import numpy as np

from prefero._pipelines import at_final_step
from prefero._sklearn import safe_indexing
from prefero._typing import ArrayOrNone, Values
from prefero.inspection._attribution import ExplainedRow, MarginParts, with_column
from prefero.inspection.explanation import Explanation


class _ExplainedPair(ExplainedRow):
    """Two objects, the model, and the orderer at its end; the first object is explained."""

    def __init__(self, model: Any, X: Any, row: int, other: int) -> None:
        self.model, self.X, self.row = model, X, row
        self.instance = safe_indexing(X, [row])
        self.second = safe_indexing(X, [other])
        self.ranker, self.inner = at_final_step(model, self.instance)
        self.inner_second = at_final_step(model, self.second)[1]


def explain_objects(
    model: Any, X: Any, row: int = 0, other: int | None = None, *, qid: ArrayOrNone = None
) -> Explanation:
    """Explain why an orderer puts one object before or behind another.

    For linear orderers, and those that vote by attribute, the effects sum up to the margin. For
    any other orderer, predictions are repeated with each feature replaced by that of the other
    object.

    Parameters
    ----------
    model : estimator
        A fitted orderer, or a pipeline that ends in one.
    X : array-like of shape (n_objects, n_features)
        Objects.
    row : int, default=0
        Which of them to explain.
    other : int, optional
        The object to compare it with; by default the next one behind it in the predicted order
        of its query, or the one before it if it is the last.
    qid : array-like of shape (n_objects,), optional
        The query of each object; by default all are in one query.

    Returns
    -------
    Explanation
        Its labels are the objects, numbered from 1: ``"object 1"``.

    Examples
    --------
    >>> from prefero import RankSVMOrderer
    >>> orderer = RankSVMOrderer().fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [3, 2, 1])
    >>> explain_objects(orderer, [[5.0, 1.0], [1.0, 1.0]]).effects[0].feature
    'x0'
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    n = X.shape[0]
    if not -n <= row < n or not (other is None or -n <= other < n):
        raise ValueError(f"row and other must be among 0..{n - 1}, got {row} and {other}.")
    row = row % n
    orderer, inner = at_final_step(model, X)
    ranks = orderer.predict(inner, qid)
    members = np.arange(n) if qid is None else np.flatnonzero(np.asarray(qid) == qid[row])  # type: ignore[index]
    ordered = members[np.argsort(ranks[members], kind="stable")]
    second = _neighbour(ordered, row) if other is None else other % n
    if second == row:
        raise ValueError("There is only one object: nothing is put before anything.")
    view = _ExplainedPair(model, X, row, second)
    parts = _parts(view)
    names = [f"object {i + 1}" for i in (row, second)]
    return Explanation(
        model=type(orderer).__name__,
        row=row,
        order=[f"object {i + 1}" for i in ordered.tolist()],
        pair=(names[0], names[1]),
        margin=parts.margin,
        unit=parts.unit,
        probability=None,
        effects=view.grouped(parts),
        base=parts.base,
        how=parts.how,
    )


def _neighbour(ordered: Any, row: int) -> int:
    at = int(np.flatnonzero(ordered == row)[0])
    return int(ordered[min(at + 1, len(ordered) - 1) if at + 1 < len(ordered) else max(at - 1, 0)])


def _parts(view: _ExplainedPair) -> MarginParts:
    """Decompose the margin of the first object over the second."""
    first, second = np.asarray(view.inner)[0], np.asarray(view.inner_second)[0]
    if not hasattr(view.ranker, "decision_function"):
        votes = view.ranker.weights_ * np.sign(first - second)
        how = "The weight of each attribute's vote for the object that has more of it:"
        return MarginParts(float(votes.sum()), 0.0, votes, True, "votes", how)
    slope = _slope(view.ranker, len(first))
    if slope is not None:
        amounts = slope * (first - second)
        how = "Weight times difference of each feature, as the orderer gets it:"
        return MarginParts(float(amounts.sum()), 0.0, amounts, True, "score", how)
    return _by_exchange(view)


def _slope(orderer: Any, n_features: int) -> Values | None:
    """The weights of a linear orderer."""
    regressor = getattr(orderer, "regressor_", None)
    coef = getattr(orderer, "coef_", None)
    if regressor is not None and getattr(orderer, "degree", 1) == 1:
        coef = getattr(regressor, "coef_", None)
        coef = None if coef is None else -np.ravel(coef)
    if coef is None or np.shape(coef) != (n_features,):
        return None
    return coef if getattr(orderer, "feature_map_", None) is None else None


def _by_exchange(view: _ExplainedPair) -> MarginParts:
    """Predict again with each feature of the first object replaced by that of the second."""

    def score(X: Any) -> float:
        orderer, inner = at_final_step(view.model, X)
        return float(orderer.decision_function(inner)[0])

    whole = score(view.instance)
    amounts = np.array(
        [whole - score(with_column(view.instance, view.second, j)) for j in range(view.X.shape[1])]
    )
    how = "What the score loses if a feature takes its value in the other object:"
    return MarginParts(whole - score(view.second), None, amounts, False, "score", how)

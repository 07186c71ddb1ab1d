"""The contributions of features to a margin between two labels, and further evidence."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._names import did_you_mean
from prefero._pipelines import at_final_step
from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero.evaluation.results import ResultTable

# Rows that provide other values of a feature, where a model cannot be decomposed.
_MOST_BACKGROUND = 200
VIRTUAL_LABEL = "the virtual label"
_MOST_NEIGHBORS = 20


class FeatureEffect(NamedTuple):
    """The effect of one feature on the margin.

    Attributes
    ----------
    feature : str
        Its name.
    value : Any
        Its value for the instance.
    amount : float
        What it adds to the margin of the first label over the second.
    """

    feature: str
    value: Any
    amount: float


class MarginParts(NamedTuple):
    """A margin decomposed by the columns that reach the ranker, or by the features of X."""

    margin: float
    base: float | None
    amounts: Values
    of_inner: bool
    unit: str
    how: str


class ExplainedRow:
    """One instance, the model, and the ranker at its end."""

    def __init__(self, model: Any, X: Any, row: int) -> None:
        self.model, self.X, self.row = model, X, row
        self.instance = safe_indexing(X, [row])
        self.ranker, self.inner = at_final_step(model, self.instance)
        self.labels = self.ranker.labels_.tolist()
        # The virtual label of a multilabel ranker comes after the labels.
        self.calibrated = hasattr(self.ranker, "predict_calibrated")
        if self.calibrated:
            self.labels.append(VIRTUAL_LABEL)
        self.scores = self.score(self.ranker, self.inner)[0]

    def score(self, model: Any, X: Any) -> Values:
        """The scores of the labels, and of the virtual label if there is one."""
        scores = model.decision_function(X)
        return np.column_stack([scores, np.zeros(len(scores))]) if self.calibrated else scores

    def indices(self, pair: tuple[Any, Any] | None) -> tuple[int, int]:
        """The indices of two labels, by default of the two predicted first."""
        if len(self.labels) < 2:
            raise ValueError("There is only one label: nothing is put before anything.")
        if pair is None and self.calibrated:
            return int(np.argmax(self.scores[:-1])), len(self.labels) - 1
        if pair is None:
            first, second = np.argsort(self.ranker.predict(self.inner)[0])[:2]
            return int(first), int(second)
        names = [str(label) for label in self.labels]
        for label in pair:
            if str(label) not in names:
                near = did_you_mean(str(label), names)
                raise ValueError(
                    f"There is no label {label!r}{near}; there are {', '.join(names)}."
                )
        a, b = (names.index(str(label)) for label in pair)
        if a == b:
            raise ValueError(f"pair must name two labels, got {pair[0]!r} twice.")
        return a, b

    def order(self) -> list[Any]:
        """The labels by name, best first."""
        return self.ranker.predict_order(self.inner)[0].tolist()

    def n_relevant(self) -> int | None:
        """How many labels are relevant; None if the ranker does not predict that."""
        return int(self.ranker.predict(self.inner).sum()) if self.calibrated else None

    def feature_names(self) -> list[str]:
        """The names of the features of X."""
        names = getattr(self.model, "feature_names_in_", None)
        names = getattr(self.X, "columns", None) if names is None else names
        return [f"x{j}" for j in range(self.X.shape[1])] if names is None else list(map(str, names))

    def inner_names(self) -> list[str]:
        """The names of the columns that reach the ranker."""
        if self.ranker is self.model:
            return self.feature_names()
        try:
            return [str(name) for name in self.model[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):
            return [f"column {j}" for j in range(self.inner.shape[1])]

    def grouped(self, parts: MarginParts) -> list[FeatureEffect]:
        """Sum up the effects of the columns of one feature, such as its categories."""
        names = self.feature_names()
        values = dict(zip(names, _row_values(self.instance), strict=False))
        columns = self.inner_names() if parts.of_inner else names
        sums: dict[str, float] = {}
        for column, amount in zip(columns, parts.amounts, strict=True):
            feature = _source(column, names)
            sums[feature] = sums.get(feature, 0.0) + float(amount)
        effects = [
            FeatureEffect(name, values.get(name, ""), amount) for name, amount in sums.items()
        ]
        return sorted((e for e in effects if e.amount != 0), key=lambda e: -abs(e.amount))


def _source(column: str, features: list[str]) -> str:
    """The feature behind a one-hot column, or the column itself."""
    if column in features:
        return column
    made = [name for name in features if column.startswith(f"{name}_")]
    return max(made, key=len, default=column)


def margin_parts(view: ExplainedRow, a: int, b: int) -> MarginParts:
    """Decompose the margin of a over b, exactly where the ranker allows it."""
    ranker = view.ranker
    if hasattr(ranker, "explain_scores"):
        base, effects = ranker.explain_scores(view.inner)
        amounts = effects[0, :, a] - effects[0, :, b]
        start = float(base[0, a] - base[0, b])
        how = "What the tests on each feature add on the way through the trees:"
        unit = getattr(ranker, "_score_unit", "mean votes")
        return MarginParts(start + float(amounts.sum()), start, amounts, True, unit, how)
    weights = _linear_weights(ranker, a, b)
    if weights is not None:
        slope, offset, unit = weights
        amounts = slope * _dense_row(view.inner)
        how = "Weight times value of each feature, as the ranker gets it:"
        return MarginParts(offset + float(amounts.sum()), offset, amounts, True, unit, how)
    return _by_replacement(view, a, b)


def _linear_weights(ranker: Any, a: int, b: int) -> tuple[Values, float, str] | None:
    """Slope, intercept and unit of the margin of a over b, if it is linear."""
    coef, n_labels = getattr(ranker, "coef_", None), len(ranker.labels_)
    if coef is None or np.ndim(coef) != 2:
        return None
    unit = "score"
    if hasattr(ranker, "pairs_"):
        first, second, sign = (a, b, 1) if a < b else (b, a, -1)
        at = int(np.flatnonzero((ranker.pairs_ == (first, second)).all(axis=1))[0])
        return sign * coef[at], float(sign * ranker.intercept_[at]), "log-odds"
    if coef.shape[0] != n_labels:
        return None
    offsets = ranker.intercept_
    if hasattr(ranker, "predict_calibrated"):
        coef, offsets = np.vstack([coef, np.zeros(coef.shape[1])]), np.append(offsets, 0.0)
        unit = "log-odds"
    return coef[a] - coef[b], float(offsets[a] - offsets[b]), unit


def _by_replacement(view: ExplainedRow, a: int, b: int) -> MarginParts:
    """Predict again with each feature replaced by its values in the other rows."""

    def margins(X: Any) -> Values:
        scores = view.score(view.model, X)
        return scores[:, a] - scores[:, b]

    margin = float(view.scores[a] - view.scores[b])
    others = np.delete(np.arange(view.X.shape[0]), view.row)[:_MOST_BACKGROUND]
    n_features = view.X.shape[1]
    amounts = np.zeros(n_features)
    how = "What the margin loses if a feature takes its values in the other rows:"
    if len(others):
        copies = safe_indexing(view.X, np.full(len(others), view.row))
        background = safe_indexing(view.X, others)
        for j in range(n_features):
            amounts[j] = margin - margins(with_column(copies, background, j)).mean()
    return MarginParts(margin, None, amounts, False, "score", how)


def with_column(copies: Any, background: Any, j: int) -> Any:
    """Return rows with one column taken from others."""
    changed = copies.copy()
    if hasattr(changed, "iloc"):
        name = changed.columns[j]
        changed[name] = background[name].set_axis(changed.index)
    elif hasattr(changed, "tolil"):
        changed = changed.tolil()
        changed[:, [j]] = background[:, [j]]
        changed = changed.tocsr()
    else:
        changed[:, j] = background[:, j]
    return changed


def evidence_for(view: ExplainedRow, a: int, b: int) -> tuple[str, ResultTable] | None:
    """Return further evidence of the ranker about a pair, with a title."""
    for method, show in _EVIDENCE.items():
        if hasattr(view.ranker, method):
            return show(view, a, b)
    return None


def _neighbors(view: ExplainedRow, a: int, b: int) -> tuple[str, ResultTable]:
    why = view.ranker.explain_neighbors(view.inner)
    weights = why.weights[0]
    if view.calibrated:
        # A label set puts its labels before the virtual label, and all others after it.
        relevance = np.column_stack([why.relevance[0], np.full(len(weights), 0.5)])
        difference = relevance[:, a] - relevance[:, b]
    else:
        difference = why.rankings[0][:, b] - why.rankings[0][:, a]
    first, second = view.labels[a], view.labels[b]
    says = {1: f"{first} > {second}", -1: f"{second} > {first}", 0: "tied"}
    rows = [
        {
            "case": int(case),
            "distance": float(distance),
            "weight": float(weight),
            "says": "unknown" if np.isnan(d) else says[int(np.sign(d))],
        }
        for case, distance, weight, d in zip(
            why.cases[0], why.distances[0], weights, difference, strict=True
        )
    ]
    votes = [float(weights[sign * difference > 0].sum()) for sign in (1, -1)]
    title = (
        f"The nearest {len(rows)} cases (numbers of the training rows, from 1) vote "
        f"{votes[0]:.3g} for {first} and {votes[1]:.3g} for {second}:"
    )
    return title, ResultTable(rows[:_MOST_NEIGHBORS])


def _path(view: ExplainedRow, a: int, b: int) -> tuple[str, ResultTable]:
    (steps,) = view.ranker.explain_path(view.inner)
    rows = [
        {
            "test": step.test or "(all)",
            "rows": step.rows,
            "theta": step.theta,
            "margin": float(step.votes[a] - step.votes[b]),
        }
        for step in steps
    ]
    title = "The path through the tree, with the margin at each node; "
    return f"{title}theta is 0 where its rows do not agree:", ResultTable(rows)


def _votes(view: ExplainedRow, a: int, b: int) -> tuple[str, ResultTable]:
    share = float(view.ranker.predict_votes(view.inner)[0, a, b])
    trees = len(view.ranker.seeds_)
    rows = [
        {"puts first": str(view.labels[label]), "share of trees": part}
        for label, part in ((a, share), (b, 1 - share))
    ]
    return f"The votes of the {trees} trees:", ResultTable(rows)


_EVIDENCE: dict[str, Callable[[ExplainedRow, int, int], tuple[str, ResultTable]]] = {
    "explain_neighbors": _neighbors,
    "explain_path": _path,
    "seeds_": _votes,
}


def _row_values(instance: Any) -> list[Any]:
    if hasattr(instance, "iloc"):
        return instance.iloc[0].tolist()
    return _dense_row(instance).tolist()


def _dense_row(instance: Any) -> NDArray[Any]:
    dense = instance.toarray() if hasattr(instance, "toarray") else np.asarray(instance)
    return dense[0]

"""Members of a stack: how they are fitted, and their out-of-fold pair margins."""

import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from prefero._pipelines import at_final_step, final_step
from prefero._sent_once import SentOnce, called
from prefero._typing import Indices, Values
from prefero._warnings import silenced
from prefero.base import BaseLabelRanker, fitting
from prefero.calibration import all_pairs, pair_numbers, score_margins
from prefero.rankings import ScoredRanks, ranks_of


class TrainingRows(NamedTuple):
    """Validated training rows."""

    X: Any
    ranks: Values
    weight: Values
    scores: Values | None = None  # larger is better

    @classmethod
    def of(cls, X: Any, truth: Values | ScoredRanks, weight: Values) -> "TrainingRows":
        """Return what validation returned, as training rows."""
        scores = truth.scores if isinstance(truth, ScoredRanks) else None
        return cls(X, ranks_of(truth), weight, scores)

    def some(self, chosen: Any) -> "TrainingRows":
        """Return some of the rows."""
        scores = None if self.scores is None else self.scores[chosen]
        return TrainingRows(self.X[chosen], self.ranks[chosen], self.weight[chosen], scores)


class OutOfFoldMargins(NamedTuple):
    """Pair margins of a member for rows that it was not trained on."""

    margins: Values  # (n_rows, n_pairs); NaN where the member predicts nothing
    seconds: float
    scores: Values | None = None  # (n_rows, n_labels), of a member that predicts scores as such
    fitted: Any = None  # the member fitted to all rows, if that was done on the way

    def some(self, kept: Any) -> "OutOfFoldMargins":
        """Return those of some of the rows."""
        scores = None if self.scores is None else self.scores[kept]
        return self._replace(margins=self.margins[kept], scores=scores)


class Member(NamedTuple):
    """A ranker with its predictions for unseen rows."""

    name: str
    family: str
    ranker: Any
    held_out: Any


def fitted_member(ranker: Any, rows: TrainingRows) -> Any:
    """Return a fitted copy of a ranker, without pair probabilities: the stack has its own."""
    model, X = _prepared(ranker, rows)
    _fit_last(final_step(model), rows._replace(X=X))
    return model


def pair_margins(model: Any, X: Any, n_labels: int) -> Values:
    """Return how far the first label of each pair is ahead."""
    ranker, reaching = at_final_step(model, X)
    pairs = all_pairs(n_labels)
    if isinstance(ranker, BaseLabelRanker):
        return ranker._pair_margins(ranker._validate_X(reaching, reset=False), pairs)
    return score_margins(np.asarray(ranker.decision_function(reaching)), pairs)


def own_held_out(ranker: Any, rows: TrainingRows, asked: Indices) -> OutOfFoldMargins | None:
    """Fit a ranker once and return the margins that it has for unseen rows by itself.

    These are out-of-bag or leave-one-out predictions, or those of the folds by which it chose a
    penalty; None if it has none.
    """
    start = time.perf_counter()
    if not isinstance(final_step(ranker), BaseLabelRanker):
        return None
    model, X = _prepared(ranker, rows)
    found = _fit_last(final_step(model), rows._replace(X=X), asked)
    if found is None:
        return None
    margins, scores = found
    scores = scores if says_scores(ranker) else None
    return OutOfFoldMargins(margins, time.perf_counter() - start, scores, model)


# Parameters with which a ranker ignores scores.
_WITHOUT_SCORES: dict[str, Any] = {"leaf_values": "ranks", "pair_weight": None, "target": "votes"}


def learns_from_scores(ranker: Any) -> bool:
    """Whether a ranker learns from scores where they are given."""
    if ranker is None:
        return False
    given = final_step(ranker).get_params(deep=False)
    return any(given.get(name, plain) != plain for name, plain in _WITHOUT_SCORES.items())


def says_scores(ranker: Any) -> bool:
    """Whether a ranker predicts scores in their own unit."""
    given = final_step(ranker).get_params(deep=False)
    return "raw_scores" in (given.get("criterion"), given.get("target"))


def said_scores(model: Any, X: Any) -> Values:
    """Return the scores that such a ranker predicts."""
    ranker, reaching = at_final_step(model, X)
    return ranker._decision(ranker._validate_X(reaching, reset=False))


def fold_held_out(
    ranker: Any, rows: TrainingRows, fold: Indices, asked: Indices, n_jobs: int | None
) -> OutOfFoldMargins:
    """Fit a ranker once per fold to all other rows; return its margins for some rows."""
    start = time.perf_counter()
    folds = [k for k in range(int(fold.max()) + 1) if (fold[asked] == k).any()]
    sent = SentOnce(partial(_margins_of_fold, ranker, rows, fold, asked))
    # Members run in the core, which releases the lock, and share the rows.
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(called)(sent, k) for k in folds)
    margins, scores = [
        np.full((len(asked), part.shape[1]), np.nan) if part is not None else None
        for part in parts[0]
    ]
    for k, found in zip(folds, parts, strict=True):
        for values, part in zip((margins, scores), found, strict=True):
            if values is not None:
                values[fold[asked] == k] = part
    assert margins is not None
    return OutOfFoldMargins(margins, time.perf_counter() - start, scores)


def _margins_of_fold(
    ranker: Any, rows: TrainingRows, fold: Indices, asked: Indices, k: int
) -> tuple[Values, Values | None]:
    with silenced():  # the fit to all rows shows the warnings
        model = fitted_member(ranker, rows.some(np.flatnonzero(fold != k)))
        X = rows.X[asked[fold[asked] == k]]
        scores = said_scores(model, X) if says_scores(ranker) else None
        return pair_margins(model, X, rows.ranks.shape[1]), scores


def _prepared(ranker: Any, rows: TrainingRows) -> tuple[Any, Any]:
    """A copy with all steps but the last fitted, and the instances as they reach the last."""
    model = clone(ranker)
    if final_step(model) is model:
        return model, rows.X
    return model, model[:-1].fit_transform(rows.X, rows.ranks)


def _fit_last(
    ranker: Any, rows: TrainingRows, asked: Indices | None = None
) -> tuple[Values, Values | None] | None:
    """Fit a ranker; if rows are asked for, return its own margins and scores, if it has some."""
    scores = rows.scores if has_fit_parameter(ranker, "scores") else None
    if not isinstance(ranker, BaseLabelRanker):
        given = {} if scores is None else {"scores": scores}
        if has_fit_parameter(ranker, "sample_weight"):
            given["sample_weight"] = rows.weight
        ranker.fit(rows.X, rows.ranks, **given)
        return None
    ranker._validate_params()
    with fitting(ranker) as copy:
        X, truth, weight = copy._validate_fit(rows.X, rows.ranks, rows.weight, scores)
        target = copy._target(truth)
        copy._fit(X, target, weight)
        margins = None if asked is None else _own_margins(copy, X, target, weight, asked)
        vars(copy).pop("_held_out", None)
    return margins


def _own_margins(
    ranker: Any, X: Any, target: Any, weight: Values, asked: Indices
) -> tuple[Values, Values | None] | None:
    pairs = all_pairs(len(ranker.labels_))
    scores = ranker._held_out_scores(X, target, weight, asked)
    if scores is not None:
        return score_margins(scores, pairs), scores
    margins = ranker._held_out_margins(X, target, weight, asked)
    if margins is None:
        return None
    return margins[:, pair_numbers(pairs, len(ranker.labels_))], None

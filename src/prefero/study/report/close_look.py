"""One ranker on one data set, row by row: predictions for rows it has not seen, and why."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import check_random_state

from prefero._optional import require
from prefero._pipelines import at_final_step, final_step
from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero.metrics import kendall_tau
from prefero.rankings import format_order, orders_from_ranks
from prefero.study._data import DataSet
from prefero.study.experiment import seeded
from prefero.study.explanation import Explanation, explain

# More rows say no more about the shape of things, and take longer.
MOST_ROWS = 2000
_IMPORTANCE_ROWS, _IMPORTANCE_REPEATS = 300, 3
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class CloseLook:
    """What a ranker predicts for rows of a data set that it has not been trained on.

    Attributes
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    rows : ndarray of shape (n_samples,)
        Their names: what the index of the data set says, or their numbers from 1 on.
    labels : ndarray of shape (n_labels,)
        The names of the labels.
    truth, predicted, scores : ndarray of shape (n_samples, n_labels)
        True and predicted ranks, and the scores behind these.
    tau : ndarray of shape (n_samples,)
        Kendall's tau; NaN for a ranking without any pair.
    reliability : ndarray of shape (n_samples,) or None
        How sure the ranker is, if it can tell.
    pairwise : ndarray of shape (n_labels, n_labels) or None
        The mean of the predicted probabilities of pairs, if it has some.
    models : list of estimators
        One a fold.
    fold : ndarray of shape (n_samples,)
        The fold that a row was left out of the training of.
    """

    X: Any
    rows: NDArray[Any]
    labels: NDArray[Any]
    truth: Values
    predicted: NDArray[np.int64]
    scores: Values
    tau: Values
    reliability: Values | None
    pairwise: Values | None
    models: list[Any]
    fold: NDArray[np.intp]

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        columns = getattr(self.X, "columns", range(self.X.shape[1]))
        return [name if isinstance(name, str) else f"x{name}" for name in columns]

    def order(self, ranks: Any) -> str:
        """Return one row of ranks as text."""
        return format_order(orders_from_ranks([ranks], labels=self.labels.tolist())[0])


def look_closely(data: DataSet, ranker: Any, random_state: int) -> CloseLook:
    """Cross-validate a ranker on a data set and keep every prediction.

    Parameters
    ----------
    data : DataSet
        The data set.
    ranker : estimator
        A label ranker, or a pipeline that ends in one.
    random_state : int
        The seed of the folds, of the rows (if there are more than `MOST_ROWS`) and of the
        ranker.

    Returns
    -------
    CloseLook
        The predictions.
    """
    rows = np.flatnonzero(~np.isnan(data.ranks).all(axis=1))
    if len(rows) > MOST_ROWS:
        rows = np.sort(check_random_state(random_state).choice(rows, MOST_ROWS, replace=False))
    whole = data.X if hasattr(data.X, "iloc") else np.asarray(data.X)
    X, truth = safe_indexing(whole, rows), data.ranks[rows]
    pandas = require("pandas", extra="study", purpose="The page")
    named = pandas.DataFrame(truth, columns=data.labels)
    fold = np.empty(len(rows), dtype=np.intp)
    scores, sure, pairs, models = np.empty(truth.shape), np.empty(len(rows)), [], []
    predicted = np.empty(truth.shape, dtype=np.int64)
    for number, (train, test) in enumerate(splits(data.groups, rows, random_state)):
        model = seeded(ranker, random_state)
        with warnings.catch_warnings():
            # What a ranker has to say about the data it said in the experiment.
            warnings.simplefilter("ignore")
            model.fit(safe_indexing(X, train), named.iloc[train])
        unseen = safe_indexing(X, test)
        fold[test] = number
        predicted[test], scores[test] = model.predict(unseen), model.decision_function(unseen)
        last, reaching = at_final_step(model, unseen)
        if hasattr(last, "predict_reliability"):
            sure[test] = last.predict_reliability(reaching)
        if hasattr(last, "predict_pairwise"):
            pairs.append(last.predict_pairwise(reaching).sum(axis=0))
        models.append(model)
    return CloseLook(
        X=X,
        rows=np.asarray(getattr(X, "index", rows + 1)),
        labels=data.labels,
        truth=truth,
        predicted=predicted,
        scores=scores,
        tau=np.asarray(kendall_tau(truth, predicted, average=False)),
        reliability=sure if hasattr(last, "predict_reliability") else None,
        pairwise=np.sum(pairs, axis=0) / len(rows) if pairs else None,
        models=models,
        fold=fold,
    )


def splits(groups: NDArray[Any] | None, rows: NDArray[np.intp], seed: int) -> Iterator[Any]:
    """The folds, which divide no group."""
    members = None if groups is None else groups[rows]
    count = len(rows) if members is None else len(np.unique(members))
    kind = KFold if members is None else GroupKFold
    folds = kind(min(_FOLDS, count), shuffle=True, random_state=seed)
    return folds.split(rows, groups=members)


def typical_and_worst(look: CloseLook, typical: int = 2, worst: int = 3) -> list[tuple[str, int]]:
    """Return what to call some rows, and where they are in the close look.

    Parameters
    ----------
    look : CloseLook
        The predictions.
    typical, worst : int
        How many rows to take from the middle and from the lower end of tau.

    Returns
    -------
    list of (str, int)
        ``"typical"`` or ``"worst"``, and the index. No row is worst that is no worse than typical.
    """
    order = np.argsort(look.tau, kind="stable")[: np.count_nonzero(~np.isnan(look.tau))]
    start = max(0, (len(order) - typical) // 2)
    middle = order[start : start + typical].tolist()
    low = [i for i in order[:worst].tolist() if look.tau[i] < look.tau[middle[0]]]
    return [("typical", i) for i in middle] + [("worst", i) for i in low]


def telling_pair(look: CloseLook, i: int) -> tuple[int, int]:
    """Return the pair of labels that says most about a prediction.

    It is the pair in the wrong order that the ranker kept furthest apart; if it has all in
    order, the two that it put first of those that the true ranking holds.
    """
    margin = look.scores[i][:, None] - look.scores[i]
    before = look.predicted[i][:, None] < look.predicted[i]
    wrong = before & (look.truth[i][:, None] > look.truth[i])
    if wrong.any():
        first, second = np.unravel_index(np.argmax(np.where(wrong, margin, -np.inf)), wrong.shape)
        return int(first), int(second)
    order = np.argsort(np.where(np.isnan(look.truth[i]), np.inf, look.predicted[i]))
    return int(order[0]), int(order[min(1, len(order) - 1)])


def explain_row(look: CloseLook, i: int) -> Explanation:
    """Explain the telling pair of a row by the model that has not seen the row."""
    first, second = telling_pair(look, i)
    pair = look.labels[first], look.labels[second]
    return explain(look.models[look.fold[i]], look.X, i, pair=pair)


def feature_importance(look: CloseLook, random_state: int) -> tuple[str, Values]:
    """Return what the importance of a feature means for this ranker, and the importances.

    Trees and forests know how much each feature did for their splits. For other rankers the
    values of one feature are shuffled among rows that were not trained on.

    Parameters
    ----------
    look : CloseLook
        The predictions.
    random_state : int
        The seed of the shuffling.

    Returns
    -------
    meaning : str
        A sentence.
    importances : ndarray of shape (n_features,)
        In the order of the features.
    """
    own = [getattr(final_step(model), "feature_importances_", np.empty(0)) for model in look.models]
    if all(len(values) == look.X.shape[1] for values in own):
        meaning = "The share of what all splits gained that was gained by splits on the feature."
        return meaning, np.mean(own, axis=0)
    unseen = np.flatnonzero((look.fold == 0) & ~np.isnan(look.tau))[:_IMPORTANCE_ROWS]
    found = permutation_importance(
        look.models[0],
        safe_indexing(look.X, unseen),
        look.truth[unseen],
        n_repeats=_IMPORTANCE_REPEATS,
        random_state=random_state,
    )
    return (
        "How much the mean tau of unseen rows falls when the feature's values are shuffled.",
        found.importances_mean,
    )

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
from prefero.evaluation._data import DataSet
from prefero.evaluation.experiment import seeded
from prefero.inspection.explanation import Explanation, explain
from prefero.metrics import kendall_tau, pairwise_calibration_curve

# More rows say no more about the shape of things, and take longer.
MOST_ROWS = 2000
_IMPORTANCE_ROWS, _IMPORTANCE_REPEATS = 300, 3
_FOLDS = 5
N_BINS = 15


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
    calibration : tuple of three ndarray of shape (n_bins,) or None
        The mean probability of the pairs in each bin, the share that came true, their number.
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
    calibration: tuple[Values, Values, Values] | None
    models: list[Any]
    fold: NDArray[np.intp]

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        columns = getattr(self.X, "columns", range(self.X.shape[1]))
        return [name if isinstance(name, str) else f"x{name}" for name in columns]


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
    held = _Held()
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
        if hasattr(last, "predict_expected_tau"):
            sure[test] = last.predict_expected_tau(reaching)
        if hasattr(last, "predict_pairwise"):
            probability = last.predict_pairwise(reaching)
            pairs.append(probability.sum(axis=0))
            held.add(truth[test], probability)
        models.append(model)
    return CloseLook(
        X=X,
        rows=np.asarray(getattr(X, "index", rows + 1)),
        labels=data.labels,
        truth=truth,
        predicted=predicted,
        scores=scores,
        tau=np.asarray(kendall_tau(truth, predicted, average=False)),
        reliability=sure if hasattr(last, "predict_expected_tau") else None,
        pairwise=np.sum(pairs, axis=0) / len(rows) if pairs else None,
        calibration=held.curve(),
        models=models,
        fold=fold,
    )


class _Held:
    """How often pairs came in the likelier order, added up fold by fold."""

    def __init__(self) -> None:
        self._sums = np.zeros((3, N_BINS))

    def add(self, truth: Values, probability: Values) -> None:
        """Add the pairs of some rows."""
        curve = pairwise_calibration_curve(truth, probability, n_bins=N_BINS)
        # A mean may be rounded out of its bin by a hair.
        middle = np.clip(curve.predicted, 0.5 + 1e-9, 1 - 1e-9)
        number = np.floor((2 * middle - 1) * N_BINS).astype(np.intp)
        parts = (curve.predicted * curve.weight, curve.observed * curve.weight, curve.weight)
        for total, values in zip(self._sums, parts, strict=True):
            np.add.at(total, number, values)

    def curve(self) -> tuple[Values, Values, Values] | None:
        """Return the mean probabilities, the shares that came true, and the numbers of pairs."""
        promised, kept, weight = self._sums[:, self._sums[2] > 0]
        return (promised / weight, kept / weight, weight) if len(weight) else None


def splits(groups: NDArray[Any] | None, rows: NDArray[np.intp], seed: int) -> Iterator[Any]:
    """The folds, which divide no group."""
    members = None if groups is None else groups[rows]
    count = len(rows) if members is None else len(np.unique(members))
    kind = KFold if members is None else GroupKFold
    folds = kind(min(_FOLDS, count), shuffle=True, random_state=seed)
    return folds.split(rows, groups=members)


def telling_pair(look: CloseLook, i: int) -> tuple[int, int]:
    """Return the pair of labels that says most about a prediction, of those the row orders.

    It is the pair in the wrong order that the ranker kept furthest apart; if it has all in
    order, the two that it put first.
    """
    margin = look.scores[i][:, None] - look.scores[i]
    before = look.predicted[i][:, None] < look.predicted[i]
    wrong = before & (look.truth[i][:, None] > look.truth[i])
    if wrong.any():
        best = np.argmax(np.where(wrong, margin, -np.inf))
    else:
        right = before & (look.truth[i][:, None] < look.truth[i])
        late = look.predicted[i][:, None] + look.predicted[i]
        best = np.argmin(np.where(right, late, np.iinfo(np.int64).max))
    first, second = np.unravel_index(best, wrong.shape)
    return int(first), int(second)


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

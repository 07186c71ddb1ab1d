"""Out-of-fold models of one ranker on one data set, for the detailed part of the page."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from prefero._pipelines import at_final_step, final_step
from prefero._sklearn import safe_indexing
from prefero._typing import Indices, Values
from prefero._warnings import silenced
from prefero.evaluation._data import DataSet
from prefero.evaluation._runs import Run
from prefero.evaluation._tasks import RankingTask
from prefero.evaluation.results import ResultTable, RunPredictions, larger_is_better
from prefero.inspection._attribution import VIRTUAL_LABEL, with_column
from prefero.metrics import kendall_tau, pairwise_calibration_curve

# More rows take longer and show nothing new.
MOST_ROWS = 2000
_IMPORTANCE_ROWS, _IMPORTANCE_REPEATS = 300, 3
_FOLDS = 5
N_BINS = 15


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Rows of a data set, and the models that were not trained on them.

    Attributes
    ----------
    task : RankingTask
        The task of the ranker.
    data : DataSet
        The whole data set.
    rows : ndarray of shape (n_rows,)
        The rows that were used.
    X : array-like of shape (n_rows, n_features)
        Their features.
    models : list of estimators
        One per fold.
    fold : ndarray of shape (n_rows,)
        The fold of each row: the model with this number was not trained on it.
    predicted : list
        By fold, what ``task.predict`` returned for its rows.
    """

    task: RankingTask
    data: DataSet
    rows: NDArray[np.intp]
    X: Any
    models: list[Any]
    fold: NDArray[np.intp]
    predicted: list[Any]

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        columns = getattr(self.X, "columns", range(self.X.shape[1]))
        return [name if isinstance(name, str) else f"x{name}" for name in columns]

    @property
    def truth(self) -> Values:
        """The true ranks of the rows."""
        return self.data.ranks[self.rows]

    def name(self, i: int) -> str:
        """Return the name of a row in the table, or its number, starting at 1."""
        index = getattr(self.data.X, "index", None)
        return str(self.rows[i] + 1 if index is None else index[self.rows[i]])

    def in_order(self, parts: list[Any]) -> NDArray[Any]:
        """Return what was predicted fold by fold, in the order of the rows."""
        first = np.asarray(parts[0])
        found = np.empty((len(self.rows), *first.shape[1:]), dtype=first.dtype)
        for number, part in enumerate(parts):
            found[self.fold == number] = part
        return found


class Focus(NamedTuple):
    """The ranker and the data set that a page looks closely at.

    Attributes
    ----------
    task : RankingTask
        The task of the ranker.
    data : DataSet
        The data set.
    ranker : estimator
        The ranker, or a pipeline that ends in one, as the experiment was given it.
    dataset, name : str
        What data set and ranker are called in the results.
    results : ResultTable
        The results of one missing rate, with predictions.
    scoring : str
        The metric that rankers are compared by.
    baseline : str or None
        The ranker that predicts the same order for everyone.
    random_state : int
        The seed of choices of rows.
    """

    task: RankingTask
    data: DataSet
    ranker: Any
    dataset: str
    name: str
    results: ResultTable
    scoring: str
    baseline: str | None
    random_state: int

    def runs(self, name: str | None) -> dict[Run, RunPredictions]:
        """Return what a ranker predicted in the first repetition, by fold."""
        missing = self.results[0].get("missing")
        found = {
            Run(*key): run
            for key, run in self.results.predictions.items()
            if key[:4] == (self.dataset, name, missing, 0)
        }
        return dict(sorted(found.items(), key=lambda item: item[0].fold))


def predict_out_of_fold(focus: Focus) -> OutOfFold:
    """Return the models of a ranker in the first repetition of an experiment, fitted again.

    Folds, seeds, missing labels and scores are those of the experiment, and so are the models.

    Parameters
    ----------
    focus : Focus
        The ranker and its results.

    Returns
    -------
    OutOfFold
        Models and predictions of whole folds, until there are `MOST_ROWS` rows.
    """
    task, data = focus.task, focus.data
    runs = focus.runs(focus.name)
    if not runs:
        raise ValueError(
            f"The results hold no predictions of {focus.name} for {focus.dataset}: run_experiment "
            "keeps them with keep_predictions=True."
        )
    names = [*data.labels, VIRTUAL_LABEL]
    fold, models, predicted = [], [], []
    rows: list[Indices] = []
    for number, (run, found) in enumerate(runs.items()):
        if number and sum(len(part) for part in rows) + len(found.test) > MOST_ROWS:
            break
        with silenced():  # the experiment has shown the warnings
            model, _ = run.fit(
                focus.ranker,
                data,
                found.train,
                found.random_state,
                use_scores=found.use_scores,
                names=names,
            )
        test = np.sort(found.test)
        predicted.append(task.predict(model, safe_indexing(data.X, test), data, test))
        models.append(model)
        rows.append(test)
        fold.append(np.full(len(test), number))
    order = np.argsort(np.concatenate(rows))
    chosen, fold_of = np.concatenate(rows)[order], np.concatenate(fold)[order]
    X = safe_indexing(data.X if hasattr(data.X, "shape") else np.asarray(data.X), chosen)
    return OutOfFold(task, data, chosen, X, models, fold_of, predicted)


class LabelPredictions:
    """Everything that label rankers predict for unseen rows.

    Parameters
    ----------
    found : OutOfFold
        The rows and models.

    Attributes
    ----------
    truth, predicted, scores : ndarray of shape (n_rows, n_labels)
        True and predicted ranks, and the scores behind the latter.
    tau : ndarray of shape (n_rows,)
        Kendall's tau; NaN for a ranking without any pair.
    expected_tau : ndarray of shape (n_rows,) or None
        What the ranker expects of it, if it can tell.
    pairwise : ndarray of shape (n_labels, n_labels) or None
        The mean of the predicted probabilities of pairs, if there are some.
    calibration : tuple of three ndarray of shape (n_bins,) or None
        By bin: mean probability of its pairs, share in the predicted order, number of pairs.
    """

    def __init__(self, found: OutOfFold) -> None:
        self.found, self.labels, self.truth = found, found.data.labels, found.truth
        self.predicted = found.in_order(found.predicted)
        self.tau = np.asarray(kendall_tau(self.truth, self.predicted, average=False))
        scores, expected, pairs = [], [], []
        sums = np.zeros((3, N_BINS))
        for number, model in enumerate(found.models):
            test = np.flatnonzero(found.fold == number)
            unseen = safe_indexing(found.X, test)
            scores.append(model.decision_function(unseen))
            last, reaching = at_final_step(model, unseen)
            if hasattr(last, "predict_expected_tau"):
                expected.append(last.predict_expected_tau(reaching))
            if hasattr(last, "predict_pairwise"):
                probability = last.predict_pairwise(reaching)
                pairs.append(probability.sum(axis=0))
                sums += _calibration_sums(self.truth[test], probability)
        self.scores = found.in_order(scores)
        self.expected_tau = found.in_order(expected) if expected else None
        self.pairwise = np.sum(pairs, axis=0) / len(found.rows) if pairs else None
        probabilities, hits, weight = sums[:, sums[2] > 0]
        self.calibration = (probabilities / weight, hits / weight, weight) if len(weight) else None

    @cached_property
    def telling_pairs(self) -> list[tuple[int, int]]:
        """By row, the pair of labels that says most about its prediction."""
        return [
            telling_pair(*row) for row in zip(self.truth, self.predicted, self.scores, strict=True)
        ]


def _calibration_sums(truth: Values, probability: Values) -> Values:
    """Sums over the pairs of each bin: their probabilities, those in that order, their number."""
    curve = pairwise_calibration_curve(truth, probability, n_bins=N_BINS)
    # Rounding may put a mean just outside its bin.
    middle = np.clip(curve.predicted, 0.5 + 1e-9, 1 - 1e-9)
    number = np.floor((2 * middle - 1) * N_BINS).astype(np.intp)
    sums = np.zeros((3, N_BINS))
    sums[0, number] = curve.predicted * curve.weight
    sums[1, number] = curve.observed * curve.weight
    sums[2, number] = curve.weight
    return sums


def telling_pair(truth: Values, predicted: Values, scores: Values) -> tuple[int, int]:
    """Return the pair of labels that says most about a prediction, of those the row orders.

    This is the pair in the wrong order with the largest margin or, if there is none, the two
    labels that were put first.
    """
    before = predicted[:, None] < predicted
    wrong = before & (truth[:, None] > truth)
    if wrong.any():
        best = np.argmax(np.where(wrong, scores[:, None] - scores, -np.inf))
    else:
        right = before & (truth[:, None] < truth)
        best = np.argmin(np.where(right, predicted[:, None] + predicted, np.inf))
    first, second = np.unravel_index(best, wrong.shape)
    return int(first), int(second)


def feature_importance(found: OutOfFold, focus: Focus) -> tuple[str, Values]:
    """Return what the importance of a feature means for this ranker, and the importances.

    Trees and forests know how much each feature contributed to their splits. For other rankers
    the values of one feature are shuffled among rows that the model was not trained on.
    """
    own = [
        getattr(final_step(model), "feature_importances_", np.empty(0)) for model in found.models
    ]
    if all(len(values) == found.X.shape[1] for values in own):
        meaning = "The share of the total gain of all splits that is due to splits on the feature."
        return meaning, np.mean(own, axis=0)
    task, model, random = found.task, found.models[0], check_random_state(focus.random_state)
    scoring = focus.scoring if focus.scoring in task.metrics else task.metrics[0]
    test = np.flatnonzero(found.fold == 0)
    if found.truth.ndim > 1:
        test = test[:_IMPORTANCE_ROWS]
    X, rows = safe_indexing(found.X, test), found.rows[test]

    def value(X: Any) -> float:
        with silenced():
            predicted = task.predict(model, X, found.data, rows)
            metrics, _ = task.metrics_of(model, X, predicted, found.data, rows, rows)
        return metrics[scoring] if larger_is_better(scoring) else -metrics[scoring]

    whole, losses = value(X), np.zeros(X.shape[1])
    repeats = _IMPORTANCE_REPEATS if len(test) <= _IMPORTANCE_ROWS else 1
    for _ in range(repeats):
        shuffled = safe_indexing(X, random.permutation(len(test)))
        losses += [whole - value(with_column(X, shuffled, j)) for j in range(X.shape[1])]
    meaning = f"How much worse the mean {scoring} of unseen rows gets when the feature is shuffled."
    return meaning, losses / repeats

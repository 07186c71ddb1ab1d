"""Leave-one-label-out evaluation of rankers that rank new labels by their features."""

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.linear_model import RidgeCV

from prefero._pipelines import at_final_step, final_step
from prefero._sklearn import safe_indexing
from prefero._typing import Indices, Values
from prefero.evaluation._data import Folds, load_data
from prefero.evaluation._runs import seeded
from prefero.evaluation.results import ResultTable
from prefero.metrics import kendall_tau
from prefero.rankings import bucket_positions, pair_signs, ranks_from_scores, strict_ranks

CONSENSUS, MEAN_RANKS = "consensus", "mean-ranks"

# Penalties of the ridge regression of mean ranks.
_RIDGES = np.logspace(-3, 3, 7)


def leave_one_label_out(
    rankers: Mapping[str, BaseEstimator],
    X: Any,
    Y: Any,
    label_features: Any,
    *,
    n_splits: int = 10,
    groups: ArrayLike | None = None,
    labels: Iterable[int] | None = None,
    dataset: str = "data",
    random_state: int = 0,
    progress: Callable[[], Any] = lambda: None,
) -> ResultTable:
    """Measure how well rankers place labels that are in no training ranking.

    Each label in turn is removed from the training rankings; the ranker then orders all labels for
    held-out rows, by their features.

    Parameters
    ----------
    rankers : mapping of str to estimator
        ``LabelFeatureRanker`` or pipelines that end in one; their ``label_features`` are set.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Instances.
    Y : array-like or DataFrame of shape (n_samples, n_labels)
        Ranks.
    label_features : array-like of shape (n_labels, n_label_features)
        Features of the labels, in the order of the columns of Y.
    n_splits : int, default=10
        Folds of the rows: the first label is left out with the first fold, the next label with
        the next.
    groups : array-like of shape (n_samples,), optional
        The group of each row; folds do not divide groups.
    labels : iterable of int, optional
        The labels to leave out; all by default.
    dataset : str, default="data"
        Its name in the table.
    random_state : int, default=0
        The seed of the folds, and of rankers without one.
    progress : callable, optional
        Called without arguments after each ranker and label.

    Returns
    -------
    ResultTable
        One row per ranker and label, with the columns ``dataset``, ``ranker``, ``repetition``,
        ``fold`` (the number of the label), ``placed`` (the share of the pairs of the new label
        in the right order), ``tau`` (over all labels), ``train_rows``, ``test_rows`` and
        ``fit_seconds``. There are two baselines, the same order for everyone:
        ``"consensus"`` puts the new label in the middle; ``"mean-ranks"`` predicts its mean rank
        from its features (ridge regression).

    Examples
    --------
    >>> from prefero import LabelFeatureRanker
    >>> from prefero.datasets import make_dyad_ranking
    >>> X, Y, Z = make_dyad_ranking(100, n_labels=5, random_state=0)
    >>> rankers = {"regression": LabelFeatureRanker(calibrate=False)}
    >>> found = leave_one_label_out(rankers, X, Y, Z)
    >>> bool(found.where(ranker="regression")["placed"].mean() > 0.7)
    True
    """
    data = load_data(dataset, (X, Y), n_splits, groups)
    Z = np.asarray(label_features, dtype=np.float64)
    if len(Z) != data.ranks.shape[1]:
        raise ValueError(
            f"label_features have {len(Z)} rows, but Y has {data.ranks.shape[1]} labels."
        )
    if len(Z) < 3:
        raise ValueError("To leave a label out, at least three are needed.")
    folds = Folds(n_splits, 1, None, random_state).of(dataset, data)
    left_out = range(len(Z)) if labels is None else labels
    rows = []
    for label, (train, test) in zip(left_out, cycle(folds.values())):
        one = _LabelLeftOut(data.X, data.ranks, Z, label, train, test)
        place = {"dataset": dataset, "repetition": 0, "fold": label}
        for name, order in one.baselines().items():
            rows.append(place | {"ranker": name} | one.measured(order, 0.0))
        for name, ranker in rankers.items():
            rows.append(place | {"ranker": name} | one.evaluated(seeded(ranker, random_state)))
            progress()
    return ResultTable(rows)


class _LabelLeftOut:
    """One label removed from the training rankings."""

    def __init__(
        self, X: Any, ranks: Values, Z: Values, label: int, train: Indices, test: Indices
    ) -> None:
        self.X, self.Z, self.label, self.test = X, Z, label, test
        self.seen = np.delete(np.arange(len(Z)), label)
        self.truth = ranks[test]
        ranked = ~np.isnan(ranks[np.ix_(train, self.seen)]).all(axis=1)
        self.train = train[ranked]
        known = ranks[np.ix_(self.train, self.seen)]
        self.ranks = ranks_from_scores(known, higher_is_better=False)

    def baselines(self) -> dict[str, Values]:
        """The ranks by baselines, which ignore the instances."""
        places = np.nan_to_num(bucket_positions(self.ranks), nan=(len(self.seen) + 1) / 2)
        means = places.mean(axis=0)
        middle, fitted = np.empty(len(self.Z)), np.empty(len(self.Z))
        middle[self.seen] = fitted[self.seen] = means
        middle[self.label] = np.median(means)
        ridge = RidgeCV(_RIDGES).fit(self.Z[self.seen], means)
        fitted[self.label] = ridge.predict(self.Z[[self.label]])[0]
        orders = {CONSENSUS: middle, MEAN_RANKS: fitted}
        return {
            name: np.tile(strict_ranks(-one[None]), (len(self.test), 1))
            for name, one in orders.items()
        }

    def evaluated(self, model: Any) -> dict[str, float]:
        """Train a ranker without the label, and measure where it places it."""
        final_step(model).set_params(label_features=self.Z[self.seen])
        start = time.perf_counter()
        model.fit(safe_indexing(self.X, self.train), self.ranks)
        seconds = time.perf_counter() - start
        ranker, reaching = at_final_step(model, safe_indexing(self.X, self.test))
        return self.measured(ranker.predict(reaching, labels=self.Z), seconds)

    def measured(self, predicted: Any, seconds: float) -> dict[str, float]:
        """The share of the label's pairs in the right order, and tau over all labels."""
        order = [self.label, *self.seen.tolist()]
        of_label = len(self.seen)  # the pairs of the first label are the first ones
        true, found = (
            pair_signs(ranks[:, order])[:, :of_label]
            for ranks in (self.truth, np.asarray(predicted, dtype=np.float64))
        )
        told = true != 0
        return {
            "placed": float(np.mean(true[told] == found[told])) if told.any() else np.nan,
            "tau": float(kendall_tau(self.truth, predicted)),
            "train_rows": float(len(self.train)),
            "test_rows": float(len(self.test)),
            "fit_seconds": seconds,
        }

"""RankBoost: a sum of thresholds on single attributes, boosted on ordered pairs."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from prefero import _core
from prefero.base import BaseOrderer, SampleOrders, check_sample_orders
from prefero.rankings import Groups


class RankBoostOrderer(BaseOrderer):
    """Boost weak rankers "attribute above threshold" on the pairs that sample orders tell apart.

    Each round picks the threshold that separates the weighted pairs best, adds it with weight
    ln((1 + r) / (1 - r)) / 2 for its separation r, and shifts weight to the pairs still wrong.
    The weight of a pair is a product of one factor an object, so a round takes time
    proportional to objects times attributes and no list of pairs is made.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds at most.
    learning_rate : float, default=0.1
        Shrinks every weak ranker's weight; 1 is the published method, which needs fewer rounds
        and overfits small samples.
    max_bins : int or None, default=255
        Thresholds are sought between at most this many quantiles of an attribute, up to 255;
        None tries every value.
    early_stopping : bool, default=False
        Whether to hold out groups and stop when their pairs get no better.
    validation_fraction : float, default=0.1
        The share of groups held out.
    n_iter_no_change : int, default=20
        Rounds without a better held-out loss before stopping.
    random_state : int, RandomState or None, default=None
        Which groups are held out.

    Attributes
    ----------
    attributes_, thresholds_, weights_ : ndarray of shape (n_rounds,)
        The weak rankers: objects whose attribute exceeds the threshold gain the weight.
    missing_ : ndarray of shape (n_rounds,), dtype bool
        Whether an object that lacks the attribute gains the weight too.
    n_iter_ : int
        The number of weak rankers kept.

    References
    ----------
    Freund, Iyer, Schapire & Singer (2003).

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = RankBoostOrderer(10).fit(X, [1, 3, 2, 2, 1], groups=[0, 0, 0, 1, 1])
    >>> orderer.predict([[1.0], [9.0], [2.5]])
    array([3, 1, 2])
    """

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        learning_rate: float = 0.1,
        max_bins: int | None = 255,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None) -> Self:
        """Learn from sample orders.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            One row an object in one order; NaN where an attribute is undefined.
        y : array-like of shape (n_objects,)
            Ranks inside the group: smaller is better, equal is tied, NaN is unknown.
        groups : array-like of shape (n_objects,), optional
            Names the order each row belongs to; by default all rows are one order.

        Returns
        -------
        self
            The fitted orderer.
        """
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators must be at least 1, got {self.n_estimators!r}.")
        if self.max_bins is not None and not 2 <= self.max_bins <= 255:
            raise ValueError(f"max_bins must be None or in 2..255, got {self.max_bins!r}.")
        orders = check_sample_orders(self, X, y, groups)
        if self.early_stopping:
            train, held_out = self._split(orders)
            rounds = self._boost(train, _PairWeights(held_out), held_out.X)
        else:
            rounds = self._boost(orders)
        self.n_iter_ = max(len(rounds), 1)
        self.attributes_ = np.array([weak.attribute for weak in rounds], dtype=np.int64)
        self.thresholds_ = np.array([weak.threshold for weak in rounds])
        self.missing_ = np.array([weak.missing for weak in rounds], dtype=bool)
        self.weights_ = np.array([weak.weight for weak in rounds])
        return self

    def _split(self, orders: SampleOrders) -> tuple[SampleOrders, SampleOrders]:
        n_groups = len(orders.groups.sizes)
        if n_groups < 2:
            raise ValueError(
                "early_stopping holds out whole groups, but there is only one: pass groups, or "
                "set early_stopping=False."
            )
        train, held_out = train_test_split(
            np.arange(n_groups),
            test_size=self.validation_fraction,
            random_state=check_random_state(self.random_state),
        )
        return _take_groups(orders, np.sort(train)), _take_groups(orders, np.sort(held_out))

    def _boost(
        self,
        orders: SampleOrders,
        held_out: "_PairWeights | None" = None,
        X_held_out: NDArray[np.float64] | None = None,
    ) -> "list[_WeakRanker]":
        attributes = _CodedAttributes(orders.X, self.max_bins)
        weights = _PairWeights(orders)
        rounds: list[_WeakRanker] = []
        best_loss, best_length = np.inf, 0
        for _ in range(self.n_estimators):
            weak = attributes.best_weak_ranker(weights, self.learning_rate)
            if weak is None:
                break
            rounds.append(weak)
            weights.scores += weak.scores(orders.X)
            if held_out is None or X_held_out is None:
                continue
            held_out.scores += weak.scores(X_held_out)
            loss = held_out.potential()[0]
            if loss < best_loss:
                best_loss, best_length = loss, len(rounds)
            elif len(rounds) - best_length >= self.n_iter_no_change:
                break
        return rounds if held_out is None else rounds[:best_length]

    def _decision(self, X: Any) -> NDArray[np.float64]:
        scores = np.zeros(len(X))
        for attribute in np.unique(self.attributes_):
            scores += self._attribute_scores(X[:, attribute], self.attributes_ == attribute)
        return scores

    def _attribute_scores(
        self, values: NDArray[np.float64], rounds: NDArray[np.bool_]
    ) -> NDArray[Any]:
        """What the weak rankers of one attribute add up to: a step function of its values."""
        thresholds, weights = self.thresholds_[rounds], self.weights_[rounds]
        order = np.argsort(thresholds, kind="stable")
        steps = np.append(0.0, np.cumsum(weights[order]))
        scores = steps[np.searchsorted(thresholds[order], values, side="left")]
        scores[np.isnan(values)] = weights @ self.missing_[rounds]
        return scores


class _WeakRanker(NamedTuple):
    attribute: int
    threshold: float
    missing: bool
    weight: float

    def scores(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        values = X[:, self.attribute]
        above = values > self.threshold
        chosen = above | np.isnan(values) if self.missing else above
        return np.where(chosen, self.weight, 0.0)


class _PairWeights:
    """The weights of all ordered pairs, held as one score an object."""

    def __init__(self, orders: SampleOrders) -> None:
        self.scores = np.zeros(len(orders.positions))
        self._levels = orders.groups.levels(orders.positions)
        self._by_level = orders.groups.sort(orders.positions)
        self._starts = orders.groups.starts

    def potential(self) -> tuple[float, NDArray[np.float64]]:
        return _core.pair_potential(self.scores, self._levels, self._by_level, self._starts)


class _CodedAttributes:
    """Attributes as numbers of the interval between thresholds that their values lie in."""

    def __init__(self, X: NDArray[np.float64], max_bins: int | None) -> None:
        self._edges = [_edges(column, max_bins) for column in X.T]
        dtype = np.uint32 if max_bins is None else np.uint8
        self._bins = np.array([len(edges) + 1 for edges in self._edges], dtype=np.int64)
        self._codes = np.empty(X.T.shape, dtype=dtype)
        for codes, column, edges, bins in zip(
            self._codes, X.T, self._edges, self._bins, strict=True
        ):
            codes[:] = np.where(np.isnan(column), bins, np.searchsorted(edges, column))

    def best_weak_ranker(self, weights: _PairWeights, learning_rate: float) -> _WeakRanker | None:
        """The threshold that separates the weighted pairs best, or None if none separates any."""
        total, potential = weights.potential()
        attribute, bin_, missing, gain = _core.best_weak_ranker(self._codes, self._bins, potential)
        if attribute < 0 or not total > 0:
            return None
        # A threshold that gets every pair right would weigh infinitely much.
        separation = np.clip(gain / total, -1 + 1e-6, 1 - 1e-6)
        weight = learning_rate * float(np.arctanh(separation))
        threshold = -np.inf if bin_ < 0 else float(self._edges[attribute][bin_])
        return _WeakRanker(attribute, threshold, missing, weight)


def _edges(column: NDArray[np.float64], max_bins: int | None) -> NDArray[np.float64]:
    """Thresholds between the values of an attribute, at quantiles if there are many values."""
    known = np.sort(column[~np.isnan(column)])
    values = known[np.append(True, known[1:] > known[:-1])] if len(known) else known
    if max_bins is None or len(values) <= max_bins:
        return (values[:-1] + values[1:]) / 2
    quantiles = np.arange(1, max_bins) / max_bins
    return np.unique(known[np.ceil(quantiles * len(known)).astype(np.int64) - 1])


def _take_groups(orders: SampleOrders, chosen: NDArray[np.int64]) -> SampleOrders:
    rows = np.isin(orders.groups.codes, chosen)
    starts = np.concatenate([[0], np.cumsum(orders.groups.sizes[chosen])])
    groups = Groups(orders.groups.rows[rows], starts)
    return SampleOrders(orders.X[rows], orders.positions[rows], groups)

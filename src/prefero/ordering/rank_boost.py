"""RankBoost: a sum of thresholds on single attributes, boosted on ordered pairs."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from prefero import _core
from prefero._sklearn import Interval
from prefero._state import Array, Count, FittedState
from prefero._trees._bins import MAX_BINS, find_bins, numeric_edges
from prefero._typing import Mask, Values
from prefero.base import BaseOrderer, SampleOrders


class RankBoostOrderer(BaseOrderer):
    """Boost weak rankers "attribute above threshold" on the pairs that sample orders tell apart.

    Each round picks the threshold that separates the weighted pairs best, adds it with weight
    ln((1 + r) / (1 - r)) / 2 for its separation r, and shifts weight to the pairs still wrong.
    The weight of a pair is a product of one factor per object, so a round takes time
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
        Whether to hold out queries and stop when their pairs get no better.
    validation_fraction : float, default=0.1
        The share of queries held out.
    n_iter_no_change : int, default=20
        Rounds without a better held-out loss before stopping.
    random_state : int, RandomState or None, default=None
        Which queries are held out.

    Attributes
    ----------
    attributes_, thresholds_, weights_ : ndarray of shape (n_rounds,)
        The weak rankers: objects whose attribute exceeds the threshold gain the weight.
    missing_ : ndarray of shape (n_rounds,), dtype bool
        Whether an object that lacks the attribute gains the weight too.
    n_iter_ : int
        The number of weak rankers kept: rounds that found pairs to separate, up to the best one
        for the held-out queries.

    References
    ----------
    Freund, Iyer, Schapire & Singer (2003).

    Examples
    --------
    >>> X = [[3.0], [1.0], [2.0], [0.0], [5.0]]
    >>> orderer = RankBoostOrderer(10).fit(X, [1, 3, 2, 2, 1], qid=[0, 0, 0, 1, 1])
    >>> orderer.predict([[1.0], [9.0], [2.5]])
    array([3, 1, 2])
    """

    _input_tags: ClassVar[dict[str, bool]] = {"allow_nan": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both"), None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "n_iter_": Count(size="n_iter"),
        "attributes_": Array("i", "n_iter", low=0, high="n_features - 1"),
        "thresholds_": Array("f8", "n_iter", infinite=True),
        "missing_": Array("bi", "n_iter"),
        "weights_": Array("f8", "n_iter"),
    }

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

    def _fit(self, orders: SampleOrders) -> None:
        orders = _best_first(orders)
        none = orders.some(np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64))
        train, held_out = self._split(orders) if self.early_stopping else (orders, none)
        thresholds = _Thresholds(train.X, self.max_bins)
        self.attributes_, bins, self.missing_, self.weights_ = _core.rank_boost(
            thresholds.codes(train.X),
            thresholds.counts + 1,
            train.positions,
            train.weight,
            train.queries.starts,
            thresholds.codes(held_out.X),
            held_out.positions,
            held_out.weight,
            held_out.queries.starts,
            rounds=self.n_estimators,
            learning_rate=self.learning_rate,
            patience=self.n_iter_no_change,
        )
        self.thresholds_ = thresholds.of(self.attributes_, bins)
        self.n_iter_ = len(self.weights_)

    def _split(self, orders: SampleOrders) -> tuple[SampleOrders, SampleOrders]:
        n_queries = len(orders.queries.sizes)
        if n_queries < 2:
            raise ValueError(
                "early_stopping holds out whole queries, but there is only one: pass qid, or "
                "set early_stopping=False."
            )
        train, held_out = train_test_split(
            np.arange(n_queries),
            test_size=self.validation_fraction,
            random_state=check_random_state(self.random_state),
        )
        return _take_queries(orders, np.sort(train)), _take_queries(orders, np.sort(held_out))

    def _decision(self, X: Any) -> Values:
        scores = np.zeros(len(X))
        for attribute in np.unique(self.attributes_):
            scores += self._attribute_scores(X[:, attribute], self.attributes_ == attribute)
        return scores

    def _attribute_scores(self, values: Values, rounds: Mask) -> NDArray[Any]:
        """What the weak rankers of one attribute add up to: a step function of its values."""
        thresholds, weights = self.thresholds_[rounds], self.weights_[rounds]
        order = np.argsort(thresholds, kind="stable")
        steps = np.append(0.0, np.cumsum(weights[order]))
        scores = steps[np.searchsorted(thresholds[order], values, side="left")]
        scores[np.isnan(values)] = weights @ self.missing_[rounds]
        return scores


class _Thresholds:
    """The thresholds of all attributes, and values as numbers of those below them."""

    def __init__(self, X: Values, max_bins: int | None) -> None:
        self._bins = None if max_bins is None else find_bins(X, max_bins=max_bins)
        if self._bins is None:
            self._edges = [numeric_edges(column, None) for column in X.T]
        else:
            self._edges = [self._bins.of_feature(k) for k in range(X.shape[1])]
        self.counts = np.array([len(edges) for edges in self._edges], dtype=np.int64)

    def codes(self, X: Values) -> NDArray[Any]:
        """For each value how many thresholds lie below it; the largest code for NaN."""
        if self._bins is not None:
            return self._bins.apply(X)
        codes = np.empty(X.shape, dtype=np.uint32)
        for k, edges in enumerate(self._edges):
            codes[:, k] = np.searchsorted(edges, X[:, k])
        codes[np.isnan(X)] = np.iinfo(codes.dtype).max
        return codes

    def of(self, attributes: NDArray[np.int64], bins: NDArray[np.int64]) -> Values:
        """The thresholds above bins; -inf above bin -1, which tells known values from NaN."""
        return np.array(
            [
                -np.inf if below < 0 else self._edges[attribute][below]
                for attribute, below in zip(attributes, bins, strict=True)
            ],
            dtype=np.float64,
        )


def _best_first(orders: SampleOrders) -> SampleOrders:
    """The same orders with the rows of each query from the best to the worst."""
    return orders.some(orders.queries.sort(orders.positions), orders.queries.starts)


def _take_queries(orders: SampleOrders, chosen: NDArray[np.int64]) -> SampleOrders:
    rows = np.flatnonzero(np.isin(orders.queries.codes, chosen))
    return orders.some(rows, np.concatenate([[0], np.cumsum(orders.queries.sizes[chosen])]))

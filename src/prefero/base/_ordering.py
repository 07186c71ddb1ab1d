"""What every orderer of objects shares: sample orders, tags, and the public predictions."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._sklearn import check_sample_weight
from prefero._typing import ArrayOrNone, Values
from prefero._warnings import warn_user
from prefero.base._features import check_features
from prefero.base._fitting import FittedMixin, fitting
from prefero.metrics.ordering import query_rho
from prefero.rankings import Queries


class SampleOrders(NamedTuple):
    """Objects and the orders they were seen in, query after query.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_objects, n_features)
        One row per object in one order.
    positions : ndarray of shape (n_objects,)
        The place of each object in its order, 1 is best; tied objects share their mean place,
        and one of weight two takes two places.
    queries : Queries
        Which rows make one order; ``queries.rows`` are the rows of the caller's X.
    weight : ndarray of shape (n_objects,)
        Weights of the objects. A pair of objects weighs their product: weights mean what
        repeated rows mean.

    Examples
    --------
    >>> from prefero import RankSVMOrderer
    >>> orders = check_sample_orders(RankSVMOrderer(), [[0.1], [0.9], [0.5]], [2, 1, 3])
    >>> orders.positions
    array([2., 1., 3.])
    """

    X: Any
    positions: Values
    queries: Queries
    weight: Values

    @property
    def lengths(self) -> Values:
        """The length of the order that each object stands in: the weight of its objects."""
        return np.add.reduceat(self.weight, self.queries.starts[:-1])[self.queries.codes]

    def some(self, rows: NDArray[Any], starts: NDArray[np.int64]) -> "SampleOrders":
        """Return some rows, whose orders begin at these places."""
        queries = Queries(self.queries.rows[rows], starts)
        return SampleOrders(self.X[rows], self.positions[rows], queries, self.weight[rows])


def check_sample_orders(
    estimator: Any, X: Any, y: Any, qid: ArrayOrNone = None, sample_weight: ArrayOrNone = None
) -> SampleOrders:
    """Validate training orders of objects; leave out the objects whose rank is unknown.

    Parameters
    ----------
    estimator : estimator
        Its tags say whether sparse X and NaN are legal in X.
    X : array-like or sparse matrix of shape (n_objects, n_features)
        One row per object in one order.
    y : array-like of shape (n_objects,)
        Ranks inside the query: smaller is better, equal is tied, NaN is unknown.
    qid : array-like of shape (n_objects,), optional
        Names the order each row belongs to; by default all rows are one order.
    sample_weight : array-like of shape (n_objects,), optional
        Weights of the objects; one of weight zero is left out too.

    Returns
    -------
    SampleOrders
        The orders.

    Examples
    --------
    >>> from prefero import RankSVMOrderer
    >>> orders = check_sample_orders(
    ...     RankSVMOrderer(), [[0.1], [0.9], [0.5], [0.2]], [1, 2, 1, 2], ["b", "a", "a", "b"]
    ... )
    >>> orders.queries.rows  # query after query
    array([1, 2, 0, 3])
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    X = check_features(estimator, X, reset=True)
    ranks = _check_object_ranks(y, qid)
    check_consistent_length(X, ranks, qid)
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    known = ~np.isnan(ranks) & (weight > 0)
    if not known.any():
        raise ValueError("y ranks no object that has a weight: there is nothing to learn from.")
    if not known.all():
        X, ranks, weight = X[known], ranks[known], weight[known]
        qid = None if qid is None else column_or_1d(qid, warn=True)[known]
    found = Queries.of(qid, len(ranks))
    in_order = bool((np.diff(found.rows) == 1).all())
    weight = weight[found.rows]
    plain = bool((weight == 1).all())
    positions = found.positions(ranks[found.rows], None if plain else weight)
    if (found.levels(positions) == 0).all():
        warn_user(
            "y puts no object before another in any query: there is nothing to learn from, "
            "and all objects will be tied.",
        )
    X = X if in_order else X[found.rows]
    return SampleOrders(X, positions, found, weight)


def _check_object_ranks(y: Any, qid: ArrayOrNone) -> Values:
    ranks = check_array(
        y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y"
    )
    ranks = column_or_1d(ranks, warn=True)
    if qid is not None and (ranks < 1).any():
        row = int(np.argmax(ranks < 1))
        raise ValueError(
            f"y[{row}] is {ranks[row]:g}, but ranks inside a query start at 1, the best; this "
            "looks like grades or scores, where larger is better: use ranks_in_queries."
        )
    return ranks


@documented()
class OrdererMixin(FittedMixin):
    """Mixin of all orderers: from sample orders to the order of any new set of objects.

    An orderer writes two methods for data already validated: ``_fit(orders)``, and
    ``_decision(X)``, which returns one score per object, larger is better. An orderer without a
    global score writes ``_query_scores(X, queries)`` instead, whose scores count inside a query
    only. What its parameters may be stands in ``_parameter_constraints``.

    Examples
    --------
    >>> from prefero import RankSVMOrderer
    >>> isinstance(RankSVMOrderer(), OrdererMixin)
    True
    """

    # Queries reach every step of a pipeline and every scorer without being asked for.
    __metadata_request__fit: ClassVar = {"qid": True}
    __metadata_request__predict: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _needs_y: ClassVar[bool] = True
    # Whether ``_fit`` looks at the weights of the orders.
    _takes_weights: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "orderer"
        return tags

    def fit(
        self, X: Any, y: Any, qid: ArrayOrNone = None, sample_weight: ArrayOrNone = None
    ) -> Self:
        """Learn from sample orders.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            One row per object in one order. Tags tell whether a sparse matrix or NaN is legal.
        y : array-like of shape (n_objects,)
            Ranks inside the query: smaller is better, equal is tied, NaN is unknown.
        qid : array-like of shape (n_objects,), optional
            Names the order each row belongs to; by default all rows are one order.
        sample_weight : array-like of shape (n_objects,), optional
            Weights of the objects. A pair of objects weighs their product; give all objects of
            a query the same weight to weigh the query. Refused by orderers that know none.

        Returns
        -------
        self
            The fitted orderer.
        """
        self._validate_params()
        with fitting(self) as orderer:
            orders = check_sample_orders(orderer, X, y, qid, sample_weight)
            if not self._takes_weights and not (orders.weight == 1).all():
                raise ValueError(
                    f"{type(self).__name__} knows no sample_weight: leave it out, or use another "
                    "orderer."
                )
            orderer._fit(orders)
        return self

    def _fit(self, orders: SampleOrders) -> None:
        raise NotImplementedError

    @available_if(lambda orderer: hasattr(orderer, "_decision"))
    def decision_function(self, X: Any) -> Values:
        """Return scores whose descending order is the predicted order of any set of objects.

        %(of_objects)s

        Returns
        -------
        ndarray of shape (n_objects,)
            Scores, larger is better.
        """
        check_is_fitted(self)
        return self._decision(check_features(self, X, reset=False))  # type: ignore[attr-defined]

    def _query_scores(self, X: Any, queries: Queries) -> Values:
        """Scores of rows already put in the order of ``queries.rows``."""
        return self._decision(X)  # type: ignore[attr-defined]

    def _ordered_scores(self, X: Any, qid: ArrayOrNone) -> tuple[Queries, NDArray[Any]]:
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        found = Queries.of(qid, X.shape[0])
        return found, self._query_scores(X[found.rows], found)

    def predict(self, X: Any, qid: ArrayOrNone = None) -> NDArray[np.int64]:
        """Predict the rank of every object inside its query.

        %(of_objects)s
        qid : array-like of shape (n_objects,), optional
            Names the set each object is ordered in; by default all are one set.

        Returns
        -------
        ndarray of shape (n_objects,), dtype int64
            Ranks, 1 is best. Objects with equal scores share the smallest rank: the order of
            the rows says nothing about them.
        """
        found, scores = self._ordered_scores(X, qid)
        ranks = np.empty(len(scores), dtype=np.int64)
        ranks[found.rows] = found.ranks(-scores)
        return ranks

    def score(
        self, X: Any, y: ArrayLike, qid: ArrayOrNone = None, sample_weight: ArrayOrNone = None
    ) -> float:
        """Return the mean over queries of Spearman's rho of predicted and given orders.

        Queries in which y ties all objects say nothing and are left out; a query whose
        objects all get the same score counts zero.

        %(of_objects)s
        y : array-like of shape (n_objects,)
            Their ranks inside the queries, NaN where unknown.
        qid : array-like of shape (n_objects,), optional
            Names the set each object is ordered in; by default all are one set.
        sample_weight : array-like of shape (n_objects,), optional
            Weights; a query weighs what its objects weigh on average.

        Returns
        -------
        float
            In [-1, 1].
        """
        found, scores = self._ordered_scores(X, qid)
        ranks = _check_object_ranks(y, qid)
        check_consistent_length(scores, ranks)
        in_order = np.empty_like(scores)
        in_order[found.rows] = scores
        return query_rho(ranks, in_order, qid, sample_weight=sample_weight)


class BaseOrderer(OrdererMixin, BaseEstimator):
    """Base class of the orderers of this package.

    Examples
    --------
    >>> class FirstFeature(BaseOrderer):
    ...     def _fit(self, orders):
    ...         self.sign_ = 1.0
    ...
    ...     def _decision(self, X):
    ...         return self.sign_ * X[:, 0]
    >>> FirstFeature().fit([[0.1], [0.9]], [2, 1]).predict([[3.0], [7.0], [5.0]])
    array([3, 1, 2])
    """

"""What every orderer of objects shares: sample orders, tags, and the public predictions."""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from prefero._warnings import warn_user
from prefero.base._features import check_features
from prefero.base._fitted import FittedMixin
from prefero.base._fitting import fitting
from prefero.metrics.ordering import group_rho
from prefero.rankings import Groups


class SampleOrders(NamedTuple):
    """Objects and the orders they were seen in, group after group.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_objects, n_features)
        One row an object in one order.
    positions : ndarray of shape (n_objects,)
        The place of each object in its order, 1 is best; tied objects share their mean place.
    groups : Groups
        Which rows make one order; ``groups.rows`` are the rows of the caller's X.

    Examples
    --------
    >>> from prefero import RankSVMOrderer
    >>> orders = check_sample_orders(RankSVMOrderer(), [[0.1], [0.9], [0.5]], [2, 1, 3])
    >>> orders.positions
    array([2., 1., 3.])
    """

    X: Any
    positions: NDArray[np.float64]
    groups: Groups


def check_sample_orders(
    estimator: Any, X: Any, y: Any, groups: ArrayLike | None = None
) -> SampleOrders:
    """Validate training orders of objects; leave out the objects whose rank is unknown.

    Parameters
    ----------
    estimator : estimator
        Its tags say whether sparse X and NaN are legal in X.
    X : array-like or sparse matrix of shape (n_objects, n_features)
        One row an object in one order.
    y : array-like of shape (n_objects,)
        Ranks inside the group: smaller is better, equal is tied, NaN is unknown.
    groups : array-like of shape (n_objects,), optional
        Names the order each row belongs to; by default all rows are one order.

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
    >>> orders.groups.rows  # group after group
    array([1, 2, 0, 3])
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    X = check_features(estimator, X, reset=True)
    ranks = _check_object_ranks(y, groups)
    check_consistent_length(X, ranks, groups)
    known = ~np.isnan(ranks)
    if not known.any():
        raise ValueError("y ranks no object: there is nothing to learn from.")
    if not known.all():
        X, ranks = X[known], ranks[known]
        groups = None if groups is None else column_or_1d(groups, warn=True)[known]
    found = Groups.of(groups, len(ranks))
    in_order = bool((np.diff(found.rows) == 1).all())
    positions = found.positions(ranks[found.rows])
    if (found.levels(positions) == 0).all():
        warn_user(
            "y puts no object before another in any group: there is nothing to learn from, "
            "and all objects will be tied.",
        )
    return SampleOrders(X if in_order else X[found.rows], positions, found)


def _check_object_ranks(y: Any, groups: ArrayLike | None) -> NDArray[np.float64]:
    ranks = check_array(
        y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y"
    )
    ranks = column_or_1d(ranks, warn=True)
    if groups is not None and (ranks < 1).any():
        row = int(np.argmax(ranks < 1))
        raise ValueError(
            f"y[{row}] is {ranks[row]:g}, but ranks inside a group start at 1, the best; this "
            "looks like grades or scores, where larger is better: use ranks_in_groups."
        )
    return ranks


class OrdererMixin(FittedMixin):
    """Mixin of all orderers: from sample orders to the order of any new set of objects.

    An orderer writes two methods for data already validated: ``_fit(orders)``, and
    ``_decision(X)``, which returns one score an object, larger is better. An orderer without a
    global score writes ``_group_scores(X, groups)`` instead, whose scores count inside a group
    only. What its parameters may be stands in ``_parameter_constraints``.

    Examples
    --------
    >>> from prefero import RankSVMOrderer
    >>> isinstance(RankSVMOrderer(), OrdererMixin)
    True
    """

    # Groups reach every step of a pipeline and every scorer without being asked for.
    __metadata_request__fit: ClassVar = {"groups": True}
    __metadata_request__predict: ClassVar = {"groups": True}
    __metadata_request__score: ClassVar = {"groups": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type = "orderer"
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None) -> Self:
        """Learn from sample orders.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            One row an object in one order. Tags tell whether a sparse matrix or NaN is legal.
        y : array-like of shape (n_objects,)
            Ranks inside the group: smaller is better, equal is tied, NaN is unknown.
        groups : array-like of shape (n_objects,), optional
            Names the order each row belongs to; by default all rows are one order.

        Returns
        -------
        self
            The fitted orderer.
        """
        self._validate_params()
        with fitting(self) as orderer:
            orderer._fit(check_sample_orders(orderer, X, y, groups))
        return self

    def _fit(self, orders: SampleOrders) -> None:
        raise NotImplementedError

    @available_if(lambda orderer: hasattr(orderer, "_decision"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return scores whose descending order is the predicted order of any set of objects.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            Objects.

        Returns
        -------
        ndarray of shape (n_objects,)
            Scores, larger is better.
        """
        check_is_fitted(self)
        return self._decision(check_features(self, X, reset=False))  # type: ignore[attr-defined]

    def _group_scores(self, X: Any, groups: Groups) -> NDArray[np.float64]:
        """Scores of rows already put in the order of ``groups.rows``."""
        return self._decision(X)  # type: ignore[attr-defined]

    def _ordered_scores(self, X: Any, groups: ArrayLike | None) -> tuple[Groups, NDArray[Any]]:
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        found = Groups.of(groups, X.shape[0])
        return found, self._group_scores(X[found.rows], found)

    def predict(self, X: Any, groups: ArrayLike | None = None) -> NDArray[np.int64]:
        """Predict the rank of every object inside its group.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            Objects.
        groups : array-like of shape (n_objects,), optional
            Names the set each object is ordered in; by default all are one set.

        Returns
        -------
        ndarray of shape (n_objects,), dtype int64
            Ranks, 1 is best. Objects with equal scores share the smallest rank: the order of
            the rows says nothing about them.
        """
        found, scores = self._ordered_scores(X, groups)
        ranks = np.empty(len(scores), dtype=np.int64)
        ranks[found.rows] = found.ranks(-scores)
        return ranks

    def score(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean over groups of Spearman's rho of predicted and given orders.

        Groups in which y ties all objects say nothing and are left out; a group whose
        objects all get the same score counts zero.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            Objects.
        y : array-like of shape (n_objects,)
            Their ranks inside the groups, NaN where unknown.
        groups : array-like of shape (n_objects,), optional
            Names the set each object is ordered in; by default all are one set.
        sample_weight : array-like of shape (n_objects,), optional
            Weights; a group weighs what its objects weigh in the mean.

        Returns
        -------
        float
            In [-1, 1].
        """
        found, scores = self._ordered_scores(X, groups)
        ranks = _check_object_ranks(y, groups)
        check_consistent_length(scores, ranks)
        in_order = np.empty_like(scores)
        in_order[found.rows] = scores
        return group_rho(ranks, in_order, groups, sample_weight=sample_weight)


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

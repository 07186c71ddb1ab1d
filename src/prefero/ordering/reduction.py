"""Rank correlation dimension reduction: directions of features that sample orders follow."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from prefero import _core
from prefero._products import row_products
from prefero._sent_once import SentOnce, called
from prefero._sklearn import Interval, StrOptions, check_feature_names_in
from prefero._state import Array, Count, FittedState
from prefero._typing import ArrayOrNone, Values
from prefero.base import FittedMixin, SampleOrders, check_features, check_sample_orders, fitting

# Dense blocks of residuals hold about this many numbers: they stay in the cache.
_BLOCK = 1 << 18

# With 19 shuffles the largest is the bound of a test at the level of 5 %.
_SHUFFLES = 19

# What the core calls the correlations, by name and by what they make of ties.
MEASURES = {
    ("spearman", "b"): "spearman",
    ("kendall", "b"): "tau-b",
    ("spearman", "a"): "rho-a",
    ("kendall", "a"): "tau-a",
}

# Places in an order, of a share between 0 and 1, that differ by less are equal.
_SAME_PLACE = 1e-9


class AttributeWeight(NamedTuple):
    """What one attribute contributes to a component.

    Examples
    --------
    >>> reducer = RankCorrelationReducer(1).fit([[0.1, 5.0], [0.2, 5.0], [0.3, 5.0]], [3, 2, 1])
    >>> reducer.describe(component=0, top=1)[0].attribute
    'x0'
    """

    attribute: str
    weight: float
    reading: str


class RankCorrelationReducer(
    FittedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Reduce features to the orthogonal directions that agree best with sample orders (RCDR).

    Entry k of a component is proportional to the sum of the rank correlations between the
    sample orders and the orders of their objects by attribute k; the features are then
    projected on the complement of the component, and so on. By default the correlations make up
    for ties (tau-b, and rho as the correlation of mean ranks), so binary attributes count in
    full; an attribute that is constant in an order counts nothing there. Attributes on different
    scales are better standardized first: a component adds them up as they are.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        How many components; all by default. ``"auto"`` takes components as long as their
        concordance exceeds that of the same objects in each of 19 shuffles of the orders, which
        chance allows one time in twenty; but at least one.
    correlation : {"spearman", "kendall"}, default="spearman"
        The rank correlation. Both give nearly the same; Spearman's is quicker for long orders.
    ties : {"b", "a"}, default="b"
        What a tie among attribute values does: ``"b"`` divides the correlation by what it could
        reach with these ties, as tau-b does; with ``"a"``, as with tau-a, a tied pair counts
        zero, which is sgn(0) = 0 in the paper's formula (4).
    deflate_orders : bool, default=False
        Whether, beside the features, the orders too lose what the components found so far
        explain, before the next is sought: their places are regressed on the components inside
        the orders, and the objects are ordered by what remains. The paper's section 5 proposes
        something like it.
    n_jobs : int or None, default=None
        Threads; the result does not depend on their number.
    random_state : int, RandomState or None, default=0
        The shuffled orders of ``"auto"``.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, the first found first. Larger projections are better places.
    concordance_ : ndarray of shape (n_components,)
        The norm of the correlation sums divided by the number of orders: the components with
        a very small one tell little about the orders.
    n_components_ : int
        The number of components, smaller than asked for if nothing is left to find.

    References
    ----------
    Kamishima & Akaho (2006), figure 3.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> qid = np.repeat(np.arange(100), 5)
    >>> worth = X @ [2.0, -1.0, 0.0]
    >>> y = [np.sum(worth[qid == g] >= w) for g, w in zip(qid, worth)]
    >>> reducer = RankCorrelationReducer(n_components="auto").fit(X, y, qid)
    >>> reducer.components_.round(1)
    array([[ 0.9, -0.5,  0. ]])
    """

    # Queries reach the reducer in a pipeline without being asked for.
    __metadata_request__fit: ClassVar = {"qid": True}

    _input_tags: ClassVar[dict[str, bool]] = {"sparse": True}
    _needs_y: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "correlation": [StrOptions({"spearman", "kendall"})],
        "ties": [StrOptions({"a", "b"})],
        "deflate_orders": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "n_components_": Count(size="n_components"),
        "components_": Array("f8", "n_components", "n_features"),
        "concordance_": Array("f8", "n_components"),
        "_n_features_out": Count(size="n_components"),
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] | None = None,
        *,
        correlation: Literal["spearman", "kendall"] = "spearman",
        ties: Literal["b", "a"] = "b",
        deflate_orders: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.correlation = correlation
        self.ties = ties
        self.deflate_orders = deflate_orders
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, qid: ArrayOrNone = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            One row per object in one order. A sparse matrix is made dense a block at a time.
        y : array-like of shape (n_objects,)
            Ranks inside the query: smaller is better, equal is tied, NaN is unknown.
        qid : array-like of shape (n_objects,), optional
            Names the order each row belongs to; by default all rows are one order.

        Returns
        -------
        self
            The fitted reducer.
        """
        self._validate_params()
        with fitting(self) as reducer:
            reducer._fit(check_sample_orders(reducer, X, y, qid))
        return self

    def _fit(self, orders: SampleOrders) -> None:
        residuals = Residuals(orders, MEASURES[self.correlation, self.ties], self.n_jobs)
        shuffles = self._shuffles(orders) if self.n_components == "auto" else []
        self._find_components(residuals, orders.X.shape[1], len(orders.queries.sizes), shuffles)

    def _find_components(
        self, residuals: Any, n_features: int, n_orders: int, shuffles: Sequence[Any] = ()
    ) -> None:
        """Add components to residuals, or to what answers as they do."""
        limit, components = self._limit(n_features), np.empty((0, n_features))
        concordance: list[float] = []
        while len(concordance) < limit:
            sums = residuals.correlation_sums(components)
            norm = float(np.linalg.norm(sums))
            if concordance and any(
                norm <= np.linalg.norm(residuals.correlation_sums(components, shuffle))
                for shuffle in shuffles
            ):
                break
            following = next_component(components, sums)
            if following is None:
                break
            components = np.vstack([components, following])
            concordance.append(norm / n_orders)
            if self.deflate_orders:
                residuals.deflate_orders(components)
        self.components_ = components
        self.concordance_ = np.array(concordance)
        self.n_components_ = len(concordance)
        self._n_features_out = self.n_components_

    def _limit(self, n_features: int) -> int:
        if self.n_components is None or self.n_components == "auto":
            return n_features
        if self.n_components > n_features:
            raise ValueError(
                f"n_components must be 'auto', None or in 1..{n_features}, the number of "
                f"features, got {self.n_components!r}."
            )
        return int(self.n_components)

    def _shuffles(self, orders: SampleOrders) -> list[NDArray[np.int64]]:
        n_objects = orders.X.shape[0]
        keys = check_random_state(self.random_state).random_sample((_SHUFFLES, n_objects))
        return [orders.queries.sort(key) for key in keys]

    def transform(self, X: Any) -> Values:
        """Project objects on the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            Objects.

        Returns
        -------
        ndarray of shape (n_objects, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        return row_products(check_features(self, X, reset=False), self.components_.T)

    def inverse_transform(self, X: ArrayLike) -> Values:
        """Return the point of the subspace of the components that has the given coordinates.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_objects, n_features)
            Objects, less what the components leave out.
        """
        check_is_fitted(self)
        return check_array(X, dtype=np.float64) @ self.components_

    def describe(self, component: int = 0, top: int | None = None) -> list[AttributeWeight]:
        """Say which attributes make a component, and with which sign.

        Parameters
        ----------
        component : int, default=0
            Which component.
        top : int, optional
            How many attributes; all by default.

        Returns
        -------
        list of AttributeWeight
            Name, weight and reading of the attributes, largest absolute weight first.
        """
        check_is_fitted(self)
        weights = self.components_[component]
        names = check_feature_names_in(self)
        readings = {1: "larger is better", -1: "smaller is better", 0: "no say"}
        return [
            AttributeWeight(str(names[k]), float(weights[k]), readings[int(np.sign(weights[k]))])
            for k in np.argsort(-np.abs(weights), kind="stable")[:top]
        ]


def next_component(components: Values, sums: Values) -> Values | None:
    """Project correlation sums on the complement of components; None if only rounding is left."""
    direction = sums
    for _ in range(2):  # twice is enough for orthogonality to machine precision
        direction = direction - components.T @ (components @ direction)
    norm = np.linalg.norm(direction)
    if not norm > 1e-9 * max(float(np.linalg.norm(sums)), 1e-300):
        return None
    return np.asarray(direction / norm)


class Residuals:
    """The features less their projection on components, a block at a time.

    Parameters
    ----------
    orders : SampleOrders
        The orders.
    metric : str
        What the core calls the correlation.
    n_jobs : int or None
        Threads.
    largest : float, optional
        The length of the longest row, if these are some of the objects only.
    """

    def __init__(
        self, orders: SampleOrders, metric: str, n_jobs: int | None, largest: float | None = None
    ) -> None:
        self._orders, self._X, self._positions = orders, orders.X, orders.positions
        self._starts = orders.queries.starts
        self._metric, self._n_jobs = metric, n_jobs
        self._coordinates = np.empty((orders.X.shape[0], 0))
        # What remains of equal values after projection may differ by rounding.
        largest = float(row_norms(orders.X).max()) if largest is None else largest
        self._rounding = 64 * np.finfo(float).eps * largest

    def correlation_sums(
        self, components: Values, shuffle: NDArray[np.int64] | None = None
    ) -> Values:
        """The vector R: rank correlations of each residual attribute, summed over the orders.

        Parameters
        ----------
        components : ndarray of shape (n_components, n_features)
            Those found so far: the ones of an earlier call, and perhaps more.
        shuffle : ndarray of shape (n_objects,), optional
            Objects that change places, in the same orders.

        Returns
        -------
        ndarray of shape (n_features,)
            Sums.
        """
        self._project(components)
        given = self._positions if shuffle is None else self._positions[shuffle]
        sent = SentOnce(self._block_sums)
        sums = Parallel(n_jobs=self._n_jobs, prefer="threads")(
            delayed(called)(sent, components, given, starts) for starts in self._blocks()
        )
        return np.sum(sums, axis=0)

    def deflate_orders(self, components: Values) -> None:
        """Go on with the places of the objects by what components leave of their order."""
        self._project(components)
        orders, queries = self._orders, self._orders.queries
        share = orders.positions / (queries.sizes + 1)[queries.codes]
        columns = np.column_stack([share, self._coordinates])
        means = np.add.reduceat(columns, queries.starts[:-1]) / queries.sizes[:, None]
        columns -= means[queries.codes]
        places, explaining = columns[:, 0], columns[:, 1:]
        left = places - explaining @ np.linalg.lstsq(explaining, places, rcond=None)[0]
        self._positions = queries.positions(np.round(left / _SAME_PLACE))

    def _project(self, components: Values) -> None:
        for direction in components[self._coordinates.shape[1] :]:
            self._coordinates = np.column_stack([self._coordinates, self._X @ direction])

    def _blocks(self) -> Iterator[NDArray[np.int64]]:
        """Cut the query starts into runs of whole queries of about one block of numbers."""
        rows = max(_BLOCK // max(self._X.shape[1], 1), 1)
        cuts = np.unique(self._starts // rows, return_index=True)[1][1:]
        for first, last in zip([0, *cuts], [*cuts, len(self._starts) - 1], strict=True):
            if first < last:
                yield self._starts[first : last + 1]

    def _block_sums(
        self, components: Values, positions: Values, starts: NDArray[np.int64]
    ) -> Values:
        rows = slice(starts[0], starts[-1])
        block = self._X[rows].toarray() if issparse(self._X) else self._X[rows]
        tolerance = np.zeros(block.shape[1])
        if len(components):
            block = block - self._coordinates[rows] @ components
            tolerance += self._rounding
        return _core.concordance(
            np.ascontiguousarray(block),
            positions[rows],
            starts - starts[0],
            tolerance,
            self._metric,
        )

"""Orderers that learn from sample orders in partitions, and are plain local ones afterwards."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from prefero._docs import documented
from prefero._typing import Values
from prefero.base import SampleOrders, copy_of, fitting
from prefero.distributed._base import BaseDistributed, by_blocks, learner_of
from prefero.distributed._engine import Engine, Summed, find_engine
from prefero.distributed._partitions import OrderPartitions, name_columns
from prefero.distributed.blocks import Blocks
from prefero.ordering import ExpectedRankOrderer, RankCorrelationReducer, RankSVMOrderer
from prefero.ordering.expected_rank import expected_ranks
from prefero.ordering.rank_svm import PairLoss
from prefero.ordering.reduction import MEASURES, Residuals

# Expected rank regression


def fit_expected_rank(orderer: ExpectedRankOrderer, partitions: OrderPartitions) -> None:
    """Fit ridge regression on summed products, the penalty chosen by leave-one-out."""
    if orderer.regressor is not None:
        raise ValueError(
            "Partitions are added up for the default ridge regression alone: leave regressor at "
            "None, or use a sample."
        )
    powers = PolynomialFeatures(orderer.degree, include_bias=False)
    powers.fit(np.zeros((1, orderer.n_features_in_)))
    parts = partitions.read(_design, shared=powers if orderer.degree > 1 else None)
    ridge = orderer._unfitted_regressor()
    _solve_ridge(ridge, partitions.engine, parts)
    orderer.regressor_ = make_pipeline(powers, ridge) if orderer.degree > 1 else ridge


def _design(orders: SampleOrders, powers: Any) -> tuple[Values, Values]:
    X = orders.X.toarray() if hasattr(orders.X, "toarray") else orders.X
    return (X if powers is None else powers.transform(X)), expected_ranks(orders)


def _first_moments(part: tuple[Values, Values], _: Any) -> tuple[int, Values, float]:
    X, y = part
    return len(y), X.sum(axis=0), float(y.sum())


def _second_moments(part: tuple[Values, Values], means: tuple[Values, float]) -> tuple[Any, Any]:
    X, y = part[0] - means[0], part[1] - means[1]
    return X.T @ X, X.T @ y


def _left_out_errors(part: tuple[Values, Values], shared: Any) -> Values:
    """Squared errors of rows left out, summed, for each penalty."""
    (mean, middle), n, axes, values, slopes, alphas = shared
    X, y = (part[0] - mean) @ axes, part[1] - middle
    errors = []
    for alpha in alphas:
        residual = y - X @ (slopes / (values + alpha))
        leverage = 1 / n + (X**2 / (values + alpha)).sum(axis=1)
        errors.append(float(((residual / (1 - leverage)) ** 2).sum()))
    return np.array(errors)


def _solve_ridge(ridge: RidgeCV, engine: Engine, parts: Sequence[Any]) -> None:
    """Fit RidgeCV from sums over partitions."""
    n, total, sum_y = engine.sum(_first_moments, parts)
    means = total / n, sum_y / n
    products, by_y = engine.sum(_second_moments, parts, shared=means)
    values, axes = np.linalg.eigh(products)
    values, slopes, alphas = np.maximum(values, 0), axes.T @ by_y, np.asarray(ridge.alphas)
    shared = means, n, axes, values, slopes, alphas
    errors = engine.sum(_left_out_errors, parts, shared=shared) / n
    best = int(np.argmin(errors))
    ridge.alpha_, ridge.best_score_ = float(alphas[best]), -float(errors[best])
    ridge.coef_ = axes @ (slopes / (values + alphas[best]))
    ridge.intercept_ = float(means[1] - means[0] @ ridge.coef_)
    ridge.n_features_in_ = len(ridge.coef_)


# The ranking SVM


class _SummedLoss(Summed):
    """The pair loss of all partitions."""

    def gradient(self, w: Values) -> tuple[float, Values]:
        return self.total("gradient", w)

    def hessian_product(self, w: Values, vector: Values) -> Values:
        return self.total("hessian_product", w, vector)


def _pair_loss(orders: SampleOrders, _: Any) -> PairLoss:
    return PairLoss(orders)


def fit_rank_svm(orderer: RankSVMOrderer, partitions: OrderPartitions) -> None:
    """Fit the linear ranking SVM by Newton steps on summed derivatives."""
    if orderer.kernel != "linear":
        raise ValueError(
            f"kernel={orderer.kernel!r} is spanned by rows of one machine: map the features first "
            "(sklearn.kernel_approximation.Nystroem of a sample) and leave kernel at 'linear'."
        )
    orderer.feature_map_ = None
    parts = partitions.read(_pair_loss)
    orderer._minimize(_SummedLoss(partitions.engine, parts), orderer.n_features_in_)


# Rank correlation dimension reduction


class _SummedResiduals(Summed):
    """The correlation sums of all partitions."""

    def correlation_sums(self, components: Values) -> Values:
        return self.total("correlation_sums", components)


def _residuals(orders: SampleOrders, shared: tuple[str, float]) -> Residuals:
    measure, largest = shared
    return Residuals(orders, measure, n_jobs=None, largest=largest)


def fit_reducer(reducer: RankCorrelationReducer, partitions: OrderPartitions) -> None:
    """Find components from summed correlations."""
    if reducer.n_components == "auto":
        raise ValueError(
            "n_components='auto' shuffles all orders on one machine: ask for a number of "
            "components, or choose it by a sample."
        )
    if reducer.deflate_orders:
        raise ValueError(
            "deflate_orders=True fits places on one machine: leave it False for partitions."
        )
    largest = max(summary.largest for summary in partitions.summaries)
    parts = partitions.read(
        _residuals, shared=(MEASURES[reducer.correlation, reducer.ties], largest)
    )
    residuals = _SummedResiduals(partitions.engine, parts)
    reducer._find_components(residuals, reducer.n_features_in_, partitions.n_orders)


# The public class

_LEARNERS: dict[type, Callable[..., None]] = {
    ExpectedRankOrderer: fit_expected_rank,
    RankSVMOrderer: fit_rank_svm,
    RankCorrelationReducer: fit_reducer,
}


@documented()
class DistributedOrderer(BaseDistributed):
    """Fit an orderer or reducer to sample orders that lie in the partitions of Dask collections.

    Parameters
    ----------
    orderer : ExpectedRankOrderer, RankSVMOrderer or RankCorrelationReducer
        What to fit; its parameters mean what they mean there.
    %(where_to_compute)s

    Attributes
    ----------
    orderer_ : orderer or reducer
        The fitted one.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from prefero import ExpectedRankOrderer
    >>> X = da.from_array(np.array([[3.0], [1.0], [2.0], [0.0], [5.0], [4.0]]), chunks=(3, 1))
    >>> ranks = da.from_array(np.array([1, 3, 2, 3, 1, 2]), chunks=3)
    >>> qid = da.from_array(np.array([0, 0, 0, 1, 1, 1]), chunks=3)
    >>> orderer = DistributedOrderer(ExpectedRankOrderer()).fit(X, ranks, qid)
    >>> orderer.to_local().predict([[1.0], [9.0], [4.0]])
    array([3, 1, 2])
    """

    orderer_: Any

    def __init__(
        self, orderer: Any, *, client: Any = None, n_jobs: int | None = None, folder: Any = None
    ) -> None:
        self.orderer = orderer
        self.client = client
        self.n_jobs = n_jobs
        self.folder = folder

    def fit(self, X: Any, y: Any, qid: Any) -> Self:
        """Learn from collections of objects, their ranks and the orders they belong to.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_objects, n_features)
            One row per object and order.
        y : Dask array or Series of shape (n_objects,)
            Ranks inside each order, in as many partitions.
        qid : Dask array or Series of shape (n_objects,)
            The order that each row belongs to. An order lies in one partition.

        Returns
        -------
        self
            The fitted orderer.
        """
        learner = learner_of(self.orderer, _LEARNERS)
        blocks = Blocks(X=X, y=y, qid=qid)
        orderer = clone(self.orderer)
        orderer._validate_params()
        engine = find_engine(self.client, self.n_jobs, self.folder)
        with closing(engine), fitting(orderer) as copied:
            partitions = OrderPartitions(engine, blocks, copy_of(copied))
            name_columns(copied, partitions.summaries[0].features)
            learner(copied, partitions)
        self.orderer_ = orderer
        return self

    @property
    def _fitted(self) -> Any:
        return self.orderer_

    def transform(self, X: Any) -> Any:
        """Project objects on the components of a reducer.

        %(of_collection)s

        Returns
        -------
        Dask array or ndarray of shape (n_objects, n_components)
            Coordinates; lazy for a collection.
        """
        reducer = self.to_local()
        return by_blocks(reducer, "transform", X, np.float64, (reducer.n_components_,))

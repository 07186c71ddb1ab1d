"""Orderers and reducers whose sums are taken over partitions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from prefero._typing import Values
from prefero.base import SampleOrders
from prefero.distributed._engine import Engine
from prefero.distributed._orders import OrderPartitions
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
    engine, n_features = partitions.engine, partitions.n_features
    powers = PolynomialFeatures(orderer.degree, include_bias=False).fit(np.zeros((1, n_features)))
    parts = partitions.read(_design, shared=powers if orderer.degree > 1 else None)
    ridge = orderer._unfitted_regressor()
    _solve_ridge(ridge, engine, parts)
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


class _SummedLoss:
    """The pair loss of all partitions."""

    def __init__(self, engine: Engine, parts: Sequence[Any]) -> None:
        self._engine, self._parts = engine, parts

    def gradient(self, w: Values) -> tuple[float, Values]:
        return self._engine.sum(_loss_gradient, self._parts, shared=w)

    def hessian_product(self, w: Values, vector: Values) -> Values:
        return self._engine.sum(_hessian_product, self._parts, shared=(w, vector))


def _pair_loss(orders: SampleOrders, _: Any) -> PairLoss:
    return PairLoss(orders)


def _loss_gradient(loss: PairLoss, w: Values) -> tuple[float, Values]:
    return loss.gradient(w)


def _hessian_product(loss: PairLoss, at: tuple[Values, Values]) -> Values:
    return loss.hessian_product(*at)


def fit_rank_svm(orderer: RankSVMOrderer, partitions: OrderPartitions) -> None:
    """Fit the linear ranking SVM by Newton steps on summed derivatives."""
    if orderer.kernel != "linear":
        raise ValueError(
            f"kernel={orderer.kernel!r} is spanned by rows of one machine: map the features first "
            "(sklearn.kernel_approximation.Nystroem of a sample) and leave kernel at 'linear'."
        )
    orderer.feature_map_ = None
    parts = partitions.read(_pair_loss)
    orderer._minimize(_SummedLoss(partitions.engine, parts), partitions.n_features)


# Rank correlation dimension reduction


class _SummedResiduals:
    """The correlation sums of all partitions."""

    def __init__(self, engine: Engine, parts: Sequence[Any]) -> None:
        self._engine, self._parts = engine, parts

    def correlation_sums(self, components: Values) -> Values:
        return self._engine.sum(_correlation_sums, self._parts, shared=components)


def _residuals(orders: SampleOrders, shared: tuple[str, float]) -> Residuals:
    measure, largest = shared
    return Residuals(orders, measure, n_jobs=None, largest=largest)


def _correlation_sums(residuals: Residuals, components: Values) -> Values:
    return residuals.correlation_sums(components)


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
    reducer._find_components(residuals, partitions.n_features, partitions.n_orders)

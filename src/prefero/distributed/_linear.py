"""Linear label rankers whose losses are added up over partitions."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression

from prefero import _core
from prefero._pairwise import constant_models
from prefero._solvers import _logistic
from prefero._solvers._lbfgs import warn_unconverged
from prefero._solvers._problems import LogisticProblems
from prefero._solvers._scaling import FeatureScale, Moments, moments_of
from prefero._typing import Indices, Mask, Values
from prefero.base import copy_of
from prefero.distributed._engine import Summed
from prefero.distributed._partitions import PartitionRows, Partitions, Place, lean_copy
from prefero.label_ranking import LogLinearLabelRanker, PairwiseLabelRanker, _loglinear

# Log-linear models


class SummedObjective(_loglinear.Objective):
    """The objective of all partitions: their losses added up, and the penalty."""

    def __init__(self, losses: Summed, functions: Any, penalty: _loglinear.Penalty) -> None:
        self._losses, self.functions, self.penalty = losses, functions, penalty

    def loss_and_gradient(
        self, parameters: Values, *, float32: bool = False
    ) -> tuple[float, Values]:
        """The loss and its gradient; partitions send as many numbers as there are parameters."""
        return self._losses.total("loss_and_gradient", parameters, float32=float32)


def _own_objective(
    rows: PartitionRows, _: Place, shared: tuple[Any, float, Any]
) -> _loglinear.Objective:
    ranker, total, scale = shared
    target = ranker._target(rows.ranks)
    functions = ranker._functions(scale.apply(rows.X), target, rows.weight)
    return _loglinear.Objective(functions, ranker._loss(target), rows.weight, None, total)  # type: ignore[arg-type]


def _sizes(rows: PartitionRows, _: Place, scale: FeatureScale) -> tuple[float, float, float]:
    squares, entries = _loglinear.sum_of_squares(scale.apply(rows.X), rows.weight)
    return squares, entries, float(rows.weight.sum())


def _own_moments(rows: PartitionRows, _: Place, centered: bool) -> tuple[Moments, bool]:
    return moments_of(rows.X, rows.weight, centered=centered), issparse(rows.X)


def _scale(partitions: Partitions, *, wanted: bool, centered: bool = True) -> FeatureScale:
    """The scale of the features of all partitions, if it is wanted."""
    if not wanted:
        return FeatureScale()
    found = partitions.engine.gather(partitions.read(_own_moments, shared=centered))
    moments, sparse = zip(*found, strict=True)
    return FeatureScale.of_moments(moments, centered=not any(sparse))


def fit_loglinear(ranker: LogLinearLabelRanker, partitions: Partitions) -> None:
    """Fit a log-linear model by L-BFGS on summed gradients."""
    if ranker.solver != "lbfgs" or ranker.warm_start:
        raise ValueError(
            "Partitions are added up for solver='lbfgs' without warm_start alone: leave both at "
            "their defaults."
        )
    engine = partitions.engine
    _, sample = partitions.sample()
    target = ranker._target(sample.ranks)
    blank = copy_of(ranker, anew=False)
    scale = _scale(partitions, wanted=ranker._scales, centered=ranker.fit_intercept)
    ranker.alpha_ = ranker._choose_alpha(scale.apply(sample.X), target, sample.weight)
    sizes = engine.gather(partitions.read(_sizes, shared=scale))
    squares, entries, total = (sum(column) for column in zip(*sizes, strict=True))
    parts = partitions.read(_own_objective, shared=(lean_copy(ranker), total, scale))
    functions = ranker._functions(sample.X[:1], target[:1], sample.weight[:1])
    if isinstance(functions, _loglinear.LinearFunctions):
        functions.set_size(squares, entries)
    solution = ranker._minimize(
        SummedObjective(Summed(engine, parts), functions, ranker._penalty())
    )
    ranker._store(functions, solution)
    ranker.coef_, ranker.intercept_ = scale.to_users(ranker.coef_, ranker.intercept_)
    if not solution.converged and ranker.max_iter > 0:
        warn_unconverged("The lbfgs solver", ranker.max_iter)
    ranker._calibrate(blank, sample.X, sample.ranks, target, sample.weight)


# Pairwise comparison


class OwnProblems(NamedTuple):
    """The logistic problems of a partition without a penalty, and the weight of either sign."""

    problems: LogisticProblems
    weights: tuple[Values, Values]

    def sign_weights(self) -> tuple[Values, Values]:
        """Return how much weight either order of each pair has."""
        return self.weights

    def slopes(self, beta: Values, which: Mask) -> tuple[Values, Values]:
        """Return the losses and the gradients of some problems."""
        return self.problems[which].slopes(beta)

    def hessians(self, beta: Values, which: Mask) -> Values:
        """Return the Hessians of some problems."""
        return self.problems[which].exact_hessians(beta)


@dataclass(frozen=True)
class SummedProblems:
    """The logistic problems of all partitions, with their penalty."""

    parts: Summed
    ridge: Values
    which: Mask
    total: Values

    def __getitem__(self, chosen: Mask) -> "SummedProblems":
        which = self.which.copy()
        which[np.flatnonzero(which)[~chosen]] = False
        return SummedProblems(self.parts, self.ridge, which, self.total[chosen])

    def slopes(self, beta: Values) -> tuple[Values, Values]:
        """Return the losses and the gradients."""
        loss, gradient = self.parts.total("slopes", beta, self.which)
        return loss + (beta**2 @ self.ridge) / 2, gradient + beta * self.ridge

    def hessians(self, beta: Values, _: Indices) -> Values:
        """Return the Hessians, all of them by all rows."""
        hessian = self.parts.total("hessians", beta, self.which)
        diagonal = np.arange(beta.shape[1])
        hessian[:, diagonal, diagonal] += self.ridge
        return hessian


def _own_problems(rows: PartitionRows, _: Place, shared: tuple[Any, FeatureScale]) -> OwnProblems:
    ranker, scale = shared
    copied = copy_of(ranker, anew=False)
    copied.pairs_ = np.column_stack(np.triu_indices(rows.ranks.shape[1], 1))
    signs = copied._signs(rows.ranks)
    X = scale.apply(rows.X)
    X = X.toarray() if issparse(X) else X
    if copied._base_estimator().fit_intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    first, second = _core.sign_weights(signs, rows.weight)
    no_penalty = np.zeros(X.shape[1])
    return OwnProblems(LogisticProblems(X, signs, rows.weight, no_penalty), (first, second))


def fit_pairwise(ranker: PairwiseLabelRanker, partitions: Partitions) -> None:
    """Fit one logistic regression per pair by Newton's method on summed derivatives."""
    if ranker.estimator is not None:
        raise ValueError(
            "Partitions are added up for the default model alone: leave estimator at None and set "
            "C, or use a sample."
        )
    ranker._refuse_too_many(partitions.n_labels, ranker.n_features_in_)
    _, sample = partitions.sample()
    blank = copy_of(ranker, anew=False)
    scale = _scale(partitions, wanted=ranker.scale)
    rows = scale.apply(sample.X), sample.ranks, sample.weight
    ranker.C_ = ranker._choose_C(*rows) if ranker.C == "auto" else float(ranker.C)
    parts = partitions.read(_own_problems, shared=(lean_copy(ranker), scale))
    ranker.pairs_ = np.column_stack(np.triu_indices(partitions.n_labels, 1))
    ranker._warn_unless(_solve_pairs(ranker, Summed(partitions.engine, parts)))
    ranker.coef_, ranker.intercept_ = scale.to_users(ranker.coef_, ranker.intercept_)
    ranker._calibrate(blank, sample.X, sample.ranks, sample.ranks, sample.weight)


def _solve_pairs(ranker: PairwiseLabelRanker, parts: Summed) -> bool:
    estimator: LogisticRegression = ranker._base_estimator()
    first, second = parts.total("sign_weights")
    learnable, ranker.intercept_ = constant_models(first, second)
    n_features = ranker.n_features_in_
    ranker.coef_ = np.zeros((len(first), n_features))
    if estimator.C == 0 or not learnable.any():
        return True
    total = (first + second)[learnable]
    ridge, start = _logistic.ridge_and_start(
        n_features, len(total), estimator.C, estimator.fit_intercept
    )
    problems = SummedProblems(parts, ridge, learnable, total)
    limits = estimator.tol, estimator.max_iter
    if _logistic.by_newton(len(ridge)):
        beta, converged = _logistic.descend(problems, start, *limits)
    else:
        beta, converged = _logistic.descend_together(problems.slopes, total, start, *limits)
    slopes, offsets = _logistic.split_intercept(beta, n_features)
    ranker.coef_[learnable] = slopes
    ranker.intercept_[learnable] = offsets
    return converged

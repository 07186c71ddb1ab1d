"""Linear label rankers whose losses are added up over partitions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from prefero._pairwise import constant_models
from prefero._solvers import LogisticProblems, minimize_logistic, warn_unconverged
from prefero._typing import Indices, Values
from prefero.base import twin_of
from prefero.distributed._engine import Engine
from prefero.distributed._partitions import Partitions, Place, Rows
from prefero.label_ranking import LogLinearLabelRanker, PairwiseLabelRanker
from prefero.label_ranking._base_functions import LinearFunctions, sum_of_squares
from prefero.label_ranking._loglinear_solvers import Objective, Penalty

# Log-linear models


class SummedObjective(Objective):
    """The objective of all partitions: their losses added up, and the penalty."""

    def __init__(
        self, engine: Engine, parts: Sequence[Any], functions: Any, penalty: Penalty
    ) -> None:
        self._engine, self._parts = engine, parts
        self.functions, self.penalty = functions, penalty

    def loss_and_gradient(self, parameters: Values, *, rough: bool = False) -> tuple[float, Values]:
        """The loss and its gradient; partitions send as many numbers as there are parameters."""
        return self._engine.sum(_loss_and_gradient, self._parts, shared=(parameters, rough))


def _loss_and_gradient(objective: Objective, at: tuple[Values, bool]) -> tuple[float, Values]:
    parameters, rough = at
    return objective.loss_and_gradient(parameters, rough=rough)


def _own_objective(rows: Rows, _: Place, shared: tuple[Any, float]) -> Objective:
    ranker, total = shared
    target = ranker._target(rows.ranks)
    functions = ranker._functions(rows.X, target)
    return Objective(functions, ranker.decomposition, rows.weight, None, total)  # type: ignore[arg-type]


def _sizes(rows: Rows, _: Place, __: Any) -> tuple[float, int, float]:
    return (*sum_of_squares(rows.X), float(rows.weight.sum()))


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
    blank = twin_of(ranker, anew=False)
    ranker.alpha_ = ranker._choose_alpha(sample.X, target, sample.weight)
    sizes = engine.gather(partitions.read(_sizes))
    squares, entries, total = (sum(column) for column in zip(*sizes, strict=True))
    lean = twin_of(ranker, anew=False)
    vars(lean).pop("_held_out", None)
    parts = partitions.read(_own_objective, shared=(lean, total))
    functions = ranker._functions(sample.X[:1], target[:1])
    if isinstance(functions, LinearFunctions):
        functions.set_size(squares, entries)
    solution = ranker._minimize(SummedObjective(engine, parts, functions, ranker._penalty()))
    ranker._store(functions, solution)
    if not solution.converged and ranker.max_iter > 0:
        warn_unconverged("The lbfgs solver", ranker.max_iter)
    ranker._calibrate(blank, sample.X, sample.ranks, target, sample.weight)


# Pairwise comparison


class SummedProblems:
    """The logistic problems of all partitions, those of pairs that some order either way."""

    dense = True

    def __init__(
        self, engine: Engine, parts: Sequence[Any], n_features: int, which: Indices, intercept: bool
    ) -> None:
        self._engine, self._parts, self._which = engine, parts, which
        self.n_features, self.n_problems = n_features, len(which)
        self.fit_intercept = intercept

    def sizes(self) -> Values:
        """The weight of the rows of each problem."""
        first, second = self._engine.sum(_leads, self._parts)
        return np.asarray(first + second)[self._which]

    def derivatives(self, beta: Values, which: Indices) -> tuple[Values, Values, Values]:
        """Loss, gradient and packed Hessian of some problems."""
        return self._engine.sum(_derivatives, self._parts, shared=(beta, self._which[which]))

    def gradient(self, beta: Values) -> tuple[Values, Values]:
        """Loss and gradient of all problems."""
        return self._engine.sum(_gradient, self._parts, shared=(beta, self._which))


def _own_problems(rows: Rows, _: Place, ranker: Any) -> LogisticProblems:
    ranker.pairs_ = np.column_stack(np.triu_indices(rows.ranks.shape[1], 1))
    signs = ranker._signs(rows.ranks)
    return LogisticProblems(rows.X, signs, rows.weight, ranker._base_estimator().fit_intercept)


def _leads(problems: LogisticProblems, _: Any) -> tuple[Values, Values]:
    return problems.weight_of(1), problems.weight_of(-1)


def _derivatives(
    problems: LogisticProblems, at: tuple[Values, Indices]
) -> tuple[Values, Values, Values]:
    return problems.derivatives(*at)


def _gradient(problems: LogisticProblems, at: tuple[Values, Indices]) -> tuple[Values, Values]:
    beta, which = at
    whole = np.zeros((problems.n_problems, beta.shape[1]))
    whole[which] = beta
    loss, gradient = problems.gradient(whole)
    return loss[which], gradient[which]


def fit_pairwise(ranker: PairwiseLabelRanker, partitions: Partitions) -> None:
    """Fit a logistic regression a pair by Newton's method on summed derivatives."""
    if ranker.estimator is not None:
        raise ValueError(
            "Partitions are added up for the default model alone: leave estimator at None and set "
            "C, or use a sample."
        )
    engine, n_features = partitions.engine, ranker.n_features_in_
    ranker._refuse_too_many(partitions.n_labels, n_features)
    _, sample = partitions.sample()
    blank = twin_of(ranker, anew=False)
    chosen = ranker.C == "auto"
    ranker.C_ = (
        ranker._choose_C(sample.X, sample.ranks, sample.weight) if chosen else float(ranker.C)
    )
    lean = twin_of(ranker, anew=False)
    vars(lean).pop("_held_out", None)
    parts = partitions.read(_own_problems, shared=lean)
    ranker.pairs_ = np.column_stack(np.triu_indices(partitions.n_labels, 1))
    ranker._warn_unless(_solve_pairs(ranker, engine, parts))
    ranker._calibrate(blank, sample.X, sample.ranks, sample.ranks, sample.weight)


def _solve_pairs(ranker: PairwiseLabelRanker, engine: Engine, parts: Sequence[Any]) -> bool:
    estimator: LogisticRegression = ranker._base_estimator()
    first, second = engine.sum(_leads, parts)
    learnable, ranker.intercept_ = constant_models(first, second)
    ranker.coef_ = np.zeros((len(first), ranker.n_features_in_))
    if estimator.C == 0:
        return True
    which = np.flatnonzero(learnable)
    intercept = estimator.fit_intercept
    problems = SummedProblems(engine, parts, ranker.n_features_in_, which, intercept)
    ranker.coef_[which], ranker.intercept_[which], converged = minimize_logistic(
        problems, C=estimator.C, tol=estimator.tol, max_iter=estimator.max_iter
    )
    return converged

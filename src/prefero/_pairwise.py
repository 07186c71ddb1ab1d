"""Many binary models: one a pair of labels, or one a label against the virtual label."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

from prefero import _core
from prefero._pipelines import takes_weights
from prefero._products import row_products
from prefero._sklearn import HasMethods, Interval
from prefero._solvers._lbfgs import warn_unconverged
from prefero._solvers._logistic import solve_logistic
from prefero._solvers._scaling import FeatureScale
from prefero._state import Array, Each, FittedState, Model, Size, State
from prefero._typing import Indices, Mask, Values
from prefero.rankings import pair_signs

# Entries of the arrays (instances x pairs) that one step of training or prediction may hold.
_BLOCK_ENTRIES = 2**23


def _tell_zero_from_one(models: list[Any], _: State) -> bool:
    return all(np.array_equal(getattr(model, "classes_", ()), [0, 1]) for model in models)


def models_state(n_models: Size) -> FittedState:
    """Declare so many binary models: coefficients, or estimators in their place."""
    told = ("models of the classes 0 and 1", _tell_zero_from_one)
    return {
        "coef_": Array("f8", n_models, "n_features", unless="estimators_"),
        "intercept_": Array("f8", n_models, unless="estimators_"),
        "estimators_": Each(Model("predict"), n_models, optional=True, rule=told),
    }


def pairs_state(n_ranked: Size, models_a_pair: int = 1) -> FittedState:
    """Declare a binary model, or up to so many, for each pair of so many things."""

    def is_each_pair(pairs: NDArray[Any], state: State) -> bool:
        n, models = state.size(n_ranked), state.size("n_models")
        if len(pairs) != n * (n - 1) // 2 or models not in (len(pairs), models_a_pair * len(pairs)):
            return False
        return bool((pairs.T == np.triu_indices(n, 1)).all())

    told = ("each pair once, the smaller index first, with its models", is_each_pair)
    return {**models_state("n_models"), "pairs_": Array("i", "n_pairs", 2, rule=told)}


class BinaryModelsMixin:
    """Mixin that trains many binary models on the same instances.

    A subclass has the parameters ``estimator`` and ``n_jobs``. The models of a logistic
    regression are solved together and kept as plain arrays; those of any other estimator are
    trained one by one, in parallel.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_models, n_features) and (n_models,)
        The models, if they are logistic regressions solved together.
    estimators_ : list of n_models estimators
        The models, if they are not. Class 1 is the positive sign.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_jobs": [Integral, None],
    }

    estimator: Any
    n_jobs: int | None
    coef_: Values
    intercept_: Values
    estimators_: list[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        if self.estimator is not None:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def _base_estimator(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _fit_models(self, X: Any, signs: NDArray[np.int8], weight: Values) -> bool:
        """Train a model for every column of signs on the rows where it is not zero.

        Weights are one a row, or one a row and model; a weight of zero leaves a row out.
        Logistic regressions go on from where they stand. False if one did not converge.
        """
        estimator = self._base_estimator()
        if _is_ridge_logistic(estimator):
            start = (self.coef_, self.intercept_) if hasattr(self, "coef_") else None
            self.coef_, self.intercept_, converged = fit_together(
                estimator, X, signs, weight, start, self.n_jobs
            )
            return converged
        weight_of_fit = takes_weights(estimator, weight)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_one)(estimator, X, sign, own, weight_of_fit)
            for sign, own in zip(signs.T, _by_model(weight, signs.shape[1]), strict=True)
        )
        return True

    def _warn_unless(self, converged: bool) -> None:
        if not converged:
            warn_unconverged("A logistic regression", self._base_estimator().max_iter)

    def _probabilities(self, X: Any) -> Values:
        """P(positive sign) of every row and model; a vote of 0 or 1 where none is known."""
        if hasattr(self, "coef_"):
            return expit(row_products(X, self.coef_.T) + self.intercept_)
        return self._responses(positive_probability, X)

    def _responses(self, response: Callable[[Any, Any], Values], X: Any) -> Values:
        """What each model of ``estimators_`` responds, one column per model."""
        columns = Parallel(n_jobs=self.n_jobs)(
            delayed(response)(estimator, X) for estimator in self.estimators_
        )
        return np.column_stack([np.zeros((X.shape[0], 0)), *columns])


class PairwiseModelsMixin(BinaryModelsMixin):
    """Mixin that trains one binary model for each pair of labels.

    A subclass has the parameters ``estimator``, ``max_models`` and ``n_jobs``. A positive sign
    says that the first label of the pair leads.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        The pairs of label indices, the smaller first.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BinaryModelsMixin._parameter_constraints,
        "max_models": [Interval(Integral, 1, None, closed="left"), None],
        "scale": ["boolean"],
    }

    max_models: int | None
    scale: bool
    pairs_: NDArray[np.intp]
    _models_a_pair = 1
    # A ranker of the same task that trains one model per label.
    _modest_ranker = "LogLinearLabelRanker"

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_models: int | None = 20_000,
        scale: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.scale = scale
        self.max_models = max_models
        self.n_jobs = n_jobs

    def _fit(self, X: Any, ranks: Values, weight: Values) -> None:
        """Train a model for every pair of columns of ranks on the rows that order it."""
        self._refuse_too_many(ranks.shape[1], X.shape[1])
        with self._scaled(X, weight) as scaled:
            self._warn_unless(self._learn(scaled, ranks, weight))

    @contextmanager
    def _scaled(self, X: Any, weight: Values) -> Iterator[Any]:
        """Features in the units that the default model learns from, and its coefficients back."""
        scale = FeatureScale.of(X, weight, wanted=self.scale and self.estimator is None)
        yield scale.apply(X)
        if self.estimator is None:
            self.coef_, self.intercept_ = scale.to_users(self.coef_, self.intercept_)

    def _learn(self, X: Any, ranks: Values, weight: Values) -> bool:
        """Train the models from where they stand; False if one did not converge."""
        self.pairs_ = np.column_stack(np.triu_indices(ranks.shape[1], 1))
        return self._fit_models(X, self._signs(ranks), weight)

    def _signs(self, ranks: Values) -> NDArray[np.int8]:
        """What the models learn, one column per model."""
        return pair_signs(ranks)

    def _refuse_too_many(self, n_labels: int, n_features: int) -> None:
        pairs = n_labels * (n_labels - 1) // 2
        models = pairs * self._models_a_pair
        if self.max_models is None or models <= self.max_models:
            return
        memory = models * (n_features + 1) * 8 / 2**20
        raise ValueError(
            f"{n_labels} labels make {pairs:,} pairs: {type(self).__name__} would train {models:,} "
            f"models, at least {memory:,.0f} MB of coefficients, and {models / 2**17:,.1f} MB for "
            f"each row it predicts; max_models={self.max_models:,} forbids it. Raise max_models, "
            f"or use a ranker with one model per label, such as {self._modest_ranker}."
        )

    def _first_leads(self, X: Any) -> Values:
        """P(the first label of the pair precedes the second), one column per pair."""
        return self._probabilities(X)

    def _pairwise_matrix(self, X: Any) -> Values:
        """P(i before j), 1/2 on the diagonal."""
        first, second = self.pairs_.T
        probability = self._first_leads(X)
        matrix = np.full((X.shape[0], *[self._n_ranked()] * 2), 0.5)
        matrix[:, first, second] = probability
        matrix[:, second, first] = 1 - probability
        return matrix

    @property
    def _wins(self) -> Values:
        """For each pair +1 for its first label and -1 for its second."""
        wins = np.zeros((len(self.pairs_), self._n_ranked()), order="F")
        wins[np.arange(len(wins)), self.pairs_[:, 0]] = 1
        wins[np.arange(len(wins)), self.pairs_[:, 1]] = -1
        return wins

    def _votes(self, X: Any) -> Values:
        """Sum of P(i before j) over j: weighted voting, in blocks of rows."""
        wins = self._wins
        n_pairs, n_labels = wins.shape
        # P(j before i) is 1 - P(i before j): a label starts with one vote per pair it is second in.
        seconds = np.arange(n_labels, dtype=np.float64)
        votes = np.empty((X.shape[0], n_labels))
        rows = max(1, _BLOCK_ENTRIES // max(n_pairs, 1))
        for begin in range(0, X.shape[0], rows):
            part = slice(begin, begin + rows)
            votes[part] = seconds + row_products(self._first_leads(X[part]), wins)
        return votes

    def _n_ranked(self) -> int:
        """The number of columns that the pairs were made of."""
        return (1 + round((1 + 8 * len(self.pairs_)) ** 0.5)) // 2


def _is_ridge_logistic(estimator: Any) -> bool:
    """Whether the estimator is the plain problem that solve_logistic solves."""
    return (
        type(estimator) is LogisticRegression
        and estimator.penalty in ("l2", "deprecated")
        and not estimator.l1_ratio
        and estimator.class_weight is None
        and estimator.solver != "liblinear"
        and not estimator.warm_start
    )


def fit_together(
    estimator: LogisticRegression,
    X: Any,
    signs: NDArray[np.int8],
    weight: Values,
    start: tuple[Values, Values] | None = None,
    n_jobs: int | None = None,
) -> tuple[Values, Values, bool]:
    """Solve all pairs, in blocks that do not depend on n_jobs; C = 0 leaves the intercepts."""
    coef = np.zeros((signs.shape[1], X.shape[1]))
    learnable, intercept = constant_models(*_core.sign_weights(signs, weight))
    if estimator.C == 0:
        return coef, intercept, True
    size = max(1, _BLOCK_ENTRIES // X.shape[0])
    numbers = np.split(np.flatnonzero(learnable), range(size, int(learnable.sum()), size))
    blocks = [_slice_if_dense(block) for block in numbers]
    solutions = Parallel(n_jobs=n_jobs)(
        delayed(solve_logistic)(
            X,
            np.ascontiguousarray(signs[:, block]),
            weight if weight.ndim == 1 else np.ascontiguousarray(weight[:, block]),
            C=estimator.C,
            fit_intercept=estimator.fit_intercept,
            tol=estimator.tol,
            max_iter=estimator.max_iter,
            start=None if start is None else (start[0][block], start[1][block]),
        )
        for block in blocks
    )
    for block, (slope, offset, _) in zip(blocks, solutions, strict=True):
        coef[block], intercept[block] = slope, offset
    return coef, intercept, all(converged for *_, converged in solutions)


def _slice_if_dense(numbers: Indices) -> Indices | slice:
    """The same columns as a slice, if none between them is left out: they are copied sooner."""
    dense = len(numbers) > 0 and numbers[-1] - numbers[0] == len(numbers) - 1
    return slice(int(numbers[0]), int(numbers[-1]) + 1) if dense else numbers


def constant_models(first: Values, second: Values) -> tuple[Mask, Values]:
    """Return which models have both signs to learn from, and intercepts that hold without features.

    The two arrays are the weights of either sign. A model that knows one of them alone takes its
    share after one more vote for either.
    """
    learnable = (first > 0) & (second > 0)
    return learnable, np.log((first + ~learnable) / (second + ~learnable))


def _by_model(weight: Values, n_models: int) -> list[Values]:
    """The weights of the rows in each model."""
    return [weight] * n_models if weight.ndim == 1 else list(weight.T)


def _fit_one(
    estimator: Any, X: Any, sign: NDArray[np.int8], weight: Values, weight_of_fit: bool
) -> Any:
    """Train a copy of the estimator on the rows that order a pair.

    A pair that all rows order alike, or none, gets a constant probability: the weighted share
    of the first label after one more vote for either side.
    """
    first, second = weight[sign > 0].sum(), weight[sign < 0].sum()
    if first == 0 or second == 0:
        prior = DummyClassifier(strategy="prior")
        return prior.fit(X[[0, 0]], [0, 1], sample_weight=[second + 1, first + 1])
    rows = np.flatnonzero((sign != 0) & (weight > 0))
    weights = {"sample_weight": weight[rows]} if weight_of_fit else {}
    return clone(estimator).fit(X[rows], (sign[rows] > 0).astype(int), **weights)


def positive_probability(estimator: Any, X: Any) -> Values:
    """The probability of class 1; a vote of 0 or 1 where the model knows no probabilities."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X)[:, 1], dtype=np.float64)
    return np.asarray(estimator.predict(X), dtype=np.float64)


def positive_margin(estimator: Any, X: Any) -> Values:
    """How far class 1 is ahead: the probability beyond 1/2, else the decision value."""
    if hasattr(estimator, "predict_proba") or not hasattr(estimator, "decision_function"):
        return positive_probability(estimator, X) - 0.5
    return np.asarray(estimator.decision_function(X), dtype=np.float64)

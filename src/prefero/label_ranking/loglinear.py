"""Log-linear models of label preferences (Dekel, Manning & Singer 2003)."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_array

from prefero._products import row_products
from prefero._sklearn import Interval, StrOptions
from prefero._solvers._held_out import HeldOutModels
from prefero._solvers._lbfgs import warn_unconverged
from prefero._solvers._scaling import FeatureScale
from prefero._state import Array, Attribute, Count, FittedState
from prefero._typing import Indices, Values
from prefero.base import BaseLabelRanker, GraphRankerMixin, PairWeightMixin, copy_of
from prefero.label_ranking._loglinear import (
    GivenFunctions,
    LinearFunctions,
    Objective,
    Penalty,
    Solution,
    l2,
    smooth_l1,
    solve_boosting,
    solve_lbfgs,
)
from prefero.label_ranking._tie_models import TieModelsMixin
from prefero.preferences import DECOMPOSITIONS, Choices, Decomposition, PreferenceGraphs
from prefero.rankings import ScoredRanks

# Intercepts need a penalty only to stay finite: they bear no more than this share of one.
_OF_INTERCEPTS = 1e-4
# From the consensus order on, and what is exact enough to compare the penalties.
_PATH = (np.inf, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
_TOL_ON_PATH = 1e-2


class LogLinearLabelRanker(TieModelsMixin, PairWeightMixin, GraphRankerMixin, BaseLabelRanker):
    """Rank labels by a weighted sum of base functions, learned from preference graphs.

    The loss of an instance is the mean, over the subgraphs that a decomposition cuts its graph
    into, of log(1 + sum over the edges of exp(f(x, other) - f(x, preferred))): a smooth bound
    on the share of the subgraphs that the model violates. It is minimised together with a
    penalty on the weights. For rankings the loss may be the likelihood of a Plackett-Luce model
    instead, whose worths are exp(f(x, y)).

    Parameters
    ----------
    decomposition : {"graph", "edges", "domination", "dominated"} or callable, \
default="domination"
        What counts as one mistake: a graph with any edge violated, an edge, a label not above
        all that it dominates, a label not below all that dominate it. A callable takes the
        edges of a graph, shape (n_edges, 2), and returns subgraphs as lists of edge indices.
    loss : {"subgraphs", "plackett_luce"}, default="subgraphs"
        ``"subgraphs"`` is the loss above. ``"plackett_luce"`` is the negative log-likelihood of
        the rankings, over the number of labels less 1; ``decomposition`` and scores then play no
        part. For complete strict rankings it is the loss of the domination. Otherwise it counts
        every choice alike, where that one counts every instance alike; and of tied labels, as
        in ``fit_plackett_luce``, each is taken as chosen among all from its bucket on, those of
        the last bucket not at all.
    solver : {"lbfgs", "boosting"}, default="lbfgs"
        Both minimise the same function. ``"boosting"`` is the paper's parallel update, which
        needs no line search but many more iterations.
    penalty : {"auto", "l2", "smooth_l1"}, default="auto"
        Half the squared weights, or log(1 + exp(w)) + log(1 + exp(-w)), a smooth absolute value.
        Boosting can only hold the latter; ``"auto"`` is what suits the solver.
    alpha : float or "auto", default="auto"
        Strength of the penalty beside the mean loss of an instance. Zero is legal, but then
        weights may grow without end; infinity leaves the same order for everyone. ``"auto"`` is
        the one of infinity, 1, 0.1, ..., 1e-6 that orders the most held-out pairs right in
        three folds of the training data; 1e-4 for fewer than ten different rows.
    base_functions : callable, optional
        Given X, returns h_j(x, y) of all instances, labels and base functions as an array of
        shape (n_samples, n_labels, n_functions). By default every label has a linear utility.
    fit_intercept : bool, default=True
        Whether the linear utilities have intercepts. They bear the penalty only up to 1e-4,
        which keeps them finite.
    tol : float, default=1e-4
        Stop when no derivative exceeds this share of the largest derivative at zero weights.
    max_iter : int, default=1000
        The most iterations.
    warm_start : bool, default=False
        Whether fit starts from the weights of the fit before.
    pair_weight : {"auto", "score_difference"} or None, default="auto"
        What an edge counts: the difference of the scores that ``fit`` was given, or 1. ``"auto"``
        is the former where there are scores. Edges with weights, those of weighted
        ``PreferenceGraphs`` too, are one mistake each, whatever the decomposition.
    calibrate : bool, default=True
        Whether pair probabilities are learned too. That costs nothing beside an automatic
        penalty, and some more fits beside a given one.
    scale : bool, default=True
        Whether the features of the linear utilities are standardized inside, so that neither
        their units nor their zero matter; sparse ones are not centred. ``coef_`` and
        ``intercept_`` are of the features as given. False is the problem as in the paper.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features) or (n_functions,)
        Weights of the linear utilities, or of the given base functions.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts; zero with given base functions.
    alpha_ : float
        The strength of the penalty, chosen if it was ``"auto"``.
    loss_curve_ : ndarray of shape (n_iter + 1,)
        The penalised mean loss at the start and after each iteration; it never rises.
    n_iter_ : int
        The number of iterations.

    References
    ----------
    Dekel, Manning & Singer (2003), Log-linear models for label ranking, NIPS 16.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> ranker = LogLinearLabelRanker().fit(X, Y)
    >>> ranker.predict([[-1.0], [4.0]])
    array([[1, 2, 3],
           [3, 2, 1]])

    It learns from any preference graphs, for instance from one right class an instance:

    >>> from prefero.preferences import PreferenceGraphs
    >>> graphs = PreferenceGraphs.from_classes(["a", "a", "b", "b"])
    >>> LogLinearLabelRanker().fit(X, graphs).predict_order([[4.0]])
    array([['b', 'a']], dtype=object)

    With the likelihood as its loss it is a conditional Plackett-Luce model:

    >>> from prefero.plackett_luce import PlackettLuce
    >>> ranker = LogLinearLabelRanker(loss="plackett_luce", alpha=0.1).fit(X, Y)
    >>> given_x = PlackettLuce(np.exp(ranker.decision_function([[3.0]])[0]))
    >>> np.exp(given_x.log_prob([[3, 2, 1], [2, 3, 1]])).round(2)
    array([0.68, 0.12])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "decomposition": [StrOptions(set(DECOMPOSITIONS)), callable],
        "loss": [StrOptions({"subgraphs", "plackett_luce"})],
        "solver": [StrOptions({"lbfgs", "boosting"})],
        "penalty": [StrOptions({"auto", "l2", "smooth_l1"})],
        "alpha": [Interval(Real, 0, None, closed="both"), StrOptions({"auto"})],
        "base_functions": [callable, None],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "warm_start": ["boolean"],
        **PairWeightMixin._parameter_constraints,
        "calibrate": ["boolean"],
        "scale": ["boolean"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "coef_": Array("f8", "n_labels", "n_features", when={"base_functions": None}),
        "intercept_": Array("f8", "n_labels"),
        "alpha_": Attribute(optional=True),
        "n_iter_": Count(size="n_iter"),
        "loss_curve_": Array("f8", "n_iter + 1"),
    }

    coef_: Values
    intercept_: Values

    def __init__(
        self,
        decomposition: Decomposition = "domination",
        *,
        loss: Literal["subgraphs", "plackett_luce"] = "subgraphs",
        solver: str = "lbfgs",
        penalty: str = "auto",
        alpha: float | Literal["auto"] = "auto",
        base_functions: Callable[[Any], Values] | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        pair_weight: Literal["auto", "score_difference"] | None = "auto",
        calibrate: bool = True,
        scale: bool = True,
    ) -> None:
        self.decomposition = decomposition
        self.loss = loss
        self.solver = solver
        self.penalty = penalty
        self.alpha = alpha
        self.base_functions = base_functions
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.pair_weight = pair_weight
        self.calibrate = calibrate
        self.scale = scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _target(self, truth: Any) -> PreferenceGraphs:
        if self.loss == "plackett_luce":
            if self.pair_weight == "score_difference":
                raise ValueError(
                    "loss='plackett_luce' knows choices, no pairs to weigh: use "
                    "pair_weight=None, or loss='subgraphs'."
                )
            truth = truth.ranks if isinstance(truth, ScoredRanks) else truth
        return super()._target(truth)

    def _fit(self, X: Any, graphs: PreferenceGraphs, weight: Values) -> None:
        if self.loss == "plackett_luce" and graphs.layers is None:
            raise ValueError(
                "loss='plackett_luce' needs rankings, but y holds graphs of single edges: give "
                "ranks, or use loss='subgraphs'."
            )
        scale = FeatureScale.of(X, weight, wanted=self._scales, centered=self.fit_intercept)
        X = scale.apply(X)
        if self.warm_start and hasattr(self, "coef_"):
            before = self.coef_, self.intercept_
            self.coef_, self.intercept_ = scale.from_users(*before)
        self.alpha_ = self._choose_alpha(X, graphs, weight)
        if not self._learn(X, graphs, weight) and self.max_iter > 0:
            warn_unconverged(f"The {self.solver} solver", self.max_iter)
        self.coef_, self.intercept_ = scale.to_users(self.coef_, self.intercept_)

    @property
    def _scales(self) -> bool:
        return self.scale and self.base_functions is None

    def _choose_alpha(self, X: Any, graphs: PreferenceGraphs, weight: Values) -> float:
        if self.alpha != "auto":
            return float(self.alpha)
        models = HeldOutModels(self._quick_twin(), "alpha_", X, graphs, weight)
        has_constant_order = self.fit_intercept and self.base_functions is None
        if not models.possible:
            return _OF_INTERCEPTS
        if self.calibrate:
            self._held_out = models
        return models.choose(_PATH if has_constant_order else _PATH[1:])

    def _held_out_scores(self, X: Any, target: Any, weight: Values, rows: Indices) -> Values | None:
        if not hasattr(self, "_held_out"):
            return None
        return self._held_out.scores(rows, at=self.alpha_)

    def _quick_twin(self) -> Any:
        """A blank ranker that minimises the same loss, fast and roughly, along a path."""
        copied = copy_of(self, anew=False)
        copied.__dict__.pop("coef_", None)
        copied.warm_start, copied.tol = True, max(self.tol, _TOL_ON_PATH)
        if self.solver == "boosting":
            copied.solver, copied.penalty = "lbfgs", "smooth_l1"
        return copied

    def _learn(self, X: Any, graphs: PreferenceGraphs, weight: Values) -> bool:
        """Minimise the loss from where the weights stand; False if it did not converge."""
        functions = self._functions(X, graphs, weight)
        solution = self._solve(functions, graphs, weight)
        self._store(functions, solution)
        return solution.converged

    @property
    def _strength(self) -> float:
        """The penalty that is left where an infinite one has taken the features away."""
        return _OF_INTERCEPTS if np.isinf(self.alpha_) else self.alpha_

    def _functions(
        self, X: Any, graphs: PreferenceGraphs, weight: Values
    ) -> LinearFunctions | GivenFunctions:
        if self.base_functions is not None:
            return GivenFunctions(self._values(X), graphs)
        constant = max(1.0, float(np.sqrt(self._strength / _OF_INTERCEPTS)))
        features = X[:, :0] if np.isinf(self.alpha_) else X
        return LinearFunctions(features, graphs, self.fit_intercept, constant, weight)

    def _values(self, X: Any) -> Values:
        """The base functions' values, or a sentence about what is wrong with them."""
        assert self.base_functions is not None
        values = check_array(
            self.base_functions(X),
            dtype=np.float64,
            order="C",
            ensure_2d=False,
            allow_nd=True,
            input_name="base_functions(X)",
        )
        expected = (X.shape[0], len(self.labels_))
        if values.ndim != 3 or values.shape[:2] != expected:
            raise ValueError(
                f"base_functions(X) must have the shape {(*expected, 'n_functions')}, got "
                f"{values.shape}."
            )
        return values

    def _solve(
        self,
        functions: LinearFunctions | GivenFunctions,
        graphs: PreferenceGraphs,
        weight: Values,
    ) -> Solution:
        return self._minimize(Objective(functions, self._loss(graphs), weight, self._penalty()))

    def _loss(self, graphs: PreferenceGraphs) -> Decomposition | Choices:
        """What is judged of graphs: their subgraphs, or choices one after the other."""
        if self.loss != "plackett_luce":
            return self.decomposition
        assert graphs.layers is not None
        return Choices(graphs.layers)

    def _penalty(self) -> Penalty:
        boosting = self.solver == "boosting"
        if boosting and self.penalty == "l2":
            raise ValueError(
                "solver='boosting' cannot hold penalty='l2': use penalty='smooth_l1', or "
                "solver='lbfgs'."
            )
        if boosting and self.loss == "plackett_luce" and self.base_functions is not None:
            raise ValueError(
                "solver='boosting' with base_functions needs subgraphs: use solver='lbfgs', or "
                "loss='subgraphs'."
            )
        smooth = self.penalty == "smooth_l1" or boosting
        return smooth_l1(self._strength) if smooth else l2(self._strength)

    def _minimize(self, objective: Objective) -> Solution:
        start = self._start(objective.functions)
        if self.solver == "boosting" and np.isfinite(self.alpha_):
            return solve_boosting(objective, self.alpha_, start, self.tol, self.max_iter)
        return solve_lbfgs(objective, start, self.tol, self.max_iter)

    def _start(self, functions: LinearFunctions | GivenFunctions) -> Values:
        if not self.warm_start or not hasattr(self, "coef_"):
            return np.zeros(functions.shape)
        before = self.coef_.T
        if isinstance(functions, LinearFunctions):
            before = before[: functions.n_features]
            if self.fit_intercept:
                before = np.vstack([before, self.intercept_ / functions.constant])
        if before.shape != functions.shape:
            raise ValueError(
                f"warm_start needs weights of the shape {functions.shape}, but the fit before left "
                f"{before.shape}: the labels and features must stay the same."
            )
        return np.ascontiguousarray(before)

    def _store(self, functions: LinearFunctions | GivenFunctions, solution: Solution) -> None:
        self.intercept_ = np.zeros(len(self.labels_))
        self.coef_ = solution.parameters
        if isinstance(functions, LinearFunctions):
            n_features = functions.n_features
            self.coef_ = np.zeros((len(self.labels_), self.n_features_in_))
            self.coef_[:, :n_features] = solution.parameters[:n_features].T
            if self.fit_intercept:
                self.intercept_ = functions.constant * solution.parameters[n_features]
        self.loss_curve_ = np.array(solution.loss_curve)
        self.n_iter_ = len(solution.loss_curve) - 1

    def _decision(self, X: Any) -> Values:
        if self.base_functions is not None:
            values = self._values(X)
            products = row_products(values.reshape(-1, values.shape[-1]), self.coef_[:, None])
            return products.reshape(values.shape[:-1])
        return row_products(X, self.coef_.T) + self.intercept_

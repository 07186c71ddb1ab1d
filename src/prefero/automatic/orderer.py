"""The automatic orderer."""

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from prefero._docs import documented
from prefero._pipelines import final_step, fit_final
from prefero._sklearn import StrOptions
from prefero._state import FittedState, Model, State
from prefero._typing import Indices, Values
from prefero.automatic._candidates import Candidate
from prefero.automatic._choice import ChoiceMixin, FoldEvaluation, SelectionTask
from prefero.automatic._screening import OF_PRESET, PRESET_CONSTRAINTS, Clock
from prefero.automatic._stack_evaluation import sample
from prefero.base import BaseOrderer, OrdererMixin, SampleOrders
from prefero.metrics.ordering import query_rho, query_tau
from prefero.ordering import (
    BoostingOrderer,
    ExpectedRankOrderer,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankCorrelationReducer,
    RankSVMOrderer,
)

_METRICS = {"rho": query_rho, "tau": query_tau}
_FOLDS = 5
# With fewer objects in a single order, folds say nothing.
_FEWEST_OBJECTS = 10


def _orders(model: Any, _: State) -> bool:
    return isinstance(final_step(model), OrdererMixin)


@documented(**OF_PRESET)
class AutoOrderer(ChoiceMixin, BaseOrderer):
    """Choose an orderer of objects by cross-validation.

    Expected rank regression, rank SVM, order SVM, RankBoost and boosted trees, the linear ones
    also behind rank correlation dimension reduction, are tried on five folds that divide no
    query, on few objects first if there are many; the best is fitted to all orders. Missing
    features are imputed by means where an orderer needs all of them.

    Parameters
    ----------
    scoring : {"rho", "tau"}, default="rho"
        The metric to choose by: Spearman's rho or Kendall's tau, the mean over queries.
    preset : {"quick", "balanced", "best"}, default="balanced"
        How much to try.
    %(time_limit)s
    %(working)s

    Attributes
    ----------
    chosen_ : orderer
        The one that was chosen, fitted to all orders; it may be a pipeline.
    chosen_name_ : str
        Its name.
    leaderboard_ : list of dict
        First "all tied", whose correlation is 0, then all orderers of the last round by their
        metric on held-out orders: ``ranker``, ``family``, ``held_out``,
        ``standard_error`` (over folds), ``seconds``.
    skipped_ : list of dict
        ``ranker`` and ``why`` of what was not tried, or not fitted to all orders.
    improvement_, improvement_error_ : float
        The metric on held-out orders, and its standard error.

    Notes
    -----
    The folds of a single order are every fifth of its objects, which are then ordered among
    themselves. With fewer than ten objects the rank SVM is taken, with a warning.

    See Also
    --------
    AutoLabelRanker : The same for rankings of labels, which combines rankers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 2)), np.repeat(np.arange(10), 6)
    >>> ranks = np.concatenate([np.argsort(np.argsort(-X[qid == g, 0])) + 1 for g in range(10)])
    >>> orderer = AutoOrderer(preset="quick", random_state=0).fit(X, ranks, qid)
    >>> orderer.predict([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    array([2, 1, 3])
    """

    # Tied objects are no order: there is no baseline to fall back on.
    baseline_guard: ClassVar[float] = 0.0  # type: ignore[misc]

    _fitted_state: ClassVar[FittedState] = {
        "chosen_": Model("decision_function", rule=("an orderer", _orders))
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PRESET_CONSTRAINTS,
        "scoring": [StrOptions(set(_METRICS))],
    }

    def __init__(
        self,
        scoring: Literal["rho", "tau"] = "rho",
        *,
        preset: Literal["quick", "balanced", "best"] = "balanced",
        time_limit: float | None = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scoring = scoring
        self.preset = preset
        self.time_limit = time_limit
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, orders: SampleOrders) -> None:
        clock = Clock(self.time_limit)
        codes = orders.queries.codes
        n, n_groups = len(codes), len(orders.queries.sizes)
        fit, scoring = partial(_fitted, orders), partial(_metric_of, orders, _METRICS[self.scoring])

        def evaluation_of(size: int) -> FoldEvaluation:
            chosen = sample(n, None if n_groups == 1 else codes, size)
            return FoldEvaluation(chosen, _folds(orders, chosen), fit, scoring)

        tried = _candidates(self.preset, self._seed())
        task = SelectionTask(n, evaluation_of, fit, tried, None)
        if n_groups == 1 and n < _FEWEST_OBJECTS:
            why = f"{n} objects are too few to compare orderers: at least 10 are needed"
            return self._keep_untried(task, tried[0], why)
        return self._choose(task, clock)


def _folds(orders: SampleOrders, chosen: Indices) -> Indices:
    """Folds of whole queries; of every fifth object if there is a single order."""
    codes = np.unique(orders.queries.codes[chosen], return_inverse=True)[1]
    if codes.max() > 0:
        return codes % _FOLDS
    place = np.argsort(np.argsort(orders.positions[chosen], kind="stable"))
    return place % _FOLDS


def _fitted(orders: SampleOrders, orderer: Any, chosen: Indices) -> Any:
    weight = orders.weight[chosen]
    return fit_final(
        clone(orderer),
        *(orders.X[chosen], orders.positions[chosen]),
        qid=orders.queries.codes[chosen],
        sample_weight=None if (weight == 1).all() else weight,
    )


def _metric_of(orders: SampleOrders, scoring: Any, model: Any, chosen: Indices) -> float:
    scores: Values = model.decision_function(orders.X[chosen])
    return scoring(orders.positions[chosen], scores, orders.queries.codes[chosen])


def _candidates(preset: str, seed: int) -> list[Candidate]:
    """The orderers to try, one of each family first."""
    found = [
        _linear("svm", RankSVMOrderer()),
        _linear("regression", ExpectedRankOrderer()),
        Candidate("trees", "trees", BoostingOrderer(random_state=seed)),
        Candidate("rankboost", "rankboost", RankBoostOrderer(random_state=seed)),
    ]
    if preset == "quick":
        return found
    reducer = RankCorrelationReducer("auto", random_state=seed)
    found += [
        _linear("svm 1", RankSVMOrderer(C=1.0)),
        _linear("order-svm", OrderSVMOrderer()),
        _linear("reduced svm", RankSVMOrderer(), reducer),
        _linear("reduced regression", ExpectedRankOrderer(), reducer),
    ]
    if preset == "best":
        found += [
            _linear("svm 0.0001", RankSVMOrderer(C=1e-4)),
            _linear("kernel svm", RankSVMOrderer(kernel="rbf", random_state=seed)),
            Candidate(
                "more trees", "trees", BoostingOrderer(300, learning_rate=0.05, random_state=seed)
            ),
            _linear("reduced order-svm", OrderSVMOrderer(), reducer),
        ]
    return found


def _linear(name: str, orderer: Any, *before: Any) -> Candidate:
    steps = SimpleImputer(keep_empty_features=True), StandardScaler(), *before, orderer
    return Candidate(name, type(orderer).__name__, make_pipeline(*steps))

"""The orderer that does best on orders it has not seen."""

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
from prefero.automatic._choice import ChoiceMixin, FoldMeasures, Task
from prefero.automatic._effort import EFFORT_CONSTRAINTS, OF_EFFORT
from prefero.automatic._evidence import sample
from prefero.automatic._screening import Clock
from prefero.base import BaseOrderer, OrdererMixin, SampleOrders
from prefero.metrics.ordering import group_rho, group_tau
from prefero.ordering import (
    BoostingOrderer,
    ExpectedRankOrderer,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankCorrelationReducer,
    RankSVMOrderer,
)

_MEASURES = {"rho": group_rho, "tau": group_tau}
_FOLDS = 5
# Objects of a single order below which folds of them say nothing.
_FEWEST_OBJECTS = 10


def _orders(model: Any, _: State) -> bool:
    return isinstance(final_step(model), OrdererMixin)


@documented(**OF_EFFORT)
class AutoOrderer(ChoiceMixin, BaseOrderer):
    """Choose an orderer of objects by orders that it has not seen.

    Expected rank regression, rank SVM, order SVM, RankBoost and boosted trees, the linear ones
    also behind rank correlation dimension reduction, are tried on five folds that divide no
    group, on few objects first if there are many; the best is fitted to all orders. Missing
    features are filled by means where an orderer needs them all.

    Parameters
    ----------
    measure : {"rho", "tau"}, default="rho"
        What is chosen by: Spearman's rho or Kendall's tau, the mean over groups.
    effort : {"quick", "balanced", "best"}, default="balanced"
        How much is tried.
    %(time_limit)s
    %(working)s

    Attributes
    ----------
    chosen_ : orderer
        The one that was chosen, fitted to all orders; it may be a pipeline.
    chosen_name_ : str
        Its name.
    leaderboard_ : list of dict
        All objects tied first, whose correlation is 0, then all orderers tried in the last round,
        by their measure on orders not seen: ``ranker``, ``family``, ``held_out``,
        ``standard_error`` (over folds), ``seconds``.
    left_out_ : list of dict
        ``ranker`` and ``why`` of what was not tried, or not fitted to all orders.
    gain_, gain_error_ : float
        The measure on orders not seen, and its standard error.

    Notes
    -----
    The folds of a single order are every fifth of its objects, which are then ordered among
    themselves. With fewer than ten objects the rank SVM is taken
    untried.

    See Also
    --------
    AutoLabelRanker : The same for rankings of labels, which combines rankers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(60, 2)), np.repeat(np.arange(10), 6)
    >>> ranks = np.concatenate([np.argsort(np.argsort(-X[groups == g, 0])) + 1 for g in range(10)])
    >>> orderer = AutoOrderer(effort="quick", random_state=0).fit(X, ranks, groups)
    >>> orderer.predict([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    array([2, 1, 3])
    """

    # All objects tied are no order: there is nothing to fall back on.
    guard: ClassVar[float] = 0.0  # type: ignore[misc]

    _fitted_state: ClassVar[FittedState] = {
        "chosen_": Model("decision_function", rule=("an orderer", _orders))
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EFFORT_CONSTRAINTS,
        "measure": [StrOptions(set(_MEASURES))],
    }

    def __init__(
        self,
        measure: Literal["rho", "tau"] = "rho",
        *,
        effort: Literal["quick", "balanced", "best"] = "balanced",
        time_limit: float | None = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.measure = measure
        self.effort = effort
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
        codes = orders.groups.codes
        n, n_groups = len(codes), len(orders.groups.sizes)
        fit, measure = partial(_fitted, orders), partial(_measured, orders, _MEASURES[self.measure])

        def evidence_of(size: int) -> FoldMeasures:
            chosen = sample(n, None if n_groups == 1 else codes, size)
            return FoldMeasures(chosen, _folds(orders, chosen), fit, measure)

        tried = _candidates(self.effort, self._seed())
        task = Task(n, evidence_of, fit, tried, None)
        if n_groups == 1 and n < _FEWEST_OBJECTS:
            return self._keep(task, tried[0])
        return self._choose(task, clock)


def _folds(orders: SampleOrders, chosen: Indices) -> Indices:
    """Whole groups in turn; of a single order every fifth object."""
    codes = np.unique(orders.groups.codes[chosen], return_inverse=True)[1]
    if codes.max() > 0:
        return codes % _FOLDS
    place = np.argsort(np.argsort(orders.positions[chosen], kind="stable"))
    return place % _FOLDS


def _fitted(orders: SampleOrders, orderer: Any, chosen: Indices) -> Any:
    parts = orders.X[chosen], orders.positions[chosen]
    return fit_final(clone(orderer), *parts, groups=orders.groups.codes[chosen])


def _measured(orders: SampleOrders, measure: Any, model: Any, chosen: Indices) -> float:
    scores: Values = model.decision_function(orders.X[chosen])
    return measure(orders.positions[chosen], scores, orders.groups.codes[chosen])


def _candidates(effort: str, seed: int) -> list[Candidate]:
    """The orderers to try, one of each family first."""
    found = [
        _linear("svm", RankSVMOrderer()),
        _linear("regression", ExpectedRankOrderer()),
        Candidate("trees", "trees", BoostingOrderer(random_state=seed)),
        Candidate("rankboost", "rankboost", RankBoostOrderer(random_state=seed)),
    ]
    if effort == "quick":
        return found
    reducer = RankCorrelationReducer("auto", random_state=seed)
    found += [
        _linear("svm 1", RankSVMOrderer(C=1.0)),
        _linear("order-svm", OrderSVMOrderer()),
        _linear("reduced svm", RankSVMOrderer(), reducer),
        _linear("reduced regression", ExpectedRankOrderer(), reducer),
    ]
    if effort == "best":
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

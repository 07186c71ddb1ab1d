"""The automatic multilabel ranker."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from prefero._docs import documented
from prefero._pipelines import at_final_step, final_step, fit_final
from prefero._sklearn import StrOptions
from prefero._state import FittedState, Model, State
from prefero._typing import Indices, Values
from prefero.automatic._candidates import Candidate, Shape, behind_numbers, made_dense
from prefero.automatic._choice import ChoiceMixin, FoldEvaluation, SelectionTask
from prefero.automatic._members import TrainingRows
from prefero.automatic._screening import GUARD_CONSTRAINTS, OF_PRESET, PRESET_CONSTRAINTS
from prefero.automatic._stack_evaluation import folds_of, group_numbers, renumbered, sample, too_few
from prefero.automatic.table import ColumnsMixin
from prefero.base import BaseMultilabelRanker, MultilabelRankerMixin, fitting
from prefero.label_ranking import BoostingLabelRanker, ForestLabelRanker, LogLinearLabelRanker
from prefero.metrics.multilabel import (
    average_precision,
    calibrated_rho,
    hamming_loss,
    one_error,
    ranking_loss,
    subset_loss,
)
from prefero.multilabel import (
    BinaryRelevanceRanker,
    CalibratedMultilabelRanker,
    ConsensusMultilabelRanker,
    NeighborsMultilabelRanker,
    PairwiseMultilabelRanker,
)
from prefero.rankings import virtual_label_offsets

# By name: the metric, the prediction that it takes, and its sign.
_METRICS: dict[str, tuple[Callable[..., Any], str, int]] = {
    "rho": (calibrated_rho, "predict_calibrated", 1),
    "average-precision": (average_precision, "decision_function", 1),
    "ranking-loss": (ranking_loss, "decision_function", -1),
    "one-error": (one_error, "decision_function", -1),
    "hamming-loss": (hamming_loss, "predict", -1),
    "subset-loss": (subset_loss, "predict", -1),
}
# Labels up to which one model per pair is affordable.
_MOST_PAIRED_LABELS = 60
_MOST_CASES = 50_000


def _ranks_sets(model: Any, state: State) -> bool:
    ranker = final_step(model)
    known = isinstance(ranker, MultilabelRankerMixin)
    return known and len(ranker.labels_) == state.size("n_labels")


@documented(**OF_PRESET)
class AutoMultilabelRanker(ColumnsMixin, ChoiceMixin, BaseMultilabelRanker):
    """Choose a multilabel ranker by cross-validation.

    Columns are prepared as needed. Calibrated pairwise comparison, binary relevance,
    nearest neighbours and label rankers with a virtual label are tried on five inner folds, on few
    rows first if there are many; the best one is fitted to all rows, unless the consensus
    baseline is about as good.

    Parameters
    ----------
    scoring : str, default="rho"
        The metric to choose by: ``"rho"`` (the order of the labels and the virtual label),
        ``"average-precision"``, ``"ranking-loss"``, ``"one-error"``, ``"hamming-loss"`` or
        ``"subset-loss"``.
    preset : {"quick", "balanced", "best"}, default="balanced"
        How much to try.
    %(time_limit)s
    baseline_guard : float, default=2
        The consensus baseline is predicted unless the gain over it on held-out rows exceeds so
        many standard errors.
    %(threshold)s
    %(working)s

    Attributes
    ----------
    chosen_ : multilabel ranker
        The one that was chosen, fitted to all rows; it may be a pipeline.
    chosen_name_ : str
        Its name.
    leaderboard_ : list of dict
        The consensus baseline first, then all rankers of the last round, by their metric on
        held-out rows (losses with reversed sign): ``ranker``, ``family``, ``held_out``,
        ``standard_error`` (over folds), ``seconds``.
    %(not_used)s
    %(preparation)s
    improvement_, improvement_error_ : float
        The gain over the consensus baseline on held-out rows, and its standard error.

    See Also
    --------
    AutoLabelRanker : The same for rankings without a virtual label, which combines rankers.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> relevance = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] < 0]).astype(int)
    >>> ranker = AutoMultilabelRanker(preset="quick", random_state=0).fit(X, relevance)
    >>> ranker.predict([[2.0, -2.0]])
    array([[1, 0, 0]])
    >>> ranker.leaderboard_[0]["ranker"]
    'consensus baseline'
    """

    # Pipelines and searches pass groups on without being asked to.
    __metadata_request__fit: ClassVar = {"groups": True}

    _fitted_state: ClassVar[FittedState] = {
        "chosen_": Model(
            "decision_function",
            n_features="n_columns",
            rule=("a multilabel ranker of all labels", _ranks_sets),
        )
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PRESET_CONSTRAINTS,
        **GUARD_CONSTRAINTS,
        "scoring": [StrOptions(set(_METRICS))],
        "threshold": BaseMultilabelRanker._threshold_constraint,
    }

    def __init__(
        self,
        scoring: Literal[
            "rho", "average-precision", "ranking-loss", "one-error", "hamming-loss", "subset-loss"
        ] = "rho",
        *,
        preset: Literal["quick", "balanced", "best"] = "balanced",
        time_limit: float | None = None,
        baseline_guard: float = 2.0,
        threshold: str | None = "auto",
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.scoring = scoring
        self.preset = preset
        self.time_limit = time_limit
        self.baseline_guard = baseline_guard
        self.threshold = threshold
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        ranks: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from instances, their relevant labels and, if known, their rankings.

        Parameters
        ----------
        X : array-like, table or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : array-like of shape (n_samples, n_labels)
            Relevance: 1, 0, or NaN where unknown.
        ranks : array-like of shape (n_samples, n_labels), optional
            Ranks of the labels, which refine both sides of the virtual label where the method
            can use them.
        %(weights_of_rows)s
        groups : array-like of shape (n_samples,), optional
            The group of each row. Rows of one group share an inner fold.

        Returns
        -------
        self
            The fitted ranker.
        """
        self._validate_params()
        with fitting(self) as ranker:
            data = ranker._validate_fit(X, y, sample_weight, ranks)
            numbers = group_numbers(groups, y, sample_weight)
            ranker._fit(*data, numbers)
            ranker._place_virtual_label(ranker, *data, numbers)
        return self

    def _fit(
        self, X: Any, calibrated: Values, weight: Values, groups: Indices | None = None
    ) -> None:
        clock, notes = self._start()
        rows = TrainingRows(X, calibrated, weight)
        fit = partial(_fitted, rows)
        scoring = partial(_metric_of, rows, self.scoring)

        def evaluation_of(size: int) -> FoldEvaluation:
            chosen = sample(len(weight), groups, size)
            own = None if groups is None else renumbered(groups, chosen)
            return FoldEvaluation(chosen, folds_of(rows.some(chosen), own, 5)[0], fit, scoring)

        shape, seed = self._shape(X, calibrated.shape[1]), self._seed()
        everyone = made_dense(shape, ConsensusMultilabelRanker(threshold=None), seed)
        baseline = Candidate("consensus baseline", "consensus baseline", everyone)
        tried = _candidates(self.preset, shape, seed)
        task = SelectionTask(len(weight), evaluation_of, fit, tried, baseline)
        why = too_few(folds_of(rows, groups, 5)[1], groups)
        if why:
            return self._keep_untried(task, baseline, why, notes)
        return self._choose(task, clock, notes)

    def _held_out_decision(self, blank: Any, seen: tuple[Any, Values, Values], X: Any) -> Values:
        rows = TrainingRows(*seen)
        model = _fitted(rows, self.chosen_, np.arange(len(rows.weight)))
        return np.asarray(model.decision_function(X))


def _fitted(rows: TrainingRows, ranker: Any, chosen: Indices) -> Any:
    part = rows.some(chosen)
    labels, zero = part.ranks[:, :-1], part.ranks[:, -1:]
    # Ranks of the labels without the virtual label.
    given = {"ranks": labels - (labels > zero), "sample_weight": part.weight}
    return fit_final(clone(ranker), part.X, _relevance(part.ranks), **given)


def _metric_of(rows: TrainingRows, name: str, model: Any, chosen: Indices) -> float:
    scoring, what, sign = _METRICS[name]
    part = rows.some(chosen)
    ranker, reaching = at_final_step(model, part.X)
    truth = part.ranks if name == "rho" else _relevance(part.ranks)
    found = scoring(truth, getattr(ranker, what)(reaching), sample_weight=part.weight)
    return sign * float(found)


def _relevance(calibrated: Values) -> Values:
    offsets, _ = virtual_label_offsets(calibrated)
    return np.where(np.isnan(calibrated[:, :-1]), np.nan, offsets < 0)


def _candidates(preset: str, shape: Shape, seed: int) -> list[Candidate]:
    """The multilabel rankers to try, one of each family first."""
    nominal = shape.nominal if shape.nominal.any() else None
    trees: dict[str, Any] = {"categorical_features": nominal, "random_state": seed}
    forest = CalibratedMultilabelRanker(
        ForestLabelRanker(leaf_values="scores", **trees), threshold=None
    )
    found = [
        _numbers(shape, "binary relevance", BinaryRelevanceRanker(threshold=None)),
        Candidate("calibrated forest", "forest", made_dense(shape, forest, seed)),
        _numbers(
            shape,
            "neighbors",
            NeighborsMultilabelRanker(
                "auto", gap_amplification="auto", weights="distance", threshold=None
            ),
            most_rows=_MOST_CASES,
        ),
    ]
    if shape.n_labels <= _MOST_PAIRED_LABELS:
        pairwise = PairwiseMultilabelRanker(scale=False, threshold=None)
        found.insert(0, _numbers(shape, "pairwise", pairwise))
    if preset == "quick":
        return found
    boosting = CalibratedMultilabelRanker(BoostingLabelRanker(**trees), threshold=None)
    inner = LogLinearLabelRanker(calibrate=False, scale=False)
    linear = CalibratedMultilabelRanker(inner, threshold=None)
    found += [
        Candidate("calibrated boosting", "boosting", made_dense(shape, boosting, seed)),
        _numbers(shape, "calibrated log-linear", linear),
    ]
    if preset == "best":
        extra = ForestLabelRanker(
            300, splitter="random", max_features=None, leaf_values="scores", **trees
        )
        calibrated = CalibratedMultilabelRanker(extra, threshold=None)
        found.append(
            Candidate("calibrated extra-trees", "forest", made_dense(shape, calibrated, seed))
        )
        found.append(_numbers(shape, "20 neighbors", NeighborsMultilabelRanker(20, threshold=None)))
    return found


def _numbers(shape: Shape, name: str, ranker: Any, most_rows: int | None = None) -> Candidate:
    return Candidate(name, type(ranker).__name__, behind_numbers(shape, ranker), most_rows)

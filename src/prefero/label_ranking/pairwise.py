"""Ranking by pairwise comparison: a binary model a pair of labels, and a vote."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from prefero._pairwise import PairwiseModelsMixin, pairs_state
from prefero._sklearn import Interval, StrOptions
from prefero._solvers._held_out import HeldOutModels
from prefero._state import Attribute, FittedState
from prefero._typing import Indices, Values
from prefero.base import BaseLabelRanker, PairWeightMixin, copy_of
from prefero.label_ranking._tie_models import TieModelsMixin
from prefero.rankings import ScoredRanks, pair_signs

# From the consensus order on; C for so few cases that there is nothing to choose by.
_PATH = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
_C_OF_FEW = 1.0
_TOL_ON_PATH = 1e-2


class PairwiseLabelRanker(TieModelsMixin, PairWeightMixin, PairwiseModelsMixin, BaseLabelRanker):
    """Ranking by pairwise comparison (RPC).

    For each pair of labels a binary model learns which of the two comes first, from those
    instances that order the pair. A label's score is the sum of the probabilities that it
    precedes each other label (weighted voting).

    Parameters
    ----------
    estimator : classifier, default=None
        The binary model; a logistic regression with the penalty 1 / C if None. A plain ridge
        logistic regression is solved for all pairs together. A classifier without
        ``predict_proba`` votes 0 or 1.
    C : float or "auto", default="auto"
        The weight of the losses against the penalty of the default model; 0 leaves the same
        order for everyone, infinity is no penalty. ``"auto"`` is the one of 0, 0.001, 0.01, ...,
        100 that orders the most held-out pairs right in three folds of the training data; 1 for
        fewer than ten different rows. An estimator has its own.
    ties : {"ignore", "model"}, default="ignore"
        Whether a second model per pair learns from all instances that rank both labels whether
        they are tied. A tie then counts as half a vote for either.
    pair_weight : {"auto", "score_difference"} or None, default="auto"
        What a pair of labels counts in its model: the difference of the scores that ``fit``
        was given, or 1. ``"auto"`` is the former where there are scores.
    calibrate : bool, default=True
        Whether pair probabilities are learned too. That costs nothing beside an automatic
        penalty, and some more fits beside a given one.
    scale : bool, default=True
        Whether the default model standardizes features inside, so that neither their units nor
        their zero matter; sparse ones are not centred. ``coef_`` and ``intercept_`` are of the
        features as given.
    max_models : int or None, default=20000
        The number of pairs above which to refuse; None for no limit.
    n_jobs : int or None, default=None
        How many pairs to train at the same time, as in joblib. The result does not depend
        on it.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        The pairs of label indices, the smaller first.
    coef_ : ndarray of shape (n_models, n_features)
        Coefficients, if the models are logistic regressions solved together: who leads, one
        a pair; with ``ties="model"`` then whether the pair is tied.
    intercept_ : ndarray of shape (n_models,)
        Their intercepts.
    estimators_ : list of n_models estimators
        The models otherwise; class 1 says that the first label of the pair leads, or that
        the two are tied.
    C_ : float
        The weight of the losses, chosen if it was ``"auto"``; for the default model only.

    Notes
    -----
    A pair that all instances order alike, or none, gets a constant probability: the weighted
    share of its first label after one more vote for either side.

    References
    ----------
    Hüllermeier, Fürnkranz, Cheng & Brinker (2008), Label ranking by learning pairwise
    preferences, Artificial Intelligence 172.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> ranker = PairwiseLabelRanker().fit(X, Y)
    >>> ranker.predict([[-1.0], [4.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    >>> ranker.predict_pairwise([[-1.0]])[0, 0].round(2)
    array([0.5 , 0.93, 0.93])
    """

    _fitted_state: ClassVar[FittedState] = {
        **pairs_state("n_labels", models_a_pair=2),
        "C_": Attribute(
            optional=True, rule=("a weight", lambda C, _: isinstance(C, int | float) and C >= 0)
        ),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairwiseModelsMixin._parameter_constraints,
        **PairWeightMixin._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="both"), StrOptions({"auto"})],
        "ties": [StrOptions({"ignore", "model"})],
        "calibrate": ["boolean"],
    }

    _tol = 1e-4

    def __init__(
        self,
        estimator: Any = None,
        *,
        C: float | Literal["auto"] = "auto",
        ties: Literal["ignore", "model"] = "ignore",
        pair_weight: Literal["auto", "score_difference"] | None = "auto",
        calibrate: bool = True,
        scale: bool = True,
        max_models: int | None = 20_000,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, max_models=max_models, scale=scale, n_jobs=n_jobs)
        self.C = C
        self.ties = ties
        self.pair_weight = pair_weight
        self.calibrate = calibrate

    def _base_estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return LogisticRegression(C=getattr(self, "C_", self.C), tol=self._tol)

    def _fit(self, X: Any, target: Values | ScoredRanks, weight: Values) -> None:
        self._refuse_too_many(len(self.labels_), X.shape[1])
        if self.estimator is not None and self.C != "auto":
            raise ValueError(
                f"C={self.C!r} is of the default model, but estimator is given: set the penalty "
                "of the estimator instead."
            )
        with self._scaled(X, weight) as scaled:
            if self.estimator is None:
                chosen = self.C == "auto"
                self.C_ = self._choose_C(scaled, target, weight) if chosen else float(self.C)
            self._warn_unless(self._learn(scaled, target, weight))

    def _learn(self, X: Any, target: Values | ScoredRanks, weight: Values) -> bool:
        if not isinstance(target, ScoredRanks):
            return super()._learn(X, target, weight)
        pair_weights = target.pair_weights(weight)
        if self.ties == "model":
            pair_weights = np.hstack([pair_weights, np.ones_like(pair_weights)])
        return super()._learn(X, target.ranks, weight[:, None] * pair_weights)

    def _choose_C(self, X: Any, target: Values | ScoredRanks, weight: Values) -> float:
        fast = copy_of(self, anew=False)
        fast._tol = _TOL_ON_PATH
        models = HeldOutModels(fast, "C_", X, target, weight)
        if not models.possible:
            return _C_OF_FEW
        if self.calibrate:
            self._held_out = models
        return models.choose(_PATH)

    @property
    def _models_a_pair(self) -> int:  # type: ignore[override]
        return 2 if self.ties == "model" else 1

    def _signs(self, ranks: Values) -> NDArray[np.int8]:
        """Who leads each pair; with a model of ties, then whether the pair is tied."""
        signs = pair_signs(ranks)
        if self.ties == "ignore":
            return signs
        first, second = ranks[:, self.pairs_[:, 0]], ranks[:, self.pairs_[:, 1]]
        tied = (first == second).astype(np.int8) - (signs != 0).astype(np.int8)
        return np.hstack([signs, tied])

    def _first_leads(self, X: Any) -> Values:
        probability, n_pairs = self._probabilities(X), len(self.pairs_)
        if probability.shape[1] == n_pairs:
            return probability
        leads, tied = probability[:, :n_pairs], probability[:, n_pairs:]
        return leads + tied * (0.5 - leads)

    def _decision(self, X: Any) -> NDArray[np.float64]:
        return self._votes(X)

    def _margins(self, X: Any) -> Values:
        return logit(np.clip(self._first_leads(X), 1e-9, 1 - 1e-9))

    def _held_out_margins(
        self, X: Any, target: Any, weight: Values, rows: Indices
    ) -> Values | None:
        if not hasattr(self, "_held_out"):
            return None
        return self._held_out.scores(rows, at=self.C_, method="_margins")

    def _learn_tie_model(self, X: Any, outcomes: Values, weight: Values) -> Values | None:
        return None if self.ties == "model" else super()._learn_tie_model(X, outcomes, weight)

    def _tie_shares(self, X: Any) -> Values | None:
        tied = self._probabilities(X)[:, len(self.pairs_) :]
        return tied if tied.shape[1] > 0 else super()._tie_shares(X)

    def _held_out_tie_shares(
        self, X: Any, target: Any, weight: Values, rows: Indices
    ) -> Values | None:
        if self.ties == "ignore" or not hasattr(self, "_held_out"):
            return None
        return self._held_out.scores(rows, method="_tie_shares")

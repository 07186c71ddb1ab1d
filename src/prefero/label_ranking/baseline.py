"""The same order for everyone: the baseline every ranker must beat."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from prefero import mallows, plackett_luce
from prefero._docs import documented
from prefero._sklearn import StrOptions
from prefero._solvers._held_out import HeldOutModels
from prefero._state import Array, Attribute, FittedState, Number
from prefero._typing import Values
from prefero.base import BaseLabelRanker, ScoredRankerMixin
from prefero.consensus import borda_batch, kemeny
from prefero.label_ranking._aggregation import SCORES
from prefero.rankings import ScoredRanks


class ConsensusLabelRanker(ScoredRankerMixin, BaseLabelRanker):
    """Predict the consensus of the training rankings for every instance.

    Fitted with scores, it orders the labels by their mean scores, so that its first choice is the
    single best label: the best choice that is the same for everyone.

    Parameters
    ----------
    aggregation : {"auto", "borda", "kemeny", "mallows", "plackett_luce", "scores"}, default="auto"
        The consensus: the (generalized) Borda count, Kemeny's rule, or the most likely
        ranking of a Mallows or a Plackett-Luce model. The Mallows model has
        ``predict_spread``. ``"scores"`` are mean scores, which ``fit`` has to be given; all others
        look at the ranks alone. ``"auto"`` is ``"scores"`` where there are some. Without, it is
        Kemeny's rule, by local search, if in three folds it orders more held-out pairs right than
        Borda's; else, and for fewer than ten different rows, Borda's.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, from three more fits.

    Attributes
    ----------
    aggregation_ : str
        The aggregation, chosen if it was ``"auto"``.
    votes_ : ndarray of shape (n_labels,)
        What the labels are ordered by, larger is better: mean votes; for ``"kemeny"``
        n_labels for the first label down to 1 for the last, for ``"plackett_luce"``
        logarithms of worths, for ``"scores"`` mean scores.
    theta_ : float
        The spread of the Mallows model; only for ``"mallows"``.

    Examples
    --------
    >>> ranker = ConsensusLabelRanker().fit([[0], [1], [2]], [[1, 2, 3], [1, 3, 2], [2, 1, 3]])
    >>> ranker.predict([[5]])
    array([[1, 2, 3]])
    >>> ranker.fit([[0], [1]], [[1, 2], [2, 1]], scores=[[0.6, 0.5], [0.1, 0.9]]).predict([[5]])
    array([[2, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "aggregation": [
            StrOptions({"auto", "borda", "kemeny", "mallows", "plackett_luce", SCORES})
        ],
        "calibrate": ["boolean"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "aggregation_": Attribute(optional=True),
        "votes_": Array("f8", "n_labels"),
        "theta_": Number(0, when={"aggregation": "mallows"}),
    }

    def __init__(self, aggregation: str = "auto", *, calibrate: bool = True) -> None:
        self.aggregation = aggregation
        self.calibrate = calibrate

    def _target(self, truth: Values | ScoredRanks) -> Values | ScoredRanks:
        if isinstance(truth, ScoredRanks):
            return truth if self.aggregation in ("auto", SCORES) else truth.ranks
        if self.aggregation == SCORES:
            raise ValueError(
                "aggregation='scores' needs scores: fit(X, y, scores=S), larger is better."
            )
        return truth

    def _fit(self, X: Any, ranks: Values | ScoredRanks, weight: Values) -> None:
        self.aggregation_ = SCORES if isinstance(ranks, ScoredRanks) else self.aggregation
        if self.aggregation_ == "auto":
            models = HeldOutModels(self, "aggregation_", X, ranks, weight)
            self.aggregation_ = models.choose(("borda", "kemeny")) if models.possible else "borda"
        self._learn(X, ranks, weight)

    def _learn(self, X: Any, ranks: Values | ScoredRanks, weight: Values) -> None:
        if isinstance(ranks, ScoredRanks):
            known = ~np.isnan(ranks.scores)
            sums = weight @ np.where(known, ranks.scores, 0)
            # Only labels that no row ranks have no weight; they are predicted last.
            self.votes_ = sums / np.maximum(weight @ known, np.finfo(float).tiny)
            return
        everyone = (ranks, np.arange(len(ranks))[None, :], weight[None, :])
        if self.aggregation_ == "kemeny":
            method: Literal["local", "exact"] = "local" if self.aggregation == "auto" else "exact"
            center = kemeny(ranks, method, sample_weight=weight)
            self.votes_ = (len(center) + 1 - center).astype(np.float64)
        elif self.aggregation_ == "mallows":
            batch = mallows.fit_mallows_batch(*everyone)
            self.votes_, self.theta_ = batch.votes[0], float(batch.theta[0])
        elif self.aggregation_ == "plackett_luce":
            self.votes_ = plackett_luce.fit_plackett_luce_batch(*everyone)[0]
        else:
            self.votes_ = borda_batch(*everyone)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The features are not looked at.
        tags.input_tags.allow_nan = True
        return tags

    def _decision(self, X: NDArray[Any]) -> Values:
        return np.tile(self.votes_, (len(X), 1))

    @available_if(lambda ranker: ranker.aggregation == "mallows")
    @documented()
    def predict_spread(self, X: Any) -> Values:
        """Return the spread theta of the model: the larger, the more the rankings agree.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples,)
            The same for all.
        """
        return np.full(len(self.decision_function(X)), self.theta_)

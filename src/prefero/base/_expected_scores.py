"""What every ranker trained with scores predicts in their unit: scores, chances, losses, costs."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._state import Array, FittedState, Number
from prefero._typing import Indices, Mask, Values
from prefero.base._features import place_unseen_last
from prefero.calibration import (
    Expectation,
    ScoreModel,
    expected_outcome,
    expected_scores,
    learn_scores,
)
from prefero.rankings import strict_ranks

# Instances that are asked about at a time.
_BLOCK = 4096


def _knows_scores(ranker: Any) -> bool:
    if hasattr(ranker, "score_means_") or not hasattr(ranker, "n_features_in_"):
        return True
    raise AttributeError(
        f"{type(ranker).__name__} was not trained with scores, or predicts none of the rows that "
        "it learned from: fit(X, y, scores=S), with calibrate=True where there is such a parameter."
    )


@documented()
class ExpectedScoresMixin:
    """Mixin of rankers that may be trained with scores, and then predict them.

    A ranker may write ``_score_models``.

    Attributes
    ----------
    score_means_, score_weights_, score_predictions_, score_errors_
    score_nonconformity_, score_spread_
        What `prefero.calibration.learn_scores` found on rows that the models had not seen; only
        after training with scores.

    Examples
    --------
    >>> from prefero import ForestLabelRanker
    >>> isinstance(ForestLabelRanker(), ExpectedScoresMixin)
    True
    """

    _fitted_state: ClassVar[FittedState] = {
        "score_means_": Array("f8", "n_score_models + 1", "n_labels", optional=True),
        "score_weights_": Array("f8", "n_score_models", low=0, optional=True),
        "score_predictions_": Array("f8", "n_seen", "n_labels", optional=True),
        "score_errors_": Array("f8", "n_seen", "n_labels", nan=True, optional=True),
        "score_nonconformity_": Array("f8", "n_known_scores", low=0, optional=True),
        "score_spread_": Number(0, 1, optional=True),
    }

    labels_: Any
    unseen_labels_: Mask

    def _score_models(self, X: Any) -> tuple[list[Values], Values]:
        """What tells of scores, and the values by which labels are ordered."""
        order = self._decision(X)  # type: ignore[attr-defined]
        return [order], order

    def _learn_scores(
        self,
        models: list[Values],
        order: Values,
        scores: Values,
        weight: Values,
        groups: Indices | None = None,
    ) -> None:
        found = learn_scores(models, order, scores, weight, groups)
        for name, value in found._asdict().items():
            setattr(self, f"score_{name}_", value)

    @property
    def _score_model(self) -> ScoreModel:
        return ScoreModel(*(getattr(self, f"score_{name}_") for name in ScoreModel._fields))

    def _expectation(self, X: Any, error: float = 0.1) -> Expectation:
        check_is_fitted(self)
        if not 0 < error < 1:
            raise ValueError(f"error must lie in (0, 1), got {error!r}.")
        X = self._validate_X(X, reset=False)  # type: ignore[attr-defined]
        model = ScoreModel(*(getattr(self, f"score_{name}_") for name in ScoreModel._fields))
        parts = []
        for rows in gen_batches(X.shape[0], _BLOCK):
            said, order = self._score_models(X[rows])
            order = place_unseen_last(order, self.unseen_labels_)
            expected = expected_scores(model, said, order)
            parts.append(expected_outcome(model, expected, order.argmax(axis=1), error))
        return Expectation(*map(np.concatenate, zip(*parts, strict=True)))

    @available_if(_knows_scores)
    def predict_scores(self, X: Any) -> Values:
        """Predict the score of each label, in the unit of the scores of the training.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Expected scores, larger is better. They never contradict the predicted order.
        """
        return self._expectation(X).scores

    @available_if(_knows_scores)
    def predict_score_intervals(self, X: Any, error: float = 0.1) -> Values:
        """Predict an interval for the score of each label.

        Parameters
        ----------
        %(X)s
        error : float, default=0.1
            How often a score may lie outside its interval, over labels and instances like the
            training rows (cross-conformal).

        Returns
        -------
        ndarray of shape (n_samples, n_labels, 2)
            The ends of the intervals, wider where rows alike were predicted worse; infinite if
            there were too few training rows to tell.
        """
        return self._expectation(X, error).intervals

    @available_if(_knows_scores)
    def predict_best_proba(self, X: Any) -> Values:
        """Predict how likely each label has the best score.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities, which add up to 1; labels that are best together share theirs.
        """
        return self._expectation(X).best

    @available_if(_knows_scores)
    def predict_expected_regret(self, X: Any) -> Values:
        """Predict how much is lost by the label predicted first, against the best one.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples,)
            Expected losses, in the unit of the scores.
        """
        return self._expectation(X).regret

    def predict(
        self,
        X: Any,
        *,
        cost: ArrayLike | None = None,
        cost_weight: float | None = None,
        budget: float | None = None,
        mean_budget: float | None = None,
    ) -> Indices:
        """Predict the rank of every label; with costs, by expected score and cost.

        Parameters
        ----------
        %(X)s
        cost : array-like of shape (n_labels,) or (n_samples, n_labels), optional
            What each label costs; needs a ranker trained with scores, and one of the following.
        cost_weight : float, optional
            What a unit of cost is worth: labels are ordered by expected score - weight * cost.
        budget : float, optional
            The most that a label may cost: others come last.
        mean_budget : float, optional
            The most that the first labels of these instances may cost on average. The weight of
            the cost is the least that achieves it.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype int64
            A permutation of 1..n_labels in each row; 1 is best.
        """
        given = [one is not None for one in (cost_weight, budget, mean_budget)]
        if cost is None and not any(given):
            return super().predict(X)  # type: ignore[misc]
        if cost is None or sum(given) != 1:
            raise ValueError("predict needs cost with one of cost_weight, budget and mean_budget.")
        expected = self.predict_scores(X)
        price = check_array(np.atleast_2d(cost), dtype=np.float64, input_name="cost")
        if price.shape[1] != expected.shape[1] or len(price) not in (1, len(expected)):
            raise ValueError(
                f"cost has the shape {price.shape}, but there are {expected.shape[1]} labels and "
                f"{len(expected)} instances: give one number per label, or one per instance and "
                "label."
            )
        price = np.broadcast_to(price, expected.shape)
        ranks = super().predict(X)  # type: ignore[misc]
        if budget is not None:
            return strict_ranks(-ranks - (price > budget) * float(ranks.shape[1]))
        from prefero.tables._costs import least_weight

        weight = (
            float(cost_weight)
            if cost_weight is not None
            else least_weight(expected, price, float(mean_budget or 0))
        )
        value = expected - weight * price
        # Equal values: the order that was predicted, or where costs are bounded the cheaper first.
        tied = price if mean_budget is not None else ranks
        order = np.lexsort((ranks, tied, -value), axis=1)
        return np.argsort(order, axis=1) + 1

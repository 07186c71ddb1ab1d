"""What label rankers share that learn from scores beside the ranks."""

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from prefero._docs import documented
from prefero._sklearn import StrOptions
from prefero.rankings import ScoredRanks


@documented()
class ScoredRankerMixin:
    """Mixin of label rankers that learn how much is at stake, before the base of a ranker.

    Its ``_fit`` may be given ``ScoredRanks`` in place of ranks.

    Examples
    --------
    >>> from prefero import ForestLabelRanker
    >>> forest = ForestLabelRanker(5, random_state=0)
    >>> isinstance(forest, ScoredRankerMixin)
    True
    >>> X, Y, S = [[0.0], [1.0]] * 10, [[1, 2], [2, 1]] * 10, [[9.0, 1.0], [2.0, 3.0]] * 10
    >>> forest.fit(X, Y, scores=S).predict([[0.0]])
    array([[1, 2]])
    """

    # Scores reach the rankers of a search or a pipeline without being asked for.
    __metadata_request__fit: ClassVar = {"scores": True}

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> Self:
        """Learn from instances, their rankings and, if known, what the labels are worth.

        Parameters
        ----------
        %(X_to_learn)s
        %(ranks_to_learn)s
        %(weights_of_rows)s
        scores : array-like of shape (n_samples, n_labels), optional
            What the labels are worth, larger is better, in the order of the ranks: an order
            says which label is better, scores how much is lost by the other. ``-times`` for
            run times.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit_to(X, y, sample_weight, scores)  # type: ignore[attr-defined]


class PairWeightMixin(ScoredRankerMixin):
    """Mixin of rankers that weigh a pair of labels by the difference of their scores.

    A ranker has the parameter ``pair_weight``.

    Examples
    --------
    >>> from prefero import PairwiseLabelRanker
    >>> isinstance(PairwiseLabelRanker(pair_weight="score_difference"), PairWeightMixin)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "pair_weight": [StrOptions({"auto", "score_difference"}), None],
    }

    pair_weight: str | None

    def _target(self, truth: Any) -> Any:
        scored = isinstance(truth, ScoredRanks)
        if self.pair_weight == "score_difference" and not scored:
            raise ValueError(
                "pair_weight='score_difference' needs scores: fit(X, y, scores=S), larger is "
                "better."
            )
        used = truth.ranks if scored and self.pair_weight is None else truth
        return super()._target(used)  # type: ignore[misc]

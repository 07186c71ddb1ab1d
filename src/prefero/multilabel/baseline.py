"""The same calibrated ranking for everyone: the baseline every multilabel ranker must beat."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from prefero._docs import documented
from prefero._sklearn import Interval
from prefero._state import Array, FittedState
from prefero._typing import Values
from prefero.base import BaseMultilabelRanker
from prefero.multilabel.aggregation import mean_calibrated_ranks


@documented()
class ConsensusMultilabelRanker(BaseMultilabelRanker):
    """Predict the consensus of the training rankings and label sets for every instance.

    Parameters
    ----------
    gap_amplification : float, default=1
        The width of the virtual label, as for `mean_calibrated_ranks`.
    %(threshold)s

    Attributes
    ----------
    votes_ : ndarray of shape (n_labels,)
        How far each label stands before the virtual label on average: positive is relevant.

    See Also
    --------
    ConsensusLabelRanker : The same without a virtual label.

    Examples
    --------
    >>> ranker = ConsensusMultilabelRanker().fit([[0], [1], [2]], [[1, 0], [1, 0], [0, 0]])
    >>> ranker.predict([[5]])
    array([[1, 0]])
    """

    # The features are not looked at.
    _input_tags: ClassVar[dict[str, bool]] = {"allow_nan": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gap_amplification": [Interval(Real, 0, None, closed="left")],
        "threshold": BaseMultilabelRanker._threshold_constraint,
    }

    _fitted_state: ClassVar[FittedState] = {"votes_": Array("f8", "n_labels")}

    def __init__(self, gap_amplification: float = 1, *, threshold: str | None = "auto") -> None:
        self.gap_amplification = gap_amplification
        self.threshold = threshold

    def _fit(self, X: Any, calibrated: Values, weight: Values) -> None:
        means = mean_calibrated_ranks(calibrated, self.gap_amplification, weight)
        # A label that no row judges has no mean; it is put last in any case.
        self.votes_ = np.nan_to_num(means[-1] - means[:-1])

    def _decision(self, X: NDArray[Any]) -> Values:
        return np.tile(self.votes_, (X.shape[0], 1))

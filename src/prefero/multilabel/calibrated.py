"""Any label ranker as a multilabel ranker: the virtual label is one label more."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from prefero._docs import documented
from prefero._pipelines import at_final_step, final_step, fit_final
from prefero._sklearn import HasMethods, Interval, StrOptions
from prefero._state import FittedState, Model, State
from prefero._typing import Mask, Values
from prefero.base import BaseMultilabelRanker
from prefero.label_ranking import ForestLabelRanker
from prefero.rankings import bucket_index, bucket_positions, virtual_label_offsets


def _has_probabilities(ranker: Any) -> bool:
    inner = getattr(ranker, "ranker_", ranker.ranker)
    return inner is None or hasattr(final_step(inner), "predict_pairwise")


def _ranks_seen(ranker: Any, state: State) -> bool:
    """Whether a ranker knows the labels that were seen, and the virtual label."""
    n_seen = int(np.count_nonzero(~state.values["unseen_labels_"]))
    return len(getattr(final_step(ranker), "labels_", ())) == n_seen + 1


@documented()
class CalibratedMultilabelRanker(BaseMultilabelRanker):
    """Multilabel ranking by any label ranker, trained on calibrated rankings.

    The relevant labels stand before a virtual label, the virtual label, the others behind it. A
    label ranker learns the order of all of them; what it puts before the virtual label is relevant,
    so that the predicted set and the predicted order agree by construction.

    Parameters
    ----------
    ranker : label ranker, default=None
        Learns the order of the labels and the virtual label; a forest whose leaves hold scores if
        None.
    gap_amplification : float or "auto", default="auto"
        The width of the virtual label, in labels. A ranker that learns from scores is given the
        places of labels, half the width farther from the virtual label: the wider it is, the more
        counts on which side a label stands, against its place there. ``"auto"`` is the number
        of labels, which no place exceeds; where no row orders labels of one side, nothing but
        the side counts. Other rankers learn from the order alone, which knows no width.
    random_state : int, RandomState or None, default=None
        The seed of a ranker that has none of its own.
    %(threshold)s

    Attributes
    ----------
    ranker_ : label ranker
        The fitted ranker of the labels that some row judges, and of the virtual label, which is
        last.

    Notes
    -----
    A ranker that adds up votes against all other labels puts the virtual label too high where few
    labels are relevant: it wins against all the others. Scores with a wide virtual label undo this,
    and so do models of single pairs.

    References
    ----------
    Brinker, Fürnkranz & Hüllermeier (2006), A unified model for multilabel classification and
    ranking, ECAI. Brinker & Hüllermeier (2007), Case-based multilabel ranking, IJCAI.

    Examples
    --------
    >>> from prefero import PairwiseLabelRanker
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> relevance = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    >>> ranker = CalibratedMultilabelRanker(PairwiseLabelRanker()).fit(X, relevance)
    >>> ranker.predict([[-1.0], [4.0]])
    array([[1, 0, 0],
           [0, 0, 1]])
    >>> ranker.predict_calibrated([[-1.0]])
    array([[1, 3, 4, 2]])
    """

    ranker_: Any

    _fitted_state: ClassVar[FittedState] = {
        "ranker_": Model("decision_function", rule=("a ranker of the labels seen", _ranks_seen))
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ranker": [HasMethods(["fit", "decision_function"]), None],
        "gap_amplification": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "threshold": BaseMultilabelRanker._threshold_constraint,
    }

    def __init__(
        self,
        ranker: Any = None,
        *,
        gap_amplification: float | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        threshold: str | None = "auto",
    ) -> None:
        self.ranker = ranker
        self.gap_amplification = gap_amplification
        self.random_state = random_state
        self.threshold = threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._blank()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def _blank(self) -> Any:
        return (
            ForestLabelRanker(leaf_values="scores") if self.ranker is None else clone(self.ranker)
        )

    def _fit(self, X: Any, calibrated: Values, weight: Values) -> None:
        ranker = self._blank()
        inner = final_step(ranker)
        if inner.get_params().get("random_state", 0) is None:
            seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            inner.set_params(random_state=seed)
        seen = np.append(~self.unseen_labels_, True)
        given = {
            "sample_weight": None if (weight == 1).all() else weight,
            "scores": self._places(calibrated)[:, seen]
            if has_fit_parameter(inner, "scores")
            else None,
        }
        self.ranker_ = fit_final(ranker, X, _ranks(calibrated, seen), **given)

    def _places(self, calibrated: Values) -> Values:
        """How far labels stand before the virtual label, which is last."""
        offsets, _ = virtual_label_offsets(calibrated)
        if self.gap_amplification != "auto":
            gap = float(self.gap_amplification)
        elif _orders_inside(calibrated):
            gap = float(calibrated.shape[1] - 1)
        else:
            offsets, gap = np.sign(offsets), 0.0
        places = -(offsets + np.sign(offsets) * gap / 2)
        return np.column_stack([places, np.zeros(len(places))])

    def _decision(self, X: Any) -> Values:
        scores = self.ranker_.decision_function(X)
        decision = np.zeros((len(scores), len(self.labels_)))
        decision[:, ~self.unseen_labels_] = scores[:, :-1] - scores[:, -1:]
        return decision

    @available_if(_has_probabilities)
    def predict_pairwise(self, X: Any) -> Values:
        """Predict how likely each label, or the virtual label, comes before each other.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels + 1, n_labels + 1)
            ``[n, i, j]`` is P(i before j), the virtual label last, calibrated as the ranker's; 1/2
            on the diagonal and for labels never judged. ``[n, i, -1]`` is the probability that
            label i is relevant.
        """
        check_is_fitted(self)
        ranker, reaching = at_final_step(self.ranker_, self._validate_X(X, reset=False))
        inner = ranker.predict_pairwise(reaching)
        whole = np.full((len(inner), *[len(self.labels_) + 1] * 2), 0.5)
        seen = np.append(~self.unseen_labels_, True)
        whole[np.ix_(np.ones(len(inner), dtype=bool), seen, seen)] = inner
        return whole


def _orders_inside(calibrated: Values) -> bool:
    """Whether a row puts one label before another on the same side of the virtual label."""
    levels = bucket_index(calibrated)
    before, behind = levels[:, -1], levels.max(axis=1) - levels[:, -1]
    return bool((np.maximum(before, behind) > 1).any())


def _ranks(calibrated: Values, seen: Mask) -> Values:
    """Calibrated ranks of some labels, which leave no rank beyond their number."""
    return calibrated if seen.all() else bucket_positions(calibrated[:, seen])

"""What every label ranker knows of pairs of labels: probabilities, ties, how sure it is."""

import warnings
from functools import update_wrapper
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from prefero import calibration
from prefero._docs import documented
from prefero._state import Array, FittedState, State
from prefero._typing import Indices, Mask, Values
from prefero.base._features import place_unseen_last
from prefero.base._fitting import copy_of
from prefero.rankings import ScoredRanks, strict_ranks

# A ranker without held-out scores is fitted again without a third of the rows at a time, until
# so many rows were left out once.
_FOLDS, _ENOUGH_ROWS = 3, 1000
# Entries of the arrays (instances x pairs) that one step of prediction may hold.
_BLOCK_ENTRIES = 2**22


def _is_calibration(table: Values, _: State) -> bool:
    margins, ahead, tied = table.T
    ascending = bool(margins[0] == 0 and (np.diff(margins) >= 0).all())
    return ascending and ahead.min() >= 0.5 and max(ahead.max(), tied.max()) <= 1


class _OfCalibrated:
    """Decorator of methods that only calibrated rankers have.

    A ranker has them not with ``calibrate=False``, nor if it comes from a model file that was
    written without a calibration.
    """

    def __init__(self, method: Any) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, ranker: Any, owner: Any = None) -> Any:
        wanted = getattr(ranker, "calibrate", True)
        if wanted and (hasattr(ranker, "calibration_") or not hasattr(ranker, "n_features_in_")):
            return self.method.__get__(ranker, owner)
        raise AttributeError(
            f"{type(ranker).__name__} has no {self.method.__name__}, for it is not calibrated: "
            f"{'fit it again' if wanted else 'set calibrate=True and fit it again'}."
        )


class PairwisePrediction(NamedTuple):
    """All that a ranker predicts for some instances; the pairs are those of `all_pairs`.

    Attributes
    ----------
    ranks : ndarray of shape (n_samples, n_labels)
        Ranks, 1 is best.
    before, tied : ndarray of shape (n_samples, n_pairs)
        How likely the first label of a pair comes first, a tie counted half; how likely the two
        are tied.
    scores : ndarray of shape (n_samples, n_labels)
        What ``decision_function`` returns.
    margins : ndarray of shape (n_samples, n_pairs)
        How far the first label of a pair is ahead.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker().fit([[0.0]] * 9, [[1, 2]] * 9)
    >>> pairwise_prediction(ranker, [[5.0]]).scores.shape
    (1, 2)
    """

    ranks: Indices
    before: Values
    tied: Values
    scores: Values
    margins: Values


@documented()
class PairProbabilitiesMixin:
    """Mixin that turns the margins of a ranker into calibrated probabilities.

    A margin is how far one label is ahead of another: the difference of the scores, unless the
    ranker writes ``_margins``. What margins are worth is learned in fit from rows that the model
    had not seen. A ranker that knows such predictions anyway (out-of-bag, leave-one-out,
    out-of-fold) writes ``_held_out_scores``, or ``_held_out_margins`` beside ``_margins``; any
    other is fitted again on parts of the data, unless it has a parameter ``calibrate`` that is
    False: then it has no probabilities.

    Attributes
    ----------
    calibration_ : ndarray of shape (n_knots, 3)
        Margins, ascending from 0; the probability that the label ahead by so much comes first,
        a tie being half of that; the probability that the two are tied.
    tie_blend_ : ndarray of shape (3,)
        If the ranker has a model of ties and there were some: a constant, and what its margins
        and that model count in the logit of the probability of a tie.
    """

    _fitted_state: ClassVar[FittedState] = {
        "calibration_": Array(
            "f8",
            "n_knots",
            3,
            low=0,
            optional=True,
            rule=("margins that ascend from 0, and probabilities", _is_calibration),
        ),
        "tie_blend_": Array("f8", 3, optional=True),
    }

    calibration_: Values
    tie_blend_: Values
    labels_: Any
    unseen_labels_: Mask

    # What a ranker may write

    def _margins(self, X: Any) -> Values | None:
        """Margins of all pairs, as in ``np.triu_indices``; None if they are score differences."""
        return None

    def _scores_and_margins(self, X: Any) -> tuple[Values, Values | None]:
        """Both at once, for a ranker whose scores are made of margins."""
        return self._decision(X), self._margins(X)  # type: ignore[attr-defined]

    def _held_out_scores(self, X: Any, target: Any, weight: Values, rows: Indices) -> Values | None:
        """Scores of some training rows by models that had not seen them; NaN where there is none.

        X, target and weight are what ``_fit`` was given. What it must hand over may be kept in
        ``_held_out``, which is deleted afterwards.
        """
        return None

    def _held_out_margins(
        self, X: Any, target: Any, weight: Values, rows: Indices
    ) -> Values | None:
        """The same for a ranker that has ``_margins``."""
        return None

    def _tie_shares(self, X: Any) -> Values | None:
        """Probabilities that pairs are tied, by a model of ties; None if they follow margins."""
        return None

    def _held_out_tie_shares(
        self, X: Any, target: Any, weight: Values, rows: Indices
    ) -> Values | None:
        """The same of some training rows by models that had not seen them."""
        return None

    def _learn_tie_model(self, X: Any, outcomes: Values, weight: Values) -> Values | None:
        """Learn a model of ties for ``_tie_shares``; return its shares for rows not seen.

        For a ranker without ties in what it learns. Outcomes are 1/2 where a pair is tied.
        """
        return None

    # Learning

    def _calibrate(self, blank: Any, X: Any, truth: Any, target: Any, weight: Values) -> None:
        """Learn what margins are worth.

        ``blank`` is the ranker before its fit, ``truth`` the ranks or graphs that the user gave,
        or ranks with scores, and ``target`` what was made of them for ``_fit``.
        """
        if not getattr(self, "calibrate", True):
            return
        pairs = calibration.calibration_pairs(len(self.labels_))
        rows = calibration.calibration_rows(len(weight), len(pairs.first))
        scores = self._held_out_scores(X, target, weight, rows)
        own = self._held_out_margins(X, target, weight, rows)
        ties = self._held_out_tie_shares(X, target, weight, rows)
        numbers = calibration.pair_numbers(pairs, len(self.labels_))
        if isinstance(truth, ScoredRanks):
            if scores is not None:
                self._learn_scores([scores], scores, truth.scores[rows], weight[rows])  # type: ignore[attr-defined]
            truth = truth.ranks
        if scores is not None:
            margins = calibration.score_margins(scores, pairs)
        elif own is not None:
            margins = own[:, numbers]
        else:
            margins, ties = _cross_fitted(blank, X, target, weight, rows, pairs)
        outcomes = calibration.pair_outcomes(truth[rows], pairs)
        self.calibration_ = calibration.learn_calibration(margins, outcomes, weight[rows])
        vars(self).pop("_held_out", None)
        vars(self).pop("tie_blend_", None)
        learned = self._learn_tie_model(X[rows], outcomes, weight[rows])
        ties = learned if learned is not None else ties if ties is None else ties[:, numbers]
        if ties is not None and self.calibration_[:, 2].any():
            by_margin = calibration.probability_tied(self.calibration_, margins)
            self.tie_blend_ = calibration.learn_tie_blend(by_margin, ties, outcomes, weight[rows])

    def _pair_margins(self, X: Any, pairs: calibration.LabelPairs) -> Values:
        own = self._margins(X)
        if own is not None:
            return own[:, calibration.pair_numbers(pairs, len(self.labels_))]
        return calibration.score_margins(self._decision(X), pairs)  # type: ignore[attr-defined]

    # Predicting

    def _pairwise_prediction(self, X: Any) -> PairwisePrediction:
        scores, margins = self._scores_and_margins(X)
        pairs = calibration.all_pairs(len(self.labels_))
        if margins is None:
            margins = calibration.score_margins(scores, pairs)
        before = calibration.probability_ahead(self.calibration_, margins)
        tied = self._tie_probabilities(X, margins)
        if self.unseen_labels_.any():
            unknown = self.unseen_labels_[pairs.first] | self.unseen_labels_[pairs.second]
            before[:, unknown], tied[:, unknown] = 0.5, 0.0
        if hasattr(self, "tie_blend_"):
            # Such a model knows more of the pair than its margin does.
            before = np.clip(before, tied / 2, 1 - tied / 2)
        else:
            tied = np.minimum(tied, 2 * np.minimum(before, 1 - before))
        scores = place_unseen_last(scores, self.unseen_labels_)
        return PairwisePrediction(strict_ranks(scores), before, tied, scores, margins)

    def _tie_probabilities(self, X: Any, margins: Values) -> Values:
        shares = self._tie_shares(X)
        if shares is None and not self.calibration_[:, 2].any():
            return np.zeros(margins.shape)  # the answer of the curve, sooner
        by_margin = calibration.probability_tied(self.calibration_, margins)
        if shares is None:
            return by_margin
        blend = getattr(self, "tie_blend_", None)
        return shares if blend is None else calibration.blended_ties(blend, by_margin, shares)

    def _by_blocks(self, reading: Any, X: Any) -> Any:
        """Apply a function to the predictions for blocks of rows."""
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)  # type: ignore[attr-defined]
        size = max(1, _BLOCK_ENTRIES // len(self.labels_) ** 2)
        parts = [
            reading(self._pairwise_prediction(X[rows])) for rows in gen_batches(X.shape[0], size)
        ]
        return np.concatenate(parts)

    @_OfCalibrated
    def predict_pairwise(self, X: Any) -> Values:
        """Predict how likely each label comes before each other.

        Of the pairs given a probability p, a share p comes true: the probabilities are
        calibrated on training rows that the model had not seen.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``[n, i, j]`` is P(label i before label j), a tie being half of that; 1/2 on the
            diagonal and for labels never seen.
        """
        return self._by_blocks(
            lambda belief: calibration.square(belief.before, 1 - belief.before, 0.5), X
        )

    @_OfCalibrated
    def predict_ties(self, X: Any) -> Values:
        """Predict how likely two labels are tied.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            ``[n, i, j]`` is P(label i and label j share a rank); 1 on the diagonal. Zero
            elsewhere if no training ranking held a tie.
        """
        return self._by_blocks(lambda belief: calibration.square(belief.tied, belief.tied, 1.0), X)

    @_OfCalibrated
    def predict_buckets(self, X: Any) -> Indices:
        """Predict ranks with ties.

        The predicted order is cut into the buckets for which the probabilities expect the
        greatest tau-x: labels are tied where that is likelier than one order over the other.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype int64
            Ranks, 1 is best; tied labels share the smallest position of their bucket.
        """
        return self._by_blocks(self._buckets, X)

    def _buckets(self, belief: PairwisePrediction) -> Indices:
        # Votes may put a pair against its own probability, which would gain by a tie; where no
        # training ranking held one, there is none.
        return (
            calibration.bucket_ranks(*belief[:3]) if self.calibration_[:, 2].any() else belief.ranks
        )

    @_OfCalibrated
    def predict_expected_tau(self, X: Any) -> Values:
        """Predict how good each predicted order is: the Kendall tau to expect.

        %(of_X)s

        Returns
        -------
        ndarray of shape (n_samples,)
            By the pair probabilities, the share of pairs that come in the predicted order less
            the share that come in the other.
        """
        return self._by_blocks(
            lambda belief: calibration.expected_tau(belief.ranks, belief.before), X
        )

    @_OfCalibrated
    def predict_partial(self, X: Any, threshold: float = 0.5) -> Mask:
        """Predict only the pairs whose probability exceeds a threshold.

        Parameters
        ----------
        %(X)s
        threshold : float, default=0.5
            In [0.5, 1): the larger, the more pairs are left open.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels), dtype bool
            ``[n, i, j]`` is True where label i is put before label j.

        References
        ----------
        Cheng, Hüllermeier, Waegeman & Welker (2012).
        """
        if not 0.5 <= threshold < 1:
            raise ValueError(f"threshold must lie in [0.5, 1), got {threshold!r}.")
        return self.predict_pairwise(X) > threshold


def pairwise_prediction(ranker: Any, X: Any, *, checked: bool = False) -> PairwisePrediction:
    """Return all that a calibrated ranker predicts for some instances, in one pass.

    Parameters
    ----------
    ranker : label ranker
        A fitted one that has ``predict_pairwise``.
    X : array-like of shape (n_samples, n_features)
        Instances, few enough that all pairs of labels fit into memory for each.
    checked : bool, default=False
        Whether X is what validation would return: then a row costs little more than its scores.

    Returns
    -------
    PairwisePrediction
        Ranks, and probabilities of the pairs of `prefero.calibration.all_pairs`.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker().fit([[0.0]] * 9, [[1, 2]] * 9)
    >>> pairwise_prediction(ranker, [[5.0]]).ranks
    array([[1, 2]])
    """
    return ranker._pairwise_prediction(X if checked else ranker._validate_X(X, reset=False))


def buckets_of(ranker: Any, predicted: PairwisePrediction) -> Indices:
    """Return the ranks with ties that ``predict_buckets`` makes of a prediction.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker().fit([[0.0]] * 9, [[1, 2]] * 9)
    >>> buckets_of(ranker, pairwise_prediction(ranker, [[5.0]]))
    array([[1, 2]])
    """
    return ranker._buckets(predicted)


def _cross_fitted(
    blank: Any, X: Any, target: Any, weight: Values, rows: Indices, pairs: calibration.LabelPairs
) -> tuple[Values, Values | None]:
    """Margins of training rows by rankers that were fitted without them, and shares of ties."""
    n = len(weight)
    margins = np.full((len(rows), len(pairs.first)), np.nan)
    ties = None
    places = np.random.default_rng(0).permutation(len(rows))
    size = -(-n // _FOLDS)
    for start in range(0, min(_ENOUGH_ROWS, len(rows)) if n > 1 else 0, size):
        left_out = places[start : start + size]
        seen = np.delete(np.arange(n), rows[left_out])
        copied = copy_of(blank, anew=False)
        # To go on from an earlier fit would be to go on from the rows left out.
        copied.warm_start = False
        with warnings.catch_warnings():
            # The fit to all rows has said so where a solver does not converge.
            warnings.simplefilter("ignore", ConvergenceWarning)
            copied._fit(X[seen], target[seen], weight[seen])
        margins[left_out] = copied._pair_margins(X[rows[left_out]], pairs)
        shares = copied._tie_shares(X[rows[left_out]])
        if shares is not None:
            ties = np.full((len(rows), shares.shape[1]), np.nan) if ties is None else ties
            ties[left_out] = shares
    return margins, ties

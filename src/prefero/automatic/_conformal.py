"""Sets of labels and ranks that hold the truth with a stated error."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._state import Array, FittedState, Word
from prefero._typing import Indices, Mask, Values
from prefero.automatic._decoding import BLOCK_ENTRIES, first_shares, log_worths, pair_sums
from prefero.rankings import bucket_positions

# The error at which the kinds of scores are compared, by the size of what they leave.
_COMPARED_AT = 0.1
# Complete rankings that are enough; fewer are helped out by others.
_ENOUGH_COMPLETE = 100
# The spread of a rank is never taken for less: a label all are sure of may still be elsewhere.
_LEAST_SPREAD = 0.05

FIRST_SCORES, RANK_SCORES = ("share", "cumulated"), ("distance", "spread")


class Conformal(NamedTuple):
    """How odd the truth looked on rows not seen, ascending, and by what score."""

    first_score: str
    first_oddities: Values
    rank_score: str
    rank_oddities: Values


def learn_conformal(margins: Values, truth: Values) -> Conformal:
    """Learn how odd the truth looks to a model that has not seen it.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first, by a model that has not seen
        the row.
    truth : ndarray of shape (n_samples, n_labels)
        Ranks. If complete rankings are few, the incomplete ones are completed as the model
        expects.

    Returns
    -------
    Conformal
        Of two kinds of scores that which leaves fewer labels, or shorter intervals.
    """
    n_labels = truth.shape[1]
    used = ~np.isnan(margins).any(axis=1) & ~np.isnan(truth).all(axis=1)
    margins, truth = margins[used], truth[used]
    if not len(truth):
        return Conformal(FIRST_SCORES[0], np.empty(0), RANK_SCORES[0], np.empty(0))
    complete = ~np.isnan(truth).any(axis=1)
    if complete.sum() >= _ENOUGH_COMPLETE:
        margins, truth = margins[complete], truth[complete]
    else:
        truth = completed(margins, truth)
    is_first, has_rank = _is_first(truth), _has_rank(truth)
    first = _smallest(
        FIRST_SCORES,
        lambda kind: first_oddities(margins, n_labels, kind),
        # A set must hold all labels that are first: the oddest of them decides.
        lambda odd: np.where(is_first, odd, -np.inf).max(axis=1),
    )
    rank = _smallest(
        RANK_SCORES,
        lambda kind: rank_oddities(margins, n_labels, kind),
        lambda odd: odd[has_rank],
    )
    return Conformal(*first, *rank)


def completed(margins: Values, truth: Values) -> Values:
    """Place missing labels as the model expects them, and leave the order of the others.

    Worths of all labels are drawn from the model (Plackett-Luce). Those that fall to the ranked
    labels are dealt out in their true order.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds of pairs.
    truth : ndarray of shape (n_samples, n_labels)
        Ranks, possibly incomplete or tied.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Complete ranks; tied labels stay so.
    """
    n_labels = truth.shape[1]
    drawn = log_worths(margins, n_labels) + np.random.default_rng(0).gumbel(size=truth.shape)
    known = ~np.isnan(truth)
    order = np.argsort(truth, axis=1, kind="stable")
    # Tied labels share the first worth of their bucket; missing ones, at the end, keep theirs.
    starts = _bucket_starts(np.take_along_axis(truth, order, axis=1))
    own = -np.sort(-np.where(known, drawn, -np.inf), axis=1)
    dealt = np.empty_like(drawn)
    np.put_along_axis(dealt, order, np.take_along_axis(own, starts, axis=1), axis=1)
    return _dense_ranks(-np.where(known, dealt, drawn))


def _bucket_starts(values: Values) -> Indices:
    """Where the bucket of equal values begins, for rows in order."""
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    return np.maximum.accumulate(np.where(new, np.arange(values.shape[1]), 0), axis=1)


def _dense_ranks(values: Values) -> Values:
    """The smallest value of a row is 1, the next smallest 2, equal ones alike."""
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    steps = np.ones(values.shape)
    steps[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, steps.cumsum(axis=1), axis=1)
    return ranks


def _smallest(
    kinds: tuple[str, ...],
    oddities: Callable[[str], Values],
    of_truth: Callable[[Values], Values],
) -> tuple[str, Values]:
    """The kind of score that leaves the fewest answers, and the scores of the true ones."""
    found: list[tuple[float, str, Values]] = []
    for kind in kinds:
        odd = oddities(kind)
        own = np.sort(of_truth(odd))
        left = float(np.mean(odd <= quantile(own, _COMPARED_AT))) if odd.size else 0.0
        found.append((left, kind, own))
    _, kind, own = min(found, key=lambda one: one[0])
    return kind, own


def quantile(oddities: Values, error: float) -> float:
    """Return the oddity that the truth exceeds with at most this probability.

    Parameters
    ----------
    oddities : ndarray of shape (n,)
        Of truths, ascending.
    error : float
        In (0, 1).

    Returns
    -------
    float
        Infinite if there are too few to say.

    Examples
    --------
    >>> quantile(np.arange(9.0), 0.2)
    7.0
    """
    place = int(np.ceil((1 - error) * (len(oddities) + 1)))
    return float(oddities[place - 1]) if place <= len(oddities) else float("inf")


def first_oddities(margins: Values, n_labels: int, kind: str) -> Values:
    """Return how odd it would be if each label came first.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds of pairs.
    n_labels : int
        The number of labels.
    kind : {"share", "cumulated"}
        1 less the share that the label has of being first; or the shares of all labels that
        have a larger one, which adapts to how sure the model is of an instance.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Larger is odder.
    """
    share = first_shares(margins, n_labels)
    if kind == "share":
        return 1 - share
    order = np.argsort(-share, axis=1, kind="stable")
    inside = np.take_along_axis(share, order, axis=1)
    oddities = np.empty_like(share)
    # Half of the own share counts, so that a sure first label is less odd than an unsure one.
    np.put_along_axis(oddities, order, inside.cumsum(axis=1) - inside / 2, axis=1)
    return oddities


def rank_oddities(margins: Values, n_labels: int, kind: str) -> Values:
    """Return how odd it would be if each label had each rank.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds of pairs.
    n_labels : int
        The number of labels.
    kind : {"distance", "spread"}
        How far the rank is from the one to expect; or that over the spread of ranks that the
        probabilities expect, which adapts to how sure the model is of a label.

    Returns
    -------
    ndarray of shape (n_samples, n_labels, n_labels)
        ``[n, i, r]`` of label i at rank r + 1.
    """
    before = expit(margins)
    expected = 1 + pair_sums(1 - before, before, n_labels)
    distance = np.abs(np.arange(1, n_labels + 1) - expected[:, :, None])
    if kind == "distance":
        return distance
    variance = before * (1 - before)
    spread = np.sqrt(pair_sums(variance, variance, n_labels))
    return distance / np.maximum(spread, _LEAST_SPREAD)[:, :, None]


def _is_first(truth: Values) -> Mask:
    return truth == np.fmin.reduce(truth, axis=1, keepdims=True)


def _has_rank(truth: Values) -> Mask:
    """Which rank each label has."""
    ranks = np.floor(bucket_positions(truth))
    return np.arange(1, truth.shape[1] + 1) == ranks[:, :, None]


@documented()
class ConformalMixin:
    """Mixin of stacks: answers that are wrong with a stated probability.

    They hold over instances like the training rows (marginal coverage), by cross-conformal
    prediction: how odd the truth looked in the folds that had not seen it bounds what is called
    possible of a new instance.

    Attributes
    ----------
    first_score_, rank_score_ : str
        By what scores answers are judged: those that left the smaller answers.
    first_oddities_, rank_oddities_ : ndarray
        Scores of the truth on rows that the members had not seen, ascending.
    """

    first_score_: str
    first_oddities_: Values
    rank_score_: str
    rank_oddities_: Values

    _fitted_state: ClassVar[FittedState] = {
        "first_score_": Word(*FIRST_SCORES),
        "first_oddities_": Array("f8", "n_first"),
        "rank_score_": Word(*RANK_SCORES),
        "rank_oddities_": Array("f8", "n_placed"),
    }

    def _learn_conformal(self, margins: Values, truth: Values) -> None:
        found = learn_conformal(margins, truth)
        self.first_score_, self.first_oddities_ = found.first_score, found.first_oddities
        self.rank_score_, self.rank_oddities_ = found.rank_score, found.rank_oddities

    def predict_top_set(self, X: Any, error: float = 0.1, *, allow_empty: bool = False) -> Mask:
        """Predict the labels that may be first.

        Parameters
        ----------
        %(X)s
        error : float, default=0.1
            How often, over instances like the training rows, the first label may be missing.
        allow_empty : bool, default=False
            Whether a set may be empty. By default the likeliest label is always in it, so that
            a model that errs less than it may covers more than it need.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype bool
            True for labels that may be first; for tied ones all of them.
        """
        return self._of_margins(lambda margins: self._top_set(margins, error, allow_empty), X)

    def _top_set(self, margins: Values, error: float, allow_empty: bool = False) -> Mask:
        """Return the labels that may be first, by the margins of all pairs."""
        limit = self._limit(self.first_oddities_, error)
        odd = first_oddities(margins, self._n_labels, self.first_score_)
        possible = _within(odd, limit, allow_empty)
        possible[:, self.unseen_labels_] = np.isinf(limit)  # type: ignore[attr-defined]
        return possible

    def predict_rank_intervals(
        self, X: Any, error: float = 0.1, *, allow_empty: bool = False
    ) -> Indices:
        """Predict for each label the ranks that it may have.

        Parameters
        ----------
        %(X)s
        error : float, default=0.1
            How often, over labels and instances like the training rows, the rank of a label
            may be outside of its interval.
        allow_empty : bool, default=False
            Whether an interval may be empty (its end before its start).

        Returns
        -------
        ndarray of shape (n_samples, n_labels, 2), dtype int64
            The first and the last rank of each label. The rank of tied labels is the mean
            position of their bucket, rounded down.
        """
        limit = self._limit(self.rank_oddities_, error)

        def reading(margins: Values) -> Indices:
            odd = rank_oddities(margins, self._n_labels, self.rank_score_)
            possible = _within(odd, limit, allow_empty)
            start = possible.argmax(axis=2)
            end = possible.sum(axis=2) + start
            return np.stack([start + 1, end], axis=2)

        return self._of_margins(reading, X)

    def _limit(self, oddities: Values, error: float) -> float:
        check_is_fitted(self)
        if not 0 < error < 1:
            raise ValueError(f"error must lie in (0, 1), got {error!r}.")
        return quantile(oddities, error)

    @property
    def _n_labels(self) -> int:
        return len(self.labels_)  # type: ignore[attr-defined]

    def _of_margins(self, reading: Any, X: Any) -> Any:
        X = self._validate_X(X, reset=False)  # type: ignore[attr-defined]
        size = max(1, BLOCK_ENTRIES // self._n_labels**2)
        parts = [
            reading(self._margins(X[rows]))  # type: ignore[attr-defined]
            for rows in gen_batches(X.shape[0], size)
        ]
        return np.concatenate(parts)


def _within(oddities: Values, limit: float, allow_empty: bool) -> Mask:
    """What is not too odd; at least the least odd, unless nothing is allowed too."""
    possible = oddities <= limit
    if not allow_empty:
        least = np.expand_dims(oddities.argmin(axis=-1), -1)
        np.put_along_axis(possible, least, True, axis=-1)
    return possible

"""Conformal predictions: sets of labels and intervals of ranks with a stated error."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero._state import Array, FittedState, Word
from prefero._typing import Indices, Mask, Values
from prefero.automatic._pair_margins import BLOCK_ENTRIES, first_shares, log_worths, pair_sums
from prefero.rankings import bucket_positions

# The error at which the kinds of nonconformity scores are compared, by the size of their sets.
_COMPARED_AT = 0.1
# With so many complete rankings the incomplete ones are not used.
_ENOUGH_COMPLETE = 100
# The least standard deviation of a rank: even a certain label may be elsewhere.
_LEAST_SPREAD = 0.05

TOP_SCORES, RANK_SCORES = ("share", "cumulated"), ("distance", "spread")


class Conformal(NamedTuple):
    """Nonconformity scores of the truth on unseen rows, ascending, and their kinds."""

    top_score: str
    top_nonconformity: Values
    rank_score: str
    rank_nonconformity: Values


def learn_conformal(margins: Values, truth: Values) -> Conformal:
    """Compute the nonconformity of the truth on unseen rows.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Out-of-fold log-odds that the first label of each pair comes first.
    truth : ndarray of shape (n_samples, n_labels)
        Ranks. If complete rankings are few, the incomplete ones are completed as the model
        expects.

    Returns
    -------
    Conformal
        The kind of score with the smaller sets, or the shorter intervals, of two each.
    """
    n_labels = truth.shape[1]
    used = ~np.isnan(margins).any(axis=1) & ~np.isnan(truth).all(axis=1)
    margins, truth = margins[used], truth[used]
    if not len(truth):
        return Conformal(TOP_SCORES[0], np.empty(0), RANK_SCORES[0], np.empty(0))
    complete = ~np.isnan(truth).any(axis=1)
    if complete.sum() >= _ENOUGH_COMPLETE:
        margins, truth = margins[complete], truth[complete]
    else:
        truth = completed(margins, truth)
    is_first, has_rank = _is_first(truth), _has_rank(truth)
    first = _smallest(
        TOP_SCORES,
        lambda kind: top_nonconformity(margins, n_labels, kind),
        # A set must hold all labels that are tied first: the least conforming one decides.
        lambda scores: np.where(is_first, scores, -np.inf).max(axis=1),
    )
    rank = _smallest(
        RANK_SCORES,
        lambda kind: rank_nonconformity(margins, n_labels, kind),
        lambda scores: scores[has_rank],
    )
    return Conformal(*first, *rank)


def completed(margins: Values, truth: Values) -> Values:
    """Place missing labels as the model expects them, and leave the order of the others.

    Worths of all labels are drawn from the model (Plackett-Luce). Those of the ranked labels are
    then reassigned in their true order.

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
    """Where the bucket of each value starts, in sorted rows."""
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
    kinds: tuple[str, ...], scores_of: Callable[[str], Values], of_truth: Callable[[Values], Values]
) -> tuple[str, Values]:
    """The kind of score with the smallest sets, and the scores of the truth."""
    found: list[tuple[float, str, Values]] = []
    for kind in kinds:
        scores = scores_of(kind)
        own = np.sort(of_truth(scores))
        size = float(np.mean(scores <= quantile(own, _COMPARED_AT))) if scores.size else 0.0
        found.append((size, kind, own))
    _, kind, own = min(found, key=lambda one: one[0])
    return kind, own


def quantile(nonconformity: Values, error: float) -> float:
    """Return the score that the truth exceeds with at most this probability.

    Parameters
    ----------
    nonconformity : ndarray of shape (n,)
        Scores of the truth, ascending.
    error : float
        In (0, 1).

    Returns
    -------
    float
        Infinite if there are too few scores.

    Examples
    --------
    >>> quantile(np.arange(9.0), 0.2)
    7.0
    """
    place = int(np.ceil((1 - error) * (len(nonconformity) + 1)))
    return float(nonconformity[place - 1]) if place <= len(nonconformity) else float("inf")


def top_nonconformity(margins: Values, n_labels: int, kind: str) -> Values:
    """Return the nonconformity of each label as the first.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds of pairs.
    n_labels : int
        The number of labels.
    kind : {"share", "cumulated"}
        1 minus the probability of being first; or the sum of all larger probabilities, which
        adapts to how certain the model is about an instance.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Larger conforms less.
    """
    share = first_shares(margins, n_labels)
    if kind == "share":
        return 1 - share
    order = np.argsort(-share, axis=1, kind="stable")
    inside = np.take_along_axis(share, order, axis=1)
    nonconformity = np.empty_like(share)
    # Half of the own share counts, so that a certain first label conforms best.
    np.put_along_axis(nonconformity, order, inside.cumsum(axis=1) - inside / 2, axis=1)
    return nonconformity


def rank_nonconformity(margins: Values, n_labels: int, kind: str) -> Values:
    """Return the nonconformity of each label at each rank.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds of pairs.
    n_labels : int
        The number of labels.
    kind : {"distance", "spread"}
        The distance of the rank from the expected one; or that distance over the expected
        standard deviation, which adapts to how certain the model is about a label.

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
    """Mixin of stacks: sets and intervals that miss the truth with a stated probability.

    Cross-conformal prediction: the nonconformity of the truth in held-out folds bounds what is
    considered possible for a new instance. For this method a marginal coverage of 1 - 2 ``error``
    is proven, over instances like the training rows and with the models of the folds; the model
    here is refitted to all rows. Measured coverage is close to 1 - ``error``.

    Attributes
    ----------
    top_score_, rank_score_ : str
        The kinds of nonconformity scores: those with the smaller sets.
    top_nonconformity_, rank_nonconformity_ : ndarray
        Out-of-fold scores of the truth, ascending.
    """

    top_score_: str
    top_nonconformity_: Values
    rank_score_: str
    rank_nonconformity_: Values

    _fitted_state: ClassVar[FittedState] = {
        "top_score_": Word(*TOP_SCORES),
        "top_nonconformity_": Array("f8", "n_first"),
        "rank_score_": Word(*RANK_SCORES),
        "rank_nonconformity_": Array("f8", "n_placed"),
    }

    def _learn_conformal(self, margins: Values, truth: Values) -> None:
        found = learn_conformal(margins, truth)
        self.top_score_, self.top_nonconformity_ = found.top_score, found.top_nonconformity
        self.rank_score_, self.rank_nonconformity_ = found.rank_score, found.rank_nonconformity

    def predict_top_set(self, X: Any, error: float = 0.1, *, allow_empty: bool = False) -> Mask:
        """Predict the labels that may be first.

        Parameters
        ----------
        %(X)s
        error : float, default=0.1
            How often the true first label may be missing, over instances like the training rows.
        allow_empty : bool, default=False
            Whether a set may be empty. By default the most likely label is always in it, so that
            coverage may exceed 1 - ``error``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype bool
            True for labels that may be first, including all that may be tied.
        """
        return self._of_margins(lambda margins: self._top_set(margins, error, allow_empty), X)

    def _top_set(self, margins: Values, error: float, allow_empty: bool = False) -> Mask:
        """Return the labels that may be first, from the margins of all pairs."""
        limit = self._limit(self.top_nonconformity_, error)
        scores = top_nonconformity(margins, self._n_labels, self.top_score_)
        possible = _within(scores, limit, allow_empty)
        possible[:, self.unseen_labels_] = np.isinf(limit)  # type: ignore[attr-defined]
        return possible

    def predict_rank_intervals(
        self, X: Any, error: float = 0.1, *, allow_empty: bool = False
    ) -> Indices:
        """Predict an interval of ranks for each label.

        Parameters
        ----------
        %(X)s
        error : float, default=0.1
            How often the rank of a label may be outside its interval, over labels and instances
            like the training rows.
        allow_empty : bool, default=False
            Whether intervals may be empty (the end before the start).

        Returns
        -------
        ndarray of shape (n_samples, n_labels, 2), dtype int64
            The first and the last rank of each label. The rank of tied labels is the mean
            position of their bucket, rounded down.
        """

        def reading(margins: Values) -> Indices:
            limit = self._limit(self.rank_nonconformity_, error)
            scores = rank_nonconformity(margins, self._n_labels, self.rank_score_)
            possible = _within(scores, limit, allow_empty)
            start = possible.argmax(axis=2)
            end = possible.sum(axis=2) + start
            return np.stack([start + 1, end], axis=2)

        return self._of_margins(reading, X)

    def _limit(self, nonconformity: Values, error: float) -> float:
        if not 0 < error < 1:
            raise ValueError(f"error must lie in (0, 1), got {error!r}.")
        return quantile(nonconformity, error)

    @property
    def _n_labels(self) -> int:
        return len(self.labels_)  # type: ignore[attr-defined]

    def _of_margins(self, reading: Any, X: Any) -> Any:
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)  # type: ignore[attr-defined]
        size = max(1, BLOCK_ENTRIES // self._n_labels**2)
        parts = [
            reading(self._margins(X[rows]))  # type: ignore[attr-defined]
            for rows in gen_batches(X.shape[0], size)
        ]
        return np.concatenate(parts)


def _within(nonconformity: Values, limit: float, allow_empty: bool) -> Mask:
    """What conforms well enough; unless a set may be empty, at least what conforms best."""
    possible = nonconformity <= limit
    if not allow_empty:
        least = np.expand_dims(nonconformity.argmin(axis=-1), -1)
        np.put_along_axis(possible, least, True, axis=-1)
    return possible

"""Rankings together with what their labels are worth."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from prefero._typing import Mask, Values
from prefero.exceptions import RowError
from prefero.rankings._ranks import pair_signs
from prefero.rankings._validation import label_names

# Squares and sums of larger scores could leave the range of float64.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class ScoredRanks:
    """Ranks and scores of the same labels in the same rows.

    Attributes
    ----------
    ranks : ndarray of shape (n_samples, n_labels)
        Validated ranks.
    scores : ndarray of shape (n_samples, n_labels)
        What each label is worth, larger is better; NaN exactly where the rank is.

    Examples
    --------
    >>> scored = ScoredRanks(np.array([[1.0, 2.0]]), np.array([[0.9, 0.4]]))
    >>> scored.ranks
    array([[1., 2.]])
    """

    ranks: Values
    scores: Values

    @classmethod
    def checked(cls, ranks: Values, scores: Any, target: Any = None) -> Self:
        """Return ranks with their scores, or explain how the two contradict each other.

        Parameters
        ----------
        ranks : ndarray of shape (n_samples, n_labels)
            Validated ranks.
        scores : array-like of shape (n_samples, n_labels)
            Larger is better; looked at where a label is ranked only.
        target : array-like or DataFrame, optional
            The ranks as they were given, for the names of labels.

        Returns
        -------
        ScoredRanks
            Both.

        Examples
        --------
        >>> ScoredRanks.checked(np.array([[1.0, 2.0]]), [[0.9, 0.4]]).scores
        array([[0.9, 0.4]])
        >>> ScoredRanks.checked(np.array([[1.0, 2.0]]), [[0.4, 0.9]])
        Traceback (most recent call last):
            ...
        prefero.exceptions.RowError: scores[0]: label 0 is ranked before label 1 but scored ...
        """
        names, own = label_names(target), label_names(scores)
        if names is not None and own is not None and list(names) != list(own):
            raise ValueError(
                f"The columns of scores are {list(own)}, but those of y are {list(names)}: give "
                "the same labels in the same order."
            )
        worth = check_array(
            scores, dtype=np.float64, order="C", ensure_all_finite="allow-nan", input_name="scores"
        )
        if worth.shape != ranks.shape:
            raise ValueError(f"scores have the shape {worth.shape}, but y has {ranks.shape}.")
        labels = np.array(range(ranks.shape[1]), dtype=object) if names is None else names
        ranked = ~np.isnan(ranks)
        _refuse_missing(worth, ranked, labels)
        _refuse_other_order(ranks, worth, labels)
        return cls(ranks, np.where(ranked, worth, np.nan))

    def __len__(self) -> int:
        return len(self.ranks)

    def __getitem__(self, rows: Any) -> "ScoredRanks":
        return ScoredRanks(self.ranks[rows], self.scores[rows])

    def relative(self) -> Values:
        """Return scores less the mean of their row; 0 where there is none.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Only differences inside a row say anything about its order.
        """
        known = ~np.isnan(self.scores)
        total = np.sum(self.scores, axis=1, where=known, keepdims=True)
        mean = total / np.maximum(known.sum(axis=1, keepdims=True), 1)
        return np.where(known, self.scores - mean, 0.0)

    def pair_weights(self, weight: Values) -> Values:
        """Return how much is at stake between two labels: the difference of their scores.

        Parameters
        ----------
        weight : ndarray of shape (n_samples,)
            Weights of the rows.

        Returns
        -------
        ndarray of shape (n_samples, n_pairs)
            As `pair_signs` lists the pairs; 1 on average over all that a row orders.
        """
        first, second = np.triu_indices(self.ranks.shape[1], 1)
        apart = np.abs(self.scores[:, first] - self.scores[:, second])
        ordered = pair_signs(self.ranks) != 0
        apart = np.where(ordered, apart, 0.0)
        total = weight @ apart.sum(axis=1)
        return apart * (weight @ ordered.sum(axis=1) / total) if total > 0 else ordered * 1.0


def ranks_of(target: Values | ScoredRanks) -> Values:
    """Return the ranks of a target that may have scores.

    Parameters
    ----------
    target : ndarray of shape (n_samples, n_labels) or ScoredRanks
        Validated ranks, or those with scores.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Ranks.

    Examples
    --------
    >>> ranks = np.array([[1.0, 2.0]])
    >>> ranks_of(ScoredRanks(ranks, np.array([[0.9, 0.4]]))) is ranks_of(ranks)
    True
    """
    return target.ranks if isinstance(target, ScoredRanks) else target


def _refuse_missing(worth: Values, ranked: Mask, labels: NDArray[Any]) -> None:
    lost = ranked & ~(np.abs(worth) <= _LARGEST)  # NaN is not
    if not lost.any():
        return
    row, label = (int(i) for i in np.argwhere(lost)[0])
    found = worth[row, label]
    if np.isnan(found):
        raise RowError(f"label {labels[label]!r} is ranked but has no score.", "scores", row)
    raise RowError(
        f"label {labels[label]!r} has score {found:g}, beyond {_LARGEST:g} in size: scale them.",
        "scores",
        row,
    )


def _refuse_other_order(ranks: Values, worth: Values, labels: NDArray[Any]) -> None:
    """Raise where a label is ranked before another that is worth more; ties are no matter."""
    order = np.lexsort((-worth, ranks), axis=1)  # the best of a rank first, unknown ranks last
    rank, score = (np.take_along_axis(values, order, axis=1) for values in (ranks, worth))
    wrong = (rank[:, :-1] < rank[:, 1:]) & (score[:, :-1] < score[:, 1:])
    if not wrong.any():
        return
    row, at = (int(i) for i in np.argwhere(wrong)[0])
    first, second = (labels[label] for label in order[row, at : at + 2])
    raise RowError(
        f"label {first!r} is ranked before label {second!r} but scored {score[row, at]:g}, below "
        f"{score[row, at + 1]:g}: larger scores are better; if smaller ones are, give -scores.",
        "scores",
        row,
    )

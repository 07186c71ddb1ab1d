"""Which label stands before which other one how often."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from prefero._typing import Values
from prefero.inspection._style import (
    Display,
    displayed,
    matrix_frame,
    room_for,
    short_names,
    some_of,
    write_percentages,
)
from prefero.rankings import label_names, pair_signs

__all__ = ["PairMatrixDisplay"]

# Names of so many letters stand below a column without touching one another.
_SHORT = 3


@dataclass(eq=False, repr=False)
class PairMatrixDisplay(Display):
    """A matrix of how often the label of the row stands before that of the column.

    Parameters
    ----------
    shares : ndarray of shape (n_labels, n_labels)
        Shares or probabilities; NaN where nothing is known.
    labels : sequence
        Names of the labels.
    title : str, default=""
        The title.
    quantity : str, default="share of rankings"
        What the numbers are.

    %(drawn_on)s

    Examples
    --------
    >>> display = PairMatrixDisplay.from_ranks([[1, 2], [1, 2], [2, 1]], labels=["tea", "milk"])
    >>> float(display.shares[0, 1].round(2))
    0.67
    """

    shares: Values
    labels: Sequence[Any]
    _: KW_ONLY
    title: str = ""
    quantity: str = "share of rankings"

    @classmethod
    def from_ranks(
        cls, Y: ArrayLike, *, labels: Sequence[Any] | None = None, title: str = "", ax: Any = None
    ) -> Self:
        """Draw how often each pair is ordered one way, among the rankings that order it.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_labels)
            Ranks.
        %(labels)s
        title : str, default=""
            What the rankings are.
        %(ax)s

        %(display)s
        """
        names = label_names(Y) if labels is None else labels
        return cls._sorted(pair_shares(Y), names, title=title).plot(ax)

    @classmethod
    def from_estimator(
        cls, ranker: Any, X: Any, *, title: str = "predicted", ax: Any = None
    ) -> Self:
        """Draw the mean of the probabilities that a ranker predicts for some instances.

        Parameters
        ----------
        ranker : label ranker
            Fitted. One without ``predict_pairwise`` is drawn by its predicted ranks.
        %(X)s
        title : str, default="predicted"
            The title.
        %(ax)s

        %(display)s
        """
        names = getattr(ranker, "labels_", None)
        if not hasattr(ranker, "predict_pairwise"):
            return cls._sorted(pair_shares(ranker.predict(X)), names, title=title).plot(ax)
        mean = ranker.predict_pairwise(X).mean(axis=0)
        np.fill_diagonal(mean, np.nan)
        return cls._sorted(mean, names, title=title, quantity="mean probability").plot(ax)

    @classmethod
    def _sorted(cls, shares: Values, names: Any, **words: str) -> Self:
        """Put the labels that win most in front, so that an order shows as a triangle."""
        names = list(range(len(shares))) if names is None else list(names)
        order = np.argsort(-np.nansum(shares - 0.5, axis=1), kind="stable")
        ordered = shares[np.ix_(order, order)]
        return cls(ordered, [names[i] for i in order], **words)

    def _draw(self, ax: Any) -> None:
        c = len(self.labels)
        size = min(max(2.6, 0.45 * c), 9)
        names, note = short_names(self.labels)
        # Below the columns there is no room for words: they are the rows again, by number.
        numbered = max(map(len, names), default=0) > _SHORT
        rows = [f"{name}  {i}" for i, name in enumerate(names, 1)] if numbered else names
        ax = self._axes(ax, size + 2.2 + room_for(rows), size + 0.9)
        image = ax.imshow(self.shares, cmap="PuOr", vmin=0, vmax=1)
        write_percentages(ax, image)
        ticks = some_of(c) if numbered else list(range(c))
        ax.set_xticks(ticks, [place + 1 if numbered else names[place] for place in ticks])
        ax.set_yticks(range(c), rows)
        ax.set(
            title=self.title,
            ylabel=" ".join(filter(None, (note, "this label ..."))),
            xlabel="... stands before this one" + (", by its number" if numbered else ""),
        )
        matrix_frame([ax], image, self.quantity)


@displayed
def pair_shares(Y: ArrayLike) -> Values:
    """Return how often label i stands before label j, among the rankings that order the pair.

    Parameters
    ----------
    %(ranks)s

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        Shares; NaN on the diagonal and for pairs that no ranking orders.

    Examples
    --------
    >>> pair_shares([[1, 2, 3], [2, 1, 3], [1, 2, 2], [1, 2, 3]])
    array([[ nan, 0.75, 1.  ],
           [0.25,  nan, 1.  ],
           [0.  , 0.  ,  nan]])
    """
    signs = pair_signs(Y)
    c = np.shape(Y)[1]
    before, after = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    ordered = before + after
    share = np.where(ordered > 0, before / np.where(ordered > 0, ordered, 1), np.nan)
    matrix = np.full((c, c), np.nan)
    first, second = np.triu_indices(c, 1)
    matrix[first, second], matrix[second, first] = share, 1 - share
    return matrix

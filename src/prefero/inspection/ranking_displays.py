"""Displays of rankings: which label takes which rank, and which comes before which."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from prefero._docs import documented
from prefero._optional import require
from prefero._typing import ArrayOrNone, Values
from prefero.inspection import _display as drawing
from prefero.rankings import (
    bucket_positions,
    check_ranks,
    label_names,
    pair_signs,
    ranks_from_scores,
)


@documented()
@dataclass(eq=False, repr=False)
class RankHeatmapDisplay:
    """Label x rank heat maps, side by side: true rankings and predicted ones.

    Parameters
    ----------
    shares : dict of str to ndarray of shape (n_labels, n_labels)
        By title: ``[i, r]`` is the share of the rankings of label i that put it at place r + 1.
    labels : sequence
        Names of the labels.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        One per heat map.
    figure_ : matplotlib figure
        The figure.

    Examples
    --------
    >>> display = RankHeatmapDisplay.from_ranks([[1, 2], [1, 2], [2, 1]], labels=["tea", "milk"])
    >>> display.labels
    ['tea', 'milk']
    """

    shares: dict[str, Values]
    labels: Sequence[Any]
    axes_: list[Any] = field(init=False)
    figure_: Any = field(init=False)

    @classmethod
    def from_ranks(
        cls,
        Y: ArrayLike,
        Y_pred: ArrayOrNone = None,
        *,
        labels: Sequence[Any] | None = None,
        axes: Any = None,
    ) -> Self:
        """Draw rank matrices, the labels in the order of their mean place in the first.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_labels)
            Ranks. Tied labels share the places of their bucket equally.
        Y_pred : array-like of shape (n_samples, n_labels), optional
            Predicted ranks.
        %(label_names)s
        %(axes)s

        %(display)s
        """
        shares = {"true": rank_shares(Y)}
        if Y_pred is not None:
            shares["predicted"] = rank_shares(Y_pred)
        c = len(shares["true"])
        names = label_names(Y) if labels is None else labels
        names = list(range(c)) if names is None else list(names)
        order = np.argsort(shares["true"] @ np.arange(c), kind="stable")
        ordered = {title: share[order] for title, share in shares.items()}
        return cls(ordered, [names[i] for i in order]).plot(axes)

    @classmethod
    def from_estimator(cls, ranker: Any, X: Any, y: ArrayLike, *, axes: Any = None) -> Self:
        """Draw the rankings of some instances beside those that a ranker predicts.

        Parameters
        ----------
        ranker : label ranker
            Fitted.
        %(X)s
        %(y)s
        %(axes)s

        %(display)s
        """
        names = getattr(ranker, "labels_", None)
        return cls.from_ranks(y, ranker.predict(X), labels=names, axes=axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw the heat maps.

        Parameters
        ----------
        %(axes)s

        %(display)s
        """
        c, panels = len(self.labels), len(self.shares)
        names, note = drawing.short_names(self.labels)
        if axes is None:
            size = min(max(2.2, 0.42 * c), 8)
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="Drawing")
            axes = pyplot.subplots(
                ncols=panels,
                figsize=(panels * size + 1.4 + drawing.room_for(names), size + 0.9),
                sharey=True,
                squeeze=False,
                layout="constrained",
            )[1][0]
        self.axes_ = list(np.atleast_1d(axes))
        self.figure_ = self.axes_[0].figure
        brightest = max(float(np.nanmax(share)) for share in self.shares.values())
        for ax, (title, share) in zip(self.axes_, self.shares.items(), strict=True):
            image = ax.imshow(share, cmap="Blues", vmin=0, vmax=brightest, aspect="auto")
            drawing.write_percentages(ax, image)
            ax.set(title=title, xlabel="rank")
            ticks = drawing.some_of(c)
            ax.set_xticks(ticks, [place + 1 for place in ticks])
            ax.set_yticks(range(c), names)
            ax.set_ylabel(note)
            ax.label_outer()
        drawing.matrix_frame(self.axes_, image, "share of rankings")
        return self


@documented()
def rank_shares(Y: ArrayLike) -> Values:
    """Return how often each label takes each rank, as shares of the rankings that hold it.

    Parameters
    ----------
    %(ranks_drawn)s

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        ``[i, r]`` for label i and place r + 1; rows sum to 1, or are NaN for a label that no
        ranking holds.

    Examples
    --------
    >>> rank_shares([[1, 2, 3], [1, 2, 2]])
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.75, 0.25],
           [0.  , 0.25, 0.75]])
    """
    ranks = check_ranks(Y)
    first = ranks_from_scores(ranks, higher_is_better=False)
    size = 2 * (bucket_positions(ranks) - first) + 1
    places = np.arange(1, first.shape[1] + 1)
    weight = [np.nansum(((first <= r) & (r < first + size)) / size, axis=0) for r in places]
    taken = np.array(weight).T
    total = taken.sum(axis=1, keepdims=True)
    return np.where(total > 0, taken / np.where(total > 0, total, 1), np.nan)


# Names of so many letters fit below a column.
_SHORT = 3


@dataclass(eq=False, repr=False)
class PairMatrixDisplay(drawing.Display):
    """A matrix of how often the label of the row comes before that of the column.

    Parameters
    ----------
    shares : ndarray of shape (n_labels, n_labels)
        Shares or probabilities; NaN where nothing is known.
    labels : sequence
        Names of the labels.
    title : str, default=""
        The title.
    quantity : str, default="share of rankings"
        The meaning of the numbers.

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
        """Draw how often one label comes before another, among the rankings that order both.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_labels)
            Ranks.
        %(label_names)s
        title : str, default=""
            The title.
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
        """Sort labels by wins, so that an order shows as a triangle."""
        names = list(range(len(shares))) if names is None else list(names)
        order = np.argsort(-np.nansum(shares - 0.5, axis=1), kind="stable")
        ordered = shares[np.ix_(order, order)]
        return cls(ordered, [names[i] for i in order], **words)

    def _draw(self, ax: Any) -> None:
        c = len(self.labels)
        size = min(max(2.6, 0.45 * c), 9)
        names, note = drawing.short_names(self.labels)
        # Long names do not fit below columns, which are then numbered.
        numbered = max(map(len, names), default=0) > _SHORT
        rows = [f"{name}  {i}" for i, name in enumerate(names, 1)] if numbered else names
        ax = self._axes(ax, size + 2.2 + drawing.room_for(rows), size + 0.9)
        image = ax.imshow(self.shares, cmap="PuOr", vmin=0, vmax=1)
        drawing.write_percentages(ax, image)
        ticks = drawing.some_of(c) if numbered else list(range(c))
        ax.set_xticks(ticks, [place + 1 if numbered else names[place] for place in ticks])
        ax.set_yticks(range(c), rows)
        ax.set(
            title=self.title,
            ylabel=" ".join(filter(None, (note, "this label ..."))),
            xlabel="... comes before this one" + (", by its number" if numbered else ""),
        )
        drawing.matrix_frame([ax], image, self.quantity)


@documented()
def pair_shares(Y: ArrayLike) -> Values:
    """Return how often label i comes before label j, among the rankings that order both.

    Parameters
    ----------
    %(ranks_drawn)s

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        Shares; NaN on the diagonal and for pairs never ordered.

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

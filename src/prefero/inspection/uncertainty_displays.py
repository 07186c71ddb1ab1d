"""Displays of uncertainty: calibration of pair probabilities, and the effect of abstaining."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_consistent_length

from prefero._typing import Values
from prefero.inspection._display import COLORS, Display, open_frame
from prefero.metrics import kendall_tau, pairwise_calibration_curve


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """Share of pairs in the predicted order against their probability, with their number.

    Parameters
    ----------
    predicted : ndarray of shape (n_bins,)
        The mean probability of the pairs in each bin.
    observed : ndarray of shape (n_bins,)
        The share of them in the more likely order.
    weight : ndarray of shape (n_bins,)
        Their number.
    n_bins : int
        The number of bins between 1/2 and 1, including empty ones.

    %(drawn_on)s

    Examples
    --------
    >>> from prefero import ForestLabelRanker
    >>> from prefero.datasets import make_label_ranking
    >>> X, Y = make_label_ranking(100, 3, 3, random_state=0)
    >>> forest = ForestLabelRanker(10, random_state=0).fit(X[:50], Y[:50])
    >>> display = CalibrationDisplay.from_estimator(forest, X[50:], Y[50:], n_bins=5)
    >>> bool(display.weight.sum() > 0)
    True
    """

    predicted: Values
    observed: Values
    weight: Values
    n_bins: int

    @classmethod
    def from_estimator(
        cls, ranker: Any, X: Any, y: ArrayLike, *, n_bins: int = 15, ax: Any = None
    ) -> Self:
        """Draw the calibration of a ranker's pair probabilities on some instances.

        Parameters
        ----------
        ranker : label ranker
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Held-out instances.
        %(y)s
        n_bins : int, default=15
            Bins of equal width between 1/2 and 1.
        %(ax)s

        %(display)s
        """
        return cls.from_predictions(y, ranker.predict_pairwise(X), n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, probability: ArrayLike, *, n_bins: int = 15, ax: Any = None
    ) -> Self:
        """Draw the calibration of pair probabilities.

        Parameters
        ----------
        %(y)s
        probability : array-like of shape (n_samples, n_labels, n_labels)
            ``[n, i, j]`` is P(label i before label j).
        n_bins : int, default=15
            Bins of equal width between 1/2 and 1.
        %(ax)s

        %(display)s
        """
        curve = pairwise_calibration_curve(y, probability, n_bins=n_bins)
        if not len(curve.weight):
            raise ValueError("No row of y orders two labels: there is no pair to draw.")
        return cls(*curve, n_bins).plot(ax)

    @property
    def error(self) -> float:
        """The expected calibration error."""
        return float(np.abs(self.predicted - self.observed) @ self.weight / self.weight.sum())

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 5, 4.4)
        counts = ax.twinx()
        self._draw_counts(counts)
        # Bars have their own axes, below the curve.
        ax.set_zorder(counts.get_zorder() + 1)
        ax.patch.set_visible(False)
        lowest = min(0.5, self.observed.min())
        ax.plot([0.5, 1], [0.5, 1], color=COLORS[1], linestyle="--", linewidth=1, label="exact")
        ax.plot(self.predicted, self.observed, color=COLORS[0], marker="o", markersize=5)
        ax.legend(frameon=False, loc="best")
        ax.set(
            xlim=(0.49, 1.01),
            # The lowest fifth is for the bars.
            ylim=(lowest - (1 - lowest) / 4, 1.02),
            xlabel="predicted probability of the more likely order",
            ylabel="share of pairs in that order",
            title=f"Expected calibration error: {self.error:.3f}",
        )
        for axis in (ax.xaxis, ax.yaxis):
            # Shares are not negative; bars are drawn there.
            axis.set_major_formatter(lambda share, _: f"{share:.0%}" if share > -1e-9 else "")
        open_frame(ax)

    def _draw_counts(self, ax: Any) -> None:
        width = 0.5 / self.n_bins
        number = np.minimum((self.predicted - 0.5) // width, self.n_bins - 1)
        ax.bar(0.5 + width * (number + 0.5), self.weight, width=0.8 * width, color="0.8")
        most = self.weight.max()
        ax.set(ylim=(0, 6 * most), yticks=[0, most])
        ax.set_ylabel("pairs", loc="bottom")
        ax.spines[["top", "left", "right"]].set_visible(False)
        ax.tick_params(length=0)


@dataclass(eq=False, repr=False)
class AbstentionDisplay(Display):
    """Mean tau of the answered instances against their share, the most certain first.

    Parameters
    ----------
    answered : ndarray of shape (n_samples,)
        Shares of instances answered.
    tau : ndarray of shape (n_samples,)
        The mean Kendall tau of those.
    correlation : float
        Spearman's correlation of expected and actual tau.

    %(drawn_on)s

    Examples
    --------
    >>> display = AbstentionDisplay.from_predictions([0.9, 0.5, 0.1], [1.0, 0.6, 0.2])
    >>> display.tau.round(2).tolist()  # of the most certain, of two, of all
    [1.0, 0.8, 0.6]
    """

    answered: Values
    tau: Values
    correlation: float

    @classmethod
    def from_estimator(cls, ranker: Any, X: Any, y: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the effect of abstaining on some instances.

        Parameters
        ----------
        ranker : label ranker with ``predict_expected_tau``
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Held-out instances.
        %(y)s
        %(ax)s

        %(display)s
        """
        tau = kendall_tau(y, ranker.predict(X), average=False)
        return cls.from_predictions(ranker.predict_expected_tau(X), tau, ax=ax)

    @classmethod
    def from_predictions(cls, expected_tau: ArrayLike, tau: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the effect of abstaining, from the expected and the actual tau of predictions.

        Parameters
        ----------
        expected_tau : array-like of shape (n_samples,)
            Or any other measure of certainty: larger is more certain; may be infinite.
        tau : array-like of shape (n_samples,)
            Kendall's tau of the predictions. Instances where it is undefined are ignored.
        %(ax)s

        %(display)s
        """
        sure, right = np.asarray(expected_tau, dtype=float), np.asarray(tau, dtype=float)
        check_consistent_length(sure, right)
        sure, right = sure[~np.isnan(right)], right[~np.isnan(right)]
        if not len(right):
            raise ValueError("tau is undefined for every instance: there is nothing to draw.")
        return cls(*rejection_curve(sure, right), _correlation(sure, right)).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 5.5, 3.8)
        first = first_telling(len(self.tau))
        ax.plot(self.answered[first:], self.tau[first:], color=COLORS[0], linewidth=2)
        everything = self.tau[-1]
        ax.axhline(
            everything,
            color=COLORS[1],
            linestyle="--",
            linewidth=1,
            label=f"all answered: {everything:.3f}",
        )
        ax.legend(frameon=False)
        ax.set(
            xlim=(0, 1),
            xlabel="share of instances answered, most certain first",
            ylabel="mean Kendall tau",
            title=f"Rank correlation of expected and actual tau: {self.correlation:.2f}",
        )
        ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        open_frame(ax)


def first_telling(n: int) -> int:
    """Return where a curve of n instances starts: means of very few are too noisy."""
    return min(9, n - 1)


def rejection_curve(sure: Values, right: Values) -> tuple[Values, Values]:
    """Return shares answered and the mean tau of each; equally certain rows count as their mean."""
    _, group = np.unique(-sure, return_inverse=True)
    mean = np.bincount(group, right) / np.bincount(group)
    ordered = mean[np.sort(group)]
    count = np.arange(1, len(right) + 1)
    return count / len(right), np.cumsum(ordered) / count


def _correlation(sure: Values, right: Values) -> float:
    if len(right) < 2 or np.ptp(stats.rankdata(sure)) == 0 or np.ptp(right) == 0:
        return float("nan")
    return float(stats.spearmanr(sure, right).statistic)

"""What abstaining buys: accuracy on the instances a ranker is most sure of."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_consistent_length

from prefero._typing import Values
from prefero.inspection._style import COLOURS, Display, open_frame
from prefero.metrics import kendall_tau

__all__ = ["AbstentionDisplay"]


@dataclass(eq=False, repr=False)
class AbstentionDisplay(Display):
    """Mean tau of the answered instances against their share, the most reliable first.

    Parameters
    ----------
    answered : ndarray of shape (n_samples,)
        Shares of instances answered.
    tau : ndarray of shape (n_samples,)
        The mean Kendall tau of those.
    correlation : float
        Spearman's correlation of reliability and tau.

    %(drawn_on)s

    Examples
    --------
    >>> display = AbstentionDisplay.from_predictions([0.9, 0.5, 0.1], [1.0, 0.6, 0.2])
    >>> display.tau.round(2).tolist()  # of the most reliable, of two, of all
    [1.0, 0.8, 0.6]
    """

    answered: Values
    tau: Values
    correlation: float

    @classmethod
    def from_estimator(cls, ranker: Any, X: Any, y: ArrayLike, *, ax: Any = None) -> Self:
        """Draw what abstaining buys a ranker on some instances.

        Parameters
        ----------
        ranker : label ranker with ``predict_expected_tau``
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Instances it has not seen.
        %(y)s
        %(ax)s

        %(display)s
        """
        tau = kendall_tau(y, ranker.predict(X), average=False)
        return cls.from_predictions(ranker.predict_expected_tau(X), tau, ax=ax)

    @classmethod
    def from_predictions(cls, reliability: ArrayLike, tau: ArrayLike, *, ax: Any = None) -> Self:
        """Draw what abstaining buys, from the reliability and the tau of every prediction.

        Parameters
        ----------
        reliability : array-like of shape (n_samples,)
            Larger is more reliable; may be infinite.
        tau : array-like of shape (n_samples,)
            Kendall's tau of the predictions. Instances where it is undefined are left out.
        %(ax)s

        %(display)s
        """
        sure, right = np.asarray(reliability, dtype=float), np.asarray(tau, dtype=float)
        check_consistent_length(sure, right)
        sure, right = sure[~np.isnan(right)], right[~np.isnan(right)]
        if not len(right):
            raise ValueError("tau is undefined for every instance: there is nothing to draw.")
        return cls(*rejection_curve(sure, right), _correlation(sure, right)).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 5.5, 3.8)
        first = first_telling(len(self.tau))
        ax.plot(self.answered[first:], self.tau[first:], color=COLOURS[0], linewidth=2)
        everything = self.tau[-1]
        ax.axhline(
            everything,
            color=COLOURS[1],
            linestyle="--",
            linewidth=1,
            label=f"all answered: {everything:.3f}",
        )
        ax.legend(frameon=False)
        ax.set(
            xlim=(0, 1),
            xlabel="share of instances answered, most reliable first",
            ylabel="mean Kendall tau",
            title=f"Rank correlation of reliability and tau: {self.correlation:.2f}",
        )
        ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        open_frame(ax)


def first_telling(n: int) -> int:
    """Return where a curve of n instances begins: a mean of a handful jumps about."""
    return min(9, n - 1)


def rejection_curve(sure: Values, right: Values) -> tuple[Values, Values]:
    """Return shares answered and the mean tau of each; equally sure ones count as their mean."""
    _, group = np.unique(-sure, return_inverse=True)
    mean = np.bincount(group, right) / np.bincount(group)
    ordered = mean[np.sort(group)]
    count = np.arange(1, len(right) + 1)
    return count / len(right), np.cumsum(ordered) / count


def _correlation(sure: Values, right: Values) -> float:
    if len(right) < 2 or np.ptp(stats.rankdata(sure)) == 0 or np.ptp(right) == 0:
        return float("nan")
    return float(stats.spearmanr(sure, right).statistic)

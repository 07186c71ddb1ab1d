"""The Plackett-Luce distribution of rankings: every label has a worth.

A ranking arises by choosing the best label, then the best of the rest, and so on, each time
with probabilities proportional to the worths of the labels that are left.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from prefero import _core
from prefero._docs import documented
from prefero._ranking_sets import Neighborhoods, check_neighborhoods, whole_sample
from prefero._typing import ArrayOrNone, Values
from prefero._warnings import warn_user
from prefero.rankings import check_ranks, strict_ranks

__all__ = [
    "PlackettLuce",
    "fit_plackett_luce",
    "fit_plackett_luce_batch",
    "pairwise_batch",
]


@documented()
class PlackettLuce:
    """A Plackett-Luce distribution.

    Parameters
    ----------
    worth : array-like of shape (n_labels,)
        Positive worths; only their ratios count.

    Attributes
    ----------
    worth : ndarray of shape (n_labels,)
        Worths that sum to 1.
    center : ndarray of shape (n_labels,), dtype int64
        The most likely ranking.

    Examples
    --------
    >>> model = PlackettLuce([6, 3, 1])
    >>> np.exp(model.log_prob([[1, 2, 3], [float("nan"), 1, 2]])).round(3)
    array([0.45, 0.75])
    >>> model.sample(2, random_state=7)
    array([[1, 2, 3],
           [1, 3, 2]])
    """

    def __init__(self, worth: ArrayLike) -> None:
        values = np.asarray(worth, dtype=np.float64)
        if values.ndim != 1 or not np.all((values > 0) & (values < np.inf)):
            raise ValueError(f"worth must be one positive finite number a label, got {worth!r}.")
        self.worth = values / values.sum()
        self.center = strict_ranks(values[None, :])[0]

    def __repr__(self) -> str:
        return f"PlackettLuce(worth={self.worth.round(6).tolist()})"

    def pairwise(self) -> Values:
        """Return the probabilities that one label comes before another.

        %(pairwise)s

        Examples
        --------
        >>> PlackettLuce([3, 1]).pairwise()
        array([[0.5 , 0.75],
               [0.25, 0.5 ]])
        """
        return pairwise_batch(np.log(self.worth)[None, :])[0]

    def log_prob(self, Y: ArrayLike) -> Values:
        """Return the logarithm of the probability of each ranking.

        An incomplete or tied ranking stands for all complete strict rankings that agree
        with it, and has the sum of their probabilities.

        %(log_prob)s
        """
        ranks = check_ranks(Y, n_labels=len(self.worth))
        order = np.argsort(ranks, axis=1)  # unknown labels last
        ranked = np.take_along_axis(ranks, order, axis=1)
        known = ~np.isnan(ranked)
        chosen = np.where(known, np.log(self.worth)[order], -np.inf)
        left = np.logaddexp.accumulate(chosen[:, ::-1], axis=1)[:, ::-1]
        values = np.subtract(chosen, left, out=np.zeros_like(left), where=known).sum(axis=1)
        for i in np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).any(axis=1)):
            values[i] = self._log_prob_of_buckets(ranks[i])
        return values

    def _log_prob_of_buckets(self, ranks: Values) -> float:
        log_worth = np.log(self.worth)
        levels = np.unique(ranks[~np.isnan(ranks)])
        return sum(
            _log_first(log_worth[ranks == level] - logsumexp(log_worth[ranks > level]))
            for level in levels[:-1]
        )

    def sample(
        self, n_samples: int, random_state: int | np.random.RandomState | None = None
    ) -> NDArray[np.int64]:
        """Draw rankings.

        %(sample)s
        """
        # The order of independent exponential waiting times with the worths as rates.
        shape = (n_samples, len(self.worth))
        waiting = check_random_state(random_state).standard_exponential(shape) / self.worth
        return strict_ranks(-waiting)


def _log_first(log_ratio: Values) -> float:
    """Return the log-probability that the labels of a bucket all come before the others.

    With exponential waiting times, the others' first at rate 1 and the bucket's at the rates
    r given by their logarithms, it is the integral of exp(-s) prod(1 - exp(-r s)) ds. On the
    axis ln s the trapezoidal rule has full precision with few points.
    """
    if len(log_ratio) == 1:
        return float(-np.logaddexp(0, -log_ratio[0]))
    step = 0.125
    log_s = np.arange(-40.0, 4.0, step)
    with np.errstate(over="ignore", divide="ignore"):
        arrived = -np.expm1(-np.exp(log_s[:, None] + log_ratio))
        log_integrand = log_s - np.exp(log_s) + np.log(arrived).sum(axis=1)
    return float(logsumexp(log_integrand) + np.log(step))


@documented()
def fit_plackett_luce(
    Y: ArrayLike,
    sample_weight: ArrayOrNone = None,
    prior: float = 0.1,
    *,
    max_iter: int = 1000,
    tol: float = 1e-7,
) -> PlackettLuce:
    """Estimate a Plackett-Luce model from rankings by Hunter's MM algorithm.

    Incomplete rankings tell about the labels they hold. Of tied labels each is taken as
    chosen among all from its bucket on, those of the last bucket not at all, so a top-k
    list with the rest tied below counts as exactly its k choices.

    Parameters
    ----------
    %(Y)s
    %(weights_of_rankings)s
    prior : float, default=0.1
        How many times every label is taken to have been chosen among all labels beforehand.
        It keeps the worth of labels finite that win or lose every time.
    max_iter : int, default=1000
        Steps after which a ``ConvergenceWarning`` is given.
    tol : float, default=1e-7
        The largest relative change of a worth that ends the iteration.

    Returns
    -------
    PlackettLuce
        The model.

    References
    ----------
    Hunter (2004), MM algorithms for generalized Bradley-Terry models.

    Examples
    --------
    >>> fit_plackett_luce([[1, 2, 3], [1, 3, 2], [float("nan"), 1, 2]]).center
    array([1, 2, 3])
    """
    log_worth, rounds = _fit(whole_sample(Y, sample_weight), prior, max_iter, tol)
    if rounds[0] >= max_iter:
        warn_user(
            f"Plackett-Luce worths still changed after {max_iter} steps: raise max_iter, or "
            "prior if few rankings leave them nearly undetermined.",
            ConvergenceWarning,
        )
    return PlackettLuce(np.exp(log_worth[0]))


@documented()
def fit_plackett_luce_batch(
    Y: ArrayLike,
    indices: ArrayLike,
    weights: ArrayOrNone = None,
    prior: float = 0.1,
    *,
    indptr: ArrayOrNone = None,
    max_iter: int = 1000,
    tol: float = 1e-7,
) -> Values:
    """Estimate one Plackett-Luce model for each of many weighted sets of rankings.

    Parameters
    ----------
    %(Y)s
    %(sets)s
    prior : float, default=0.1
        How many times every label is taken to have been chosen among all labels beforehand.
    %(indptr)s
    max_iter : int, default=1000
        Steps after which a set is left as it is.
    tol : float, default=1e-7
        The largest relative change of a worth that ends the iteration.

    Returns
    -------
    ndarray of shape (n_sets, n_labels)
        Logarithms of the worths, which sum to 1; larger is better.

    Examples
    --------
    >>> log_worth = fit_plackett_luce_batch([[1, 2], [2, 1]], [[0, 0], [0, 1]])
    >>> np.exp(log_worth).round(3)
    array([[0.955, 0.045],
           [0.5  , 0.5  ]])
    """
    return _fit(check_neighborhoods(Y, indices, weights, indptr), prior, max_iter, tol)[0]


def _fit(
    sets: Neighborhoods, prior: float, max_iter: int, tol: float
) -> tuple[Values, NDArray[np.int64]]:
    if not 0 < prior < np.inf:
        raise ValueError(f"prior must be positive and finite, got {prior!r}.")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter!r}.")
    return _core.fit_plackett_luce_batch(*sets, prior, tol, max_iter)


def pairwise_batch(log_worth: ArrayLike) -> Values:
    """Return the pair probabilities of many Plackett-Luce models.

    Parameters
    ----------
    log_worth : array-like of shape (n_models, n_labels)
        Logarithms of the worths.

    Returns
    -------
    ndarray of shape (n_models, n_labels, n_labels)
        ``[q, i, j]`` is P(label i before label j); 0.5 on the diagonal.

    Examples
    --------
    >>> pairwise_batch(np.log([[3, 1], [1, 1]]))[:, 0, 1]
    array([0.75, 0.5 ])
    """
    values = np.asarray(log_worth, dtype=np.float64)
    return expit(values[:, :, None] - values[:, None, :])

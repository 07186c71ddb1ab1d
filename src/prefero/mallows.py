"""The Mallows distribution of rankings: a center, and a spread around it.

``P(ranking) = exp(-theta * D(ranking, center)) / phi(theta)`` with D Kendall's distance. At
theta 0 all rankings are equally likely; the larger theta, the closer they keep to the center.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from prefero import _core
from prefero._docs import documented
from prefero._ranking_sets import Neighborhoods, check_neighborhoods, whole_sample
from prefero._typing import ArrayOrNone, Values
from prefero.consensus import extend, kemeny
from prefero.metrics import kendall_distance
from prefero.rankings import check_ranks, strict_ranks

__all__ = [
    "Mallows",
    "MallowsBatch",
    "fit_mallows",
    "fit_mallows_batch",
    "fit_pairs_batch",
    "pairwise_batch",
]

# Partial insertion sequences that log_prob follows at most for one incomplete ranking.
_MAX_STATES = 100_000


@documented()
class Mallows:
    """A Mallows distribution.

    Parameters
    ----------
    center : array-like of shape (n_labels,)
        Strict complete ranks: the most likely ranking.
    theta : float
        The spread, from 0 (uniform) to infinity (nothing but the center).

    Attributes
    ----------
    center : ndarray of shape (n_labels,), dtype int64
        The center.
    theta : float
        The spread.

    Examples
    --------
    >>> model = Mallows([1, 2, 3], theta=1.0)
    >>> round(float(np.exp(model.log_prob([[1, 2, 3]])[0])), 3)
    0.486
    >>> model.sample(2, random_state=6)
    array([[2, 1, 3],
           [1, 2, 3]])
    """

    def __init__(self, center: ArrayLike, theta: float) -> None:
        self.center = _check_center(center)
        self.theta = float(theta)
        if not self.theta >= 0:
            raise ValueError(f"theta must be at least 0, got {theta!r}.")

    def __repr__(self) -> str:
        return f"Mallows(center={self.center.tolist()}, theta={self.theta:.6g})"

    def log_normalizer(self) -> float:
        """Return the logarithm of phi(theta), the sum of exp(-theta D) over all rankings.

        Returns
        -------
        float
            Between 0 and log(n_labels!).
        """
        return _core.mallows_log_normalizer(self.theta, len(self.center))

    def expected_distance(self) -> float:
        """Return the expected Kendall distance between a ranking and the center.

        Returns
        -------
        float
            Between 0 and n(n - 1)/4 for n labels.
        """
        return _core.mallows_moments(self.theta, len(self.center))[0]

    def distance_variance(self) -> float:
        """Return the variance of the Kendall distance between a ranking and the center.

        Returns
        -------
        float
            At least 0.
        """
        return _core.mallows_moments(self.theta, len(self.center))[1]

    def pairwise(self) -> Values:
        """Return the probabilities that one label comes before another.

        %(pairwise)s

        Examples
        --------
        >>> Mallows([1, 2, 3], theta=1.0).pairwise().round(3)
        array([[0.5  , 0.731, 0.844],
               [0.269, 0.5  , 0.731],
               [0.156, 0.269, 0.5  ]])
        """
        return pairwise_batch(self.center[None, :], [self.theta])[0]

    def log_prob(self, Y: ArrayLike) -> Values:
        """Return the logarithm of the probability of each ranking.

        An incomplete or tied ranking stands for all complete strict rankings that agree
        with it, and has the sum of their probabilities. The sum is exact; it is refused
        where it would take too long, which begins at some twenty labels.

        %(log_prob)s

        Examples
        --------
        >>> np.exp(Mallows([1, 2, 3], theta=1.0).log_prob([[1, 2, float("nan")]])).round(3)
        array([0.731])
        """
        ranks = check_ranks(Y, n_labels=len(self.center))
        distance = kendall_distance(ranks, np.tile(self.center, (len(ranks), 1)), average=False)
        with np.errstate(invalid="ignore"):  # infinity times 0
            exponent = np.where(distance > 0, -self.theta * distance, 0.0)
        values = exponent - self.log_normalizer()
        ranked = np.sort(ranks, axis=1)
        partial = np.isnan(ranked[:, -1]) | (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
        for i in np.flatnonzero(partial):
            values[i] = self._log_prob_of_partial(ranks[i])
        return values

    def _log_prob_of_partial(self, ranks: Values) -> float:
        """Follow all ways to insert the labels in center order that keep the given ranks.

        A state is the places of the ranked labels inserted so far; which label stands in
        which of them follows from the ranks, and how the others stand does not matter.
        Inserting v places before the end has a probability proportional to exp(-theta v).
        """
        n, m = len(ranks), np.count_nonzero(~np.isnan(ranks))
        if math.comb(n, m) > _MAX_STATES:
            raise ValueError(
                f"The probability of a ranking of {m} of {n} labels is a sum too large to take "
                "exactly: complete the ranking first, for example by prefero.consensus.extend."
            )
        states: dict[tuple[int, ...], float] = {(): 0.0}
        inserted: list[float] = []
        for size, rank in enumerate(ranks[np.argsort(self.center)]):
            steps = [-self.theta * v if v else 0.0 for v in range(size, -1, -1)]
            steps = list(steps - np.logaddexp.reduce(steps))
            following: dict[tuple[int, ...], float] = defaultdict(lambda: -math.inf)
            for places, log_p in states.items():
                for place in _free_places(places, inserted, rank, size):
                    moved = tuple(p + (p >= place) for p in places)
                    if not math.isnan(rank):
                        moved = tuple(sorted((*moved, place)))
                    following[moved] = np.logaddexp(following[moved], log_p + steps[place])
            states = following
            if not math.isnan(rank):
                insort(inserted, rank)
        return float(np.logaddexp.reduce(list(states.values())))

    def sample(
        self, n_samples: int, random_state: int | np.random.RandomState | None = None
    ) -> NDArray[np.int64]:
        """Draw rankings by repeated insertion.

        %(sample)s
        """
        chance = check_random_state(random_state)
        n = len(self.center)
        ranks = np.empty((n_samples, n), dtype=np.int64)  # labels in center order
        for i in range(n):
            place = i + 1 - self._displacements(chance.random_sample(n_samples), i + 1)
            ranks[:, :i] += ranks[:, :i] >= place[:, None]
            ranks[:, i] = place
        return ranks[:, self.center - 1]

    def _displacements(self, u: Values, size: int) -> NDArray[np.int64]:
        """Turn uniform numbers into v in 0..size - 1 with probability ~ exp(-theta v)."""
        if self.theta * size < 1e-12:
            v = u * size
        elif math.isinf(self.theta):
            v = np.zeros_like(u)
        else:
            v = -np.log1p(u * np.expm1(-size * self.theta)) / self.theta
        return np.minimum(v.astype(np.int64), size - 1)


def _free_places(places: tuple[int, ...], inserted: list[float], rank: float, size: int) -> range:
    """Return where a label may be inserted among ``size`` labels without breaking a rank."""
    if math.isnan(rank):
        return range(size + 1)
    above, below = bisect_left(inserted, rank), bisect_right(inserted, rank)
    first = places[above - 1] + 1 if above else 0
    last = places[below] if below < len(places) else size
    return range(first, last + 1)


def _check_center(center: ArrayLike) -> NDArray[np.int64]:
    ranks = np.asarray(center, dtype=np.float64)
    if ranks.ndim != 1 or not np.array_equal(np.sort(ranks), np.arange(1, ranks.size + 1)):
        raise ValueError(
            "center must be one strict ranking of all labels, a permutation of 1..n; "
            f"got {center!r}."
        )
    return ranks.astype(np.int64)


class MallowsBatch(NamedTuple):
    """Mallows models of many sets of rankings, one a row.

    Attributes
    ----------
    centers : ndarray of shape (n_sets, n_labels), dtype int64
        Strict ranks.
    theta : ndarray of shape (n_sets,)
        Spreads: infinite where all rankings agree with the center, 0 where they scatter as
        much as random ones or a set has no weight.
    votes : ndarray of shape (n_sets, n_labels)
        The Borda votes whose descending order is the center.

    Examples
    --------
    >>> batch = fit_mallows_batch([[1, 2, 3], [2, 1, 3]], [[0], [1]])
    >>> batch.centers
    array([[1, 2, 3],
           [2, 1, 3]])
    """

    centers: NDArray[np.int64]
    theta: Values
    votes: Values


@documented()
def fit_mallows_batch(
    Y: ArrayLike,
    indices: ArrayLike,
    weights: ArrayOrNone = None,
    *,
    indptr: ArrayOrNone = None,
    max_iter: int = 20,
) -> MallowsBatch:
    """Estimate one Mallows model for each of many weighted sets of rankings.

    Parameters
    ----------
    %(Y)s
    %(sets)s
    %(indptr)s
    max_iter : int, default=20
        Rounds of extension and aggregation after which a set that cycles is left as it is.
        Complete rankings need none.

    Returns
    -------
    MallowsBatch
        Centers, spreads and votes. A label that no ranking of a set holds starts with the
        middle vote and stays about there.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), Algorithm 1.

    Examples
    --------
    >>> nan = float("nan")
    >>> batch = fit_mallows_batch([[1, 2, 3], [nan, 1, 2], [2, 1, 3]], [[0, 1], [0, 2]])
    >>> batch.centers
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> batch.theta.round(3)
    array([  inf, 1.356])
    """
    return _fit_borda(check_neighborhoods(Y, indices, weights, indptr), max_iter)


@documented()
def fit_mallows(
    Y: ArrayLike,
    sample_weight: ArrayOrNone = None,
    center: Literal["borda", "kemeny"] = "borda",
    *,
    max_iter: int = 20,
) -> Mallows:
    """Estimate a Mallows model from rankings.

    Complete rankings: their consensus is the center, and theta the most likely one given the
    mean Kendall distance to it. Incomplete rankings are extended to the current center and
    aggregated anew until it stays (Algorithm 1 of Cheng et al.); a ranking of m of n labels
    has m/n of its weight. Tied labels prefer nothing: such pairs add nothing to a distance.

    Parameters
    ----------
    %(Y)s
    %(weights_of_rankings)s
    center : {"borda", "kemeny"}, default="borda"
        How rankings are aggregated: quickly, or as maximum likelihood asks.
    max_iter : int, default=20
        Rounds after which a center that does not settle is taken as it is.

    Returns
    -------
    Mallows
        Theta is infinite if all rankings agree with the center, and 0 if they scatter as
        much as random ones.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), section 4.

    Examples
    --------
    >>> fit_mallows([[1, 2, 3], [1, 2, 3], [1, 3, 2], [float("nan"), 1, 2]])
    Mallows(center=[1, 2, 3], theta=1.98321)
    """
    sample = whole_sample(Y, sample_weight)
    if center == "borda":
        batch = _fit_borda(sample, max_iter)
        return Mallows(batch.centers[0], batch.theta[0])
    if center == "kemeny":
        return _fit_kemeny(sample, max_iter)
    raise ValueError(f"center must be 'borda' or 'kemeny', got {center!r}.")


def _fit_kemeny(sample: Neighborhoods, max_iter: int) -> Mallows:
    ranks = sample.ranks
    n = ranks.shape[1]
    weight = sample.weights * np.count_nonzero(~np.isnan(ranks), axis=1) / n
    if not weight.any():
        return Mallows(np.arange(1, n + 1), 0.0)
    center = kemeny(ranks, sample_weight=weight)
    extended = extend(ranks, center)
    for _ in range(max_iter if np.isnan(ranks).any() else 0):
        previous, center = center, kemeny(extended, sample_weight=weight)
        if np.array_equal(previous, center):
            break
        extended = extend(ranks, center)
    distance = kendall_distance(extended, np.tile(center, (len(ranks), 1)), sample_weight=weight)
    return Mallows(center, _core.mallows_theta(float(distance), n))


def _fit_borda(sets: Neighborhoods, max_iter: int) -> MallowsBatch:
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter!r}.")
    votes, theta = _core.fit_mallows_batch(*sets, max_rounds=max_iter)
    return MallowsBatch(strict_ranks(votes), theta, votes)


def pairwise_batch(centers: ArrayLike, theta: ArrayLike) -> Values:
    """Return the pair probabilities of many Mallows models.

    Parameters
    ----------
    centers : array-like of shape (n_models, n_labels)
        Strict complete ranks.
    theta : array-like of shape (n_models,)
        Spreads.

    Returns
    -------
    ndarray of shape (n_models, n_labels, n_labels)
        ``[q, i, j]`` is P(label i before label j); 0.5 on the diagonal.

    Examples
    --------
    >>> pairwise_batch([[1, 2], [2, 1]], [np.inf, 0.0])[:, 0, 1]
    array([1. , 0.5])
    """
    ranks = np.ascontiguousarray(centers, dtype=np.int64)
    return _core.mallows_pairwise(ranks, np.ascontiguousarray(theta, dtype=np.float64))


@documented()
def fit_pairs_batch(
    Y: ArrayLike,
    indices: ArrayLike,
    weights: ArrayOrNone = None,
    *,
    indptr: ArrayOrNone = None,
    prior: float = 0.05,
) -> MallowsBatch:
    """Estimate one Mallows model for each of many sets of rankings from the observed pairs.

    Nothing is said about labels that a ranking does not hold: each pair of labels is judged by
    the rankings that order it, which keep more of what incomplete rankings tell than votes for
    missing labels do. Without missing labels the centers are those of ``fit_mallows_batch``.

    Parameters
    ----------
    %(Y)s
    %(sets)s
    %(indptr)s
    prior : float, default=0.05
        The weight, relative to that of the set, of the assumption that the order of a pair is
        open. It keeps pairs that few rankings order from being certain, and theta
        finite.

    Returns
    -------
    MallowsBatch
        Centers, spreads and votes: (n + 1)/2 plus half the sum of a label's pair shares.

    Examples
    --------
    >>> nan = float("nan")
    >>> batch = fit_pairs_batch([[1, 2, 3], [nan, 1, 2], [2, 1, 3]], [[0, 1], [0, 2]])
    >>> batch.centers
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> batch.theta.round(3)
    array([2.857, 1.259])
    """
    if not prior >= 0:
        raise ValueError(f"prior must not be negative, got {prior!r}.")
    sets = check_neighborhoods(Y, indices, weights, indptr)
    votes, theta = _core.pair_votes_batch(*sets, prior=prior)
    return MallowsBatch(strict_ranks(votes), theta, votes)

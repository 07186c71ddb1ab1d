"""Pair margins of several rankers: their weights in a sum, and the order it stands for."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from sklearn.utils import gen_batches

from prefero import _core
from prefero._products import row_products
from prefero._typing import Indices, Mask, Values
from prefero.calibration import all_pairs

# Strength of the shrinkage of weights to the mean of the best members, in rows; if pairs count by
# score difference, where members differ more.
_PULL_ROWS, _PULL_ROWS_BY_VALUE = 10.0, 1.0
# Below so many independent units standard errors are themselves uncertain.
FEW_UNITS = 10
# Members with a smaller share of the weights are dropped.
_LEAST_SHARE = 0.01
# Slopes lie between these powers of e, where the mean size of a margin is 1.
_SLOPES = (-8.0, 6.0)


class Combination(NamedTuple):
    """Scales and weights of members; a margin is multiplied by both."""

    scales: Values
    weights: Values
    losses: Values  # mean pair loss of each member alone, on its scale


class PairwiseLogLoss:
    """The mean over rows of the mean logistic loss of a row's pairs.

    Parameters
    ----------
    outcomes : ndarray of shape (n_rows, n_pairs)
        1 if the first label came first, 0 if not, 1/2 if they were tied, NaN if unknown.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    differences : ndarray of shape (n_rows, n_pairs), optional
        Weights of the pairs: their score differences. Rows with larger differences count more.
    """

    def __init__(self, outcomes: Values, weight: Values, differences: Values | None = None) -> None:
        known = ~np.isnan(outcomes)
        if differences is not None and (known & (np.nan_to_num(differences) > 0)).any():
            known &= np.nan_to_num(differences) > 0
        else:
            differences = None
        self.rows: Mask = np.asarray(known.any(axis=1))
        self.known = known[self.rows]
        self.outcomes = outcomes[self.rows][self.known]
        self.row: Indices = np.repeat(np.arange(len(self.known)), self.known.sum(axis=1))
        self.weight = weight[self.rows] / weight[self.rows].sum()
        self.part = (1 / self.known.sum(axis=1))[self.row]
        if differences is not None:
            self.part *= differences[self.rows][self.known]
            self.part /= self.weight @ self._of_rows(np.ones(len(self.part)))
        self.share = self.weight[self.row] * self.part

    def effective_rows(self) -> float:
        """Return how many rows of equal weight would be as informative."""
        share = self.weight * self._of_rows(np.ones(len(self.part)))
        return float(share.sum() ** 2 / (share @ share)) if len(share) else 1.0

    def entries(self, margins: Values) -> Values:
        """Return the margins of the known pairs as one array; 0 where there is none."""
        return np.nan_to_num(margins[self.rows][self.known])

    def of_rows(self, entries: Values) -> Values:
        """Return the loss of each row with a known pair."""
        return self._of_rows(np.logaddexp(0, entries) - self.outcomes * entries)

    def _of_rows(self, values: Values) -> Values:
        return np.bincount(self.row, self.part * values, len(self.known)).astype(np.float64)

    def mean(self, entries: Values) -> float:
        """Return the mean loss."""
        return float(self.weight @ self.of_rows(entries))

    def slope(self, entries: Values) -> float:
        """Return the factor of margins with the least loss; 0 if no factor beats a margin of 0."""
        size = float(self.share @ np.abs(entries))
        if size == 0:
            return 0.0
        found = minimize_scalar(
            lambda power: self.mean(np.exp(power) / size * entries),
            bounds=_SLOPES,
            method="bounded",
            options={"xatol": 1e-3},
        )
        factor = float(np.exp(found.x) / size)
        return factor if self.mean(factor * entries) < np.log(2) else 0.0


def combine(
    margins: Sequence[Values],
    families: Sequence[str],
    outcomes: Values,
    weight: Values,
    differences: Values | None = None,
) -> Combination:
    """Learn the weights of members.

    Every member gets its own logistic slope, which puts all on one scale. Nonnegative weights
    then minimize the loss of the weighted sum, shrunk towards the mean of the best members of
    those families that are within one standard error of the best member.

    Parameters
    ----------
    margins : sequence of ndarray of shape (n_rows, n_pairs)
        Out-of-fold margins of each member.
    families : sequence of str
        The family of each member.
    outcomes : ndarray of shape (n_rows, n_pairs)
        Which label came first, as in `PairwiseLogLoss`.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    differences : ndarray of shape (n_rows, n_pairs), optional
        Weights of the pairs.

    Returns
    -------
    Combination
        Scales, weights and losses.

    Examples
    --------
    >>> truth = np.array([[1.0], [0.0], [1.0], [0.0]])
    >>> found = combine([truth - 0.5, 0.5 - truth], ["good", "bad"], truth, np.ones(4))
    >>> found.weights[1], found.scales[1]
    (np.float64(0.0), np.float64(0.0))
    """
    loss = PairwiseLogLoss(outcomes, weight, differences)
    entries = np.array([loss.entries(part) for part in margins])
    scales = np.array([loss.slope(part) for part in entries])
    entries *= scales[:, None]
    losses = np.array([loss.of_rows(part) for part in entries])
    center = _best_of_families(losses, families, loss.weight)
    pull = (_PULL_ROWS if differences is None else _PULL_ROWS_BY_VALUE) / loss.effective_rows()

    def objective(weights: Values) -> tuple[float, Values]:
        total = weights @ entries
        off = weights - center
        value = loss.mean(total) + pull / 2 * float(off @ off)
        gradient = entries @ (loss.share * (expit(total) - loss.outcomes)) + pull * off
        return value, gradient

    bounds = [(0.0, None if scale > 0 else 0.0) for scale in scales]
    found = minimize(objective, center, jac=True, bounds=bounds, method="L-BFGS-B")
    weights = np.where(found.x < _LEAST_SHARE * found.x.sum(), 0.0, found.x)
    return Combination(scales, weights, losses @ loss.weight)


def _best_of_families(losses: Values, families: Sequence[str], weight: Values) -> Values:
    """Equal weights for the best member of each family not clearly behind the best of all."""
    means = losses @ weight
    best = int(np.argmin(means))
    center = np.zeros(len(losses))
    for family in dict.fromkeys(families):
        members = [k for k, name in enumerate(families) if name == family]
        own = min(members, key=lambda k: means[k])
        behind = losses[own] - losses[best]
        if behind @ weight <= standard_error(behind, weight):
            center[own] = 1.0
    return center / center.sum()


def standard_error(values: Values, weight: Values, groups: Indices | None = None) -> float:
    """Return the standard error of a weighted mean; a group is one independent unit.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        One value per row.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    groups : ndarray of shape (n_rows,), optional
        The number of each row's group, starting at 0.

    Returns
    -------
    float
        Infinite for a single unit.

    Examples
    --------
    >>> round(standard_error(np.array([1.0, 2.0, 3.0]), np.ones(3)), 3)
    0.577
    """
    share = weight / weight.sum()
    off = share * (values - share @ values)
    parts = off if groups is None else np.bincount(groups, off)
    count = len(parts) if groups is None else len(np.unique(groups))
    if count < 2:
        return float("inf")
    return float(np.sqrt(parts @ parts * count / (count - 1)))


def errors_needed(guard: float, n_units: int) -> float:
    """Return how many standard errors a gain must exceed, given so many independent units.

    With few units the standard error is itself uncertain: Student's t then asks for more errors
    to be as sure as a normal distribution is with ``guard`` of them.

    Examples
    --------
    >>> round(errors_needed(2.0, 5), 2), errors_needed(2.0, 50)
    (2.87, 2.0)
    """
    if n_units >= FEW_UNITS or guard == 0:
        return guard
    return float(stats.t.isf(stats.norm.sf(guard), n_units - 1))


DECODINGS = ("kemeny", "sums", "margins")
# Entries of the arrays (instances x pairs) that one step may hold.
BLOCK_ENTRIES = 2**22
# Labels with equal sums are kept apart by this step.
_STEP = 1e-9


def decoded(margins: Values, n_labels: int, how: str = "kemeny") -> Values:
    """Return scores whose descending order suits pair margins best.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first.
    n_labels : int
        The number of labels.
    how : {"kemeny", "sums", "margins"}, default="kemeny"
        ``"kemeny"`` is the order of the greatest expected tau that moves of single labels reach
        from ``"sums"``, the order by the expected number of labels behind; ``"margins"`` orders
        by the mean margin over the other labels, and so by how likely labels are the first of all.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The expected numbers of labels behind, assigned along the order.

    Examples
    --------
    >>> (-decoded(np.array([[2.0, 2.0, 0.5]]), 3)).argsort()
    array([[0, 1, 2]])
    """
    size = max(1, BLOCK_ENTRIES // max(1, margins.shape[1]))
    parts = [_decoded(margins[rows], n_labels, how) for rows in gen_batches(len(margins), size)]
    return np.concatenate(parts) if parts else np.zeros((0, n_labels))


def _decoded(margins: Values, n_labels: int, how: str) -> Values:
    before = expit(np.nan_to_num(margins))
    sums = pair_sums(before, 1 - before, n_labels)
    order = np.argsort(-sums, axis=1, kind="stable")
    if how == "kemeny":
        order = _core.improve_orders(before, order)
    elif how == "margins":
        order = np.argsort(-log_worths(np.nan_to_num(margins), n_labels), axis=1, kind="stable")
    steps = -np.sort(-sums, axis=1) - _STEP * np.arange(n_labels)
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, steps, axis=1)
    return scores


def pair_sums(values: Values, other_way: Values, n_labels: int) -> Values:
    """Sum up, for each label, its values against all others.

    Parameters
    ----------
    values, other_way : ndarray of shape (n_samples, n_pairs)
        By pair, a value of its first label against the second, and of the second against the first.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The sums.
    """
    first, second = all_pairs(n_labels)
    own = np.zeros((len(first), n_labels))
    own[np.arange(len(first)), first] = 1.0
    other = np.zeros((len(first), n_labels))
    other[np.arange(len(first)), second] = 1.0
    return row_products(values, own) + row_products(other_way, other)


def first_shares(margins: Values, n_labels: int) -> Values:
    """Return the probability of each label to be first in a Plackett-Luce model.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        They add up to 1.
    """
    worth = log_worths(margins, n_labels)
    worth = np.exp(worth - worth.max(axis=1, keepdims=True))
    return worth / worth.sum(axis=1, keepdims=True)


def log_worths(margins: Values, n_labels: int) -> Values:
    """Return the Plackett-Luce log-worths that fit pair margins best: their means.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        They add up to 0.
    """
    return pair_sums(margins, -margins, n_labels) / n_labels

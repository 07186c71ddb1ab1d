"""Pair margins of several rankers: their weights in a sum, and the order it stands for."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from sklearn.utils import gen_batches

from prefero import _core
from prefero._products import row_products
from prefero._typing import Indices, Mask, Values
from prefero.calibration import all_pairs

# How strongly weights are drawn to the plain mean of the best members: as by so many rows.
_PULL_ROWS = 10.0
# A member below this share of all weights is not worth its time.
_LEAST_SHARE = 0.01
# Slopes lie between these powers of e, where the mean size of a margin is 1.
_SLOPES = (-8.0, 6.0)


class Combination(NamedTuple):
    """Scales and weights of members; their product is what a margin is multiplied by."""

    scales: Values
    weights: Values
    losses: Values  # mean pair loss of each member alone, on its scale


class PairLoss:
    """The mean over rows of the mean logistic loss of a row's pairs, or of what is at stake.

    Parameters
    ----------
    outcomes : ndarray of shape (n_rows, n_pairs)
        1 if the first label came first, 0 if not, 1/2 if they were tied, NaN if nothing is known.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    stakes : ndarray of shape (n_rows, n_pairs), optional
        What each pair counts: then a row counts the more, the more is at stake in it.
    """

    def __init__(self, outcomes: Values, weight: Values, stakes: Values | None = None) -> None:
        known = ~np.isnan(outcomes)
        if stakes is not None:
            known &= np.nan_to_num(stakes) > 0
            # Where nothing is at stake anywhere pairs count alike.
            stakes, known = (stakes, known) if known.any() else (None, ~np.isnan(outcomes))
        self.rows: Mask = np.asarray(known.any(axis=1))
        self.known = known[self.rows]
        self.outcomes = outcomes[self.rows][self.known]
        self.row: Indices = np.repeat(np.arange(len(self.known)), self.known.sum(axis=1))
        self.weight = weight[self.rows] / weight[self.rows].sum()
        self.part = (1 / self.known.sum(axis=1))[self.row]
        if stakes is not None:
            self.part *= stakes[self.rows][self.known]
            self.part /= self.weight @ self._of_rows(np.ones(len(self.part)))
        self.share = self.weight[self.row] * self.part

    def witnesses(self) -> float:
        """Return how many rows that count alike would tell as much as these."""
        share = self.weight * self._of_rows(np.ones(len(self.part)))
        return float(share.sum() ** 2 / (share @ share)) if len(share) else 1.0

    def entries(self, margins: Values) -> Values:
        """Return the margins of the known pairs in one line; 0 where a member says nothing."""
        return np.nan_to_num(margins[self.rows][self.known])

    def of_rows(self, entries: Values) -> Values:
        """Return the loss of each row that knows a pair."""
        return self._of_rows(np.logaddexp(0, entries) - self.outcomes * entries)

    def _of_rows(self, values: Values) -> Values:
        return np.bincount(self.row, self.part * values, len(self.known)).astype(np.float64)

    def mean(self, entries: Values) -> float:
        """Return the mean loss."""
        return float(self.weight @ self.of_rows(entries))

    def slope(self, entries: Values) -> float:
        """Return the factor of margins with the least loss; 0 if none is better than no margin."""
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
    stakes: Values | None = None,
) -> Combination:
    """Learn what members count.

    Every member gets a logistic slope of its own, which puts all on one scale. Then weights,
    none negative, minimise the loss of the weighted sum, drawn towards the plain mean of the
    best member of each family that is within a standard error of the best of all.

    Parameters
    ----------
    margins : sequence of ndarray of shape (n_rows, n_pairs)
        Of each member, for rows that it has not seen.
    families : sequence of str
        What kind each member is of.
    outcomes : ndarray of shape (n_rows, n_pairs)
        Which label came first, as in `PairLoss`.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    stakes : ndarray of shape (n_rows, n_pairs), optional
        What each pair counts.

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
    loss = PairLoss(outcomes, weight, stakes)
    entries = np.array([loss.entries(part) for part in margins])
    scales = np.array([loss.slope(part) for part in entries])
    entries *= scales[:, None]
    losses = np.array([loss.of_rows(part) for part in entries])
    center = _best_of_families(losses, families, loss.weight)
    pull = _PULL_ROWS / loss.witnesses()

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
    """Equal weights for the best member of each family that chance may have put behind the best."""
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
    """Return the standard error of a weighted mean; rows of one group are one witness.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        One value a row.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    groups : ndarray of shape (n_rows,), optional
        The number of each row's group, from 0 on.

    Returns
    -------
    float
        Infinite for a single witness.

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


DECODINGS = ("kemeny", "sums", "first")
# Entries of the arrays (instances x pairs) that one step may hold.
BLOCK_ENTRIES = 2**22
# Labels level in their sums still have an order: the next one is behind by so much.
_STEP = 1e-9


def decoded(margins: Values, n_labels: int, how: str = "kemeny") -> Values:
    """Return scores whose descending order suits pair margins best.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first.
    n_labels : int
        The number of labels.
    how : {"kemeny", "sums", "first"}, default="kemeny"
        ``"kemeny"`` is the order of the greatest expected tau that moves of single labels reach
        from ``"sums"``, the order by the expected number of labels behind; ``"first"`` orders
        by how likely labels are the first of all.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The expected numbers of labels behind, dealt out along the order.

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
    elif how == "first":
        order = np.argsort(-first_shares(margins, n_labels), axis=1, kind="stable")
    steps = -np.sort(-sums, axis=1) - _STEP * np.arange(n_labels)
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, steps, axis=1)
    return scores


def pair_sums(values: Values, other_way: Values, n_labels: int) -> Values:
    """Add up, for each label, what it is to all others.

    Parameters
    ----------
    values, other_way : ndarray of shape (n_samples, n_pairs)
        What the first label of each pair is to the second, and the second to the first.
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
    """Return how likely each label is the first, if labels had worths (Plackett-Luce).

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
    """Return the logarithms of worths that explain pair margins best: their means.

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

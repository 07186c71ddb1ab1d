"""From a margin to the probability that the label ahead comes first, and that the two are tied."""

import numpy as np
from scipy.optimize import isotonic_regression, minimize, minimize_scalar
from scipy.special import expit, logit

from prefero import _core
from prefero._sampling import evenly_spaced
from prefero._typing import Values

# Pairs are sorted by margin into so many groups of equal size, as near as so many pairs can tell.
_GROUPS, _MOST_SORTED = 256, 2**12
# The logistic curve counts as much as this many rows beside the isotonic one.
_LOGISTIC_ROWS = 100
# The logistic slope lies between these powers of e, where the mean margin is 1.
_SLOPES = (-12.0, 8.0)


def learn_calibration(margins: Values, outcomes: Values, weight: Values) -> Values:
    """Learn how often labels come first, and how often tied, by how far they are ahead.

    The curve is the weighted mean of an isotonic and a logistic one: the former follows any
    shape and counts the more, the more rows there are; the latter needs little data and never
    stands still, so that a larger margin always has a larger probability, up to the largest
    seen. Nothing is certain: the former says at most (n + 1)/(n + 2) after n rows, the latter has
    seen one more row that came either way.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        How far the first label of each pair is ahead by a model that had not seen the row. NaN
        where there is none.
    outcomes : ndarray of shape (n_samples, n_pairs)
        1 if it came first, 0 if not, 1/2 if they were tied, NaN if nothing is known.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_knots, 3)
        Margins, ascending from 0; the probability that the label ahead comes first, a tie being
        half of that, ascending from 1/2; the probability that the two are tied, descending.

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines. Zadrozny & Elkan (2002),
    Transforming classifier scores into accurate multiclass probability estimates.

    Examples
    --------
    >>> margins = np.array([[0.1], [0.2], [-0.9], [1.0]])
    >>> outcomes = np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> calibration = learn_calibration(margins, outcomes, np.ones(4))
    >>> probability_ahead(calibration, np.array([-0.5, 0.0, 0.5])).round(2)
    array([0.25, 0.5 , 0.75])
    """
    known = ~(np.isnan(margins) | np.isnan(outcomes))
    if not known.any():
        return np.array([[0.0, 0.5, 0.0]])
    n_rows = int(known.any(axis=1).sum())
    ends = _group_ends(np.abs(margins.ravel() if known.all() else margins[known]))
    total, *sums = _core.sum_groups(margins, outcomes, weight, ends).T
    knots, share, tied = (of / total for of in sums)
    # Rounding must not carry a mean into the next group.
    knots = np.clip(knots, np.append(0.0, ends[:-1]), ends)
    ahead = _ahead(knots, share, total, n_rows)
    if tied.any():
        tied = isotonic_regression(tied, weights=total, increasing=False).x
    curve = np.column_stack([knots, ahead, np.minimum(tied, 2 * (1 - ahead))])
    return curve if knots[0] == 0 else np.vstack([[0.0, 0.5, curve[0, 2]], curve])


def _group_ends(size: Values) -> Values:
    """Return the largest margin of each group, given the sizes of all margins.

    Equal margins share a group; the smallest ones have it to themselves.
    """
    some = np.sort(size[evenly_spaced(len(size), _MOST_SORTED)])
    places = np.linspace(0, len(some) - 1, _GROUPS + 1).round().astype(np.int64)
    some[0], some[-1] = size.min(), size.max()
    return np.unique(some[places])


def _ahead(knots: Values, share: Values, total: Values, n_rows: int) -> Values:
    """The probability of the label ahead at every knot."""
    # Which of two labels with the same score is called the one ahead is chance.
    share = np.where(knots > 0, share, 0.5)
    sure = (n_rows + 1) / (n_rows + 2)
    isotonic = np.clip(isotonic_regression(share, weights=total).x, 0.5, sure)
    follow = n_rows / (n_rows + _LOGISTIC_ROWS)
    ahead = follow * isotonic + (1 - follow) * _logistic(knots, share, total, n_rows)
    return np.where(knots > 0, ahead, 0.5)


def _logistic(knots: Values, share: Values, total: Values, n_rows: int) -> Values:
    """The logistic curve through 1/2 at zero."""
    mass = total.sum()
    scaled = knots * mass / ((knots @ total) or 1.0)

    def loss(power: float) -> float:
        slope = np.exp(power)
        data = total @ (np.logaddexp(0, slope * scaled) - share * slope * scaled)
        # One more row, whose pairs with the mean margin come either way.
        return float(data + mass / n_rows * (np.logaddexp(0, slope) - slope / 2))

    return expit(np.exp(minimize_scalar(loss, bounds=_SLOPES, method="bounded").x) * scaled)


def probability_ahead(calibration: Values, margins: Values) -> Values:
    """Return the probability that the first label of each pair comes first.

    Parameters
    ----------
    calibration : ndarray of shape (n_knots, 3)
        From `learn_calibration`.
    margins : ndarray
        How far it is ahead.

    Returns
    -------
    ndarray of the same shape
        Above 1/2 where the margin is positive; those of m and -m add up to 1.

    Examples
    --------
    >>> calibration = np.array([[0.0, 0.5, 0.2], [2.0, 0.9, 0.0]])
    >>> probability_ahead(calibration, np.array([1.0, -1.0, 5.0]))
    array([0.7, 0.3, 0.9])
    """
    ahead = np.interp(np.abs(margins), calibration[:, 0], calibration[:, 1])
    return np.where(margins < 0, 1 - ahead, ahead)


def probability_tied(calibration: Values, margins: Values) -> Values:
    """Return the probability that the two labels of each pair are tied.

    Parameters
    ----------
    calibration : ndarray of shape (n_knots, 3)
        From `learn_calibration`.
    margins : ndarray
        How far the first label is ahead.

    Returns
    -------
    ndarray of the same shape
        In [0, 1]; 0 if no training ranking held a tie.

    Examples
    --------
    >>> calibration = np.array([[0.0, 0.5, 0.2], [2.0, 0.9, 0.0]])
    >>> probability_tied(calibration, np.array([1.0, -1.0, 5.0]))
    array([0.1, 0.1, 0. ])
    """
    return np.interp(np.abs(margins), calibration[:, 0], calibration[:, 2])


# No share is taken for certain.
_SURE = 0.01
# Both count half until rows say otherwise, and one pair's worth of belief in that.
_PRIOR = np.array([0.0, 0.5, 0.5])
# So many pairs are enough for three numbers.
_ENOUGH_PAIRS = 2**16


def learn_tie_blend(by_margin: Values, shares: Values, outcomes: Values, weight: Values) -> Values:
    """Learn what two opinions on ties are worth together, from rows that were not seen.

    The logit of the probability is a weighted sum of the two logits.

    Parameters
    ----------
    by_margin, shares : ndarray of shape (n_samples, n_pairs)
        Probabilities that a pair is tied, by its margin and by a model of ties. NaN where there
        is none.
    outcomes : ndarray of shape (n_samples, n_pairs)
        1/2 if a pair is tied, NaN if nothing is known of it.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (3,)
        The constant and the two weights, which are not negative.

    Examples
    --------
    >>> by_margin, shares = np.full((200, 1), 0.5), np.tile([[0.1], [0.9]], (100, 1))
    >>> outcomes = np.tile([[1.0], [0.5]], (100, 1))  # tied where the model of ties says so
    >>> constant, margin, model = learn_tie_blend(by_margin, shares, outcomes, np.ones(200))
    >>> bool(model > 1)
    True
    """
    known = ~np.isnan(by_margin + shares + outcomes)
    step = max(1, np.count_nonzero(known) // _ENOUGH_PAIRS)
    mass = np.broadcast_to(weight[:, None], known.shape)[known][::step]
    tied = (outcomes[known] == 0.5)[::step].astype(np.float64)
    opinions = [_logits(opinion[known][::step]) for opinion in (by_margin, shares)]
    inputs = np.column_stack([np.ones(len(tied)), *opinions])

    def loss(blend: Values) -> tuple[float, Values]:
        value = inputs @ blend
        away = blend - _PRIOR
        data = mass @ (np.logaddexp(0, value) - tied * value)
        gradient = (mass * (expit(value) - tied)) @ inputs + away
        return float(data + away @ away / 2), gradient

    bounds = [(None, None), (0, None), (0, None)]
    return minimize(loss, _PRIOR, jac=True, method="L-BFGS-B", bounds=bounds).x


def blended_ties(blend: Values, by_margin: Values, shares: Values) -> Values:
    """Return the probabilities that pairs are tied, by both opinions.

    Parameters
    ----------
    blend : ndarray of shape (3,)
        From `learn_tie_blend`.
    by_margin, shares : ndarray of one shape
        The two opinions.

    Returns
    -------
    ndarray of the same shape
        In (0, 1).

    Examples
    --------
    >>> blended_ties(np.array([0.0, 0.5, 0.5]), np.array([0.2, 0.5]), np.array([0.2, 0.9])).round(2)
    array([0.2 , 0.75])
    """
    constant, first, second = blend
    return expit(constant + first * _logits(by_margin) + second * _logits(shares))


def _logits(shares: Values) -> Values:
    return logit(np.clip(shares, _SURE, 1 - _SURE))

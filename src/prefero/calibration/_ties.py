"""How likely two labels are tied: by their margin, and by a model of ties."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from prefero._typing import Values

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

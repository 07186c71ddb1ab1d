"""Where the virtual label stands, and how likely labels are relevant: learnt from unseen rows."""

import numpy as np
from scipy.optimize import isotonic_regression

from prefero._typing import Mask, Values

# What the cut may be learnt for.
THRESHOLDS = ("auto", "hamming-loss", "subset-loss", "f1")
# How far the Hamming loss may rise above the smallest, with "auto".
_RISE = 0.01
# Scores that differ by less than this share of their size are equal.
_DECIMALS = 6
# Scores are sorted into at most so many groups, and no smaller ones than this.
_GROUPS, _GROUP_SIZE = 256, 25


def learn_threshold(scores: Values, relevance: Values, weight: Values, wanted: str) -> float:
    """Return the score above which labels are relevant, by the metric that is wanted.

    ``"auto"`` is the largest F1 among cuts whose Hamming loss is at most a hundredth above the
    smallest: the loss is flat there, while the labels that are found grow in number.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores of rows by a ranker that had not seen them.
    relevance : ndarray of shape (n_samples, n_labels)
        1, 0 or NaN.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    wanted : {"auto", "hamming-loss", "subset-loss", "f1"}
        What the cut is for.

    Returns
    -------
    float
        Midway between two scores; 0 where no other cut is better.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.3], [0.4, 0.1]])
    >>> learn_threshold(scores, np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2), "subset-loss")
    0.35
    """
    known = ~np.isnan(relevance)
    unit = float(np.abs(scores[known]).max()) or 1.0
    scores = np.round(scores / unit, _DECIMALS)
    distinct = np.unique(np.append(scores[known], 0.0))
    ends = distinct[0] - 1, distinct[-1] + 1
    cuts = np.concatenate([[ends[0]], (distinct[1:] + distinct[:-1]) / 2, [0.0, ends[1]]])
    if wanted == "subset-loss":
        highest = np.where(relevance == 0, scores, -np.inf).max(axis=1)
        lowest = np.where(relevance == 1, scores, np.inf).min(axis=1)
        able = weight * (highest < lowest)
        gain = _at_most(highest, able, cuts) - _at_most(lowest, able, cuts)
    else:
        share = weight / np.maximum(known.sum(axis=1), 1)
        found, chosen, relevant = _counts(scores, relevance, known, weight, cuts)
        f1 = 2 * found / np.maximum(chosen + relevant, np.finfo(float).tiny)
        found, chosen, relevant = _counts(scores, relevance, known, share, cuts)
        loss = np.round((relevant + chosen - 2 * found) / weight.sum(), 12)
        gain = {"f1": f1, "hamming-loss": -loss}.get(
            wanted, np.where(loss <= (1 + _RISE) * loss.min(), f1, -1.0)
        )
    best = np.flatnonzero(np.round(gain - gain.max(), 12) == 0)
    return float(cuts[best[np.argmin(np.abs(cuts[best]))]] * unit)


def _at_most(values: Values, weight: Values, cuts: Values) -> Values:
    """Return the weight of the values up to each cut."""
    order = np.argsort(values, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    return total[np.searchsorted(values[order], cuts, side="right")]


def _counts(
    scores: Values, relevance: Values, known: Mask, weight: Values, cuts: Values
) -> tuple[Values, Values, float]:
    """Return the weight of relevant labels above each cut, of all above it, of all relevant."""
    mass = np.broadcast_to(weight[:, None], known.shape)[known]
    values, relevant = scores[known], mass * relevance[known]
    found, chosen = (of.sum() - _at_most(values, of, cuts) for of in (relevant, mass))
    return found, chosen, float(relevant.sum())


def learn_relevance(scores: Values, relevance: Values, weight: Values) -> Values:
    """Learn how often labels of a score are relevant: an isotonic curve through groups of them.

    Parameters
    ----------
    scores, relevance, weight
        As for `learn_threshold`.

    Returns
    -------
    ndarray of shape (n_knots, 2)
        Scores, ascending, and probabilities, which do not descend and are never 0 or 1.

    Examples
    --------
    >>> scores = np.linspace(-1, 1, 100)[:, None]
    >>> learn_relevance(scores, (scores > 0).astype(float), np.ones(100)).round(2)
    array([[-0.76,  0.02],
           [-0.25,  0.02],
           [ 0.25,  0.98],
           [ 0.76,  0.98]])
    """
    known = ~np.isnan(relevance)
    order = np.argsort(scores[known], kind="stable")
    values, truth = scores[known][order], relevance[known][order]
    mass = np.broadcast_to(weight[:, None], known.shape)[known][order]
    n_groups = int(np.clip(len(values) // _GROUP_SIZE, 1, _GROUPS))
    # Equal scores share a group.
    ends = values[np.linspace(0, len(values), n_groups + 1).round().astype(int)[1:] - 1]
    group = np.searchsorted(np.unique(ends), values)
    total = np.bincount(group, mass)
    share = (np.bincount(group, mass * truth) + 0.5) / (total + 1)
    knots = np.bincount(group, mass * values) / total
    return np.column_stack([knots, isotonic_regression(share, weights=total).x])

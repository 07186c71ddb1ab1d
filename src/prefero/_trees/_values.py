"""What trees learn from scores: the values whose spread splits reduce, and that leaves average."""

import numpy as np

from prefero._typing import Values
from prefero.rankings import ScoredRanks

# Criteria of scores: as they are, less the mean of their row, or a logarithm of the regret.
SCORE_CRITERIA = ("raw_scores", "relative_scores", "log_regret")
# What leaves may hold that needs scores.
_SCORE_LEAVES = ("scores", "blend")
# The quantile of the regrets above 0 at which their logarithm bends.
_BEND = 0.1


def score_values(target: ScoredRanks, kind: str) -> Values:
    """Return scores as a criterion sees them.

    Parameters
    ----------
    target : ScoredRanks
        Ranks with scores.
    kind : {"raw_scores", "relative_scores", "log_regret"}
        As they are; less the mean of their row; or -log(1 + regret / q), q the 10 % quantile of
        the positive regrets, so that rare large losses do not drown the others.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        NaN where there is no score.

    Examples
    --------
    >>> score_values(ScoredRanks(np.array([[1.0, 2.0]]), np.array([[9.0, 5.0]])), "relative_scores")
    array([[ 2., -2.]])
    """
    scores = target.scores
    if kind == "raw_scores":
        return scores
    if kind == "relative_scores":
        return np.where(np.isnan(scores), np.nan, target.relative())
    known = ~np.isnan(scores)
    lost = np.where(known, scores, -np.inf).max(axis=1, keepdims=True) - scores
    positive = lost[known & (lost > 0)]
    return -np.log1p(lost / np.quantile(positive, _BEND)) if len(positive) else -lost


def leaf_kind(leaf_values: str, criterion: str, target: Values | ScoredRanks) -> str:
    """Return what leaves hold, given what there is to learn from."""
    scored = isinstance(target, ScoredRanks)
    needs = {"criterion": criterion in SCORE_CRITERIA, "leaf_values": leaf_values in _SCORE_LEAVES}
    if not scored and any(needs.values()):
        name = "criterion" if needs["criterion"] else "leaf_values"
        given = criterion if needs["criterion"] else leaf_values
        raise ValueError(f"{name}={given!r} needs scores: fit(X, y, scores=S), larger is better.")
    if leaf_values != "auto":
        return leaf_values
    return criterion if needs["criterion"] else "blend" if scored else "ranks"


def criterion_values(target: Values | ScoredRanks, criterion: str, weight: Values) -> Values | None:
    """Return what a criterion of scores sees, without gaps; None for one of ranks."""
    if criterion not in SCORE_CRITERIA or not isinstance(target, ScoredRanks):
        return None
    return filled(score_values(target, criterion), weight)


def filled(values: Values, weight: Values) -> Values:
    """Return values with gaps filled by the mean of their row plus what is usual for the label.

    Examples
    --------
    >>> filled(np.array([[1.0, 3.0], [2.0, np.nan]]), np.ones(2))
    array([[1., 3.],
           [2., 4.]])
    """
    known = ~np.isnan(values)
    if known.all():
        return values
    rank = np.maximum(known.sum(axis=1), 1)[:, None]
    plain = np.where(known, values, 0.0)
    mass = weight[:, None] * known
    # The normal equations of value = row + label, without the rows.
    system = np.diag(mass.sum(axis=0)) - mass.T @ (known / rank)
    own = (mass * (plain - plain.sum(axis=1, keepdims=True) / rank)).sum(axis=0)
    effect = np.linalg.lstsq(system, own, rcond=1e-12)[0]
    row = (known * (plain - effect)).sum(axis=1, keepdims=True) / rank
    return np.where(known, values, row + effect)


def standardized(values: Values, weight: Values) -> Values:
    """Return complete values less the mean of their label, over the size of all that is left."""
    centred = values - np.average(values, axis=0, weights=weight)
    size = np.sqrt(np.average((centred**2).mean(axis=1), weights=weight))
    return centred / size if size > 0 else centred

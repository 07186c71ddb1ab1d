"""Plain versions of the split criteria: every cut of every feature, tried in plain Python."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from oracles import bucket_positions
from prefero.mallows import Mallows, fit_mallows
from prefero.rankings import ranks_from_scores


def sign_vector(ranks):
    """One sign a pair of labels; 0 where tied or unknown."""
    pairs = combinations(range(len(ranks)), 2)
    return np.array([np.nan_to_num(np.sign(ranks[j] - ranks[i])) for i, j in pairs])


def borda_vector(ranks):
    """Centred generalized Borda votes; 0 where unknown."""
    c, m = len(ranks), np.count_nonzero(~np.isnan(ranks))
    positions = np.array(bucket_positions(ranks))
    return np.nan_to_num((m + 1 - 2 * positions) / (c - 1) * (c + 1) / (m + 1))


def mean_correlation(vectors, complete_length):
    """Mean of all pairs of vectors, each with itself too."""
    return float(np.mean(vectors @ vectors.T)) / complete_length


def ranking_entropy(ranks, signs):
    """De Sá et al. (2017): (sum of p ln p) ln(mean of (tau + 1)/2, distinct against all)."""
    _, first, count = np.unique(np.nan_to_num(ranks), axis=0, return_index=True, return_counts=True)
    if len(first) < 2:
        return 0.0
    p = count / count.sum()
    closeness = np.mean((signs[first] @ signs.T / signs.shape[1] + 1) / 2)
    return float(np.sum(p * np.log(p)) * np.log(closeness))


def node_theta(signs, votes, theta_of_distance):
    """Spread of the Mallows model on the observed pairs; half a discordant pair if pure."""
    c = votes.shape[1]
    mean = votes.sum(axis=0)
    center = np.array([np.sign(round(mean[i] - mean[j], 6)) for i, j in combinations(range(c), 2)])
    seen = np.abs(signs).sum()
    if seen == 0:
        return 0.0
    discordant = (seen - (signs.sum(axis=0) * center).sum()) / 2
    return theta_of_distance(signs.shape[1] / seen * max(discordant, 0.5), c)


def em_theta(ranks, theta_of_distance):
    """Spread of Algorithm 1 on the labels that are there; half a discordant pair if pure."""
    there = ~np.isnan(ranks).all(axis=0)
    c = int(there.sum())
    if c < 2:
        return 0.0
    theta = fit_mallows(ranks[:, there]).theta
    weight = np.count_nonzero(~np.isnan(ranks), axis=1).sum() / c
    distance = Mallows(np.arange(1, c + 1), theta).expected_distance() * weight
    return theta_of_distance(max(distance, 0.5) / weight, c)


def split_quality(criterion, ranks, left, theta_of_distance, vectors=None):
    """Goodness of a split into the rows `left` and the others: larger is better."""
    c = ranks.shape[1]
    signs, votes = vectors or sign_and_vote_vectors(ranks)
    total = 0.0
    for side in (left, ~left):
        value = {
            "kendall": lambda: mean_correlation(signs[side], signs.shape[1]),  # noqa: B023
            "spearman": lambda: mean_correlation(votes[side], c * (c + 1) / (3 * (c - 1))),  # noqa: B023
            "entropy": lambda: -ranking_entropy(ranks[side], signs[side]),  # noqa: B023
            "mallows": lambda: node_theta(signs[side], votes[side], theta_of_distance),  # noqa: B023
            "mallows_em": lambda: em_theta(ranks[side], theta_of_distance),  # noqa: B023
        }[criterion]()
        total += side.mean() * value
    return total


def sign_and_vote_vectors(ranks):
    """The vectors of all rows."""
    return np.array([sign_vector(row) for row in ranks]), np.array(
        [borda_vector(row) for row in ranks]
    )


def all_splits(X):
    """The rows left of every threshold of every feature; missing values on either side."""
    for column in X.T:
        missing = np.isnan(column)
        known = np.unique(column[~missing])
        for value in known[:-1] if not missing.any() else known:
            yield column <= value
        for value in known[:-1] if missing.any() else []:
            yield (column <= value) | missing


def best_split_quality(criterion, X, ranks, theta_of_distance):
    """The best quality over all features and thresholds; None if no feature varies."""
    vectors = sign_and_vote_vectors(ranks)
    qualities = [
        split_quality(criterion, ranks, left, theta_of_distance, vectors) for left in all_splits(X)
    ]
    return max(qualities, default=None)


def node_quality(criterion, ranks):
    """What a split must improve; a Mallows tree splits in any case."""
    signs, votes = sign_and_vote_vectors(ranks)
    c = ranks.shape[1]
    return {
        "kendall": lambda: mean_correlation(signs, signs.shape[1]),
        "spearman": lambda: mean_correlation(votes, c * (c + 1) / (3 * (c - 1))),
        "entropy": lambda: -ranking_entropy(ranks, signs),
        "mallows": lambda: -np.inf,
        "mallows_em": lambda: -np.inf,
    }[criterion]()


def rankings_agree(ranks):
    """Whether no two rankings put a pair of labels in different orders."""
    signs = np.array([sign_vector(row) for row in ranks])
    return bool(np.abs(signs.sum(axis=0)).sum() == np.abs(signs).sum())


@st.composite
def weighted_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, c = draw(st.integers(4, 40)), draw(st.integers(2, 5))
    X = rng.integers(0, 6, size=(n, 2)).astype(float)
    scores = rng.integers(0, draw(st.sampled_from([3, 1000])), size=(n, c)).astype(float)
    scores[rng.random((n, c)) < draw(st.sampled_from([0, 0.3, 0.6]))] = np.nan
    scores[0] = np.arange(c)  # every label is ranked once
    known = ~np.isnan(scores).all(axis=1)
    weight = rng.integers(1, 4, size=n) if draw(st.booleans()) else rng.uniform(0.1, 2, size=n)
    Y = ranks_from_scores(scores[known], higher_is_better=True)
    return X[known], Y, weight[known].astype(float)


def votes_and_evidence(Y):
    """For every label of every row: labels before and behind it, and those it is compared with."""
    ahead = (Y[:, :, None] < Y[:, None, :]).astype(float)
    known = ~np.isnan(Y)
    compared = known[:, :, None] & known[:, None, :] & ~np.eye(Y.shape[1], dtype=bool)
    votes = ahead.sum(axis=2) - ahead.sum(axis=1)
    return votes / (Y.shape[1] - 1), compared.sum(axis=2) / (Y.shape[1] - 1)


def mean_votes(Y, weight):
    votes, evidence = votes_and_evidence(Y)
    seen = weight @ evidence
    return np.divide(weight @ votes, seen, out=np.zeros_like(seen), where=seen > 0)

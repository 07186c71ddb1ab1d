"""Slow twins of the kernels: a few plain lines each, the specification the fast code must meet."""

from itertools import combinations

import numpy as np


def pair_counts(a, b):
    """Concordant, discordant, tied in a only, tied in b only, tied in both."""
    counts = [0, 0, 0, 0, 0]
    known = [i for i in range(len(a)) if not (np.isnan(a[i]) or np.isnan(b[i]))]
    for i, j in combinations(known, 2):
        s, t = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
        if s * t != 0:
            counts[0 if s == t else 1] += 1
        elif s == t:
            counts[4] += 1
        else:
            counts[2 if s == 0 else 3] += 1
    return counts


def bucket_positions(ranks):
    """Labels above plus the middle of the own bucket."""
    return [np.nan if np.isnan(r) else sum(ranks < r) + (sum(ranks == r) + 1) / 2 for r in ranks]


def pair_sign(ranks, i, j):
    """+1 if label i stands before label j, -1 if after, 0 if tied or unknown."""
    if np.isnan(ranks[i]) or np.isnan(ranks[j]):
        return 0
    return int(np.sign(ranks[j] - ranks[i]))

"""What is drawn at random, from a seed and a number alone: partitions change none of it."""

import numpy as np
from numpy.typing import NDArray

from prefero._typing import Mask

STEP = np.uint64(0x9E3779B97F4A7C15)
_WORD = 2**64


def mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look drawn at random (SplitMix64)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def features_of_tree(seed: int, n_features: int, wanted: int) -> NDArray[np.uint16]:
    """Return the features that the core draws for a boosted tree of this seed, ascending."""
    features = np.arange(n_features, dtype=np.uint16)
    state = ~np.uint64(seed) + STEP * np.arange(1, n_features + 1, dtype=np.uint64)
    upper = mixed(state) >> np.uint64(32)
    for k in range(wanted if wanted < n_features else 0):
        other = k + (int(upper[k]) * (n_features - k) >> 32)
        features[[k, other]] = features[[other, k]]
    return np.sort(features[:wanted])


def rows_of_tree(seed: int, first: int, count: int, share: float) -> Mask:
    """Return which rows from the first on a tree is grown from: about a share of all."""
    if share >= 1:
        return np.ones(count, dtype=bool)
    numbers = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    key = mixed(np.array([seed], dtype=np.uint64))
    return np.asarray(mixed(key + STEP * numbers) < np.uint64(int(share * _WORD)))

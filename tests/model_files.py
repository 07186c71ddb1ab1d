"""What the tests of model files share."""

import numpy as np

import prefero
from prefero.rankings import strict_ranks


def estimators_of(room):
    """The public estimators that live in a room, whether or not all of them exist yet."""
    names = sorted(name for name, place in prefero._PUBLIC.items() if place == room)
    found = []
    for name in names:
        try:
            found.append(getattr(prefero, name)())
        except (AttributeError, ModuleNotFoundError):
            continue
    return found


def problem(n=40, c=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, strict_ranks(X @ rng.normal(size=(3, c)))

"""What the tests of the instance-based label ranker share."""

import numpy as np

from prefero.rankings import drop_labels, ranks_from_scores

PLAIN = {"scale": False, "feature_weights": "equal", "shrinkage": 0, "aggregation": "pairs"}


def problem(n=80, labels=4, missing=0.0, noise_features=0, seed=0):
    """Two features that decide the rankings, and others that do not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2 + noise_features))
    utility = X[:, :2] @ rng.normal(size=(2, labels)) + 0.3 * rng.normal(size=(n, labels))
    Y = ranks_from_scores(utility, higher_is_better=True)
    kept = drop_labels(Y, missing, random_state=seed)
    kept[np.isnan(kept).all(axis=1), 0] = 1
    return X, kept

"""How well the reliability of a prediction tells its tau (Cheng et al. 2009, section 6.2)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from kebi import read_set
from scipy.stats import spearmanr
from sklearn.model_selection import KFold

from prefero import NeighborsLabelRanker, TreeLabelRanker
from prefero.metrics import kendall_tau
from prefero.rankings import drop_labels


def reliabilities(name: str, rates: Sequence[float]) -> dict[str, Any]:
    """Return the mean rank correlation of reliability and tau over the tests of some folds."""
    X, Y = read_set(name)
    n_folds = 10 if len(X) <= 300 else 3 if len(X) <= 3000 else 1
    folds = list(KFold(10, shuffle=True, random_state=0).split(X))[:n_folds]
    row: dict[str, Any] = {"dataset": name}
    for rate in rates:
        found: dict[str, list[float]] = {"IBLR": [], "LRT": []}
        for fold, (train, test) in enumerate(folds):
            ranks = drop_labels(Y[train], rate, random_state=fold)
            some = ~np.isnan(ranks).all(axis=1)
            known = X[train][some], ranks[some]
            neighbors = NeighborsLabelRanker.iblr().fit(*known)
            tree = TreeLabelRanker.lrt().fit(*known)
            share = tree.n_node_samples_[tree.apply(X[test])] / tree.n_node_samples_[0]
            measures = {
                "IBLR": (neighbors, neighbors.predict_spread(X[test])),
                "LRT": (tree, tree.predict_spread(X[test]) * share),
            }
            for who, (ranker, reliability) in measures.items():
                tau = kendall_tau(Y[test], ranker.predict(X[test]), average=False)
                if np.ptp(tau) > 0 and len(np.unique(reliability)) > 1:
                    found[who].append(float(spearmanr(reliability, tau).statistic))
        row |= {f"{who}, {rate:.0%}": float(np.mean(found[who])) for who in found}
    return row

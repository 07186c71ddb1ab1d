"""Labels never seen: each label in turn is left out of the training, and ranked by its features.

::

    python reproduction/label_features.py

The data are made, in three kinds: all taste is shared, half of it, or nearly none.
"""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from kebi import arguments, cached, parse, publish
from sklearn.linear_model import RidgeCV

from prefero import (
    BoostingOrderer,
    ExpectedRankOrderer,
    LabelFeatureRanker,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankSVMOrderer,
)
from prefero._typing import Indices, Values
from prefero.datasets import make_dyad_ranking
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks
from prefero.study import Table

ROWS, TEST_ROWS, SEEDS = 150, 150, 3
SIZES = {"n_features": 4, "n_labels": 12, "n_label_features": 3}
KINDS = {"shared taste": 0.0, "half of each": 1.0, "personal taste": 3.0}
CONSTANT, MEANS = "constant order", "mean ranks"

READING = """
Of 12 labels with 3 features each is left out in turn; 150 instances with 4 features rank the
other 11, and 150 further ones are asked about all 12. "Pairs of the new label" is how often its
pairs with the others are put right, 1/2 is a guess; tau is over all labels. The constant order
ranks the others by their mean ranks and knows nothing of the new label, which stands in the
middle. "Mean ranks" fits the mean ranks of the labels by their features (ridge regression) and so
places the new label, the same for everyone. Means over the labels and three draws of the data
(`make_dyad_ranking`, noise 0.5), with `--quick` over one. Orderers have their defaults.
"""


def orderers() -> dict[str, Any]:
    """Return the orderers by name."""
    return {
        "expected rank": ExpectedRankOrderer(),
        "ranking SVM": RankSVMOrderer(random_state=0),
        "Order SVM": OrderSVMOrderer(),
        "RankBoost": RankBoostOrderer(),
        "boosted trees": BoostingOrderer(random_state=0),
    }


def main() -> None:
    """Leave each label out and print how well it is placed."""
    options = parse(arguments("Rank labels that were never seen, by their features."))
    run = cached(run_label, options.folder)
    seeds, labels = 1 if options.quick else SEEDS, SIZES["n_labels"]
    methods = [CONSTANT, MEANS, *orderers()]
    placed, tau = [], []
    for kind, personal in KINDS.items():
        cells = [(personal, seed, label) for seed in range(seeds) for label in range(labels)]
        found = Parallel(options.jobs)(delayed(run)(*cell) for cell in cells)
        for rows, column in ((placed, "placed"), (tau, "tau")):
            means = {m: float(np.mean([cell[m][column] for cell in found])) for m in methods}
            rows.append({"data": kind} | means)
    tables = {"Pairs of the new label put right": Table(placed), "Kendall's tau": Table(tau)}
    publish("Labels never seen", tables, options.output, reading=READING)


def run_label(personal: float, seed: int, label: int) -> dict[str, dict[str, float]]:
    """Leave one label out of the training, and measure how each method places it."""
    X, Y, Z = make_dyad_ranking(ROWS + TEST_ROWS, **SIZES, personal=personal, random_state=seed)
    seen = np.delete(np.arange(len(Z)), label)
    ranks, truth = strict_ranks(-Y[:ROWS, seen]), Y[ROWS:]
    found = {
        name: measured(predicted, truth, label, seen)
        for name, predicted in same_for_everyone(ranks, Z, label, seen).items()
    }
    for name, orderer in orderers().items():
        ranker = LabelFeatureRanker(orderer, Z[seen], calibrate=False).fit(X[:ROWS], ranks)
        found[name] = measured(ranker.predict(X[ROWS:], labels=Z), truth, label, seen)
    return found


def same_for_everyone(ranks: Any, Z: Values, label: int, seen: Indices) -> dict[str, Values]:
    """Return the orders that look at no instance."""
    means = ranks.mean(axis=0)
    middle, fitted = np.empty(len(Z)), np.empty(len(Z))
    middle[seen] = fitted[seen] = means
    middle[label] = np.median(means)
    fitted[label] = RidgeCV(np.logspace(-3, 3, 7)).fit(Z[seen], means).predict(Z[[label]])[0]
    orders = {CONSTANT: middle, MEANS: fitted}
    return {n: np.tile(strict_ranks(-one[None]), (TEST_ROWS, 1)) for n, one in orders.items()}


def measured(predicted: Any, truth: Values, label: int, seen: Indices) -> dict[str, float]:
    """Return the share of the new label's pairs that are right, and tau over all labels."""
    before = predicted[:, [label]] < predicted[:, seen]
    right = before == (truth[:, [label]] < truth[:, seen])
    return {"placed": float(right.mean()), "tau": float(kendall_tau(truth, predicted))}


if __name__ == "__main__":
    main()

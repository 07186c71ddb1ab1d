"""Labels never seen: each label in turn is left out of the training, and ranked by its features.

::

    python reproduction/label_features.py

The data are made, in three kinds: all taste is shared, half of it, or nearly none.
"""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from kebi import arguments, cached, parse, publish

from prefero import (
    BoostingOrderer,
    ExpectedRankOrderer,
    LabelFeatureRanker,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankSVMOrderer,
)
from prefero.datasets import make_dyad_ranking
from prefero.evaluation import ResultTable, leave_one_label_out

ROWS, TEST_ROWS, SEEDS = 150, 150, 3
SIZES = {"n_features": 4, "n_labels": 12, "n_label_features": 3}
KINDS = {"shared taste": 0.0, "half of each": 1.0, "personal taste": 3.0}

READING = """
Of 12 labels with 3 features each is left out in turn; 150 instances with 4 features rank the
other 11, and 150 further instances rank all 12 (`prefero.evaluation.leave_one_label_out`).
"Pairs of the new label" is the share of its pairs with other labels in the right order, where a
guess gives 1/2; tau is over all labels. The consensus baseline (`consensus`) orders the other
labels by their mean ranks and puts the new label in the middle. `mean-ranks` predicts the mean rank
of the new label from its features (ridge regression): also the same order for everyone. Figures are
means over the labels and three draws of the data (`make_dyad_ranking`, noise 0.5), with `--quick`
over one. Orderers have their default parameters.
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
    run = cached(run_draw, options.folder)
    seeds = 1 if options.quick else SEEDS
    placed, tau = [], []
    for kind, personal in KINDS.items():
        draws = Parallel(options.jobs)(delayed(run)(personal, seed) for seed in range(seeds))
        means = ResultTable(row for draw in draws for row in draw)
        for rows, column in ((placed, "placed"), (tau, "tau")):
            found = {n: float(np.mean(own[column])) for (n,), own in means.groups("ranker").items()}
            rows.append({"data": kind} | found)
    tables = {
        "Pairs of the new label put right": ResultTable(placed),
        "Kendall's tau": ResultTable(tau),
    }
    publish("Labels never seen", tables, options.output, reading=READING)


def run_draw(personal: float, seed: int) -> list[dict[str, Any]]:
    """Leave each label of a data set out in turn, and measure how each method places it."""
    X, Y, Z = make_dyad_ranking(ROWS + TEST_ROWS, **SIZES, personal=personal, random_state=seed)
    rankers = {n: LabelFeatureRanker(one, calibrate=False) for n, one in orderers().items()}
    return list(leave_one_label_out(rankers, X, Y, Z, n_splits=2, random_state=seed))


if __name__ == "__main__":
    main()

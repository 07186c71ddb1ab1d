"""Speed and accuracy of boosting against LightGBM with one model per label, on the same data.

The peer regresses the rank of each label by its own boosted trees, of as many rounds, leaves and
bins and the same learning rate, one thread, timed in the same run: a ratio is the peer's best
CPU time over ours, of several repetitions in turn. Above 1 we are faster. "grow" is the ratio
to growing the trees alone; a fit also calibrates pair probabilities, on rows held out of
further fits. tau is the mean over folds, beside the consensus order's; "chosen" is ours with its
default parameters, where held-out rows choose the rounds::

    python benchmarks/boosting.py --quick
    python benchmarks/boosting.py --rounds 100 --repeat 3

Data are read from the folder that the environment variable PREFERO_DATA names.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold

from prefero import BoostingLabelRanker, ConsensusLabelRanker
from prefero._trees._bins import find_bins
from prefero._typing import Values
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable
from prefero.label_ranking._boosting_rounds import Boosting, Cases, constant_scores
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks
from prefero.tables import read_rankings

SETS = ("segment", "pendigits", "fried")


class OneModelALabel(BaseEstimator):
    """LightGBM on the rank of each label."""

    def __init__(self, rounds: int = 100) -> None:
        self.rounds = rounds

    def fit(self, X: Values, Y: Values) -> "OneModelALabel":
        """Fit one model per label."""
        import lightgbm

        models = [
            lightgbm.LGBMRegressor(
                n_estimators=self.rounds,
                num_leaves=10,
                n_jobs=1,
                random_state=0,
                verbose=-1,
            )
            for _ in Y.T
        ]
        self.models_ = [model.fit(X, ranks) for model, ranks in zip(models, Y.T, strict=True)]
        return self

    def predict(self, X: Values) -> Values:
        """Order the labels by predicted rank."""
        return strict_ranks(-np.column_stack([model.predict(X) for model in self.models_]))


def grow(X: Values, Y: Values, ranker: BoostingLabelRanker) -> None:
    """Grow the trees of a ranker and nothing else."""
    ranker.n_features_in_ = X.shape[1]
    bins = find_bins(X)
    cases, _ = Cases.of(bins.apply(X), Y, np.ones(len(X)))
    seeds = ranker._draw_seeds(ranker.n_estimators)
    boosting = Boosting(bins.categorical, ranker._boost_options(len(X)), seeds, 1)
    boosting.trees(cases, constant_scores(cases), ranker.n_estimators)


def best_times(tasks: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """Run all tasks in turn, several times, and return the best CPU time of each."""
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(repeat):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def taus(models: dict[str, Any], X: Values, Y: Values, folds: int) -> dict[str, float]:
    """Return the mean tau of each model over some of ten folds."""
    found: dict[str, list[float]] = {name: [] for name in models}
    splits = list(KFold(10, shuffle=True, random_state=0).split(X))[:folds]
    for train, test in splits:
        for name, model in models.items():
            predicted = clone(model).fit(X[train], Y[train]).predict(X[test])
            found[name].append(float(kendall_tau(Y[test], predicted)))
    return {f"tau {name}": float(np.mean(values)) for name, values in found.items()}


def compare(name: str, rounds: int, repeat: int, folds: int) -> dict[str, Any]:
    """Return the ratios of one set."""
    data = read_rankings(benchmark_path(f"kebi/{name}.csv"))
    X, Y = data.X.to_numpy(), data.ranks
    peer = OneModelALabel(rounds)
    ours = BoostingLabelRanker(rounds, validation=None, random_state=0)
    fit = best_times(
        {
            "peer": lambda: peer.fit(X, Y),
            "fit": lambda: ours.fit(X, Y),
            "grow": lambda: grow(X, Y, clone(ours)),
        },
        repeat,
    )
    predict = best_times({"peer": lambda: peer.predict(X), "ours": lambda: ours.predict(X)}, repeat)
    row = {"set": name, "peer fit (s)": fit["peer"]}
    row |= {task: fit["peer"] / fit[task] for task in ("fit", "grow")}
    row["predict"] = predict["peer"] / predict["ours"]
    chosen = BoostingLabelRanker(random_state=0)
    models = {"constant": ConsensusLabelRanker(), "peer": peer, "ours": ours, "chosen": chosen}
    return row | (taus(models, X, Y, folds) if folds else {})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folds", type=int, default=3, help="of ten, for tau; 0: none")
    parser.add_argument("--quick", action="store_true", help="one repetition, no tau")
    options = parser.parse_args()
    if options.quick:
        options.repeat, options.folds = 1, 0
    rows = [compare(name, options.rounds, options.repeat, options.folds) for name in options.sets]
    print(f"{options.rounds} rounds; peer's CPU time over ours\n")
    print(ResultTable(rows).to_text(digits=3))


if __name__ == "__main__":
    main()

"""Deciding by value: how much of the gap to the best label is closed, beside plain regressions.

::

    python reproduction/decisions.py --jobs 2

Every scenario of ASlib in ``aslib`` under the folder that PREFERO_DATA names, on its official
folds: the automatic ranker and a forest of scores beside scikit-learn's forests on the same scores,
LightGBM per label if it is installed, and the single best label of the training rows.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
from aslib import losses, scenario
from joblib import Parallel, delayed
from kebi import arguments, cached, need, parse, publish
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline

from prefero import AutoLabelRanker, ForestLabelRanker
from prefero._typing import Values
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable
from prefero.rankings import strict_ranks

SINGLE = "single best"
# Few rows decide a gap, and luck which of them a forest gets right.
SEEDS = range(4)
DRAWS = 2000
READING = """
The gap closed is 1 - (lost by the first choices) / (lost by the single best label of the training
rows), over the test rows of all folds; in brackets its 90 % interval, by 2000 bootstrap samples of
the rows. Regressions are scikit-learn's with 100 trees and a third of the features at a node, and
LightGBM's per label; forests are means of four seeds. Missing features are filled by medians for
the regressions, missing scores by the mean of the label. The automatic ranker has the quick preset.
"""


def regressions() -> dict[str, Any]:
    """Return the regressions by name."""
    found = {
        "random forest": RandomForestRegressor(100, max_features=0.33),
        "extra-trees": ExtraTreesRegressor(100, max_features=0.33),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMRegressor

        found["LightGBM per label"] = MultiOutputRegressor(LGBMRegressor(verbose=-1, n_jobs=1))
    return found


def rankers() -> dict[str, Any]:
    """Return our rankers by name."""
    forest = ForestLabelRanker(criterion="raw_scores", max_features=0.33, calibrate=False)
    return {"forest of scores": forest, "automatic": AutoLabelRanker(preset="quick")}


def main() -> None:
    """Run every scenario that is there and print the gaps closed."""
    parser = arguments("Decide by value beside plain regressions of the scores.")
    parser.add_argument("--sets", help="names of scenarios, with commas; all by default")
    options = parse(parser)
    need(["aslib"])
    run = cached(run_cell, options.folder)
    found = sorted(benchmark_path("aslib").glob("*/description.txt"))
    wanted = options.sets.split(",") if options.sets else [path.parent.name for path in found]
    names = [SINGLE, *regressions(), *rankers()]
    rows = []
    for name in wanted:
        cells = [(fold, model) for fold in range(len(scenario(name).splits())) for model in names]
        lost = Parallel(options.jobs)(delayed(run)(name, *cell) for cell in cells)
        by_model = {
            model: np.concatenate(
                [one for one, (_, own) in zip(lost, cells, strict=True) if own == model]
            )
            for model in names
        }
        closed = {model: with_interval(by_model[model], by_model[SINGLE]) for model in names[1:]}
        rows.append({"scenario": name, "rows": len(by_model[SINGLE])} | closed)
    publish(
        "Decisions by value", {"Gap closed": ResultTable(rows)}, options.output, reading=READING
    )


def run_cell(name: str, fold: int, model: str) -> Values:
    """Return what a model loses on the test rows of a fold, the mean of its seeds."""
    data = scenario(name)
    assert data.scores is not None
    train, test = data.splits()[fold]
    truth, scores = data.scores[test], data.scores[train]
    means = np.nanmean(scores, axis=0)
    if model == SINGLE:
        return losses(truth, strict_ranks(np.tile(means, (len(test), 1))))
    if model in rankers():
        return np.mean([_of_ranker(data, train, test, model, seed) for seed in SEEDS], axis=0)
    known = np.where(np.isnan(scores), means, scores)
    found = []
    for seed in SEEDS if model != "LightGBM per label" else range(1):
        regression = regressions()[model]
        if "random_state" in regression.get_params():
            regression.set_params(random_state=seed)
        steps = make_pipeline(SimpleImputer(strategy="median"), regression)
        predicted = steps.fit(data.X[train], known).predict(data.X[test])
        found.append(losses(truth, strict_ranks(predicted)))
    return np.mean(found, axis=0)


def _of_ranker(data: Any, train: Any, test: Any, model: str, seed: int) -> Values:
    ranker = rankers()[model].set_params(random_state=seed)
    ranker.fit(data.X[train], data.ranks[train], scores=data.scores[train])
    return losses(data.scores[test], ranker.predict(data.X[test]))


def with_interval(lost: Values, single: Values) -> str:
    """Return the gap closed, with its bootstrap interval."""
    rows = np.random.default_rng(0).integers(0, len(lost), (DRAWS, len(lost)))
    sums = single[rows].sum(axis=1)
    drawn = 1 - lost[rows].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = np.quantile(drawn, [0.05, 0.95])
    return f"{1 - lost.sum() / single.sum():.3f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()

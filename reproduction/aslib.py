"""Algorithm selection: how much of the gap between the single and the virtual best is closed.

::

    python reproduction/aslib.py

Every scenario of ASlib in ``aslib`` under the folder that PREFERO_DATA names, on its official
folds, by rankers that see the ranks of the solvers alone and by the same rankers with their run
times as scores. Beside them stand figures of the literature.
"""

import warnings
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from kebi import arguments, cached, need, parse, publish, published_rows
from real import CONSTANT, Real, read_scenario
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from prefero import (
    ConsensusLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    make_ranking_pipeline,
)
from prefero._typing import Values
from prefero.datasets import benchmark_path
from prefero.metrics import kendall_tau, regret
from prefero.study import Table

QUICK = (CONSTANT, "forest")
PUBLISHED = {
    "SATzilla-11-like": "SATzilla'11*like (censored: PAR10)",
    "a forest a solver": "PerAlgorithmRegressor (censored: PAR10)",
    "Sunny-like": "SUNNY*like (censored: PAR10)",
    "Run2Survive": "Run2SurvivePoly/Log",
}

READING = """
Scores are run times, a time-out ten times the cut-off (PAR10), with the sign turned; of
OPENML-WEKA-2017 they are accuracies. The gap closed is 1 - (lost by the ranker) / (lost by the
single best solver of the training rows), where lost is what the first choice costs beyond the best
solver of the instance: 1 is the virtual best solver, 0 the single best. "Over all rows" adds up
what is lost on all test rows. "Mean of the folds" is the published protocol: instances that no
solver solves are left out, and the share of each fold counts alike, so that a fold with a gap of
nearly nothing may outweigh all others, as in MIP-2016. Published selectors bear the cost of
computing features, ours do not. `ranks` learns from the order of the solvers alone, `scores` has
mean scores in the leaves of the same trees, `blend` half of each; `weighted` weighs a pair of
solvers by the difference of their scores. The pairwise models have C = 1, to save the time of
choosing it; all else has its defaults. No setting was chosen by these scenarios' test folds:
the three leaves are all there are. The constant order is the consensus of the training rankings.
"""


def rankers() -> dict[str, tuple[Any, bool]]:
    """Return rankers by name, and whether they are given the scores."""
    forest = ForestLabelRanker(random_state=0)
    linear = {
        "pairwise": PairwiseLabelRanker(C=1.0, calibrate=False),
        "log-linear": LogLinearLabelRanker(calibrate=False),
    }
    found: dict[str, tuple[Any, bool]] = {CONSTANT: (ConsensusLabelRanker(), False)}
    for leaf in ("ranks", "scores", "blend"):
        found[f"forest, {leaf}"] = clone(forest).set_params(leaf=leaf), True
    for name, ranker in (linear | {"neighbours": NeighborsLabelRanker()}).items():
        steps = SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
        found[name] = make_ranking_pipeline(*steps, ranker), False
        found[f"{name}, weighted"] = make_ranking_pipeline(*map(clone, steps), clone(ranker)), True
    return found


def main() -> None:
    """Run every scenario that is there and print the shares, ours beside theirs."""
    options = parse(arguments("Close the gap between the single and the virtual best solver."))
    need(["aslib"])
    run = cached(run_cell, options.folder)
    names = [name for name in rankers() if not options.quick or name.startswith(QUICK)]
    whole: list[dict[str, Any]] = []
    by_fold: list[dict[str, Any]] = []
    tau: list[dict[str, Any]] = []
    for path in sorted(benchmark_path("aslib").glob("*/description.txt")):
        data = scenario(path.parent.name)
        cells = list(product([path.parent.name], range(len(data.splits())), names))
        found = Parallel(options.jobs)(delayed(run)(*cell) for cell in cells)
        folds = folds_of(data, dict(zip(cells, found, strict=True)))
        start = {"scenario": path.parent.name}
        whole.append(start | {name: of_all(folds, name) for name in names})
        if data.par10:
            theirs = published(path.parent.name)
            by_fold.append(start | {name: of_folds(folds, name) for name in names} | theirs)
        tau.append(start | {n: float(np.mean([f["tau"][n] for f in folds])) for n in names})
    if not whole:
        raise FileNotFoundError("No scenario was found: set PREFERO_DATA to the data's folder.")
    tables = {
        "Share of the gap closed, over all rows": with_mean(whole),
        "Share of the gap closed, mean of the folds, beside published figures": Table(by_fold),
        "Kendall's tau": with_mean(tau),
    }
    publish("Algorithm selection", tables, options.output, reading=READING)


@lru_cache(maxsize=1)
def scenario(name: str) -> Real:
    """Read a scenario by its name."""
    return read_scenario(benchmark_path("aslib") / name / "description.txt")


def run_cell(name: str, fold: int, ranker: str) -> tuple[Values, float]:
    """Return what a ranker loses on the test rows of a fold, and its tau."""
    data = scenario(name)
    assert data.scores is not None
    train, test = data.splits()[fold]
    model, scored = rankers()[ranker]
    given = {"scores": data.scores[train]} if scored else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels never seen, iterations that ran out
        model.fit(data.X[train], data.ranks[train], **given)
    predicted = model.predict(data.X[test])
    return losses(data.scores[test], predicted), float(kendall_tau(data.ranks[test], predicted))


def folds_of(data: Real, cells: dict[tuple[str, int, str], Any]) -> list[dict[str, Any]]:
    """Return, fold by fold, what each ranker and the single best solver lose."""
    assert data.scores is not None
    found = []
    for fold, (train, test) in enumerate(data.splits()):
        means = np.nanmean(data.scores[train], axis=0)
        single = np.tile(np.argsort(np.argsort(-means)) + 1.0, (len(test), 1))
        here = {ranker: cell for (_, of, ranker), cell in cells.items() if of == fold}
        found.append(
            {
                "single": losses(data.scores[test], single),
                "solved": np.nanmax(data.scores[test], axis=1) > np.nanmin(data.scores),
                "lost": {ranker: lost for ranker, (lost, _) in here.items()},
                "tau": {ranker: tau for ranker, (_, tau) in here.items()},
            }
        )
    return found


def losses(scores: Values, predicted: Any) -> Values:
    """Return what the first choice of each row costs."""
    return np.nan_to_num(np.asarray(regret(scores, predicted, average=False)))


def of_all(folds: list[dict[str, Any]], name: str) -> float:
    """Return the share of the gap closed over the rows of all folds."""
    return 1 - sum(fold["lost"][name].sum() for fold in folds) / sum(
        fold["single"].sum() for fold in folds
    )


def of_folds(folds: list[dict[str, Any]], name: str) -> float:
    """Return the mean over folds of the share of the gap closed on rows that a solver solved."""
    shares = []
    for fold in folds:
        kept = fold["solved"]
        gap = fold["single"][kept].sum()
        if gap > 0:
            shares.append(1 - fold["lost"][name][kept].sum() / gap)
    return float(np.mean(shares))


def published(scenario: str) -> dict[str, float]:
    """Return the shares that the literature gives; NaN where it gives none."""
    figures = {
        row["method"]: float(row["value"])
        for row in published_rows("aslib_published.csv")
        if row["scenario"] == scenario
    }
    return {f"{head} (published)": figures.get(name, np.nan) for head, name in PUBLISHED.items()}


def with_mean(rows: list[dict[str, Any]]) -> Table:
    """Return a table with the means last."""
    heads = [head for head in rows[0] if head != "scenario"]
    means = {head: float(np.mean([row[head] for row in rows])) for head in heads}
    return Table([*rows, {"scenario": f"mean of {len(rows)}"} | means])


if __name__ == "__main__":
    main()

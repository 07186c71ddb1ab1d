"""Algorithm selection: how much of the gap between the single and the virtual best is closed.

::

    python reproduction/aslib.py --rankers forest,boosting,automatic

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
    AutoLabelRanker,
    BoostingLabelRanker,
    ConsensusLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    make_ranking_pipeline,
)
from prefero._typing import Values
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable
from prefero.metrics import kendall_tau, regret

QUICK = (CONSTANT, "forest")
# What leaves hold beside ranks.
WITH_SCORES = ("scores", "blend")
# Draws of each forest: few instances decide what is lost, and luck which of them it gets right.
SEEDS = range(3)
PRESET = "quick"
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
solvers by the difference of their scores. The automatic ranker, with the `quick` preset, is
told to choose by tau or by regret; only the latter looks at the scores. The pairwise models have
C = 1, to save the time of choosing it; all else has its defaults. No setting was
chosen by these scenarios' test folds: the three leaves are all there are. The consensus order is
the consensus of the training rankings.

Forests are means of three draws. "What scores add" is the share that a forest with scores in its
leaves closes more than one without, and the standard error of that over the test rows. A scenario
of one or two hundred rows hangs on a few time-outs, each worth ten cut-offs: the whole gap of
MIP-2016 is that of 8 instances, so that one of them is an eighth of it, and of
CSP-Minizinc-Time-2016 that of 13. Where there are more than a thousand rows, the blend adds to
ranks.
"""


def rankers() -> dict[str, tuple[Any, bool]]:
    """Return rankers by name, and whether they are given the scores."""
    forest = ForestLabelRanker(random_state=0)
    linear = {
        "pairwise": PairwiseLabelRanker(C=1.0, calibrate=False),
        "log-linear": LogLinearLabelRanker(calibrate=False),
    }
    found: dict[str, tuple[Any, bool]] = {CONSTANT: (ConsensusLabelRanker(), False)}
    for leaf in ("ranks", *WITH_SCORES):
        found[f"forest, {leaf}"] = clone(forest).set_params(leaf_values=leaf), True
    boosting = BoostingLabelRanker(random_state=0)
    found |= {"boosting": (boosting, False), "boosting, weighted": (clone(boosting), True)}
    for scoring in ("tau", "regret"):
        ranker = AutoLabelRanker(scoring, preset=PRESET, random_state=0)
        found[f"automatic, {scoring}"] = ranker, scoring == "regret"
    for name, ranker in (linear | {"neighbours": NeighborsLabelRanker()}).items():
        steps = SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
        found[name] = make_ranking_pipeline(*steps, ranker), False
        found[f"{name}, weighted"] = make_ranking_pipeline(*map(clone, steps), clone(ranker)), True
    return found


def main() -> None:
    """Run every scenario that is there and print the shares, ours beside theirs."""
    parser = arguments("Close the gap between the single and the virtual best solver.")
    parser.add_argument("--rankers", help="beginnings of names, with commas; all by default")
    parser.add_argument("--folds", type=int, help="only the first official folds")
    options = parse(parser)
    need(["aslib"])
    run = cached(run_cell, options.folder)
    wanted = (CONSTANT, *options.rankers.split(",")) if options.rankers else ("",)
    wanted = QUICK if options.quick else wanted
    names = [name for name in rankers() if name.startswith(wanted)]
    whole: list[dict[str, Any]] = []
    by_fold: list[dict[str, Any]] = []
    tau: list[dict[str, Any]] = []
    more: list[dict[str, Any]] = []
    for path in sorted(benchmark_path("aslib").glob("*/description.txt")):
        data = scenario(path.parent.name)
        cells = list(product([path.parent.name], range(len(data.splits()))[: options.folds], names))
        found = Parallel(options.jobs)(delayed(run)(*cell) for cell in cells)
        folds = folds_of(data, dict(zip(cells, found, strict=True)))
        start = {"scenario": path.parent.name, "rows": len(data.X)}
        if {"forest, ranks", *(f"forest, {leaf}" for leaf in WITH_SCORES)} <= set(names):
            more.append(start | added(folds))
        whole.append(start | {name: of_all(folds, name) for name in names})
        if data.par10:
            theirs = published(path.parent.name)
            by_fold.append(start | {name: of_folds(folds, name) for name in names} | theirs)
        tau.append(start | {n: float(np.mean([f["tau"][n] for f in folds])) for n in names})
    if not whole:
        raise FileNotFoundError("No scenario was found: set PREFERO_DATA to the data's folder.")
    tables = {
        "Share of the gap closed, over all rows": with_mean(whole),
        **({"What scores add to a forest that knows ranks": with_total(more)} if more else {}),
        "Share of the gap closed, mean of the folds, beside published figures": ResultTable(
            by_fold
        ),
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
    draws = SEEDS if isinstance(model, ForestLabelRanker) else [None]
    lost, tau = [], []
    for seed in draws:
        if seed is not None:
            model.set_params(random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels never seen, iterations that ran out
            model.fit(data.X[train], data.ranks[train], **given)
        predicted = model.predict(data.X[test])
        lost.append(losses(data.scores[test], predicted))
        tau.append(float(kendall_tau(data.ranks[test], predicted)))
    return np.mean(lost, axis=0), float(np.mean(tau))


def folds_of(data: Real, cells: dict[tuple[str, int, str], Any]) -> list[dict[str, Any]]:
    """Return, fold by fold, what each ranker and the single best solver lose."""
    assert data.scores is not None
    found = []
    for fold in sorted({of for _, of, _ in cells}):
        train, test = data.splits()[fold]
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


def added(folds: list[dict[str, Any]]) -> dict[str, float]:
    """Return how much more leaves with scores close than leaves of ranks, with standard errors."""
    single = np.concatenate([fold["single"] for fold in folds])
    found = {}
    for leaf in WITH_SCORES:
        saved = np.concatenate(
            [fold["lost"]["forest, ranks"] - fold["lost"][f"forest, {leaf}"] for fold in folds]
        )
        share = saved / single.mean()
        found[leaf] = float(share.mean())
        found[f"{leaf}, standard error"] = float(share.std(ddof=1) / np.sqrt(len(share)))
    return found


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


def with_mean(rows: list[dict[str, Any]]) -> ResultTable:
    """Return a table with the means last."""
    return ResultTable([*rows, _mean_of(rows)])


def with_total(rows: list[dict[str, Any]]) -> ResultTable:
    """Return the same with the standard errors of the means."""
    last = _mean_of(rows)
    for head in last:
        if head.endswith("standard error"):
            last[head] = float(np.sqrt(np.sum([row[head] ** 2 for row in rows])) / len(rows))
    return ResultTable([*rows, last])


def _mean_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    heads = [head for head in rows[0] if head not in ("scenario", "rows")]
    means = {head: float(np.mean([row[head] for row in rows])) for head in heads}
    rows_of_all = sum(row["rows"] for row in rows)
    return {"scenario": f"mean of {len(rows)}", "rows": rows_of_all} | means


if __name__ == "__main__":
    main()

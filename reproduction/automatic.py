"""The automatic ranker on the KEBI sets and on real preferences, beside the consensus order.

::

    python reproduction/automatic.py --folds 2 --large-folds 1 --folder cells
    python reproduction/automatic.py --real --rows 1000 --singles Forest,Boosting --folder cells
    python reproduction/automatic.py --real --regret --sets BNSL-2016 MIP-2016 --folds 3

KEBI: ten folds, five repetitions up to 3000 rows; ``--folds`` runs the first ones alone, and the
page says how many of each set. Real sets: their official folds, else five. Everything is chosen
inside the training rows of a fold. ``--regret`` sets the ranker chosen by regret, which learns from
scores, beside the one chosen by tau, on the sets that have scores. How often the conformal answers
hold the truth, and how large they are, is measured on the same test rows.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from kebi import (
    ALL_SETS,
    LARGE_SETS,
    Published,
    arguments,
    file_of,
    need,
    parse,
    publish,
    published,
    read_set,
)
from real import CONSTANT, Real, find_sets, some_rankers
from sklearn.model_selection import RepeatedKFold

from prefero import AutoLabelRanker, ConsensusLabelRanker
from prefero.evaluation import ResultTable, compare_folds, run_experiment, summarize
from prefero.rankings import bucket_positions

ERROR = 0.1
BY_REGRET = "auto by regret"

REAL_READING = """
Every choice is made inside the training rows of a fold. "ahead" is the mean of the folds of the
automatic ranker's tau less that of the better of the two consensus orders (Borda's and Kemeny's,
the better on the test rows themselves); the p-value is that of the corrected resampled t-test over
the folds, two-sided and not adjusted for the number of sets. The best single ranker is the best on
the test rows, which nobody knows beforehand. A set "covers" if it holds the truth; nominal is 0.9.
"exact" lets sets be empty.
"""

READING = """
Every choice is made inside the training rows of a fold; nothing has seen the test rows. The best
figures of others are taken set by set from whatever method had them. A set "covers" if it holds
the truth; nominal is 0.9. The likeliest answer is always in a set, so that a ranker that errs in
less than a tenth of the rows covers more; "exact" lets sets be empty instead. "folds" is how many
of the ten (of up to five repetitions) were run: a figure of one or two folds is off by several
hundredths on a set of some hundred rows, in either direction.
"""


def first_sets(ranker: Any, X: Any, ranks: Any, **options: Any) -> tuple[float, float]:
    """Return how often the first label is in its set, and the mean size of the sets."""
    if not hasattr(ranker, "predict_top_set"):
        return float("nan"), float("nan")
    sets = ranker.predict_top_set(X, ERROR, **options)
    truth = ranks == np.fmin.reduce(ranks, axis=1, keepdims=True)
    return float((sets | ~truth).all(axis=1).mean()), float(sets.sum(axis=1).mean())


def intervals(ranker: Any, X: Any, ranks: Any, **options: Any) -> tuple[float, float]:
    """Return how often the rank of a label is in its interval, and the mean length."""
    complete = ~np.isnan(ranks).any(axis=1)
    if not hasattr(ranker, "predict_rank_intervals") or not complete.any():
        return float("nan"), float("nan")
    start, end = np.moveaxis(ranker.predict_rank_intervals(X[complete], ERROR, **options), 2, 0)
    truth = np.floor(bucket_positions(ranks[complete]))
    inside = (start <= truth) & (truth <= end)
    return float(inside.mean()), float((end - start + 1).mean())


def _measure(function: Any, place: int, **options: Any) -> Any:
    return lambda ranker, X, ranks: function(ranker, X, np.asarray(ranks), **options)[place]


MEASURES = {
    "first covered": _measure(first_sets, 0),
    "first exact": _measure(first_sets, 0, allow_empty=True),
    "first size": _measure(first_sets, 1),
    "ranks covered": _measure(intervals, 0),
    "ranks exact": _measure(intervals, 0, allow_empty=True),
    "ranks length": _measure(intervals, 1),
}


def main() -> None:
    """Run the sets that are asked for and print ours beside the best of others."""
    parser = arguments("The automatic ranker on the KEBI sets and on real preferences.")
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 0.3, 0.6])
    parser.add_argument("--sets", nargs="+", default=list(ALL_SETS))
    parser.add_argument("--real", action="store_true", help="real preferences, not KEBI")
    parser.add_argument("--folds", type=int, help="only the first folds of each set")
    parser.add_argument("--large-folds", type=int, help="of sets of more than 3000 rows")
    parser.add_argument("--rows", type=int, help="at most so many of a real set, evenly spaced")
    parser.add_argument("--preset", default="balanced", choices=("quick", "balanced", "best"))
    parser.add_argument("--singles", help="single rankers too: their names, with commas")
    parser.add_argument("--regret", action="store_true", help="by regret too: sets of scores")
    options = parse(parser)
    need(["real"] if options.real else map(file_of, options.sets))
    results = run_real(options) if options.real else run_sets(options)
    if not len(results):
        raise FileNotFoundError("No set was found: set PREFERO_DATA to the folder of the data.")
    tables = {}
    if options.regret:
        tables["Regret, by what the ranker was chosen by"] = regrets(results)
    results = ResultTable(row for row in results if row["ranker"] != BY_REGRET)
    best = {} if options.real else published("best_known.csv", column="best_tau_any")
    for rate in [0.0] if options.real else options.missing:
        missing = "" if options.real else f", {rate:.0%} of the labels missing"
        tables[f"Kendall's tau{missing}"] = beside(results, best, rate)
    if options.real:
        tables["Against the better consensus order"] = guarded(results)
    else:
        tables["Cells above the best of others"] = counted(results, best)
    rates = "" if options.real else ", all rates"
    tables[f"Conformal answers at error 0.1{rates}"] = coverage(results)
    title = f"The automatic ranker ({options.preset}) on "
    title += "real preferences" if options.real else "the KEBI sets"
    publish(title, tables, options.output, reading=REAL_READING if options.real else READING)


def tried(options: argparse.Namespace) -> dict[str, Any]:
    """Return the consensus order, perhaps all single rankers, and the automatic one."""
    names = options.singles.split(",") if options.singles else []
    found = some_rankers(names) if options.real or names else {CONSTANT: ConsensusLabelRanker()}
    return found | {"auto": AutoLabelRanker(preset=options.preset, random_state=0)}


def run(
    name: str,
    source: Any,
    splits: Sequence[Any],
    options: argparse.Namespace,
    rankers: Any = None,
    **more: Any,
) -> ResultTable:
    """Run the folds of one set that are asked for."""
    many = name in LARGE_SETS and options.large_folds is not None
    return run_experiment(
        tried(options) if rankers is None else rankers,
        {name: source},
        cv=list(splits)[: options.large_folds if many else options.folds],
        missing=[0.0] if options.real else options.missing,
        n_jobs=options.jobs,
        folder=options.folder,
        metrics=MEASURES,
        **more,
    )


def run_sets(options: argparse.Namespace) -> ResultTable:
    """Run the KEBI sets."""
    results = ResultTable([])
    for name in options.sets:
        X, Y = read_set(name)
        repetitions = 1 if options.quick or len(X) > 3000 else options.repetitions
        folds = RepeatedKFold(n_splits=10, n_repeats=repetitions, random_state=0)
        results += run(name, (X, Y), list(folds.split(X)), options)
    return results


def run_real(options: argparse.Namespace) -> ResultTable:
    """Run the sets of real preferences."""
    results = ResultTable([])
    for name, read in sorted(find_sets().items()):
        if options.sets != list(ALL_SETS) and name not in options.sets:
            continue
        data: Real = read().first(options.rows)
        if options.regret and data.scores is None:
            continue
        part = (name, data.source(), data.splits(), options)
        results += run(*part)
        if options.regret:
            ranker = AutoLabelRanker("regret", preset=options.preset, random_state=0)
            results += run(*part, {BY_REGRET: ranker}, use_scores=True)
    return results


def regrets(results: ResultTable) -> ResultTable:
    """Return the mean regret of each ranker, one line per set."""
    rows: dict[str, dict[str, Any]] = {}
    for row in summarize(results):
        rows.setdefault(row["dataset"], {"dataset": row["dataset"]})[row["ranker"]] = row["regret"]
        rows[row["dataset"]]["folds"] = row["cells"]
    return ResultTable(rows.values())


def beside(results: ResultTable, best: Published, rate: float) -> ResultTable:
    """Put our means beside the consensus order and the best of others, the means last."""
    means = summarize(results.where(missing=rate))
    rows: dict[str, dict[str, Any]] = {}
    for row in means:
        rows.setdefault(row["dataset"], {"dataset": row["dataset"]})[row["ranker"]] = row["tau"]
        rows[row["dataset"]]["folds"] = row["cells"]
    for name, row in rows.items():
        if best:
            row["best anywhere"] = best.get((name, rate), float("nan"))
            row["ahead"] = row["auto"] - row["best anywhere"]
    heads = [head for head in next(iter(rows.values())) if head not in ("dataset", "folds")]
    mean = {head: float(np.nanmean([row[head] for row in rows.values()])) for head in heads}
    mean["folds"] = sum(row["folds"] for row in rows.values())
    return ResultTable([*rows.values(), {"dataset": f"mean of {len(rows)}"} | mean])


def counted(results: ResultTable, best: Published) -> ResultTable:
    """Count, rate by rate, the sets above the best of others, and the farthest below it."""
    rows = []
    for rate in sorted(set(results["missing"])):
        table = beside(results, best, rate)
        ahead = np.array([row["ahead"] for row in table][:-1])
        below = int((ahead < -0.005).sum())
        rows.append(
            {"missing": f"{rate:.0%}", "sets": len(ahead), "above": int((ahead > 0).sum())}
            | {"more than .005 below": below, "farthest below": float(min(ahead.min(), 0))}
        )
    return ResultTable(rows)


def guarded(results: ResultTable) -> ResultTable:
    """Compare the automatic ranker with the better consensus order of each set, over its folds."""
    rows = []
    for (name,), own in results.groups("dataset").items():
        means = {row["ranker"]: row["tau"] for row in summarize(own, by=("ranker",))}
        constants = [who for who in means if who.startswith(CONSTANT)]
        better = max(constants, key=lambda who: means[who])
        pair = ResultTable(row for row in own if row["ranker"] in (better, "auto"))
        (found,) = compare_folds(pair, "auto")
        row = {"dataset": name, "folds": len(set(own["fold"])), "auto": means["auto"]}
        row |= {"constant": means[better], "rule": better, "ahead": found["behind"]}
        row["p_value"] = found["p_value"]
        if singles := [who for who in means if who not in (*constants, "auto")]:
            best = max(singles, key=lambda who: means[who])
            row |= {"best single": best, "ahead of it": means["auto"] - means[best]}
        rows.append(row)
    return ResultTable(rows)


def coverage(results: ResultTable) -> ResultTable:
    """Return how often conformal answers hold the truth, and how large they are."""
    ours = ResultTable(row for row in results if row["ranker"] == "auto")
    columns = ("dataset", *MEASURES)
    return ResultTable(
        {head: row[head] for head in columns} for row in summarize(ours, by=("dataset",))
    )


if __name__ == "__main__":
    main()

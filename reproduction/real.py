"""Rankings that people, fields and solvers really gave: every ranker beside the consensus order.

::

    python reproduction/real.py --quick --jobs 2

Every set found in the folder that PREFERO_DATA names is run: ``real/*.csv`` (features ``f_*``,
ranks ``r_*``), ``sushi``, ``elections``, ``ties/*.csv``, and the scenarios of ``aslib`` with their
official folds. None is part of Prefero; the folder's own README says where each comes from, under
which licence, and what to cite. Every ranker has its default parameters.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from kebi import arguments, command, default_rankers, need, parse, publish
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import prefero
from prefero import ConsensusLabelRanker
from prefero._files import write_beside
from prefero._pipelines import at_final_step
from prefero._typing import Indices, Values
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable, run_experiment, summarize
from prefero.metrics import pairwise_calibration_error, regret
from prefero.rankings import have_ties, ranks_from_orders
from prefero.tables import Rankings, read_rankings

CONSTANT = "consensus order"
FOLDS = 5
QUICK_ROWS = 1100

READING = """
The consensus order is the same order for everyone; a ranker that is not above it has learnt
nothing from the features. Five folds (`KFold(5, shuffle=True, random_state=0)`); solver scenarios
have their official folds. Empty features are filled by the training rows' median, linear rankers
and neighbours behind standardised features; words are one column per category. The consensus order
is that of Borda's count, or Kemeny's. tau-x is that of
`predict_buckets`, and stands where rankings hold ties. Regret is in the unit of the scores, of
solvers in seconds of PAR10. The gap closed is the share of what the single best solver (of the
training rows) loses to the best solver of each instance that a ranker wins back. Calibration
error: 15 bins of the probabilities of all pairs; raw shares are the trees of a forest that put one
label before another. It is the mean over folds, and too large where a fold has few rows. The
command above says which sets, how many of their rows and which rankers were run, if not all.
"""


@dataclass(frozen=True)
class Real:
    """A set of real rankings; scores and folds where it has some."""

    X: Values
    ranks: Values
    scores: Values | None = None
    folds: Indices | None = None
    par10: bool = False

    def splits(self) -> list[tuple[Indices, Indices]]:
        """The official folds, else five."""
        if self.folds is None:
            return list(KFold(FOLDS, shuffle=True, random_state=0).split(self.X))
        return list(PredefinedSplit(self.folds).split())

    def first(self, most: int | None) -> "Real":
        """Return at most so many rows, evenly spaced."""
        n = len(self.ranks)
        if most is None or n <= most:
            return self
        rows = np.linspace(0, n - 1, most).astype(np.int64)
        parts = (self.X, self.ranks, self.scores, self.folds)
        return Real(*(None if part is None else part[rows] for part in parts), self.par10)

    def source(self) -> tuple[Values, ...]:
        """What an experiment takes."""
        parts = (self.X, self.ranks)
        return parts if self.scores is None else (*parts, self.scores)


def main() -> None:
    """Run every set that is there and print one table per measure."""
    parser = arguments("Compare all rankers on rankings that were really given.")
    parser.add_argument("--rows", type=int, help="at most so many rows of a set, evenly spaced")
    parser.add_argument("--sets", help="names of sets, with commas; all by default")
    parser.add_argument("--rankers", help="names of rankers, with commas; all by default")
    parser.add_argument("--store", type=Path, help="the figures as get_results reads them")
    options = parse(parser)
    need(["real"])
    found = find_sets()
    wanted = sorted(found) if options.sets is None else options.sets.split(",")
    chosen = rankers() if options.rankers is None else some_rankers(options.rankers.split(","))
    results, sets, gaps = ResultTable([]), [], []
    for name in wanted:
        data = found[name]().first(options.rows)
        if options.quick and len(data.ranks) > QUICK_ROWS:
            continue
        about = describe(name, data)
        # Each set is named before it is run: a run that stops says where.
        print("{dataset}: {rows} rows, {licence}; {source}".format(**about), file=sys.stderr)
        own = run_experiment(
            chosen,
            {name: data.source()},
            cv=data.splits(),
            n_jobs=options.jobs,
            folder=options.folder,
            metrics=MEASURES,
        )
        results, sets = results + own, [*sets, about]
        gaps += [{"dataset": name} | gaps_closed(own, data)] if data.par10 else []
    if not len(results):
        raise FileNotFoundError("No set was found: set PREFERO_DATA to the folder of the data.")
    tables = {head: by_set(results, column) for head, column in HEADS.items()}
    tables |= (
        {"Share of the gap to the best solver closed (PAR10)": ResultTable(gaps)} if gaps else {}
    )
    figures = all_figures(results, gaps)
    tables |= {"The sets": ResultTable(sets), "All figures": figures}
    known = {head: table for head, table in tables.items() if len(table)}
    publish("Real preferences", known, options.output, reading=READING)
    if options.store is not None:
        store(figures, options.store)


def all_figures(results: ResultTable, gaps: list[dict[str, Any]]) -> ResultTable:
    """Return the means of all metrics, one row per set and ranker, with deviations of tau."""
    closed = {gap["dataset"]: gap for gap in gaps}
    nothing = float("nan")
    rows = []
    for row in summarize(results, by=("dataset", "ranker")):
        kept = {name: row[name] for name in ("dataset", "ranker", "cells", "tau", "tau_sd")}
        kept |= {name: row[name] for name in ("tau_x", "rho", "top1", "regret", *MEASURES)}
        kept["gap_closed"] = closed.get(row["dataset"], {}).get(row["ranker"], nothing)
        rows.append(kept | {name: row[name] for name in ("fit_seconds", "predict_seconds")})
    return ResultTable(rows)


def store(figures: ResultTable, path: Path) -> None:
    """Write figures with a line on what made them."""
    made = f"# Prefero {prefero.__version__}, {date.today()}: {command()}"
    content = figures.to_frame().round(6).to_csv(index=False, lineterminator="\n")
    write_beside(path, f"{made}\n{content}".encode())


def describe(name: str, data: Real) -> dict[str, Any]:
    """Say what a set is, under which licence, and whom to cite."""
    folder = next((kind for kind in ("(ties)",) if name.endswith(kind)), name)
    kind = "ASlib" if data.folds is not None else folder
    source, licence = SOURCES.get(kind, ("see the README of the data", "not stated"))
    shape = {"rows": len(data.ranks), "features": data.X.shape[1], "labels": data.ranks.shape[1]}
    ties = "yes" if have_ties(data.ranks) else "no"
    return {"dataset": name, **shape, "ties": ties, "licence": licence, "source": source}


_ASLIB = "Bischl et al. (2016), ASlib: a benchmark library for algorithm selection"
_MORE_PLR = "Thies, Alfaro & Bengs (2024), MORE-PLR"
# By set: where it comes from, or whom to cite; under which licence.
SOURCES = {
    "ASlib": (_ASLIB, "GPL-3"),
    "(ties)": (f"{_MORE_PLR}; Alfaro, Aledo & Gámez (2021)", "not stated"),
    "cassava": ("AgrDataSci/gosset; van Etten et al. (2019), tricot", "MIT"),
    "beans": ("hturner/PlackettLuce; van Etten et al. (2019)", "GPL-3"),
    "CEMSChoice": ("R package psychotree; Dittrich, Hatzinger & Katzenbeisser (1998)", "GPL"),
    "GermanParties2009": ("R package psychotools", "GPL"),
    "music": ("R package prefmod; General Social Survey", "GPL"),
    "carconf": ("R package prefmod; Dabic & Hatzinger (2009)", "GPL"),
    "Game": ("R package mlogit; Fok, Paap & van Dijk (2012)", "GPL"),
    "political": (_MORE_PLR, "not stated"),
    "movies": ("Advueu963/Calibrated_Preference_Learning", "not stated"),
    "alpaca_eval": ("tatsu-lab/alpaca_eval; Li et al. (2023)", "Apache-2.0"),
    "sushi3a": ("Kamishima (2003), Nantonac collaborative filtering", "research use only"),
    "german2005": ("German federal election of 2005, by district", "not stated"),
}


HEADS = {
    "Kendall's tau": "tau",
    "tau-x, of rankings with ties": "tau_x",
    "Right first choice": "top1",
    "Regret": "regret",
    "Calibration error": "calibration_error",
    "Calibration error of raw shares of votes": "raw_error",
}


def calibration_error(model: Any, X: Any, ranks: Any) -> float:
    """Return how far the predicted probabilities of pairs are from the shares that come true."""
    ranker, inner = at_final_step(model, X)
    if not hasattr(ranker, "predict_pairwise"):
        return float("nan")
    return float(pairwise_calibration_error(ranks, ranker.predict_pairwise(inner)))


def raw_error(model: Any, X: Any, ranks: Any) -> float:
    """Return the same of the shares of trees, before they are calibrated."""
    ranker, inner = at_final_step(model, X)
    if not hasattr(ranker, "predict_votes"):
        return float("nan")
    return float(pairwise_calibration_error(ranks, ranker.predict_votes(inner)))


MEASURES = {"calibration_error": calibration_error, "raw_error": raw_error}


def rankers() -> dict[str, Any]:
    """Every ranker with its defaults behind what it needs; the consensus order first."""
    found: dict[str, Any] = {
        CONSTANT: ConsensusLabelRanker("borda"),
        f"{CONSTANT} (Kemeny)": ConsensusLabelRanker("kemeny"),
    }
    for name, ranker in default_rankers().items():
        if isinstance(ranker, ConsensusLabelRanker):
            continue
        steps = [SimpleImputer(strategy="median", keep_empty_features=True)]
        if not name.startswith(("Tree", "Forest", "Boosting")):
            steps.append(StandardScaler())
        found[name] = make_pipeline(*steps, ranker)
    return found


def some_rankers(names: list[str]) -> dict[str, Any]:
    """Some rankers, and always the consensus order."""
    return {
        name: ranker
        for name, ranker in rankers().items()
        if name in names or name.startswith(CONSTANT)
    }


def find_sets() -> dict[str, Callable[[], Real]]:
    """Return readers of all sets that are there, by name."""
    root = benchmark_path(".")
    found: dict[str, Callable[[], Real]] = {}
    for path in (root / "real").glob("*.csv"):
        found[path.stem] = partial(read_prompts if path.stem == "alpaca_eval" else read_ranks, path)
    for path in (root / "ties").glob("*.csv"):
        found[f"{path.stem} (ties)"] = partial(read_ranks, path, None)
    for path in (root / "aslib").glob("*/description.txt"):
        found[path.parent.name] = partial(read_scenario, path)
    if (root / "sushi").is_dir():
        found["sushi3a"] = partial(read_sushi, root / "sushi")
    for path in (root / "elections").glob("*.csv"):
        found[path.stem] = partial(read_election, path)
    return found


def read_ranks(path: Path, labels: str | None = "r_*") -> Real:
    """Read ranks beside numbers."""
    return real(read_rankings(path, labels))


def real(rankings: Rankings, **more: Any) -> Real:
    """Keep the rows that rank two labels; words become one column per category."""
    import pandas

    kept = np.count_nonzero(~np.isnan(rankings.ranks), axis=1) > 1
    X = pandas.get_dummies(rankings.X, dtype=float).to_numpy(float)[kept]
    scores = None if rankings.scores is None else rankings.scores[kept]
    folds = rankings.table.declared.folds
    official = None if folds is None else folds[rankings.rows, 0][kept]
    return Real(X, rankings.ranks[kept], scores, official, **more)


def read_scenario(path: Path) -> Real:
    """Read a scenario of algorithm selection: smaller times are better, a failure is ten times."""
    rankings = read_rankings(path)
    return real(rankings, par10=rankings.table.declared.cutoff is not None)


def read_prompts(path: Path) -> Real:
    """Read prompts as thirty dimensions of their words, their length and where they come from."""
    rankings = read_rankings(path, "score *", format="scores", higher_is_better=True)
    frame = rankings.table.frame
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(frame["prompt"])
    dimensions = TruncatedSVD(30, random_state=0).fit_transform(words)
    length = np.log1p(frame["prompt"].str.len().to_numpy(float))
    sources = np.unique(frame["source"], return_inverse=True)[1]
    X = np.column_stack([dimensions, length, np.eye(sources.max() + 1)[sources]])
    return Real(X[rankings.rows], rankings.ranks, rankings.scores)


def read_election(path: Path) -> Real:
    """Read districts whose last column is an order; letters together are tied."""
    import pandas

    last = str(pandas.read_csv(path, nrows=1).columns[-1])
    return real(read_rankings(path, last, format="orders", letters=True))


def read_sushi(folder: Path) -> Real:
    """Read the 5000 people who all ordered the same ten kinds, with what is known of them."""
    lines = (folder / "sushi3a.5000.10.order").read_text().splitlines()[1:]
    orders = [[int(item) for item in line.split()[2:]] for line in lines]
    people = np.loadtxt(folder / "sushi3.udata")
    # The first column names the person; sex, age, time, and where one lived and lives.
    return Real(people[:, 1:], ranks_from_orders(orders)[0])


def by_set(results: ResultTable, measure: str) -> ResultTable:
    """Put the rankers side by side, one row per set, the means last, where a metric is known."""
    if measure == "tau_x":
        results = ResultTable(row for row in results if row["tau_x"] != row["tau"])
    means = summarize(results, by=("dataset", "ranker")) if len(results) else []
    rows: dict[str, dict[str, Any]] = {}
    for row in means:
        if not np.isnan(row[measure]):
            rows.setdefault(row["dataset"], {})[row["ranker"]] = row[measure]
    heads = [name for name in rankers() if any(name in row for row in rows.values())]
    blank = dict.fromkeys(heads, float("nan"))
    table = ResultTable([{"dataset": name} | blank | row for name, row in rows.items()])
    if len(table) < 2 or measure == "regret":
        return table
    mean = {head: float(np.nanmean(table[head])) for head in heads}
    return table + ResultTable([{"dataset": f"mean of {len(table)}"} | mean])


def gaps_closed(results: ResultTable, data: Real) -> dict[str, float]:
    """Return, by ranker, the share of the gap between single and virtual best solver closed."""
    lost_by_single = sum(map(sum, _single_best(data)))
    closed = {}
    for (name,), rows in results.groups("ranker").items():
        lost = float(np.sum(rows["regret"] * rows["test_rows"]))
        closed[str(name)] = 1 - lost / lost_by_single
    return closed


def _single_best(data: Real) -> Iterator[Values]:
    """Yield what the solver that is best on the training rows loses on the test rows."""
    assert data.scores is not None
    for train, test in data.splits():
        order = np.argsort(np.argsort(-np.nanmean(data.scores[train], axis=0))) + 1
        chosen = np.tile(order, (len(test), 1))
        lost = np.asarray(regret(data.scores[test], chosen, average=False))
        yield lost[~np.isnan(lost)]


if __name__ == "__main__":
    main()

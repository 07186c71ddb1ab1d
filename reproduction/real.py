"""Rankings that people, fields and solvers really gave: every ranker beside the constant order.

::

    python reproduction/real.py --quick --jobs 2

Every set found in the folder that PREFERO_DATA names is run: ``real/*.csv`` (features ``f_*``,
ranks ``r_*``), ``sushi``, ``elections``, ``ties/*.csv``, and the scenarios of ``aslib`` with their
official folds. None is part of Prefero; the folder's own README says where each comes from, under
which licence, and what to cite. Every ranker has its default parameters.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from kebi import arguments, default_rankers, parse, publish
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from prefero import ConsensusLabelRanker, metrics
from prefero._pipelines import at_final_step
from prefero._typing import Indices, Values
from prefero.datasets import benchmark_path
from prefero.metrics import regret
from prefero.rankings import ranks_from_orders
from prefero.study import Table, run_experiment, summarize
from prefero.tables import Rankings, read_rankings

CONSTANT = "constant order"
FOLDS = 5
QUICK_ROWS = 1100

READING = """
The constant order is the same order for everyone; a ranker that is not above it has learnt
nothing from the features. Five folds (`KFold(5, shuffle=True, random_state=0)`); solver scenarios
have their official folds. Empty features are filled by the training rows' median, linear rankers
and neighbours behind standardised features; words are one column a category. tau-x is that of
`predict_buckets`, and stands where rankings hold ties. Regret is in the unit of the scores, of
solvers in seconds of PAR10. The gap closed is the share of what the single best solver (of the
training rows) loses to the best solver of each instance that a ranker wins back. Calibration
error: 15 bins of the probabilities of all pairs.
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

    def source(self) -> tuple[Values, ...]:
        """What an experiment takes."""
        parts = (self.X, self.ranks)
        return parts if self.scores is None else (*parts, self.scores)


def main() -> None:
    """Run every set that is there and print a table a measure."""
    options = parse(arguments("Compare all rankers on rankings that were really given."))
    results, gaps = Table([]), []
    for name, read in sorted(find_sets().items()):
        data = read()
        if options.quick and len(data.ranks) > QUICK_ROWS:
            continue
        found = run_experiment(
            rankers(),
            {name: data.source()},
            cv=data.splits(),
            n_jobs=options.jobs,
            folder=options.folder,
            measures=MEASURES,
        )
        results += found
        if data.par10:
            gaps.append({"dataset": name} | gaps_closed(found, data))
    if not len(results):
        raise FileNotFoundError("No set was found: set PREFERO_DATA to the folder of the data.")
    tables = {head: by_set(results, column) for head, column in HEADS.items()}
    tables |= {"Share of the gap to the best solver closed (PAR10)": Table(gaps)} if gaps else {}
    tables["All figures"] = summarize(results, by=("dataset", "ranker"))
    publish(
        "Real preferences",
        {k: v for k, v in tables.items() if len(v)},
        options.output,
        reading=READING,
    )


HEADS = {
    "Kendall's tau": "tau",
    "tau-x, of rankings with ties": "tau_x",
    "Right first choice": "top1",
    "Regret": "regret",
    "Calibration error": "calibration_error",
}


def calibration_error(model: Any, X: Any, ranks: Any) -> float:
    """Return how far the predicted probabilities of pairs are from the shares that come true."""
    ranker, inner = at_final_step(model, X)
    measure = getattr(metrics, "pairwise_calibration_error", None)
    if measure is None or not hasattr(ranker, "predict_pairwise"):
        return float("nan")
    return float(measure(ranks, ranker.predict_pairwise(inner)))


MEASURES = {"calibration_error": calibration_error}


def rankers() -> dict[str, Any]:
    """Every ranker with its defaults behind what it needs; the constant order first."""
    found: dict[str, Any] = {CONSTANT: ConsensusLabelRanker()}
    for name, ranker in default_rankers().items():
        if isinstance(ranker, ConsensusLabelRanker):
            continue
        steps = [SimpleImputer(strategy="median", keep_empty_features=True)]
        if not name.startswith(("Tree", "Forest", "Boosting")):
            steps.append(StandardScaler())
        found[name] = make_pipeline(*steps, ranker)
    return found


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
    """Keep the rows that rank two labels; words become one column a category."""
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


def by_set(results: Table, measure: str) -> Table:
    """Put the rankers side by side, a row a set and the means last, where the measure is known."""
    if measure == "tau_x":
        results = Table(row for row in results if row["tau_x"] != row["tau"])
    means = summarize(results, by=("dataset", "ranker")) if len(results) else []
    rows: dict[str, dict[str, Any]] = {}
    for row in means:
        if not np.isnan(row[measure]):
            rows.setdefault(row["dataset"], {})[row["ranker"]] = row[measure]
    heads = [name for name in rankers() if any(name in row for row in rows.values())]
    blank = dict.fromkeys(heads, float("nan"))
    table = Table([{"dataset": name} | blank | row for name, row in rows.items()])
    if len(table) < 2 or measure == "regret":
        return table
    mean = {head: float(np.nanmean(table[head])) for head in heads}
    return table + Table([{"dataset": f"mean of {len(table)}"} | mean])


def gaps_closed(results: Table, data: Real) -> dict[str, float]:
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

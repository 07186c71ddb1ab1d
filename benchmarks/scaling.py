"""Rows in partitions: ten million on one machine, two workers against one, and what is exchanged.

    python benchmarks/scaling.py large --rows 10000000 --folder FOLDER
    python benchmarks/scaling.py workers --rows 1000000 --folder FOLDER
    python benchmarks/scaling.py accuracy --trees 20
    python benchmarks/scaling.py exchange
    python benchmarks/scaling.py machines

``large`` writes rows as Parquet, in partitions, and trains and predicts a forest of them; memory is
that of all processes. ``workers`` fits the same with one and with two worker processes of one
thread. ``accuracy`` compares forests and boosting with those of one machine. ``exchange``
measures what a row and a number cost, predicts bytes and seconds of a forest in 1, 2, 4 and 8
partitions from it, and measures them. ``machines`` says what that comes to for 10^9 rows, 100
features and 20 labels on 100 machines.
"""

import argparse
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
from sklearn.base import clone

from prefero import (
    BoostingLabelRanker,
    ConsensusLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    _core,
)
from prefero._cases import CaseBase
from prefero._trees import find_bins
from prefero.datasets import benchmark_path
from prefero.distributed import DistributedLabelRanker
from prefero.distributed._binned import LaneSpec, bin_rows
from prefero.distributed._engine import LocalEngine
from prefero.distributed._levels import GrowOptions, grow_forest
from prefero.distributed._partitions import Blocks, Partitions
from prefero.label_ranking._loglinear_solvers import Objective
from prefero.metrics import kendall_tau, pairwise_calibration_error
from prefero.rankings import ranks_from_scores
from prefero.study import Table
from prefero.tables import read_rankings

FEATURES = [f"x{k}" for k in range(10)]
LABELS = [f"y{k}" for k in range(5)]
PART_ROWS = 500_000
PARTS = ("large", "workers", "accuracy", "exchange", "machines")


def made(rows: int, number: int, n_features: int = 10, n_labels: int = 5) -> tuple[Any, Any]:
    """Draw rows whose labels follow a few features, with noise."""
    random = np.random.default_rng([20, number])
    weights = np.random.default_rng(19).normal(size=(n_features, n_labels))
    X = random.normal(size=(rows, n_features)).astype(np.float32)
    bent = np.where(X > 0, X, -X / 2)
    scores = bent @ weights + random.normal(size=(rows, n_labels))
    return X, ranks_from_scores(scores, higher_is_better=True)


def write(folder: Path, rows: int) -> Path:
    """Write rows as Parquet, a file a partition, unless they are there."""
    place = folder / f"rows-{rows}"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(-(-rows // PART_ROWS)):
        file = place / f"part-{number:04d}.parquet"
        if file.exists():
            continue
        X, Y = made(min(PART_ROWS, rows - number * PART_ROWS), number)
        frame = pd.DataFrame(X, columns=FEATURES).join(
            pd.DataFrame(Y.astype(np.int8), columns=LABELS)
        )
        frame.to_parquet(file, index=False)
    return place


class Memory:
    """The most memory that this process and its children held together, in GB."""

    def __enter__(self) -> Self:
        self.most, self._stop = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(0.25):
            held = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    held += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.most = max(self.most, held / 1e9)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and its seconds."""
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def large(rows: int, folder: Path, trees: int, depth: int) -> None:
    """Train a forest of many rows, predict them all, and say what it took."""
    place = write(folder, rows)
    table = dd.read_parquet(place)
    X, y = table[FEATURES], table[LABELS]
    forest = ForestLabelRanker(trees, max_depth=depth, min_samples_leaf=100, random_state=0)
    with Memory() as memory:
        fitted, fit = timed(lambda: DistributedLabelRanker(forest).fit(X, y))
        predicted, predict = timed(lambda: _predict_all(fitted.to_local(), place))
    new_X, new_Y = made(100_000, number=10**6)
    local = fitted.to_local()
    tau = kendall_tau(new_Y, local.predict(pd.DataFrame(new_X, columns=FEATURES)))
    order = np.argsort(np.argsort(-local.mean_votes_)) + 1
    constant = kendall_tau(new_Y, np.tile(order, (len(new_Y), 1)))
    weights = local.trees_["weight"][local.trees_["node_starts"][:-1]]
    print(
        f"{rows:,} rows, {trees} trees of depth {depth}: fit {fit:.0f} s, predict {predict:.0f} s "
        f"({predicted:,} rows), at most {memory.most:.2f} GB in all; weight of every root "
        f"{set(weights.tolist())}; tau on 100,000 new rows {tau:.3f}, constant order "
        f"{constant:.3f}; shrinkage {local.shrinkage_:g}."
    )


def _predict_all(model: Any, place: Path) -> int:
    files = sorted(place.glob("*.parquet"))
    return sum(len(model.predict(pd.read_parquet(file, columns=FEATURES))) for file in files)


# Two workers against one


def workers(rows: int, folder: Path, trees: int, depth: int) -> None:
    """Fit a forest and a log-linear model with one and with two worker processes.

    Beside the clock, which others may share: the CPU time of workers and driver, and how much
    faster two workers can be by it.
    """
    from distributed import Client, LocalCluster

    place = write(folder, rows)
    forest = ForestLabelRanker(trees, max_depth=depth, min_samples_leaf=100, random_state=0)
    models = {"forest": forest, "log-linear": LogLinearLabelRanker(alpha=1e-3, calibrate=False)}
    found: dict[str, dict[str, Any]] = {name: {"model": name} for name in models}
    for n_workers in (1, 2):
        options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            table = dd.read_parquet(place).persist()
            table.count().compute()
            for name, model in models.items():
                ranker = DistributedLabelRanker(model, client=client)
                there = sum(client.run(time.process_time).values())
                here, start = time.process_time(), time.perf_counter()
                ranker.fit(table[FEATURES], table[LABELS])
                found[name][f"s, {n_workers}"] = time.perf_counter() - start
                found[name][f"driver CPU s, {n_workers}"] = time.process_time() - here
                spent = sum(client.run(time.process_time).values()) - there
                found[name][f"worker CPU s, {n_workers}"] = spent
    for row in found.values():
        row["times faster"] = row["s, 1"] / row["s, 2"]
        ours, theirs = row["driver CPU s, 2"], row["worker CPU s, 2"]
        row["by CPU"] = (ours + theirs) / (ours + theirs / 2)
    print(Table(found.values()).to_text(digits=2))


# Forests of partitions


def accuracy(name: str = "fried", trees: int = 100) -> None:
    """Tau and calibration of what partitions learn and one machine, on a third of a benchmark."""
    data = read_rankings(benchmark_path(f"kebi/{name}.csv"))
    X, Y = data.X.to_numpy(), data.ranks
    order = np.random.default_rng(0).permutation(len(X))
    test, train = order[: len(X) // 3], order[len(X) // 3 :]
    forest = ForestLabelRanker(trees, criterion="spearman", min_samples_leaf=5, random_state=0)
    boosting = BoostingLabelRanker(5 * trees, random_state=0)

    def row(model: str, parts: int | None, fitted: Any) -> dict[str, Any]:
        error = pairwise_calibration_error(Y[test], fitted.predict_pairwise(X[test]))
        tau = fitted.score(X[test], Y[test])
        return {"model": model, "partitions": parts, "tau": tau, "calibration error": error}

    models = {"constant order": ConsensusLabelRanker(), "forest": forest, "boosting": boosting}
    rows = [row(name, None, clone(one).fit(X[train], Y[train])) for name, one in models.items()]
    for model, ranker, kind, counts in [
        ("forest, histograms", forest, "histograms", (4,)),
        ("forest, partitions", forest, "partitions", (2, 4)),
        ("boosting", boosting, "histograms", (4,)),
    ]:
        for n in counts:
            parts = [da.from_array(a[train], chunks=(-(-len(train) // n), -1)) for a in (X, Y)]
            fit = DistributedLabelRanker(ranker, forest=kind, client=False, n_jobs=1).fit
            rows.append(row(model, n, fit(*parts).to_local()))
    print(Table(rows).to_text(digits=4))


# What is exchanged


class CountingEngine(LocalEngine):
    """One thread that counts the bytes that partitions would send."""

    def __init__(self) -> None:
        super().__init__(1)
        self.sent = 0

    def _added(self, total: Any, following: Any) -> Any:
        self.sent += _bytes(following.result())
        return super()._added(total, following)


def _bytes(value: Any) -> int:
    if isinstance(value, tuple | list):
        return sum(map(_bytes, value))
    return value.nbytes if isinstance(value, np.ndarray) else 8


class Costs(NamedTuple):
    """Nanoseconds of one core, measured."""

    draw: float  # a row is drawn for a sample
    step: float  # a row goes down one level
    row: float  # a row is looked at in a level
    number: float  # a number of a row is added to a bin
    search: float  # a number of a histogram is looked at for cuts
    merge: float  # a number of a histogram is added to another
    product: float  # a feature of a row is multiplied for a label, in a gradient
    square: float  # a product of two features is added up
    distance: float  # a feature of a case is compared with that of a query


def nanoseconds(call: Callable[[], Any], of: float, repeat: int = 3) -> float:
    """Return the least CPU time of some calls, for each of so many things."""
    least = np.inf
    for _ in range(repeat):
        start = time.process_time()
        call()
        least = min(least, time.process_time() - start)
    return least / of * 1e9


def measured_costs(rows: int = 200_000) -> Costs:
    """Measure what things cost, at small sizes."""
    X, Y = made(rows, 0)
    forest = ForestLabelRanker(1, max_depth=6, criterion="spearman", random_state=0).fit(X, Y)
    trees, bins = forest._trees, forest._feature_bins.apply(X.astype(float))
    lanes = np.ones((rows, 8), dtype=np.float32)
    drawn, leaf = np.ones(rows, np.uint16), np.zeros(rows, np.int32)
    draw = nanoseconds(lambda: _core.bootstrap_counts(1, 0, rows, rows), rows)
    walk = nanoseconds(lambda: trees.walker.apply(bins), rows * 6)
    leaves = np.ascontiguousarray(trees.walker.apply(bins)[:, 0])
    places = np.arange(len(trees.leaves), dtype=np.int32)

    def add(asked: int) -> float:
        features = np.tile(np.arange(asked, dtype=np.uint16), (len(places), 1))
        given = bins, lanes, 8, drawn, leaves, places, features
        return nanoseconds(lambda: _core.level_histograms(*given), rows)

    one, six = add(1), add(6)
    number = (six - one) / (5 * 8)
    sums = _core.level_histograms(
        bins, lanes, 8, drawn, leaf, np.zeros(1, np.int32), np.arange(10, dtype=np.uint16)[None]
    )
    many = np.tile(sums, (20, 1, 1, 1))
    search = nanoseconds(lambda: _core.level_cuts(many, 1.0), many.size)
    merge = nanoseconds(lambda: np.add(many, many), many.size)
    some = X[:20_000].astype(float)
    linear = LogLinearLabelRanker(alpha=1.0, max_iter=0, calibrate=False)
    linear.fit(some[:50], Y[:50])
    target = linear._target(Y[:20_000])
    objective = Objective(linear._functions(some, target), "domination", np.ones(20_000), None)
    at = np.zeros((11, 5))
    product = nanoseconds(lambda: objective.loss_and_gradient(at), 20_000 * 11 * 5)
    square = nanoseconds(lambda: some.T @ some, 20_000 * 10 * 10)
    queries = some[:200]
    distance = nanoseconds(
        lambda: CaseBase(some, np.ones(20_000), algorithm="brute").nearest(queries, 20),
        20_000 * 200 * 10,
    )
    return Costs(draw, walk, one - 8 * number, number, search, merge, product, square, distance)


def exchange(rows: int, trees: int, depth: int) -> None:
    """Predict and measure bytes and CPU seconds of a forest in 1, 2, 4 and 8 partitions."""
    costs = measured_costs()
    print({name: round(value, 3) for name, value in costs._asdict().items()})
    X, Y = made(rows, 1)
    width, asked = 8, 3
    nodes = 2**depth - 1
    table = []
    for parts in (1, 2, 4, 8):
        collections = (da.from_array(a, chunks=(-(-rows // parts), -1)) for a in (X, Y))
        engine, spec, binned = _prepared(*collections)
        options = GrowOptions(asked, depth, 2, 1, 0.0, 0.0)
        seeds = np.arange(trees, dtype=np.uint64)
        engine.gather(binned)
        engine.sent, start = 0, time.process_time()
        grow_forest(engine, binned, seeds, spec, options, np.arange(1))
        seconds = time.process_time() - start
        numbers = trees * (nodes * asked * 256 * width + (1 + 2**depth) * width)
        levels = trees * rows * 0.632
        predicted = levels * (
            costs.step * (depth * (depth - 1) / 2 + depth) / 0.632
            + depth * (costs.row + asked * width * costs.number)
        ) + numbers * (costs.search + costs.merge * parts)
        predicted += trees * rows * parts * costs.draw
        table.append(
            {
                "partitions": parts,
                "MB, predicted": 8e-6 * numbers * parts,
                "MB, measured": engine.sent / 1e6,
                "CPU s, predicted": predicted / 1e9,
                "CPU s, measured": seconds,
            }
        )
        engine.close()
    print(Table(table).to_text(digits=2))


def _prepared(X: Any, Y: Any) -> tuple[CountingEngine, LaneSpec, list[Any]]:
    """Partitions whose rows are binned."""
    engine = CountingEngine()
    forest = ForestLabelRanker()
    partitions = Partitions(engine, Blocks(X=X, y=Y), forest)
    spec = LaneSpec.of(partitions, find_bins(partitions.sample()[1].X), "spearman")
    return engine, spec, partitions.read(bin_rows, shared=spec)


# A hundred machines


def machines() -> None:
    """Say what 10^9 rows, 100 features and 20 labels on 100 machines come to."""
    costs = measured_costs()
    n, m, c, many = 1e9, 100, 20, 100
    rows, trees, depth = n / many, 100, 12
    nodes = 2**depth - 1

    def forest(width: int) -> tuple[float, float]:
        asked = 10
        numbers = trees * nodes * asked * 256 * width
        steps = costs.step * (depth * (depth + 1) / 2)
        level = depth * 0.632 * (costs.row + asked * width * costs.number)
        work = trees * rows * (steps + level) + numbers * (costs.search + 7 * costs.merge)
        work += trees * n * costs.draw
        return 8 * numbers, work

    def boosting(rounds: int, leaves: int) -> tuple[float, float]:
        tried, width = 60, 2 + 2 * c
        numbers = rounds * (leaves - 1) * tried * 256 * width
        # The root and the smaller children: each level of a balanced tree adds half of its rows.
        added = 0.6 * rounds * rows * (1 + np.log2(leaves) / 2)
        walked = rounds * rows * (leaves - 1) * (costs.row + np.log2(leaves) / 2 * costs.step)
        work = added * tried * width * costs.number + walked + 7 * numbers * costs.merge
        return 8 * numbers, work + rounds * rows * c * (c - 1) * costs.product

    parameters, pairs = (m + 1) * c, c * (c - 1) // 2
    steps = 100
    alone = trees / many * rows * 25 * (costs.row + 10 * 23 * costs.number)
    gradient = rows * parameters * costs.product
    queries, k = 1e6, 20
    found = {
        "forest, Spearman's vectors": forest(3 + c),
        "forest, Kendall's vectors": forest(3 + pairs),
        "forest of partitions": (trees / many * rows / 100 * 2 * (20 + 4 * c), alone),
        "boosting, 300 rounds": boosting(300, 10),
        "log-linear, 100 gradients": (steps * 8 * parameters, steps * gradient),
        "pairwise, 100 gradients": (
            steps * 8 * pairs * (m + 1),
            steps * gradient * pairs / c,
        ),
        "expected ranks": (8 * m * m, 2 * rows * m * m * costs.square),
        "ranking SVM, 100 products": (steps * 8 * m, steps * rows * m * costs.product),
        "RCDR, 10 components": (10 * 8 * m, 10 * rows * m * 20 * costs.row),
        "neighbours of 10^6 queries": (
            queries * k * (24 + 8 * c),
            queries * rows * m * costs.distance,
        ),
    }
    print(
        Table(
            {"learner": name, "GB a machine": sent / 1e9, "hours of one core": work / 3.6e12}
            for name, (sent, work) in found.items()
        ).to_text(digits=4)
    )


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("."))
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--depth", type=int, default=12)
    options = parser.parse_args()
    if options.part == "large":
        large(options.rows, options.folder, options.trees, options.depth)
    elif options.part == "workers":
        workers(options.rows, options.folder, options.trees, options.depth)
    elif options.part == "accuracy":
        accuracy(trees=options.trees)
    elif options.part == "exchange":
        exchange(options.rows, options.trees, options.depth)
    else:
        machines()


if __name__ == "__main__":
    main()

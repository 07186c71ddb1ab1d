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
from typing import Any, Self

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
from scaling_costs import exchange, exchange_of_boosting, machines, made, measured_costs
from sklearn.base import clone

from prefero import (
    BoostingLabelRanker,
    ConsensusLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
)
from prefero.datasets import benchmark_path
from prefero.distributed import DistributedLabelRanker
from prefero.metrics import kendall_tau, pairwise_calibration_error
from prefero.study import Table
from prefero.tables import read_rankings

FEATURES = [f"x{k}" for k in range(10)]
LABELS = [f"y{k}" for k in range(5)]
PART_ROWS = 500_000
PARTS = ("large", "workers", "accuracy", "exchange", "machines")


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


def workers(rows: int, folder: Path, trees: int, depth: int, repeat: int) -> None:
    """Fit a forest and a log-linear model with one and with two worker processes.

    Beside the clock, which others may share, as the least of some fits: the CPU time of workers
    and driver, and how much faster two workers can be by it.
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
                few = [da.from_array(a, chunks=(100, -1)) for a in made(200, 0)]
                ranker.fit(*few)  # workers import what they need
                spent = [_spent(client, ranker, table) for _ in range(repeat)]
                for k, what in enumerate(("s", "driver CPU s", "worker CPU s")):
                    found[name][f"{what}, {n_workers}"] = min(one[k] for one in spent)
    for row in found.values():
        row["times faster"] = row["s, 1"] / row["s, 2"]
        ours, theirs = row["driver CPU s, 2"], row["worker CPU s, 2"]
        row["by CPU"] = (ours + theirs) / (ours + theirs / 2)
    load = psutil.getloadavg()[0]
    print(Table(found.values()).to_text(digits=2), f"{load:.0f} processes wanted the cores.")


def _spent(client: Any, ranker: Any, table: Any) -> tuple[float, float, float]:
    """Seconds of the clock, and CPU seconds of the driver and of the workers, of a fit."""
    there = sum(client.run(time.process_time).values())
    here, start = time.process_time(), time.perf_counter()
    ranker.fit(table[FEATURES], table[LABELS])
    clock, here = time.perf_counter() - start, time.process_time() - here
    return clock, here, sum(client.run(time.process_time).values()) - there


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


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("."))
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--depth", type=int, default=12)
    options = parser.parse_args()
    if options.part == "large":
        large(options.rows, options.folder, options.trees, options.depth)
    elif options.part == "workers":
        workers(options.rows, options.folder, options.trees, options.depth, options.repeat)
    elif options.part == "accuracy":
        accuracy(trees=options.trees)
    elif options.part == "exchange":
        exchange(options.rows, options.trees, options.depth)
        exchange_of_boosting(measured_costs(), options.rows // 4, 5 * options.trees)
    else:
        machines()


if __name__ == "__main__":
    main()

"""Rows in partitions: ten million on one machine, two workers against one, and what is exchanged.

    python benchmarks/scaling.py workers
    python benchmarks/scaling.py large --folder FOLDER
    python benchmarks/scaling.py memory
    python benchmarks/scaling.py accuracy
    python benchmarks/scaling.py exchange
    python benchmarks/scaling.py machines

``workers`` fits the same rows with one and with two worker processes of one thread, in turn; on two
cores that do nothing else it takes about two minutes. ``large`` writes rows as Parquet, in
partitions, and trains and predicts a forest of them; memory is that of all processes. ``memory``
says what the command line holds at most to train on a table, and to compare on some rows of it.
``accuracy`` compares forests and boosting with those of one machine. ``exchange`` measures what a
row and a number cost, predicts bytes and seconds of a forest in 1, 2, 4 and 8 partitions from it,
and measures them. ``machines`` says what that comes to for 10^9 rows, 100 features and 20 labels on
100 machines.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
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
from prefero.evaluation import ResultTable
from prefero.metrics import kendall_tau, pairwise_calibration_error
from prefero.tables import read_rankings

FEATURES = [f"x{k}" for k in range(10)]
LABELS = [f"y{k}" for k in range(5)]
PART_ROWS = 500_000


def write(folder: Path, rows: int) -> Path:
    """Write rows as Parquet, one file per partition, unless they are there."""
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
        f"{set(weights.tolist())}; tau on 100,000 new rows {tau:.3f}, consensus order "
        f"{constant:.3f}; shrinkage {local.shrinkage_:g}."
    )


def _predict_all(model: Any, place: Path) -> int:
    files = sorted(place.glob("*.parquet"))
    return sum(len(model.predict(pd.read_parquet(file, columns=FEATURES))) for file in files)


# The command line


def memory(rows: int, folder: Path, trees: int, depth: int) -> None:
    """Say what ``prefero train`` and ``compare`` hold at most, of rows of 20 features."""
    file = folder / f"table-{rows}.parquet"
    if not file.exists():
        # What this process held at most would count for those that it starts.
        writer = get_context("spawn").Process(target=_write_table, args=(file, rows))
        writer.start()
        writer.join()
    bounds = [f"n_estimators={trees}", f"max_depth={depth}"]
    settings = [word for bound in bounds for word in ("--param", bound)]
    usual = (str(file), "--labels", "y*", "--jobs", "1")
    for command in (
        ["train", *usual, "-o", str(folder / "model.prefero"), "--model", "forest", *settings],
        ["compare", *usual, "--rankers", "tree", "--quick"],
    ):
        prefero = Path(sys.executable).with_name("prefero")
        program = subprocess.Popen([prefero, *command])
        _, status, used = os.wait4(program.pid, 0)
        if status:
            raise SystemExit(f"prefero {command[0]} failed.")
        spent = used.ru_utime + used.ru_stime
        print(f"prefero {command[0]}: at most {used.ru_maxrss / 1e6:.2f} GB, CPU {spent:.0f} s")


def _write_table(file: Path, rows: int) -> None:
    X, Y = made(rows, 7, 20, 5)
    ranks = pd.DataFrame(Y.astype(np.int8), columns=LABELS)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(20)]).join(ranks)
    frame.to_parquet(file, index=False, row_group_size=100_000)


# Two workers against one


def workers(rows: int, folder: Path, trees: int, depth: int, repeat: int) -> None:
    """Fit a forest and a log-linear model with one and with two worker processes.

    Both clusters are there all the time and fit in turn, so that what else the machine does is
    alike for both. Beside the least seconds of the clock: the CPU time of workers and driver, and
    how much faster two workers can be by it.
    """
    from distributed import Client, LocalCluster, wait

    place = write(folder, rows)
    forest = ForestLabelRanker(trees, max_depth=depth, min_samples_leaf=100, random_state=0)
    models = {"forest": forest, "log-linear": LogLinearLabelRanker(alpha=1e-3, calibrate=False)}
    lines, started = [], time.perf_counter()
    with ExitStack() as stack:
        clients, tables = {}, {}
        for n in (1, 2):
            options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": ":0"}
            cluster = stack.enter_context(LocalCluster(**options))
            clients[n] = stack.enter_context(Client(cluster, set_as_default=False))
            tables[n] = clients[n].persist(dd.read_parquet(place))
            with clients[n].as_current():
                wait(tables[n])
        for name, model in models.items():
            spent: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
            few = [da.from_array(a, chunks=(100, -1)) for a in made(200, 0)]
            for client in clients.values():  # workers import what they need
                DistributedLabelRanker(model, client=client).fit(*few)
            for _ in range(repeat):
                for n, client in clients.items():
                    spent[n].append(_spent(client, model, tables[n]))
            least = {n: [min(column) for column in zip(*spent[n], strict=True)] for n in (1, 2)}
            one, (two, ours, theirs) = least[1][0], least[2]
            lines.append(
                {
                    "model": name,
                    "s, one worker": one,
                    "s, two": two,
                    "times faster": one / two,
                    "driver CPU s, two": ours,
                    "worker CPU s, two": theirs,
                    "by CPU": (ours + theirs) / (ours + theirs / 2),
                }
            )
    print(ResultTable(lines).to_text(digits=2))
    load, cores = psutil.getloadavg()[0], psutil.cpu_count()
    print(
        f"{rows:,} rows; {load:.1f} processes wanted the {cores} cores at the end, of which two "
        f"were ours; {time.perf_counter() - started:.0f} s in all."
    )


def _spent(client: Any, model: Any, table: Any) -> tuple[float, float, float]:
    """Seconds of the clock, and CPU seconds of the driver and of the workers, of a fit.

    CPU time is less what they spend on doing nothing: a cluster looks after itself all the time,
    which on a loaded machine is a long one.
    """
    ranker = DistributedLabelRanker(model, client=client)
    idle, fit = (
        _watched(client, call)
        for call in (lambda: time.sleep(2), lambda: ranker.fit(table[FEATURES], table[LABELS]))
    )
    return fit[0], *(fit[k] - idle[k] / idle[0] * fit[0] for k in (1, 2))


def _watched(client: Any, call: Callable[[], Any]) -> tuple[float, float, float]:
    there = sum(client.run(time.process_time).values())
    here, start = time.process_time(), time.perf_counter()
    call()
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

    models = {"consensus order": ConsensusLabelRanker(), "forest": forest, "boosting": boosting}
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
    print(ResultTable(rows).to_text(digits=4))


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    defaults: dict[str, dict[str, int]] = {
        "large": {"rows": 10_000_000, "trees": 20, "depth": 8},
        "workers": {"rows": 1_000_000, "trees": 8, "depth": 8, "repeat": 3},
        "memory": {"rows": 2_000_000, "trees": 2, "depth": 8},
        "accuracy": {"trees": 40},
        "exchange": {"rows": 400_000, "trees": 4, "depth": 8},
        "machines": {},
    }
    for part, values in defaults.items():
        own = parts.add_parser(part, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        for name, value in values.items():
            own.add_argument(f"--{name}", type=int, default=value, help=" ")
        if part in ("large", "workers", "memory"):
            own.add_argument("--folder", type=Path, help="where the rows are kept")
    options = vars(parser.parse_args())
    part, folder = options.pop("part"), options.pop("folder", None)
    if part in ("large", "workers", "memory"):
        with TemporaryDirectory(prefix="prefero-") as temporary:
            of_rows = {"large": large, "workers": workers, "memory": memory}
            of_rows[part](folder=folder or Path(temporary), **options)
    elif part == "exchange":
        exchange(**options)
        exchange_of_boosting(measured_costs(), options["rows"] // 4, 5 * options["trees"])
    else:
        {"accuracy": accuracy, "machines": machines}[part](**options)


if __name__ == "__main__":
    main()

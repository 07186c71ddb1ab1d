"""Rows in partitions: ten million on one machine, two workers against one, and what is exchanged.

    python benchmarks/scaling.py large --rows 10000000 --folder FOLDER
    python benchmarks/scaling.py workers --rows 1000000 --folder FOLDER
    python benchmarks/scaling.py exchange
    python benchmarks/scaling.py machines

``large`` writes rows as Parquet, in partitions, and trains and predicts a forest of them; memory is
that of all processes. ``workers`` fits the same with one and with two worker processes of one
thread. ``exchange`` measures what a row and a number cost, predicts bytes and seconds of a forest
in 1, 2, 4 and 8 partitions from it, and measures them. ``machines`` says what that comes to for
10^9 rows, 100 features and 20 labels on 100 machines.
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
from numpy.typing import NDArray

from prefero import ForestLabelRanker, LogLinearLabelRanker
from prefero.distributed import DistributedLabelRanker
from prefero.distributed._engine import LocalEngine
from prefero.metrics import kendall_tau
from prefero.rankings import ranks_from_scores
from prefero.study import Table

FEATURES = [f"x{k}" for k in range(10)]
LABELS = [f"y{k}" for k in range(5)]
PART_ROWS = 500_000


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


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["large", "workers", "exchange", "machines"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("."))
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--depth", type=int, default=12)
    options = parser.parse_args()
    if options.part == "large":
        large(options.rows, options.folder, options.trees, options.depth)


if __name__ == "__main__":
    main()

"""Time of the automatic ranker as a ratio to scikit-learn's RandomForestRegressor.

Both are fitted to nine tenths of a set of the KEBI collection, complete rankings, one thread; CPU
seconds. ``--million`` fits a million rows with a time limit and prints the seconds passed and
the largest memory the process used::

    python benchmarks/automatic.py --presets quick balanced --output docs/results/automatic-speed.md
    python benchmarks/automatic.py --million --limit 60
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

import prefero
from prefero import AutoLabelRanker
from prefero.datasets import benchmark_path
from prefero.rankings import ranks_from_scores
from prefero.tables import read_rankings

SETS = (
    *("authorship", "bodyfat", "calhousing", "cpu", "elevators", "fried", "glass", "housing"),
    *("iris", "pendigits", "segment", "stock", "vehicle", "vowel", "wine", "wisconsin"),
)


def seconds(function: Callable[[], Any]) -> float:
    """Return the CPU time of a call, which other processes disturb little."""
    start = time.process_time()
    function()
    return time.process_time() - start


def compare(name: str, presets: list[str]) -> dict[str, float]:
    """Return the seconds of the peer, and the ratios of ours by preset."""
    data = read_rankings(benchmark_path(f"kebi/{name}.csv"))
    chosen = np.random.default_rng(0).permutation(len(data.ranks))[: len(data.ranks) * 9 // 10]
    X, Y = data.X.to_numpy()[chosen], data.ranks[chosen]
    theirs = seconds(lambda: RandomForestRegressor(100, random_state=0).fit(X, Y))
    row = {"RandomForestRegressor, s": theirs}
    for preset in presets:
        ranker = AutoLabelRanker(preset=preset, random_state=0)  # type: ignore[arg-type]
        row[preset] = seconds(lambda fitted=ranker: fitted.fit(X, Y)) / theirs
    return row


def million(limit: float) -> str:
    """Return a sentence about a million rows of 20 features and 5 labels."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1_000_000, 20))
    utility = (
        X @ random.normal(size=(20, 5)) + np.sin(3 * X[:, :5]) + random.gumbel(size=(10**6, 5))
    )
    Y = ranks_from_scores(utility, higher_is_better=True)
    ranker = AutoLabelRanker(preset="best", time_limit=limit, random_state=0)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ranker.fit(X, Y)
    passed = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    words = " ".join(str(warning.message) for warning in told)
    tau = ranker.score(X[:20_000], Y[:20_000])
    return (
        f"1,000,000 x 20 x 5, limit {limit:g} s: {passed:.1f} s, {memory:.1f} GB, tau {tau:.3f} on "
        f"training rows; members {', '.join(ranker.member_names_)}. {words}"
    )


def main() -> None:
    """Print the table, or the sentence about a million rows."""
    parser = argparse.ArgumentParser(description="Time of the automatic ranker.")
    parser.add_argument("--presets", nargs="+", default=["quick", "balanced"])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.million:
        print(million(options.limit))
        return
    rows = {}
    for name in options.sets:
        rows[name] = compare(name, options.presets)
        print(name, rows[name], flush=True)
    heads = list(next(iter(rows.values())))
    rows["mean"] = {head: float(np.mean([row[head] for row in rows.values()])) for head in heads}
    lines = [f"| set | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for name, row in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{row[head]:.2f}' for head in heads)} |")
    text = f"# The automatic ranker's time\n\nPrefero {prefero.__version__}, {date.today()}.\n\n"
    text += "\n".join(lines) + "\n"
    print(text)
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

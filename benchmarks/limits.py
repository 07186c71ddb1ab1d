"""How near growing and walking are to what the machine allows, and what many labels cost.

::

    OMP_NUM_THREADS=1 python benchmarks/limits.py --output docs/results/limits.md

A floor is what the memory traffic alone would take: the bytes that a row must cost in a node and
feature, over the rate at which this machine adds floats that its second cache holds, measured in
the same run by NumPy. Seconds are CPU seconds of one thread. Data are read from the folder that
PREFERO_DATA names.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from trees import SETS, best_times, read

from prefero import (
    ConsensusLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    PairwiseLabelRanker,
    save,
)
from prefero.datasets import make_label_ranking
from prefero.evaluation import ResultTable

TREES = 30
LABELS = (5, 20, 50, 100)
# Floats in a block, those before a row's vector, and the bytes of a bin and of a row's number.
BLOCK, HEAD, BIN, NUMBER = 8, 2, 1, 4
MOST_IN_FLOATS = 3 * 2**19  # bytes of the vectors of all rows


def cache_rate() -> float:
    """Return the bytes a second of adding floats that the second cache holds."""
    sums, lanes = np.zeros(2**15, np.float32), np.ones(2**15, np.float32)

    def add() -> None:
        for _ in range(2000):
            np.add(sums, lanes, out=sums)

    # Two arrays are read and one is written.
    return 2000 * 3 * sums.nbytes / best_times({"add": add}, 5)["add"]


def gather_rate() -> float:
    """Return the entries a second of reading places that only the third cache holds."""
    values = np.arange(2**20, dtype=np.int64)
    places = np.random.default_rng(0).permutation(2**20)
    return 2**20 / best_times({"take": lambda: values.take(places)}, 5)["take"]


def vector_bytes(criterion: str, rows: int, labels: int) -> int:
    """Return the bytes of what a criterion sums of a row: shorts, if they are long and many."""
    numbers = labels * (labels - 1) // 2 if criterion == "kendall" else labels
    blocks = -(-(numbers + HEAD) // BLOCK)
    if blocks > 1 and 4 * BLOCK * blocks * rows > MOST_IN_FLOATS:
        blocks = -(-blocks // 2)
    return 4 * BLOCK * blocks


def growing(name: str, rate: float) -> list[dict[str, Any]]:
    """Return the cost of a row in a node and feature, beside its floor."""
    X, Y = read(name)
    tried = max(1, int(np.sqrt(X.shape[1])))
    rows = []
    for criterion in ("kendall", "spearman"):
        forest = ForestLabelRanker(TREES, criterion=criterion, shrinkage=0.0, random_state=0)
        seconds = best_times({"fit": lambda f=forest: f.fit(X, Y)}, 2)["fit"]
        inner = forest.trees_["decrease"] > 0
        visits = float(forest.trees_["weight"][inner].sum()) * tried
        size = vector_bytes(criterion, *Y.shape) + BIN + NUMBER
        floor = size / rate
        rows.append(
            {
                "set": name,
                "criterion": criterion,
                "million visits": visits / 1e6,
                "bytes a visit": size,
                "ns a visit": 1e9 * seconds / visits,
                "floor (ns)": 1e9 * floor,
                "of the floor": seconds / visits / floor,
            }
        )
    return rows


def walking(name: str, rate: float) -> dict[str, Any]:
    """Return the cost of a step down a tree, beside the floor of a read from the third cache."""
    X, Y = read(name)
    forest = ForestLabelRanker(TREES, shrinkage=0.0, random_state=0).fit(X, Y)
    seconds = best_times({"predict": lambda: forest.decision_function(X)}, 3)["predict"]
    inner = forest.trees_["decrease"] > 0
    steps = float(forest.trees_["weight"][inner].sum())
    return {
        "set": name,
        "million steps": steps / 1e6,
        "ns a step": 1e9 * seconds / steps,
        "floor (ns)": 1e9 / rate,
        "of the floor": seconds / steps * rate,
    }


def many_labels(labels: int) -> dict[str, Any]:
    """Return seconds of ten trees and of linear rankers on 20,000 x 20 rows."""
    X, Y = make_label_ranking(20_000, 20, labels, theta=1.0, random_state=0)
    rankers: dict[str, Any] = {
        criterion: ForestLabelRanker(10, criterion=criterion, shrinkage=0.0, random_state=0)
        for criterion in ("kendall", "spearman")
    }
    rankers["pairwise"] = PairwiseLabelRanker(C=1.0, calibrate=False)
    rankers["log-linear"] = LogLinearLabelRanker("edges", alpha=1e-4, calibrate=False)
    row: dict[str, Any] = {"labels": labels}
    for name, ranker in rankers.items():
        begin = time.process_time()
        ranker.fit(X, Y)
        row[f"{name} (s)"] = time.process_time() - begin
    row["kendall / spearman"] = row["kendall (s)"] / row["spearman (s)"]
    row["most memory (MB)"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return row


def first_answer() -> dict[str, Any]:
    """Return the CPU time of prefero predict on 60 rows over that of imports and the table."""
    X, Y = make_label_ranking(400, 6, 5, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        import pandas as pd

        frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(6)])
        save(ForestLabelRanker(random_state=0).fit(frame, Y), Path(folder) / "m.prefero")
        frame[:60].to_csv(Path(folder) / "new.csv", index=False)
        start = "import numpy, scipy, sklearn.base, pandas; pandas.read_csv('new.csv')"
        ours = "import sys; sys.argv[1:] = ['predict', 'm.prefero', 'new.csv', '-o', 'out.csv']; "
        ours += "from prefero.cli.main import main; main()"
        seconds = {name: _child(code, folder) for name, code in (("peer", start), ("ours", ours))}
    return {
        "what": "prefero predict, 60 rows",
        "over imports and reading": seconds["ours"] / seconds["peer"],
    }


def _child(code: str, folder: str) -> float:
    """Return the least CPU time of five runs of a program, compiled as what pip installs is."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def once() -> float:
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime

    return min(once() for _ in range(5))


def one_row() -> list[dict[str, Any]]:
    """Return the time of one prediction over that of a linear regression."""
    from sklearn.linear_model import LinearRegression

    X, Y = read("vowel")
    rankers: dict[str, Any] = {
        "forest": ForestLabelRanker(random_state=0),
        "pairwise": PairwiseLabelRanker(),
        "log-linear": LogLinearLabelRanker(),
        "consensus order": ConsensusLabelRanker(),
    }
    peer = LinearRegression().fit(X, Y)

    def ask(model: Any) -> Callable[[], None]:
        def many() -> None:
            for _ in range(300):
                model.predict(X[:1])

        return many

    tasks = {"peer": ask(peer)} | {name: ask(one.fit(X, Y)) for name, one in rankers.items()}
    times = best_times(tasks, 5)
    return [{"one row of vowel": name, "over": times[name] / times["peer"]} for name in rankers]


PAGE = """# Limits: how near growing and walking are to what the machine allows

    OMP_NUM_THREADS=1 python benchmarks/limits.py --output docs/results/limits.md

CPU seconds of one thread, the least of several runs (of many labels one); {load}. The floors are
measured in the same run: floats in the second cache are added at {cache:.0f} GB/s, places in the
third read at {gather:.0f} million a second.

## Growing

A visit is an example in a node for one feature that is tried: its bin and number are read, and its
vector is added. Examples of a bootstrap sample that are the same row are visited together, so a
visit can cost less than its floor.

{growing}

What is above the floor, by a profile of ten trees on elevators in the core (samples of the clock,
line by line): 69% of the time by Kendall's and 73% by Spearman's vectors goes into finding cuts, 9
and 13% into parting rows and writing leaves, 9 and 4% into drawing samples and gathering rows. Over
all of it the vectors and their sums are 45 and 43%, reading and sorting the keys of small nodes 13
and 17%, nodes of two to four rows 3 and 4%. A node takes some hundred cycles however few rows it
has: lengths of loops, who is pure and which feature is better are coin tosses that a processor
foretells badly, and the gain of a cut ends in a division that the next decision waits for. So
narrow vectors (Spearman's, few labels) stand further from their floor.

What brought most, latest first: trees are appended to arrays that grow in place (a page that is
touched for the first time costs 1.8 us on this virtual machine, as long as ten nodes of calhousing
take to grow, and trees were written twice); nodes of two to four rows look up the gains of the
seven ways to part four rows; whole vectors of large sets are kept in shorts, which halves what is
read of a row (Kendall's vectors on elevators 10%, on pendigits 7% faster; short vectors and small
sets gain nothing and stay in floats).

Tried and left out: rows of a large node sorted by their bin, so that sums stay in registers (6 to
20% slower: where a bin ends is a coin toss); choosing the better of two features without a branch
(1%, within chance); all kernels compiled for AVX-512 as well (4% slower to 5% faster, 11% once, by
Mallows on elevators), or by flags for AVX2 in place of versions that the loader picks (no faster);
comparing all keys with all up to 96 in place of 48 rows (no difference beyond chance); bins of four
features summed in one pass over the rows of a large node (a million rows: 4% faster, other sets 2%
slower to 3% faster); votes of leaves fetched ahead of their turn (0 to 3%). Products of shorts in
pairs (`pmaddwd`) were counted only: of the twenty instructions that a row costs in a scan of 36
pairs they would save four. Entropy trees take the logarithms of all cuts of a feature side by side;
what is left there is to know which rankings begin and end on the left, a coin toss a row, and two
products of sums a cut, of which six blocks do not fit the registers. Mallows trees read twice as
many blocks a cut, 32 with 16 labels (wisconsin), and look theta up twice.

## Walking

A step is a row at a node of a tree.

{walking}

A step waits for the node before it. Sixty-four rows are walked side by side to hide that, which is
why a step can take less than a read from the third cache: a word of four bytes a node and one a
bin, gathered eight at a time. With AVX-512 (VBMI), up to 32 features and 64 rows or more, the bins
of sixteen rows and the tests of the first six levels stay in registers, so that no step there reads
memory and each one below makes one gather in place of two. Four trees are walked before the scores
of their leaves are added, so that the sums of a row are read once for four. The table's time also
has the binning of values and their validation, which is most of it on small sets.

## Many labels

20,000 rows, 20 features, ten trees; pairwise and log-linear with a given penalty. Forests split by
Spearman's vectors when there are more than 30 labels, unless told otherwise.

{labels}

Kendall's vectors hold one number per pair, at most 990 of them (those of 45 labels; of more
labels an evenly spread part of the pairs): 2 kB per row in shorts, which no cache holds for a
node. What is
left is to read 2 kB a visit where Spearman's vectors of 100 labels have 224 bytes. A ratio of 4
was aimed at. With 2,016 pairs, as many as 64 labels have, it was 7, and trees were no better,
tried before the constant was changed: tau .5836 against .5852
with 990 pairs of 64 labels, .5811 against .5803 of 100 (3,000 rows to learn from, 3,000 to predict,
30 trees, three draws; Spearman's .5799 and .5791). A pairwise fit with 100 labels was to take 6 s
and 1 GB. Newton's steps go most of the way in single precision: rows and problems come in blocks
that the first cache holds, 2.1 to 2.3 ns a row and pair, about 4.4 passes over all rows after a
twentieth and a third of them have shown the way. Double precision then asks all of them once, 5 ns
a row and pair, and alone decides whether a solution is one.

## First answer

Aimed at were 1.3 for the command and 1.5 for one row. An array of the right shape and type without
missing values is not validated a second time, so that a row costs less than the peer's. The command
imports only what it needs, looks for no garbage among the objects that imports make, and leaves
none to be told apart at its end, which is how it can take less than the plain imports and the
reading of the table, which it is compared with. Both are run as installed packages are, with
compiled modules.

{first}

{one}
"""


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--labels", nargs="*", type=int, default=LABELS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()

    cache, gather = cache_rate(), gather_rate()
    text = PAGE.format(
        load=f"load of the machine {os.getloadavg()[0]:.1f} at the start",
        cache=cache / 1e9,
        gather=gather / 1e6,
        growing=ResultTable([row for name in options.sets for row in growing(name, cache)]).to_text(
            2
        ),
        walking=ResultTable([walking(name, gather) for name in options.sets]).to_text(2),
        labels=ResultTable([many_labels(count) for count in options.labels]).to_text(2),
        first=ResultTable([first_answer()]).to_text(2),
        one=ResultTable(one_row()).to_text(2),
    )
    if options.output is None:
        print(text)
    else:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

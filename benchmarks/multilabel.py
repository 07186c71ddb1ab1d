"""What ranking labels around a virtual label costs beside the neighbour search it stands on.

Run: python benchmarks/multilabel.py [--quick] [--queries 100000]

One hundred thousand cases of a hundred labels. The search is timed alone, then what follows it,
then the whole prediction; memory is the largest the process had by then. Last, on a twentieth of
the queries, the whole prediction and scikit-learn's multi-output KNeighborsClassifier, which
predicts label sets only, in turns: the best of three.
"""

import argparse
import resource
import time
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import prefero
from prefero._neighbors._case_base import in_chunks
from prefero._neighbors._neighborhoods import Neighbors
from prefero.multilabel import NeighborsMultilabelRanker
from prefero.rankings import strict_calibrated


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call, summed over threads, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def gigabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of cases and queries")
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--jobs", type=int, help="as in joblib")
    options = parser.parse_args()
    cases, queries = (10_000, 10_000) if options.quick else (100_000, options.queries)

    rng = np.random.default_rng(0)
    X, X_new = (rng.normal(size=(n, options.features)) for n in (cases, queries))
    utilities = X @ rng.normal(size=(options.features, options.labels))
    relevance = (utilities > 1).astype(float)
    ranker = NeighborsMultilabelRanker(20, algorithm="brute", n_jobs=options.jobs)
    fitting, _ = seconds(lambda: ranker.fit(X, relevance))

    def search(rows: Any) -> tuple[Any, ...]:
        return tuple(ranker._nearest(rows))

    searching, found = seconds(lambda: in_chunks(search, X_new, options.jobs))
    aggregating, _ = seconds(lambda: strict_calibrated(ranker._scores(Neighbors(*found), (1,))[0]))
    predicting, _ = seconds(lambda: ranker.predict_calibrated(X_new))
    peak = gigabytes()
    part = X_new[: max(1, queries // 20)]
    peer = KNeighborsClassifier(20, algorithm="brute").fit(X, relevance)
    calls = (lambda: ranker.predict_calibrated(part), lambda: peer.predict(part))
    ours, theirs = np.min([[seconds(call)[0] for call in calls] for _ in range(3)], axis=0)

    print(f"Prefero {prefero.__version__}, {date.today()}: {queries:,} queries x {cases:,} cases x "
          f"{options.labels} labels, {options.features} features, 20 neighbours")  # fmt: skip
    print("\n| what | CPU seconds | share of the search |\n|---|---:|---:|")
    for what, cost in {
        "fit": fitting,
        "neighbour search alone": searching,
        "aggregation and ranking alone": aggregating,
        "predict_calibrated": predicting,
    }.items():
        print(f"| {what} | {cost:.2f} | {cost / searching:.2f} |")
    print(f"\nPeak memory up to predict_calibrated: {peak:.2f} GB")
    print(f"\nThe first {len(part):,} queries in turns: predict_calibrated {ours:.2f} s, "
          f"KNeighborsClassifier.predict {theirs:.2f} s, ratio {ours / theirs:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()

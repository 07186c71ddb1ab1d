"""What things cost on one core, and what that predicts: bytes and seconds, and what is measured."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

from prefero import (
    BoostingLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    _core,
)
from prefero._neighbors._case_base import CaseBase
from prefero._trees._bins import find_bins
from prefero.distributed._boosting import BoostSpec, RankedRows, Rounds, ranked_rows, round_rows
from prefero.distributed._engine import LocalEngine
from prefero.distributed._forest import ForestGrowing
from prefero.distributed._partitions import Partitions, Place
from prefero.distributed._statistics import ForestStatistics, bin_rows
from prefero.distributed.blocks import Blocks
from prefero.evaluation import ResultTable
from prefero.label_ranking._loglinear import Objective
from prefero.rankings import ranks_from_scores


def made(rows: int, number: int, n_features: int = 10, n_labels: int = 5) -> tuple[Any, Any]:
    """Draw rows whose labels follow a few features, with noise."""
    random = np.random.default_rng([20, number])
    weights = np.random.default_rng(19).normal(size=(n_features, n_labels))
    X = random.normal(size=(rows, n_features)).astype(np.float32)
    bent = np.where(X > 0, X, -X / 2)
    scores = bent @ weights + random.normal(size=(rows, n_labels))
    return X, ranks_from_scores(scores, higher_is_better=True)


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
    pair: float  # the loss of a pair of labels, counted twice, is differentiated
    derivative: float  # a derivative of a row is weighed, rounded and written
    newton: float  # a number of a histogram is looked at for cuts of boosting


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
    statistics = np.ones((rows, 8), dtype=np.float32)
    drawn, leaf = np.ones(rows, np.uint16), np.zeros(rows, np.int32)
    draw = nanoseconds(lambda: _core.bootstrap_counts(1, 0, rows, rows), rows)
    walk = nanoseconds(lambda: trees.walker.apply(bins), rows * 6)
    leaves = np.ascontiguousarray(trees.walker.apply(bins)[:, 0])
    places = np.arange(len(trees.leaves), dtype=np.int32)

    def add(asked: int) -> float:
        features = np.tile(np.arange(asked, dtype=np.uint16), (len(places), 1))
        given = bins, statistics, 8, drawn, leaves, places, features
        return nanoseconds(lambda: _core.node_histograms(*given), rows)

    one, six = add(1), add(6)
    number = (six - one) / (5 * 8)
    every, none = np.arange(10, dtype=np.uint16)[None], np.zeros(1, np.int32)
    sums = _core.node_histograms(bins, statistics, 8, drawn, leaf, none, every)
    many = np.tile(sums, (20, 1, 1, 1))
    asked = np.tile(every, (20, 1))
    numeric = np.zeros(10, dtype=bool)
    search = nanoseconds(lambda: _core.node_cuts(many, asked, numeric, 1.0, True), many.size)
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
    own = one - 8 * number
    linear_costs = number, search, merge, product, square, distance
    return Costs(draw, walk, own, *linear_costs, *_boosting_costs(bins, Y, sums[0, :6]))


def _boosting_costs(bins: Any, Y: Any, histograms: Any) -> tuple[float, float, float]:
    """Nanoseconds of a pair, a derivative and a number that is looked at for cuts."""
    rows, c = Y.shape
    scores, ones = np.zeros((rows, c)), np.ones(rows)
    pair = nanoseconds(lambda: _core.pair_logistic_derivatives(Y, scores), rows * c * (c - 1))
    own = RankedRows(bins, Y, ones, ones, np.ones(rows, np.uint16), Place(0, rows, rows, 0))
    whole = nanoseconds(lambda: round_rows(own, scores, 0, 0.6, rows), rows)
    derivative = (whole - c * (c - 1) * pair) / (2 + 2 * c)
    wide = np.tile(histograms, (1, 1, 2))[None, ..., :12].copy()
    options = {"learning_rate": 0.1, "penalty": 1.0, "tree_features": 6, "category_sets": True}
    options |= {"max_depth": 9, "min_leaf": 5, "max_leaves": 1}
    numeric = np.zeros(6, dtype=bool)

    def search() -> None:
        _core.BoostedTree(0, numeric, 5, **options).learn(wide)

    newton = nanoseconds(search, wide.size, 50)
    return pair, derivative, newton


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
        engine, layout, binned = _prepared(*collections)
        options = {"max_features": asked, "max_depth": depth, "min_split": 2, "min_leaf": 1}
        options |= {"min_decrease": 0.0, "gamma": 0.0, "category_sets": True}
        growing = ForestGrowing(engine, binned, layout, np.zeros(X.shape[1], dtype=bool), options)
        seeds = np.arange(trees, dtype=np.uint64)
        engine.gather(binned)
        engine.sent, start = 0, time.process_time()
        growing.grow(seeds, np.arange(1))
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
    print(ResultTable(table).to_text(digits=2))


def boosting_cost(
    costs: Costs, rows: float, tried: int, c: int, rounds: int, leaves: int, merges: float
) -> tuple[float, float]:
    """Predict the bytes that a partition sends, and the nanoseconds that its rows take."""
    width, depth = 2 + 2 * c, np.log2(leaves)
    numbers = rounds * (leaves - 1) * tried * 256 * width
    # The root and the smaller children: each level of a balanced tree adds half of its rows.
    added = 0.6 * rounds * rows * (1 + depth / 2) * tried * width
    walked = rounds * rows * (leaves - 1) * (costs.row + depth / 2 * costs.step)
    steps = c * (c - 1) * costs.pair + depth * costs.step + width * costs.derivative
    # Both children are looked at, of which one is a difference.
    driver = numbers * (2 * costs.newton + (1 + merges) * costs.merge)
    return 8 * numbers, added * costs.number + walked + rounds * rows * steps + driver


def exchange_of_boosting(costs: Costs, rows: int, rounds: int) -> None:
    """Predict and measure bytes and CPU seconds of boosting in 1, 2, 4 and 8 partitions."""
    X, Y = made(rows, 1)
    ranker = BoostingLabelRanker(rounds, validation=None, random_state=0)
    ranker.n_features_in_, ranker.nominal_features_ = X.shape[1], np.zeros(X.shape[1], dtype=bool)
    boosting, table = ranker._boosting(rows), []
    for parts in (1, 2, 4, 8):
        collections = (da.from_array(a, chunks=(-(-rows // parts), -1)) for a in (X, Y))
        engine = CountingEngine()
        partitions = Partitions(engine, Blocks(X=next(collections), y=next(collections)), ranker)
        bins = find_bins(partitions.sample()[1].X)
        spec = BoostSpec(bins, rows, True, np.empty(0, dtype=np.int64))
        handles = partitions.read(ranked_rows, shared=spec)
        engine.gather(handles)
        engine.sent, start = 0, time.process_time()
        growing = Rounds(
            *(engine, handles, np.zeros(5), boosting.options, rows), ranker.nominal_features_
        )
        trees = len(list(growing.trees(boosting.seeds)))
        seconds = time.process_time() - start
        sent, work = boosting_cost(costs, rows, 6, 5, trees, 10, parts)
        table.append(
            {
                "partitions": parts,
                "MB, predicted": parts * sent / 1e6,
                "MB, measured": engine.sent / 1e6,
                "CPU s, predicted": work / 1e9,
                "CPU s, measured": seconds,
            }
        )
        engine.close()
    print(ResultTable(table).to_text(digits=2))


def _prepared(X: Any, Y: Any) -> tuple[CountingEngine, ForestStatistics, list[Any]]:
    """Partitions whose rows are binned."""
    engine = CountingEngine()
    forest = ForestLabelRanker()
    partitions = Partitions(engine, Blocks(X=X, y=Y), forest)
    layout = ForestStatistics.of(partitions, find_bins(partitions.sample()[1].X), "spearman")
    return engine, layout, partitions.read(bin_rows, shared=layout)


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

    parameters, pairs = (m + 1) * c, c * (c - 1) // 2
    steps = 100
    alone = trees / many * rows * 25 * (costs.row + 10 * 23 * costs.number)
    gradient = rows * parameters * costs.product
    queries, k = 1e6, 20
    found = {
        "forest, Spearman's vectors": forest(3 + c),
        "forest, Kendall's vectors": forest(3 + pairs),
        "forest of partitions": (trees / many * rows / 100 * 2 * (20 + 4 * c), alone),
        "boosting, 300 rounds": boosting_cost(costs, rows, 60, c, 300, 10, 7),
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
        ResultTable(
            {"learner": name, "GB a machine": sent / 1e9, "hours of one core": work / 3.6e12}
            for name, (sent, work) in found.items()
        ).to_text(digits=4)
    )

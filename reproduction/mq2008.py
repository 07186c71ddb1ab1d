"""Graded documents of queries, MQ2008: our orderers beside LightGBM's ranker and regressors.

::

    python reproduction/mq2008.py

The five published folds: three parts train, one is left for choosing parameters (not used: all
methods run at their defaults), one tests.
"""

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from kebi import arguments, need, parse, publish
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import ndcg_score

from prefero import (
    CohenOrderer,
    ExpectedRankOrderer,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankSVMOrderer,
)
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable
from prefero.ordering import BoostingOrderer, ranks_in_queries
from prefero.tables import read_letor

Part = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
Method = Callable[[Part, Part], NDArray[np.float64]]


def main() -> None:
    """Print the table of all methods."""
    options = parse(arguments("Compare orderers on MQ2008."))
    files = [f"letor/mq2008/S{k}.txt" for k in range(1, 6)]
    need(files)
    parts = [read_letor(benchmark_path(file)) for file in files]
    rows = [evaluate(name, method, parts) for name, method in methods(options.quick).items()]
    publish("MQ2008", {"Means over the five folds": ResultTable(rows)}, options.output)


def methods(quick: bool) -> dict[str, Method]:
    """Every method as a function from a training and a test part to scores."""
    found = {
        "ranking SVM": orderer(RankSVMOrderer()),
        "RankBoost": orderer(RankBoostOrderer()),
        "expected rank regression": orderer(ExpectedRankOrderer()),
        "Order SVM": orderer(OrderSVMOrderer()),
        "Cohen": orderer(CohenOrderer()),
        "least squares on grades": regressor(LinearRegression()),
        "ridge on grades": regressor(Ridge()),
        "LightGBM LGBMRanker": light_gbm,
    }
    if not quick:
        found |= {
            "boosted trees on pairs": orderer(BoostingOrderer(random_state=0)),
            "random forest on grades": regressor(RandomForestRegressor(random_state=0)),
            "histogram boosting on grades": regressor(
                HistGradientBoostingRegressor(random_state=0)
            ),
        }
    return found


def orderer(model: Any) -> Method:
    """Learn from the ranks inside the queries."""

    def scores(train: Part, test: Part) -> NDArray[np.float64]:
        X, grades, queries = train
        ranks = ranks_in_queries(grades, queries, higher_is_better=True)
        fitted = clone(model).fit(X, ranks, queries)
        return -fitted.predict(test[0], test[2]).astype(np.float64)

    return scores


def regressor(model: Any) -> Method:
    """Learn the grades themselves."""
    return lambda train, test: clone(model).fit(train[0], train[1]).predict(test[0])


def light_gbm(train: Part, test: Part) -> NDArray[np.float64]:
    """LightGBM's ranker (LambdaMART) at its defaults."""
    from lightgbm import LGBMRanker

    X, grades, queries = train
    by_query = np.argsort(queries, kind="stable")
    sizes = np.unique(queries, return_counts=True)[1]
    model = LGBMRanker(verbose=-1, n_jobs=1, random_state=0)
    model.fit(X[by_query], grades[by_query].astype(int), group=sizes)
    return np.asarray(model.predict(test[0]))


def evaluate(name: str, method: Method, parts: list[Part]) -> dict[str, Any]:
    """Mean NDCG@10 and pair accuracy over the queries of the five folds, and seconds."""
    measures, seconds = [], 0.0
    for fold in range(5):
        chosen = [parts[(fold + k) % 5] for k in (2, 3, 4)]
        train = tuple(np.concatenate(columns) for columns in zip(*chosen, strict=True))
        start = process_time()
        scores = method(train, parts[fold])  # type: ignore[arg-type]
        seconds += process_time() - start
        measures.append(fold_measures(parts[fold], scores))
    ndcg, accuracy = np.mean(measures, axis=0)
    return {"method": name, "NDCG@10": ndcg, "pair accuracy": accuracy, "CPU seconds": seconds}


def fold_measures(test: Part, scores: NDArray[np.float64]) -> tuple[float, float]:
    """NDCG@10, and the share of pairs of different grade in the right order, a tie counting half.

    The gain of a grade is 2^grade - 1; a query without relevant documents has NDCG 0, as in
    LETOR's own evaluation.
    """
    ndcg, accuracy = [], []
    for query in np.unique(test[2]):
        grades, found = test[1][test[2] == query], scores[test[2] == query]
        if not grades.any() or len(grades) < 2:
            ndcg.append(0.0)
            continue
        ndcg.append(float(ndcg_score([2**grades - 1], [found], k=10)))
        better = grades[:, None] > grades
        if better.any():
            right = np.sign(found[:, None] - found)[better]
            accuracy.append(float(np.mean((right + 1) / 2)))
    return float(np.mean(ndcg)), float(np.mean(accuracy))


if __name__ == "__main__":
    main()

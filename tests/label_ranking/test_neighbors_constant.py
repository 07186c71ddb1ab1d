"""When neighbours are too few, and when they are everyone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from prefero import ConsensusLabelRanker, NeighborsLabelRanker
from prefero.rankings import drop_labels
from strategies import noisy_linear_problem


@pytest.mark.parametrize("n_neighbors", [1, "auto"])
def test_a_handful_of_cases_is_not_averaged_away(n_neighbors):
    X, Y = [[0.0], [1.0], [8.0], [9.0]], [[1, 2], [1, 2], [2, 1], [2, 1]]
    ranker = NeighborsLabelRanker(n_neighbors).fit(X, Y)
    assert ranker.shrinkage_ == 0
    assert_array_equal(ranker.predict([[0.0], [9.0]]), [[1, 2], [2, 1]])


@pytest.mark.parametrize("aggregation", ["auto", "pairs", "mallows", "borda", "kemeny"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_all_neighbors_are_the_constant_order(aggregation, missing):
    X, Y = noisy_linear_problem(60, 3, 5)
    Y = drop_labels(Y, missing, random_state=0) if missing else np.asarray(Y, dtype=float)
    kept = ~np.isnan(Y).all(axis=1)
    X, Y = X[kept], Y[kept]
    weight = np.arange(len(X)) % 3 + 1.0
    ranker = NeighborsLabelRanker("all", aggregation=aggregation).fit(X, Y, weight)
    assert ranker.n_neighbors_ == weight.sum()
    assert ranker.shrinkage_ == 1
    order = ranker.predict(X)
    assert_array_equal(order, np.tile(order[0], (len(X), 1)))
    everyone = NeighborsLabelRanker(
        int(weight.sum()), weights="uniform", shrinkage=0, aggregation=ranker.aggregation_
    ).fit(X, Y, weight)
    assert_allclose(ranker.decision_function(X[:1]), everyone.decision_function(X[:1]))
    if aggregation == "borda" and not missing:
        constant = ConsensusLabelRanker("borda").fit(X, Y, weight)
        assert_array_equal(order, constant.predict(X))
    probability = ranker.predict_pairwise(X[:1])[0]
    assert probability[order[0].argmin(), order[0].argmax()] > 0.5

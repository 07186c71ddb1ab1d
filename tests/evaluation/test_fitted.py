"""Fitted rankers on rows with known rankings."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from prefero import (
    BinaryRelevanceRanker,
    ConsensusLabelRanker,
    ExpectedRankOrderer,
    ForestLabelRanker,
    RegressionLabelRanker,
)
from prefero.evaluation import evaluate
from prefero.metrics import kendall_tau, multilabel, ordering, regret
from prefero.rankings import calibrated_from_relevance, ranks_from_scores


def problem(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ np.array([[1.0, 0.0, -1.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.0]]) + [0.3, 0.0, 0.0]
    scores += rng.normal(0, 0.5, size=scores.shape)
    return X, ranks_from_scores(scores, higher_is_better=True), scores


def by_metric(found):
    return {row["metric"]: row for row in found}


def test_each_metric_is_that_of_the_predictions_beside_the_best_constant_order():
    X, ranks, _ = problem(80, 0)
    model = ForestLabelRanker(9, random_state=0).fit(X, ranks)
    new, truth, worth = problem(60, 1)
    found = by_metric(evaluate(model, new, truth, scores=worth))
    predicted = model.predict(new)
    assert found["tau"]["value"] == pytest.approx(kendall_tau(truth, predicted))
    assert found["regret"]["value"] == pytest.approx(regret(worth, predicted))
    best = int(np.argmax(worth.mean(axis=0)))
    assert found["regret"]["baseline"] == pytest.approx((worth.max(axis=1) - worth[:, best]).mean())
    gap = 1 - found["regret"]["value"] / found["regret"]["baseline"]
    assert found["gap_closed"]["value"] == pytest.approx(gap)
    assert found["gap_closed"]["low"] < gap < found["gap_closed"]["high"]
    better = found["regret"]["baseline"] - found["regret"]["value"]
    assert found["regret"]["better_by"] == pytest.approx(better)
    assert found["regret"]["better_low"] < better < found["regret"]["better_high"]
    assert found["pair_calibration_error"]["value"] < 0.2


def test_a_constant_order_is_no_better_than_the_baseline():
    X, ranks, _ = problem(80, 0)
    found = by_metric(evaluate(ConsensusLabelRanker().fit(X, ranks), X, ranks))
    assert found["tau"]["better_low"] <= 0 <= found["tau"]["better_high"]


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_cover_the_mean_over_new_rows(grouped):
    X, ranks, _ = problem(100, 0)
    model = RegressionLabelRanker().fit(X, ranks)
    much, truth, _ = problem(20_000, 1)
    mean = kendall_tau(truth, model.predict(much))
    covered = []
    for seed in range(200):
        new, truth, _ = problem(40, 100 + seed)
        groups = np.repeat(np.arange(40), 3) if grouped else None
        if grouped:  # copies tell nothing new
            new, truth = np.repeat(new, 3, axis=0), np.repeat(truth, 3, axis=0)
        row = by_metric(evaluate(model, new, truth, groups=groups))["tau"]
        covered.append(row["low"] <= mean <= row["high"])
    assert 0.9 < np.mean(covered) < 0.99


def test_relevant_labels_and_objects_are_measured_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    relevance = (X + rng.normal(0, 0.5, size=X.shape) > 0).astype(float)
    model = BinaryRelevanceRanker().fit(X, relevance)
    found = by_metric(evaluate(model, X, calibrated_from_relevance(relevance)))
    assert found["hamming_loss"]["value"] == pytest.approx(
        multilabel.hamming_loss(relevance, model.predict(X))
    )
    assert found["hamming_loss"]["better_by"] > 0
    qid = np.repeat(np.arange(12), 5)
    ranks = np.concatenate([rng.permutation(5) + 1 for _ in range(12)])
    orderer = ExpectedRankOrderer().fit(X, ranks, qid)
    found = by_metric(evaluate(orderer, X, ranks, groups=qid))
    assert found["rho"]["value"] == pytest.approx(
        ordering.query_rho(ranks, -orderer.predict(X, qid), qid)
    )
    assert found["rho"]["low"] < found["rho"]["value"] < found["rho"]["high"]


def test_a_ranker_without_probabilities_has_no_calibration():
    X, ranks, _ = problem(60, 0)
    regressor = RandomForestRegressor(5, random_state=0)
    model = RegressionLabelRanker(regressor, calibrate=False).fit(X, ranks)
    assert "pair_calibration_error" not in by_metric(evaluate(model, X, ranks))

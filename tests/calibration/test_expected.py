"""Expected scores, their intervals, chances and losses, and costs at prediction time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from prefero import (
    AutoLabelRanker,
    BoostingLabelRanker,
    ForestLabelRanker,
    NeighborsLabelRanker,
    RidgeLabelRanker,
    load,
    save,
)
from prefero.calibration import expected_outcome, expected_scores, learn_scores
from prefero.rankings import ranks_from_scores

RANKERS = [
    ForestLabelRanker(20, random_state=0),
    ForestLabelRanker(20, criterion="raw_scores", random_state=0),
    RidgeLabelRanker(target="raw_scores"),
    BoostingLabelRanker(20, random_state=0),
    NeighborsLabelRanker(),
    AutoLabelRanker(preset="quick", random_state=0),
]


def problem(n=120, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = 50 + 10 * X[:, [0]] + X @ rng.normal(size=(3, 4)) * 5 + rng.normal(size=(n, 4))
    scores[:, 1:][rng.random((n, 3)) < missing] = np.nan
    return X, scores, ranks_from_scores(scores, higher_is_better=True)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_expected_scores_are_least_squares_along_the_order(seed, gaps):
    rng = np.random.default_rng(seed)
    said, scores = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
    if gaps:
        scores[rng.random(scores.shape) < 0.3] = np.nan
        scores[0] = 1.0
    model = learn_scores([said], said, scores, np.ones(12), None)
    known = ~np.isnan(scores)
    steps = np.where(known, said, np.nan) - np.nanmean(np.where(known, said, np.nan), axis=0)
    truth = scores - np.nanmean(scores, axis=0)
    slope = max(0.0, np.nansum(steps * truth) / np.nansum(steps**2))
    seen = known.any(axis=0)
    np.testing.assert_allclose(model.weights, [slope], atol=1e-9)
    new, order = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    found = expected_scores(model, [new], order)
    plain = model.means[0] + slope * (new - model.means[1])
    for row, values, places in zip(found, plain, np.argsort(-order, axis=1), strict=True):
        expected = isotonic_regression(values[places], increasing=False).x
        np.testing.assert_allclose(row[places], expected)
    assert seen.any()


@given(st.integers(0, 2**32 - 1))
def test_chances_of_few_rows_against_plain_means(seed):
    rng = np.random.default_rng(seed)
    said, scores = rng.integers(0, 3, (2, 10, 3)).astype(float)
    model = learn_scores([said], said, scores, np.ones(10), None)
    expected, choice = model.predictions[:2], np.array([0, 2])
    found = expected_outcome(model, expected, choice, 0.5)
    for row in range(2):
        # With so few rows all of them count.
        drawn = expected[row] + model.spread * model.errors
        best = drawn >= drawn.max(axis=1, keepdims=True) - 1e-9 * np.abs(drawn).max()
        np.testing.assert_allclose(found.best[row], (best / best.sum(axis=1)[:, None]).mean(axis=0))
        lost = drawn.max(axis=1) - drawn[:, choice[row]]
        np.testing.assert_allclose(found.regret[row], lost.mean(), atol=1e-9)
    np.testing.assert_allclose(found.best.sum(axis=1), 1)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: str(ranker)[:40])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_what_a_ranker_trained_with_scores_predicts_of_them(ranker, missing, tmp_path):
    X, scores, ranks = problem(missing=missing)
    ranker = ranker.fit(X[:100], ranks[:100], scores=scores[:100])
    expected, predicted = ranker.predict_scores(X), ranker.predict(X)
    along = np.take_along_axis(expected, np.argsort(predicted, axis=1), axis=1)
    assert (np.diff(along, axis=1) <= 1e-9).all()
    low, high = ranker.predict_score_intervals(X, error=0.2).transpose(2, 0, 1)
    assert ((low <= expected) & (expected <= high)).all()
    wide_low, wide_high = ranker.predict_score_intervals(X, error=0.05).transpose(2, 0, 1)
    assert ((wide_low <= low) & (high <= wide_high)).all()
    np.testing.assert_allclose(ranker.predict_best_proba(X).sum(axis=1), 1)
    assert (ranker.predict_expected_regret(X) >= 0).all()
    save(ranker, tmp_path / "model.prefero")
    again = load(tmp_path / "model.prefero")
    np.testing.assert_array_equal(again.predict_scores(X), expected)


def test_intervals_cover_as_often_as_they_say():
    X, scores, ranks = problem(600, seed=1)
    scores += np.abs(X[:, [1]]) * np.random.default_rng(2).normal(size=scores.shape) * 5
    ranks = ranks_from_scores(scores, higher_is_better=True)
    forest = ForestLabelRanker(50, criterion="raw_scores", random_state=0)
    forest.fit(X[:300], ranks[:300], scores=scores[:300])
    low, high = forest.predict_score_intervals(X[300:], error=0.1).transpose(2, 0, 1)
    inside = (scores[300:] >= low) & (scores[300:] <= high)
    assert 0.86 < inside.mean() < 0.94


def test_a_ranker_of_ranks_alone_predicts_no_scores():
    X, _, ranks = problem()
    ranker = ForestLabelRanker(5, random_state=0).fit(X, ranks)
    assert not hasattr(ranker, "predict_scores")
    with pytest.raises(AttributeError, match="predict_scores") as raised:
        ranker.predict_scores(X)
    assert "was not trained with scores" in str(raised.value.__cause__)
    with pytest.raises(AttributeError, match="predict_scores"):
        ranker.predict(X, cost=np.ones(4), cost_weight=1.0)


@pytest.fixture(scope="module")
def forest():
    X, scores, ranks = problem()
    fitted = ForestLabelRanker(20, criterion="raw_scores", random_state=0)
    return fitted.fit(X, ranks, scores=scores), X


def test_costs_at_prediction_time_against_a_plain_order(forest):
    ranker, X = forest
    expected = ranker.predict_scores(X)
    cost = np.random.default_rng(0).uniform(0, 5, size=expected.shape)
    weighed = ranker.predict(X, cost=cost, cost_weight=2.0)
    np.testing.assert_array_equal(weighed.argmin(axis=1), (expected - 2 * cost).argmax(axis=1))
    np.testing.assert_array_equal(ranker.predict(X, cost=cost, cost_weight=0.0), ranker.predict(X))
    bounded = ranker.predict(X, cost=[1, 2, 3, 4], budget=2)
    assert (bounded.argmin(axis=1) < 2).all()
    kept = np.argsort(np.argsort(ranker.predict(X)[:, :2], axis=1), axis=1)
    np.testing.assert_array_equal(bounded[:, :2], kept + 1)


@pytest.mark.parametrize("mean_budget", [0.0, 1.5, 9.0])
def test_a_mean_budget_is_kept_at_the_least_loss_of_score(forest, mean_budget):
    ranker, X = forest
    cost = np.array([0.0, 1.0, 2.0, 4.0])
    first = ranker.predict(X, cost=cost, mean_budget=mean_budget).argmin(axis=1)
    assert cost[first].mean() <= mean_budget
    if mean_budget == 9.0:
        expected = ranker.predict_scores(X)  # of equal ones the cheapest
        np.testing.assert_array_equal(expected[np.arange(len(X)), first], expected.max(axis=1))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"cost": [1, 2, 3, 4]}, "one of cost_weight, budget and mean_budget"),
        ({"cost_weight": 1.0}, "one of cost_weight, budget and mean_budget"),
        ({"cost": [1, 2, 3, 4], "budget": 1, "cost_weight": 1}, "one of cost_weight"),
        ({"cost": [1, 2], "budget": 1}, "cost has the shape"),
        ({"cost": [1, 2, 3, 4], "mean_budget": 0.5}, "even the cheapest"),
    ],
)
def test_costs_that_cannot_be_honoured_are_refused(forest, given, sentence):
    ranker, X = forest
    with pytest.raises(ValueError, match=sentence):
        ranker.predict(X, **given)

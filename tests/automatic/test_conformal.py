"""Sets of labels and ranks hold the truth as often as they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero import LogLinearLabelRanker, StackingLabelRanker
from prefero.automatic._conformal import learn_conformal, quantile, rank_nonconformity
from prefero.rankings import bucket_positions, drop_labels, ranks_from_scores


def data(n, seed, c=5, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    utility = X @ np.random.default_rng(9).normal(size=(3, c)) + noise * rng.gumbel(size=(n, c))
    return X, ranks_from_scores(utility, higher_is_better=True)


@pytest.fixture(scope="module")
def stack():
    return StackingLabelRanker([("linear", LogLinearLabelRanker(alpha=1e-3))]).fit(*data(1500, 0))


@pytest.mark.parametrize("error", [0.05, 0.1, 0.3])
def test_coverage(stack, error):
    X, Y = data(6000, 1)
    covered = stack.predict_top_set(X, error)[np.arange(len(Y)), Y.argmin(axis=1)]
    assert abs(covered.mean() - (1 - error)) < 0.02
    start, end = np.moveaxis(stack.predict_rank_intervals(X, error), 2, 0)
    inside = (start <= Y) & (Y <= end)
    assert abs(inside.mean() - (1 - error)) < 0.02


def test_sure_models_give_small_answers():
    rankers = [("linear", LogLinearLabelRanker(alpha=1e-3))]
    sizes = []
    for noise in (0.1, 2.0):
        X, Y = data(600, 0, noise=noise)
        stack = StackingLabelRanker(rankers).fit(X, Y)
        sizes.append(stack.predict_top_set(X).sum(axis=1).mean())
    assert sizes[0] < 1.3 < 2 < sizes[1]


def test_empty_answers_use_up_the_error():
    X, Y = data(1500, 0, noise=0.02)
    stack = StackingLabelRanker([("linear", LogLinearLabelRanker(alpha=1e-5))]).fit(X, Y)
    X, Y = data(4000, 1, noise=0.02)
    first = (np.arange(len(Y)), Y.argmin(axis=1))
    assert stack.predict_top_set(X)[first].mean() > 0.95
    strict = stack.predict_top_set(X, allow_empty=True)
    assert abs(strict[first].mean() - 0.9) < 0.02
    assert (strict.sum(axis=1) == 0).any()


@pytest.mark.parametrize("error", [0.0, 1.0, -0.1])
def test_an_error_outside_its_range_is_refused(stack, error):
    with pytest.raises(ValueError, match="error must lie"):
        stack.predict_top_set(np.zeros((1, 3)), error)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_the_quantile_is_the_least_that_covers_enough(values, error):
    values = np.sort(values)
    limit = quantile(values, error)
    n = len(values)
    assert np.sum(values <= limit) >= min(n, np.ceil((1 - error) * (n + 1)))
    if np.isfinite(limit):
        assert np.sum(values < limit) < np.ceil((1 - error) * (n + 1))


def test_too_few_rows_leave_everything_possible():
    X, Y = data(5, 0)
    stack = StackingLabelRanker([("linear", LogLinearLabelRanker())])
    with pytest.warns(UserWarning, match="5 different rows are too few"):
        stack.fit(X, Y)
    assert stack.predict_top_set(X).all()
    assert (stack.predict_rank_intervals(X)[..., 1] == 5).all()


def test_coverage_after_learning_from_incomplete_rankings():
    X, Y = data(2500, 0)
    Y = drop_labels(Y, 0.5, random_state=0)
    used = ~np.isnan(Y).all(axis=1)
    stack = StackingLabelRanker([("linear", LogLinearLabelRanker(alpha=1e-3))])
    stack.fit(X[used], Y[used])
    X, Y = data(6000, 1)
    covered = stack.predict_top_set(X)[np.arange(len(Y)), Y.argmin(axis=1)]
    assert abs(covered.mean() - 0.9) < 0.03
    start, end = np.moveaxis(stack.predict_rank_intervals(X), 2, 0)
    assert abs(((start <= Y) & (Y <= end)).mean() - 0.9) < 0.04


def test_tied_labels_have_the_mean_rank_of_their_bucket():
    X, Y = data(1500, 0)
    ranker = StackingLabelRanker([("linear", LogLinearLabelRanker(alpha=1e-3))])
    ranker.fit(X, np.ceil(Y / 2))
    X, Y = data(4000, 1)
    truth = np.floor(bucket_positions(np.ceil(Y / 2)))
    start, end = np.moveaxis(ranker.predict_rank_intervals(X), 2, 0)
    assert abs(((start <= truth) & (truth <= end)).mean() - 0.9) < 0.03


def test_missing_labels_and_ties():
    X, Y = data(400, 0)
    Y = drop_labels(np.ceil(Y / 2), 0.1, random_state=0)
    stack = StackingLabelRanker([("linear", LogLinearLabelRanker())]).fit(X, Y)
    assert stack.predict_top_set(X).any(axis=1).all()


def test_the_expected_rank_is_the_least_odd():
    odd = rank_nonconformity(np.array([[50.0, 50.0, 50.0]]), 3, "distance")[0]
    np.testing.assert_array_equal(odd.argmin(axis=1), [0, 1, 2])


def test_of_two_scores_the_one_with_smaller_answers_is_taken():
    rng = np.random.default_rng(0)
    margins = rng.normal(size=(500, 3)) * 3
    truth = ranks_from_scores(rng.normal(size=(500, 3)), higher_is_better=True)
    found = learn_conformal(margins, truth)
    assert len(found.top_nonconformity) == 500
    assert len(found.rank_nonconformity) == 1500
    assert (np.diff(found.rank_nonconformity) >= 0).all()


def test_sets_hold_all_labels_that_are_tied_for_first():
    X, Y = data(1500, 0)
    ranker = StackingLabelRanker([("linear", LogLinearLabelRanker(alpha=1e-3))])
    ranker.fit(X, np.ceil(Y / 2))
    X, Y = data(4000, 1)
    held = (ranker.predict_top_set(X) | (Y > 2)).all(axis=1)
    assert abs(held.mean() - 0.9) < 0.03

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

import oracles
from prefero.plackett_luce import (
    PlackettLuce,
    fit_plackett_luce,
    fit_plackett_luce_batch,
    pairwise_batch,
)
from strategies import neighborhoods, rank_matrices


def worths(n):
    return st.lists(st.floats(0.01, 10), min_size=n, max_size=n)


@given(st.integers(1, 5).flatmap(worths))
def test_probabilities_are_those_of_successive_choices(worth):
    model, n = PlackettLuce(worth), len(worth)
    everything, p = oracles.permutations(n), oracles.plackett_luce_pmf(worth)
    np.testing.assert_allclose(np.exp(model.log_prob(everything)), p)
    before = (everything[:, :, None] < everything[:, None, :]).astype(float)
    np.testing.assert_allclose(model.pairwise(), np.tensordot(p, before, 1) + np.eye(n) / 2)
    assert p[(everything == model.center).all(axis=1)][0] == pytest.approx(p.max())


@given(st.integers(2, 5).flatmap(worths), st.data())
def test_probability_of_a_partial_ranking_is_that_of_its_extensions(worth, data):
    n = len(worth)
    Y = data.draw(rank_matrices(rows=(1, 3), labels=(n, n)))
    agree = [[oracles.kendall_distance(y, q) == 0 for q in oracles.permutations(n)] for y in Y]
    expected = np.array(agree) @ oracles.plackett_luce_pmf(worth)
    np.testing.assert_allclose(np.exp(PlackettLuce(worth).log_prob(Y)), expected, rtol=1e-9)


def test_probability_of_a_bucket_of_extreme_worths():
    model = PlackettLuce([1e-9, 1e9, 1.0])
    # P(0 and 1 before 2) is P(0 before 2) up to what 1 can still miss.
    assert np.exp(model.log_prob([[1, 1, 2]])[0]) == pytest.approx(1e-9, rel=1e-6)


def test_samples_follow_the_distribution():
    model = PlackettLuce([5, 2, 1])
    draws = model.sample(20_000, random_state=0)
    shares = [(draws == p).all(axis=1).mean() for p in oracles.permutations(3)]
    np.testing.assert_allclose(shares, oracles.plackett_luce_pmf(model.worth), atol=0.015)


@given(rank_matrices(rows=(1, 5), labels=(2, 5)), st.data())
def test_fit_maximises_the_likelihood_with_its_prior(Y, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(Y), max_size=len(Y)))
    model = fit_plackett_luce(Y, weights, prior=0.5, tol=1e-10)

    def loss(log_worth):
        return -oracles.plackett_luce_objective(log_worth, Y, weights, 0.5)

    best = minimize(loss, np.zeros(Y.shape[1])).fun
    assert loss(np.log(model.worth)) <= best + 1e-6 * (1 + abs(best))


@given(neighborhoods(labels=(1, 5)))
def test_batch_equals_single_fits(problem):
    Y, indices, weights, indptr = problem
    log_worth = fit_plackett_luce_batch(Y, indices, weights, indptr=indptr)
    for q, (a, b) in enumerate(itertools.pairwise(indptr)):
        if weights[a:b].any():
            single = fit_plackett_luce(Y[indices[a:b]], weights[a:b])
            np.testing.assert_array_equal(PlackettLuce(np.exp(log_worth[q])).worth, single.worth)
        else:
            assert np.ptp(log_worth[q]) == 0


def test_labels_that_always_win_or_lose_stay_finite():
    model = fit_plackett_luce([[1, 2, 3]] * 10)
    assert 0 < model.worth.min() < model.worth.max() < 1
    np.testing.assert_array_equal(model.center, [1, 2, 3])


def test_a_top_list_counts_its_choices_only():
    # The rest tied below: one choice among four labels.
    top = fit_plackett_luce([[1, 2, 2, 2]])
    np.testing.assert_allclose(top.worth[1:], top.worth[1])
    assert top.worth[0] == pytest.approx(1.1 / 1.4, rel=1e-6)


def test_true_worths_are_recovered():
    truth = PlackettLuce([4, 2, 1, 1])
    model = fit_plackett_luce(truth.sample(5000, random_state=1))
    np.testing.assert_allclose(model.worth, truth.worth, atol=0.02)


def test_pair_probabilities_of_many_models_equal_each():
    worth = np.array([[1.0, 2, 3], [5, 1, 1]])
    np.testing.assert_allclose(
        pairwise_batch(np.log(worth)), [PlackettLuce(w).pairwise() for w in worth]
    )


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="worth must be one positive"):
        PlackettLuce([1, 0])
    with pytest.raises(ValueError, match="prior must be positive"):
        fit_plackett_luce([[1, 2]], prior=0)
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        fit_plackett_luce([[1, 2]], max_iter=0)


def test_an_unfinished_fit_says_so():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        fit_plackett_luce([[1, 2, 3], [2, 1, 3]], max_iter=1)

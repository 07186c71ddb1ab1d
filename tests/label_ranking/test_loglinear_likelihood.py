"""The log-linear ranker as a conditional Plackett-Luce model, against a few plain lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad

from prefero import LogLinearLabelRanker
from prefero.checks import LABEL_RANKER_AXIOMS, run_axiom
from prefero.label_ranking._loglinear import (
    GivenFunctions,
    LinearFunctions,
    Objective,
    boosting_rho,
    boosting_step,
    boosting_sums,
    l2,
    smooth_l1,
)
from prefero.plackett_luce import PlackettLuce, fit_plackett_luce
from prefero.preferences import Choices, PreferenceGraphs
from strategies import linear_data, linear_values, rank_matrices


def loss_of_choices(ranks, scores):
    """Minus the logarithm of each choice's probability; the last bucket is what remains."""
    known = ranks[~np.isnan(ranks)]
    total = 0.0
    for label in np.flatnonzero(ranks < known.max(initial=-np.inf)):
        among = scores[ranks >= ranks[label]]
        total -= np.log(np.exp(scores[label]) / np.exp(among).sum())
    return total / max(1, len(ranks) - 1)


def choices_of(Y):
    return Choices(PreferenceGraphs.from_ranks(Y).layers)


def edges_of_choices(ranks):
    """Edges from every label chosen to every other that was left."""
    known = ranks[~np.isnan(ranks)]
    return [
        (u, v)
        for u in np.flatnonzero(ranks < known.max(initial=-np.inf))
        for v in np.flatnonzero(ranks >= ranks[u])
        if u != v
    ]


@given(rank_matrices(), st.integers(0, 99))
def test_the_loss_is_that_of_the_choices(Y, seed):
    scores = 3 * np.random.default_rng(seed).normal(size=Y.shape)
    found = choices_of(Y).loss(scores)
    expected = [loss_of_choices(row, f) for row, f in zip(Y, scores, strict=True)]
    assert_allclose(found.loss, expected, atol=1e-12)
    for row, f, incoming, outgoing in zip(Y, scores, *found[1:], strict=True):
        ends = np.zeros((2, len(row)))
        for u, v in edges_of_choices(row):
            weight = np.exp(f[v]) / np.exp(f[row >= row[u]]).sum() / max(1, len(row) - 1)
            ends[0, v] += weight
            ends[1, u] += weight
        assert_allclose([incoming, outgoing], ends, atol=1e-12)


@given(rank_matrices(), st.sampled_from([l2, smooth_l1]), st.booleans(), st.integers(0, 99))
def test_gradients(Y, penalty, linear, seed):
    rng = np.random.default_rng(seed)
    graphs, X = PreferenceGraphs.from_ranks(Y), rng.integers(-2, 3, (len(Y), 2)) / 1.0
    functions = (
        LinearFunctions(X, graphs, fit_intercept=True)
        if linear
        else GivenFunctions(rng.normal(size=(*Y.shape, 3)), graphs)
    )
    objective = Objective(functions, choices_of(Y), rng.uniform(0.5, 2, len(Y)), penalty(0.1))

    def value(w):
        return objective.value(w.reshape(functions.shape))

    def gradient(w):
        return objective.value_and_gradient(w.reshape(functions.shape))[1].ravel()

    assert check_grad(value, gradient, rng.normal(size=np.prod(functions.shape))) < 1e-5


@given(rank_matrices(), st.sampled_from([0.0, 0.05]), st.integers(0, 99))
def test_boosting_falls_by_at_least_theorem_1(Y, alpha, seed):
    rng = np.random.default_rng(seed)
    functions = LinearFunctions(rng.normal(size=(len(Y), 2)), PreferenceGraphs.from_ranks(Y), True)
    objective = Objective(functions, choices_of(Y), np.ones(len(Y)), smooth_l1(alpha))
    rho, parameters = boosting_rho(objective, alpha), rng.normal(size=functions.shape) / 4
    for _ in range(3):
        loss, plus, minus = boosting_sums(objective, alpha, parameters)
        parameters = parameters - boosting_step(plus, minus, alpha) / rho
        bound = np.sum((np.sqrt(plus) - np.sqrt(minus)) ** 2) / rho
        # Without a penalty the step is smoothed where W+ or W- vanishes.
        assert loss - objective.value(parameters) >= bound - (1e-12 if alpha else 1e-4)


def test_scores_far_apart_stay_finite():
    Y = np.array([[3.0, 2, 1, np.nan], [1, 2, 2, 3]])
    found = choices_of(Y).loss(np.array([[2000.0, 0, -2000, 9e9]] * 2))
    assert_allclose(found.loss, [(4000 + 2000) / 3, 9e9])
    assert np.isfinite(found.incoming).all()
    assert np.isfinite(found.outgoing).all()


def test_complete_strict_rankings_have_the_loss_of_their_domination():
    X, Y = linear_data()
    likelihood = LogLinearLabelRanker(loss="plackett_luce", tol=1e-8, alpha=1e-3).fit(X, Y)
    domination = LogLinearLabelRanker("domination", tol=1e-8, alpha=1e-3).fit(X, Y)
    assert_allclose(likelihood.coef_, domination.coef_, atol=1e-5)


def test_it_is_the_likelihood_of_the_model():
    X, Y = linear_data()
    Y[::2, 1] = Y[::3, 3] = np.nan
    ranker = LogLinearLabelRanker(loss="plackett_luce", alpha=0.1, scale=False).fit(X, Y)
    scores = ranker.decision_function(X)
    log_prob = [
        PlackettLuce(np.exp(f)).log_prob(row[None])[0] for f, row in zip(scores, Y, strict=True)
    ]
    penalty = 0.1 / 2 * np.sum(ranker.coef_**2) + 1e-4 / 2 * np.sum(ranker.intercept_**2)
    assert -np.mean(log_prob) / 3 + penalty == pytest.approx(ranker.loss_curve_[-1])


def test_without_features_it_is_one_plackett_luce_model_for_all():
    Y = np.array([[1, 2, 3, 4], [2, 1, 3, 3], [np.nan, 2, 1, 3], [4, 3, 2, 1], [1, 1, 2, 3.0]])
    ranker = LogLinearLabelRanker(
        loss="plackett_luce", alpha=1e-12, tol=1e-10, calibrate=False
    ).fit(np.zeros((5, 1)), Y)
    worth = fit_plackett_luce(Y, prior=1e-9, max_iter=100_000, tol=1e-12).worth
    found = np.exp(ranker.intercept_) / np.exp(ranker.intercept_).sum()
    assert_allclose(found, worth, rtol=1e-4)


def test_weights_count_rows():
    X, Y = linear_data(n=12)
    Y[0, 1], weight = np.nan, np.arange(12) % 3
    likelihood = LogLinearLabelRanker(loss="plackett_luce", tol=1e-8, alpha=1e-2, calibrate=False)
    weighted = likelihood.fit(X, Y, sample_weight=weight).coef_
    repeated = likelihood.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)).coef_
    assert_allclose(weighted, repeated, atol=1e-5)


def test_scores_play_no_part():
    X, Y = linear_data(n=20)
    likelihood = LogLinearLabelRanker(loss="plackett_luce", alpha=0.1, calibrate=False)
    alone = likelihood.fit(X, Y).coef_
    assert_array_equal(likelihood.fit(X, Y, scores=-(Y**2)).coef_, alone)
    with pytest.raises(ValueError, match="knows choices, no pairs to weigh"):
        likelihood.set_params(pair_weight="score_difference").fit(X, Y, scores=-Y)


def test_what_has_no_likelihood_is_refused():
    cycle = PreferenceGraphs.from_pairs([[(0, 1), (1, 2), (2, 0)]], n_labels=3)
    with pytest.raises(ValueError, match="needs rankings, but y holds graphs of single edges"):
        LogLinearLabelRanker(loss="plackett_luce").fit([[1.0]], cycle)
    X, Y = linear_data(n=8)
    ranker = LogLinearLabelRanker(
        loss="plackett_luce",
        solver="boosting",
        alpha=0.1,
        base_functions=lambda X: linear_values(X, 4),
    )
    with pytest.raises(ValueError, match="solver='boosting' with base_functions needs subgraphs"):
        ranker.fit(X, Y)


@pytest.mark.parametrize("axiom", LABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
def test_axiom(axiom):
    run_axiom(axiom, LogLinearLabelRanker(loss="plackett_luce"), expected_to_fail=False)

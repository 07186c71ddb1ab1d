import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import oracles
from prefero import _core
from prefero.mallows import Mallows, fit_mallows, fit_mallows_batch, pairwise_batch
from strategies import neighborhoods, rank_matrices


def likelihood_theta(mean_distance, n):
    """Maximise the mean log-likelihood with a normaliser by enumeration."""
    distances = np.array(
        [oracles.kendall_distance(p, np.arange(n)) for p in oracles.permutations(n)]
    )

    def loss(theta):
        return theta * mean_distance + np.log(np.exp(-theta * distances).sum())

    return minimize_scalar(loss, bounds=(0, 60), method="bounded", options={"xatol": 1e-10}).x


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("share", [1e-3, 0.05, 0.3, 0.8, 0.999])
def test_theta_maximises_the_likelihood(n, share):
    mean = share * n * (n - 1) / 4
    assert _core.mallows_theta(mean, n) == pytest.approx(likelihood_theta(mean, n), abs=1e-5)


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize("theta", [1e-12, 1e-4, 0.1, 0.9999, 1.0, 5, 40, 300])
def test_theta_inverts_the_expected_distance(n, theta):
    mean, _ = _core.mallows_moments(theta, n)
    assert _core.mallows_theta(mean, n) == pytest.approx(theta, rel=1e-9, abs=1e-13)


@given(neighborhoods(labels=(1, 6)))
def test_batch_follows_algorithm_1(problem):
    Y, indices, weights, indptr = problem
    batch = fit_mallows_batch(Y, indices, weights, indptr=indptr)
    for q, (a, b) in enumerate(itertools.pairwise(indptr)):
        center, mean = oracles.fit_mallows(Y[indices[a:b]], weights[a:b])
        np.testing.assert_array_equal(batch.centers[q], center)
        theta = 0 if mean is None else _core.mallows_theta(mean, Y.shape[1])
        assert batch.theta[q] == pytest.approx(theta)


def test_theta_at_both_ends():
    Y = np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1]], float)
    batch = fit_mallows_batch(Y, [[0, 1], [0, 2]])
    np.testing.assert_array_equal(batch.theta, [np.inf, 0])


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match=r"permutation of 1\.\.n"):
        Mallows([1, 1, 2], 1.0)
    with pytest.raises(ValueError, match="theta must be at least 0"):
        Mallows([1, 2], float("nan"))
    with pytest.raises(ValueError, match="center must be 'borda' or 'kemeny'"):
        fit_mallows([[1, 2]], center="copeland")
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        fit_mallows([[1, 2]], max_iter=0)
    with pytest.raises(ValueError, match="too large to take exactly"):
        Mallows(np.arange(1, 41), 1.0).log_prob([[*range(1, 21)] + [np.nan] * 20])


THETAS = st.one_of(st.just(0.0), st.floats(1e-9, 5))


@st.composite
def models(draw, labels=(1, 6)):
    n = draw(st.integers(*labels))
    return Mallows(draw(st.permutations(range(1, n + 1))), draw(THETAS))


@given(models())
def test_normaliser_and_moments_equal_their_sums(model):
    n = len(model.center)
    everything = oracles.permutations(n)
    distances = np.array([oracles.kendall_distance(p, model.center) for p in everything])
    p = oracles.mallows_pmf(model.center, model.theta)
    assert model.log_normalizer() == pytest.approx(
        np.log(np.exp(-model.theta * distances).sum()), abs=1e-12
    )
    mean = p @ distances
    assert model.expected_distance() == pytest.approx(mean, abs=1e-12)
    assert model.distance_variance() == pytest.approx(p @ (distances - mean) ** 2, abs=1e-11)
    np.testing.assert_allclose(np.exp(model.log_prob(everything)), p, rtol=1e-9)


@given(models(labels=(2, 5)), st.data())
def test_probability_of_a_partial_ranking_is_that_of_its_extensions(model, data):
    n = len(model.center)
    Y = data.draw(rank_matrices(rows=(1, 2), labels=(n, n)))
    p = oracles.mallows_pmf(model.center, model.theta)
    agree = [[oracles.kendall_distance(y, q) == 0 for q in oracles.permutations(n)] for y in Y]
    np.testing.assert_allclose(np.exp(model.log_prob(Y)), np.array(agree) @ p, rtol=1e-9)


@given(models())
def test_pair_probabilities_equal_their_sums(model):
    n = len(model.center)
    everything = oracles.permutations(n)
    before = (everything[:, :, None] < everything[:, None, :]).astype(float)
    expected = np.tensordot(oracles.mallows_pmf(model.center, model.theta), before, 1)
    np.testing.assert_allclose(model.pairwise(), expected + np.eye(n) / 2, atol=1e-12)


@pytest.mark.parametrize("n", [2, 5, 100])
def test_the_ends_of_theta(n):
    center = np.random.default_rng(0).permutation(n) + 1
    uniform, sure, nearly = (Mallows(center, t) for t in (0, np.inf, 1e-9))
    assert uniform.expected_distance() == n * (n - 1) / 4
    assert uniform.log_normalizer() == pytest.approx(nearly.log_normalizer(), rel=1e-6)
    assert uniform.distance_variance() == pytest.approx(nearly.distance_variance(), rel=1e-6)
    assert sure.expected_distance() == sure.distance_variance() == sure.log_normalizer() == 0
    assert sure.log_prob([center, n + 1 - center]).tolist() == [0, -np.inf]
    np.testing.assert_array_equal(sure.sample(3, random_state=0), np.tile(center, (3, 1)))
    np.testing.assert_array_equal(uniform.pairwise(), np.full((n, n), 0.5))
    np.testing.assert_array_equal(
        sure.pairwise() + np.eye(n) / 2, (center[:, None] <= center).astype(float)
    )


@pytest.mark.parametrize("theta", [0.0, 1e-14, 0.4, 3.0])
def test_samples_follow_the_distribution(theta):
    model = Mallows([2, 3, 1], theta)
    draws = model.sample(20_000, random_state=0)
    shares = [(draws == p).all(axis=1).mean() for p in oracles.permutations(3)]
    np.testing.assert_allclose(shares, oracles.mallows_pmf(model.center, theta), atol=0.015)


@given(rank_matrices(rows=(1, 5), labels=(1, 5)), st.data())
def test_single_fit_equals_the_batch(Y, data):
    weight = data.draw(st.lists(st.floats(0.125, 4), min_size=len(Y), max_size=len(Y)))
    model = fit_mallows(Y, sample_weight=weight)
    batch = fit_mallows_batch(Y, [range(len(Y))], [weight])
    np.testing.assert_array_equal(model.center, batch.centers[0])
    assert model.theta == batch.theta[0]


@given(rank_matrices(rows=(1, 5), labels=(2, 5), ties=False, missing=False))
def test_kemeny_center_maximises_the_likelihood(Y):
    model = fit_mallows(Y, center="kemeny")
    theta = min(model.theta, 60.0)
    best = max(Mallows(p, theta).log_prob(Y).sum() for p in oracles.permutations(Y.shape[1]))
    assert Mallows(model.center, theta).log_prob(Y).sum() == pytest.approx(best)


@given(rank_matrices(rows=(1, 5), labels=(1, 5)))
def test_kemeny_center_of_incomplete_rankings_is_that_of_their_extensions(Y):
    model = fit_mallows(Y, center="kemeny")
    weight = np.count_nonzero(~np.isnan(Y), axis=1)
    extended = [oracles.extend(y, model.center) for y in Y]

    def loss(center):
        return weight @ [oracles.kendall_distance(e, center) for e in extended]

    assert loss(model.center) == min(loss(p) for p in oracles.permutations(Y.shape[1]))


def test_a_ranking_of_m_of_n_labels_has_m_nth_of_its_weight_in_the_kemeny_center():
    pair = [2, 1, np.nan, np.nan, np.nan]
    assert fit_mallows([[1, 2, 3, 4, 5], pair, pair], center="kemeny").center[0] == 1
    assert fit_mallows([[1, 2, 3, 4, 5], pair, pair, pair], center="kemeny").center[0] == 2


def test_pair_probabilities_of_many_models_equal_each():
    models = [Mallows([1, 2, 3], 0.5), Mallows([3, 1, 2], np.inf)]
    batch = pairwise_batch([m.center for m in models], [m.theta for m in models])
    np.testing.assert_array_equal(batch, [m.pairwise() for m in models])


def test_true_parameters_are_recovered():
    truth = Mallows([3, 1, 4, 2, 5], 0.8)
    model = fit_mallows(truth.sample(4000, random_state=1))
    np.testing.assert_array_equal(model.center, truth.center)
    assert model.theta == pytest.approx(truth.theta, abs=0.05)

import itertools

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize_scalar

import oracles
from prefero import _core
from prefero.mallows import fit_mallows_batch
from test_consensus import neighborhoods


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

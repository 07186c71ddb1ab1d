"""The products and the search that the linear rankers are solved by."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import rosen, rosen_der
from scipy.sparse import csr_array, random_array

from prefero._products import FeatureProducts
from prefero._solvers._lbfgs import Lbfgs

# One to several vectors, with and without an overlap at the end.
widths = st.sampled_from([1, 2, 3, 4, 5, 7, 8, 9, 12, 31, 33, 48, 49, 97, 102, 200])


@given(widths, st.integers(0, 6), st.integers(1, 9), st.integers(0, 99))
def test_sparse_products_are_those_of_scipy(width, n, d, seed):
    rng = np.random.default_rng(seed)
    X = csr_array(random_array((n, d), density=0.4, rng=rng))
    products = FeatureProducts(X)
    weights, values = rng.normal(size=(d, width)), rng.normal(size=(n, width))
    np.testing.assert_allclose(products.times(weights), X @ weights, atol=1e-12)
    np.testing.assert_allclose(products.transposed_times(values), X.T @ values, atol=1e-12)
    np.testing.assert_allclose(products.times(weights, float32=True), X @ weights, atol=1e-5)
    in_float32 = products.transposed_times(values, float32=True)
    np.testing.assert_allclose(in_float32, X.T @ values, atol=1e-5)


def test_dense_products_need_no_rough_form():
    X = np.arange(6.0).reshape(3, 2)
    products = FeatureProducts(X)
    assert not products.has_float32
    np.testing.assert_array_equal(products.times(X.T, float32=True), X @ X.T)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_features_out_of_the_range_of_single_precision_are_multiplied_in_double(size):
    X = csr_array([[size, 0.0], [0.0, 3.0]])
    products = FeatureProducts(X)
    assert not products.has_float32
    weights = np.full((2, 40), 2.0)
    np.testing.assert_allclose(products.times(weights, float32=True), X @ weights)


def test_the_search_finds_the_end_of_a_bent_valley():
    search = Lbfgs(np.full(20, -1.2))
    assert search.run(lambda x: (rosen(x), rosen_der(x)), tol=1e-9, max_iter=1000)
    np.testing.assert_allclose(search.x, 1, atol=1e-6)
    assert np.all(np.diff(search.curve) <= 0)


@pytest.mark.parametrize("n", [5, 60_000])
def test_the_search_minimises_a_quadratic(n):
    slopes = np.linspace(1, 50, n)
    search = Lbfgs(np.ones(n))
    assert search.run(lambda x: (x @ (slopes * x) / 2, slopes * x), tol=1e-8, max_iter=500)
    np.testing.assert_allclose(search.x, 0, atol=1e-6)


def test_a_search_goes_on_with_a_finer_function():
    def noisy(x):
        return float(np.float32(x @ x)), np.float32(2 * x).astype(float)

    search = Lbfgs(np.array([3.0, -4.0, 1.0]))
    assert search.run(noisy, tol=1e-2, max_iter=50)
    before = len(search.curve)
    assert search.run(lambda x: (x @ x, 2 * x), tol=1e-10, max_iter=50)
    assert before <= len(search.curve)
    assert np.abs(search.x).max() < 1e-8


def test_a_search_stopped_early_says_so():
    search = Lbfgs(np.full(20, -1.2))
    assert not search.run(lambda x: (rosen(x), rosen_der(x)), tol=1e-9, max_iter=3)
    assert len(search.curve) == 4
    assert search.curve[-1] == rosen(search.x)


def test_where_the_function_is_no_number_the_search_steps_back():
    def barrier(x):
        if np.any(x <= 0):
            return np.nan, np.full_like(x, np.nan)
        return float(np.sum(x - np.log(x))), 1 - 1 / x

    search = Lbfgs(np.array([0.1, 5.0]))
    assert search.run(barrier, tol=1e-8, max_iter=100)
    np.testing.assert_allclose(search.x, 1, atol=1e-6)

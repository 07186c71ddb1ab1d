"""Newton's method in single precision, and what goes on from there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from prefero import _core
from prefero._solvers._lbfgs import approach, unpacked
from prefero._solvers._logistic import solve_logistic
from prefero._solvers._problems import LogisticProblems


def two_classes(n_rows=4000, n_problems=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    lean = X @ rng.normal(size=(4, n_problems)) + rng.logistic(size=(n_rows, n_problems))
    return X, np.where(lean > 0.5, 1, -1).astype(np.int8)


def solutions(X, signs, **options):
    options = {"C": 1.0, "tol": 1e-8, "max_iter": 100, "fit_intercept": True} | options
    coef, intercept, converged = solve_logistic(X, signs, np.ones(len(X)), **options)
    assert converged
    return coef, intercept


@given(st.integers(0, 2**32 - 1))
def test_derivatives_are_those_of_the_loss(seed):
    rng = np.random.default_rng(seed)
    rows, columns, problems = rng.integers([1, 1, 1], [300, 20, 30])
    X = rng.normal(size=(rows, columns)).astype(np.float32)
    signs = rng.integers(-1, 2, size=(rows, problems))
    weight = rng.uniform(0, 3, (rows, problems)[: rng.integers(1, 3)])
    which = rng.permutation(problems)[: rng.integers(1, problems + 1)]
    coef = rng.normal(size=(len(which), columns)).astype(np.float32)
    parts = X, signs.astype(np.int8), weight, which, coef
    share = np.where(signs == 0, 0, weight if weight.ndim == 2 else weight[:, None])[:, which]
    margin = signs[:, which] * (X.astype(float) @ coef.T.astype(float))
    close = {"rtol": 0, "atol": 3e-6 * (1 + share.sum()) * np.abs(X).max() ** 2}
    gradient = -(share * signs[:, which] * expit(-margin)).T @ X
    np.testing.assert_allclose(_core.logistic_gradients(*parts), gradient, **close)
    hessian = np.einsum("np,ni,nj->pij", share * expit(margin) * expit(-margin), X, X)
    found = unpacked(_core.logistic_hessians(*parts), np.zeros(columns))
    np.testing.assert_allclose(found, hessian, **close)


@pytest.mark.parametrize("weight_a_problem", [False, True])
def test_sign_weights_add_up_either_class(weight_a_problem):
    rng = np.random.default_rng(0)
    signs = rng.integers(-1, 2, size=(50, 700)).astype(np.int8)
    weight = rng.uniform(size=signs.shape if weight_a_problem else 50)
    own = weight if weight_a_problem else weight[:, None]
    expected = [(own * (signs > 0)).sum(axis=0), (own * (signs < 0)).sum(axis=0)]
    np.testing.assert_allclose(_core.sign_weights(signs, weight), expected)


@pytest.mark.parametrize("kernel", [_core.logistic_gradients, _core.logistic_hessians])
def test_kernels_refuse_arrays_that_do_not_fit(kernel):
    X, signs, weight = np.ones((3, 2), np.float32), np.ones((3, 4), np.int8), np.ones(3)
    which, coef = np.array([0]), np.ones((1, 2), np.float32)
    with pytest.raises(ValueError, match="the same rows"):
        kernel(X[:2], signs, weight, which, coef)
    with pytest.raises(ValueError, match="one weight per row"):
        kernel(X, signs, weight[:2], which, coef)
    with pytest.raises(ValueError, match="per column of X"):
        kernel(X, signs, weight, which, coef[:, :1].copy())
    with pytest.raises(ValueError, match="per problem is needed"):
        kernel(X, signs, weight, np.array([0, 1]), coef)
    for wrong in (-1, 4):
        with pytest.raises(ValueError, match="columns of signs"):
            kernel(X, signs, weight, np.array([wrong]), coef)


def test_most_of_the_way_needs_single_precision_alone():
    X, signs = two_classes()
    problems = LogisticProblems(X, signs, np.ones(len(X)), np.ones(4))
    beta, inverse = approach(problems.to_float32(), np.zeros((5, 4)), 1e-5, 100)
    _, gradient = problems.slopes(beta)
    assert np.abs(gradient).max() <= 1.01e-5 * len(X)
    # How the loss bends was learnt from some of the rows and the steps.
    for found, exact in zip(inverse, problems.exact_hessians(beta), strict=True):
        assert np.abs(np.linalg.eigvals(found @ exact) - 1).max() < 0.5


@pytest.mark.parametrize(
    "X",
    [
        pytest.param(two_classes()[0] * 1e30, id="too large to be squared"),
        pytest.param(two_classes()[0] * 1e300, id="too large"),
        pytest.param(two_classes()[0] * 1e-60, id="too small"),
        pytest.param(two_classes()[0] + 1e8, id="too far from zero to differ"),
    ],
)
def test_problems_beyond_single_precision_are_not_led_astray(X):
    _, signs = two_classes()
    problems = LogisticProblems(X, signs, np.ones(len(X)), np.ones(4))
    start = np.zeros((5, 4))
    with np.errstate(over="ignore", invalid="ignore"):
        before = np.abs(problems.slopes(start)[1]).max(axis=1)
        beta, _ = approach(problems.to_float32(), start, 1e-5, 100)
        after = np.abs(problems.slopes(beta)[1]).max(axis=1)
    assert np.isfinite(beta).all()
    assert (after <= before * (1 + 1e-6)).all()


def test_a_step_that_overshoots_is_not_taken():
    X = np.array([[10.0, 1], [-15, 1], [-1, 1], [2, 1]])
    signs, weight = np.array([[1], [1], [-1], [-1]], dtype=np.int8), [1.0, 10, 1, 100]
    problems = LogisticProblems(X, signs, np.array(weight), np.array([1.0, 0]))
    start = np.array([[-2.0, -2]])
    beta, inverse = approach(problems.to_float32(), start, 1e-8, 100)
    steep = [np.abs(problems.slopes(at)[1]).max() for at in (start, beta)]
    assert steep[1] <= steep[0]
    assert np.isnan(inverse).all()  # given up: who goes on asks anew


@pytest.mark.parametrize("shift", [0, 100])
def test_solutions_do_not_depend_on_single_precision(shift):
    X, signs = two_classes()
    moved = X.copy()
    moved[:, 1] += shift
    coef, intercept = solutions(moved, signs, C=np.inf)
    for own, offset, sign in zip(coef, intercept, signs.T, strict=True):
        alone = LogisticRegression(C=np.inf, tol=1e-8, solver="newton-cholesky").fit(X, sign)
        np.testing.assert_allclose(own, alone.coef_[0], atol=1e-6)
        np.testing.assert_allclose(offset + shift * own[1], alone.intercept_[0], atol=1e-5)


def test_equal_columns_without_a_penalty_share_their_weight():
    X, signs = two_classes()
    coef, intercept = solutions(np.hstack([X, X[:, :1]]), signs, C=np.inf)
    expected, offset = solutions(X, signs, C=np.inf)
    np.testing.assert_allclose(coef[:, 0] + coef[:, 4], expected[:, 0], atol=1e-5)
    np.testing.assert_allclose(coef[:, 1:4], expected[:, 1:], atol=1e-5)
    np.testing.assert_allclose(intercept, offset, atol=1e-5)


def test_a_loose_tolerance_holds_in_double_precision():
    X, signs = two_classes(n_rows=6000, n_problems=40)
    coef, intercept = solutions(X, signs, tol=1e-4)
    beta = np.column_stack([coef, intercept])
    full = np.hstack([X, np.ones((len(X), 1))])
    problems = LogisticProblems(full, signs, np.ones(len(X)), np.array([1.0, 1, 1, 1, 0]))
    assert np.abs(problems.slopes(beta)[1]).max() <= 1e-4 * len(X)


def test_nearly_separable_problems_reach_their_solution():
    X, _ = two_classes(n_rows=3000)
    signs = np.where(X @ np.array([[1.0, 5], [2, 0], [0, 0], [0, 1]]) > 0.01, 1, -1).astype(np.int8)
    coef, _ = solutions(X, signs, C=1e3)
    for own, sign in zip(coef, signs.T, strict=True):
        alone = LogisticRegression(C=1e3, tol=1e-8, solver="newton-cholesky").fit(X, sign)
        np.testing.assert_allclose(own, alone.coef_[0], rtol=1e-4, atol=1e-4)

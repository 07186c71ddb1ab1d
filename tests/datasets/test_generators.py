"""Data drawn at random."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from prefero.datasets import make_label_ranking
from prefero.mallows import Mallows
from prefero.metrics import kendall_distance


@pytest.mark.parametrize("model", ["linear", "tree"])
def test_sizes_and_reproducibility(model):
    X, Y = make_label_ranking(40, 3, 6, model=model, theta=1.0, missing=0.3, random_state=7)
    assert (X.shape, Y.shape) == ((40, 3), (40, 6))
    assert np.isnan(Y).any()
    again = make_label_ranking(40, 3, 6, model=model, theta=1.0, missing=0.3, random_state=7)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(Y, again[1])


@pytest.mark.parametrize("model", ["linear", "tree"])
@pytest.mark.parametrize("theta", [0.0, 0.5, 2.0, np.inf])
def test_noise_is_mallows_around_the_model(model, theta):
    options = {"n_samples": 4000, "n_labels": 4, "model": model, "random_state": 0}
    X, centers = make_label_ranking(**options)
    same_X, Y = make_label_ranking(**options, theta=theta)
    np.testing.assert_array_equal(X, same_X)
    expected = Mallows([1, 2, 3, 4], theta).expected_distance()
    assert kendall_distance(centers, Y) == pytest.approx(expected, abs=0.1)


def test_a_linear_model_orders_by_linear_scores():
    """Any two labels are told apart by a hyperplane through the origin."""
    X, Y = make_label_ranking(500, 4, 3, random_state=1)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        before = np.where(Y[:, i] < Y[:, j], 1.0, -1.0)
        direction = LinearRegression(fit_intercept=False).fit(X, before).coef_
        assert np.mean(np.sign(X @ direction) == before) > 0.97


def test_a_tree_has_few_rankings():
    _, Y = make_label_ranking(3000, 5, 8, model="tree", random_state=2)
    assert 1 < len(np.unique(Y, axis=0)) <= 16


def test_missing_labels_are_as_many_as_asked_for():
    _, Y = make_label_ranking(2000, missing=0.6, random_state=3)
    assert np.isnan(Y).mean() == pytest.approx(0.6, abs=0.03)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"model": "forest"}, "model must be 'linear' or 'tree'"),
        ({"missing": 2}, "probability"),
        ({"theta": -1}, "theta"),
    ],
)
def test_bad_arguments_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        make_label_ranking(**options)

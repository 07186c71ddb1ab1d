"""What the instance-based label ranker learns of features and cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad

from case_problems import PLAIN, problem
from prefero import NeighborsLabelRanker
from prefero._neighbors import _space
from prefero.rankings import ranks_from_scores


def test_scaling_undoes_units():
    X, Y = problem()
    ranker = NeighborsLabelRanker(5)
    in_meters, in_miles = (
        ranker.fit(X, Y).predict(X),
        ranker.fit(X * [1, 1e4], Y).predict(X * [1, 1e4]),
    )
    assert_array_equal(in_meters, in_miles)
    alone = NeighborsLabelRanker(5, scale=False).fit(X, Y)
    assert_array_equal(alone.points_, X)


def test_features_that_explain_nothing_lose_their_weight():
    X, Y = problem(n=150, noise_features=4)
    ranker = NeighborsLabelRanker().fit(X, Y)
    assert ranker.feature_weights_[:2].min() > 1.5 * ranker.feature_weights_[2:].max()
    X_new, Y_new = problem(n=150, noise_features=4, seed=0)
    X_new[:, 2:] = np.random.default_rng(5).normal(size=(150, 4))
    ranker, equal = (
        NeighborsLabelRanker(5, feature_weights=kind).fit(X, Y) for kind in ("learned", "equal")
    )
    assert ranker.score(X_new, Y_new) > equal.score(X_new, Y_new) + 0.05


def test_given_feature_weights():
    X, Y = problem(noise_features=1)
    ranker = NeighborsLabelRanker(4, scale=False, feature_weights=[1, 4, 0]).fit(X, Y)
    assert_allclose(ranker.points_, X * [1, 2, 0])
    with pytest.raises(ValueError, match="must hold 3 weights"):
        NeighborsLabelRanker(feature_weights=[1, -1, 0]).fit(X, Y)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_gradient_of_the_kernel_loss(missing):
    X, Y = problem(n=25, missing=missing, noise_features=1)
    weight = np.arange(25) % 3 + 1.0
    loss = _space._KernelLoss(X, _space.preference_targets(Y), weight)
    for seed in range(3):
        logs = np.random.default_rng(seed).normal(size=3)
        assert check_grad(lambda a: loss(a)[0], lambda a: loss(a)[1], logs) < 1e-5


def test_many_labels_are_learned_from_votes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = ranks_from_scores(
        X[:, [0]] * np.linspace(-1, 1, 40) + 0.1 * rng.normal(size=(60, 40)), higher_is_better=True
    )
    ranker = NeighborsLabelRanker().fit(X, Y)
    assert np.argmax(ranker.feature_weights_) == 0


def test_editing_drops_the_contradiction():
    X = np.arange(20.0)[:, None]
    Y = np.tile([1.0, 2, 3], (20, 1))
    Y[7] = [3, 2, 1]
    ranker = NeighborsLabelRanker(3, instance_selection="edit", **PLAIN).fit(X, Y)
    assert len(ranker.rankings_) == 19
    assert (ranker.rankings_ == [1, 2, 3]).all()


def test_condensing_keeps_the_border():
    X = np.sort(np.random.default_rng(0).uniform(-1, 1, 200))[:, None]
    Y = np.where(X < 0, [[1, 2]], [[2, 1]])
    ranker = NeighborsLabelRanker(1, instance_selection="condense", **PLAIN).fit(X, Y)
    assert len(ranker.rankings_) < 150
    assert ranker.score(X, Y) == 1


def test_a_local_metric_looks_along_the_gradient():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 2))
    Y = ranks_from_scores(np.column_stack([X[:, 0], 0 * X[:, 0], -X[:, 0]]), higher_is_better=True)
    plain = NeighborsLabelRanker(4, **PLAIN).fit(X, Y).explain_neighbors(X[:50] + 0.01)
    local = (
        NeighborsLabelRanker(4, local_metric=40, **PLAIN).fit(X, Y).explain_neighbors(X[:50] + 0.01)
    )

    def along(why):
        return np.abs(X[why.cases, 0] - X[:50, None, 0]).mean()

    assert along(local) < along(plain)

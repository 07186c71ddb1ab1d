"""A fit is all or nothing: what fails, or only asks, leaves an estimator as it was."""

import numpy as np
import pytest

import prefero
from prefero import (
    ExpectedRankOrderer,
    ForestLabelRanker,
    NeighborsLabelRanker,
    NeighborsMultilabelRanker,
    RankCorrelationReducer,
    TreeLabelRanker,
)


def data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.argsort(np.argsort(X @ rng.normal(size=(3, 4)), axis=1), axis=1) + 1.0


def fitted_state(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (TreeLabelRanker(random_state=0), lambda Y: Y),
        (ForestLabelRanker(5, random_state=0), lambda Y: Y),
        (NeighborsLabelRanker(), lambda Y: Y),
        (NeighborsMultilabelRanker(), lambda Y: (Y < 3).astype(float)),
        (ExpectedRankOrderer(), lambda Y: Y[:, 0]),
        (RankCorrelationReducer(2), lambda Y: Y[:, 0]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failed_fit_changes_nothing(estimator, target, monkeypatch):
    X, Y = data()
    estimator.fit(X, target(Y))
    before = fitted_state(estimator)

    def fail(*arguments):
        raise MemoryError("in the middle of the fit")

    monkeypatch.setattr(type(estimator), "_fit", fail)
    with pytest.raises(MemoryError):
        estimator.fit(X[:, :2], target(Y))
    after = fitted_state(estimator)
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)


def test_a_fit_forgets_the_fit_before():
    X, Y = data()
    forest = ForestLabelRanker(20, oob_score=True, random_state=0).fit(X, Y)
    forest.set_params(oob_score=False).fit(X, Y)
    assert not hasattr(forest, "oob_score_")


def test_asking_for_the_pruning_path_changes_nothing():
    X, Y = data()
    other_X, other_Y = data(1)
    tree = TreeLabelRanker(random_state=0).fit(X, Y)
    before = tree.predict(X)
    tree.cost_complexity_pruning_path(other_X * 3 + 7, other_Y)
    np.testing.assert_array_equal(tree.predict(X), before)


@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [(2, 4, "X has 2 features"), (3, 3, "has 3 labels|3 columns|4 labels")],
)
def test_a_warm_start_insists_on_the_same_features_and_labels(columns, labels, message):
    X, Y = data()
    forest = ForestLabelRanker(5, warm_start=True, random_state=0).fit(X, Y)
    before = forest.predict(X)
    other = np.argsort(np.argsort(Y[:, :labels], axis=1), axis=1) + 1.0
    with pytest.raises(ValueError, match=message):
        forest.set_params(n_estimators=8).fit(X[:, :columns], other)
    np.testing.assert_array_equal(forest.predict(X), before)
    assert len(forest.fit(X, Y).seeds_) == 8


def test_the_base_classes_are_reachable():
    assert issubclass(prefero.ConsensusLabelRanker, prefero.base.BaseLabelRanker)

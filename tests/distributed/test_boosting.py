"""Boosting of rows in partitions against one machine, and its cuts against a few plain lines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitions import cut, nested, problem, same_trees
from prefero import BoostingLabelRanker, ConsensusLabelRanker, _core
from prefero._trees._arrays import Trees
from prefero.distributed import DistributedLabelRanker
from prefero.metrics import pairwise_calibration_error
from prefero.persistence import load, save
from prefero.rankings import pair_signs

pytestmark = pytest.mark.filterwarnings("ignore:.*rank no label:UserWarning")


def boosted(ranker, *arrays, sizes=(), **options):
    options = {"client": False, "n_jobs": 1, **options}
    parts = [cut(a, *sizes) for a in arrays]
    return DistributedLabelRanker(ranker, **options).fit(*parts).to_local()


@settings(max_examples=10)
@given(
    missing=st.sampled_from([0.0, 0.4]),
    ties=st.booleans(),
    gaps=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
    options=st.sampled_from([{}, {"max_depth": 2}, {"max_leaf_nodes": None, "max_depth": 3}]),
)
def test_from_all_rows_the_trees_are_those_of_one_machine(
    missing, ties, gaps, weighted, seed, options
):
    X, Y = problem(80, missing=missing, ties=ties, gaps=gaps, seed=seed, theta=1.0)
    # A row that orders no pair has no derivatives: cuts that differ by such rows alone gain the
    # same, and on one machine rounding would choose between them.
    telling = (pair_signs(Y) != 0).any(axis=1)
    X, Y = X[telling], Y[telling]
    draw = np.random.default_rng(seed)
    weight = draw.integers(1, 4, len(X)).astype(float) if weighted else None
    ranker = BoostingLabelRanker(3, subsample=1.0, validation=None, random_state=seed, **options)
    found = boosted(ranker, X, Y, weight, sizes=(30,))
    local = ranker.fit(X, Y, weight)
    sides = not weighted
    assert nested(found, sides=sides) == nested(local, sides=sides)
    assert np.allclose(found.start_scores_, local.start_scores_, atol=1e-12)
    assert np.allclose(found.decision_function(X), local.decision_function(X), atol=1e-6)


@settings(max_examples=8)
@given(
    missing=st.sampled_from([0.0, 0.4]),
    gaps=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
    first=st.integers(1, 58),
)
def test_trees_do_not_depend_on_the_partitions(missing, gaps, weighted, seed, first):
    X, Y = problem(60, missing=missing, gaps=gaps, seed=seed, theta=1.0)
    weight = np.random.default_rng(seed).random(60) * 3 if weighted else None
    ranker = BoostingLabelRanker(3, validation=None, random_state=seed)
    whole = boosted(ranker, X, Y, weight)
    for sizes in [(first,), (first, 1)]:
        same_trees(whole, boosted(ranker, X, Y, weight, sizes=sizes))


def test_the_rounds_of_few_rows_are_chosen_as_on_one_machine():
    X, Y = problem(200, theta=1.0)
    ranker = BoostingLabelRanker(60, subsample=1.0, n_iter_no_change=5, random_state=0)
    found, local = boosted(ranker, X, Y, sizes=(90, 50)), ranker.fit(X, Y)
    assert 0 < found.n_estimators_ == local.n_estimators_ < 60
    assert np.array_equal(found.validation_path_, local.validation_path_)
    assert nested(found, sides=True) == nested(local, sides=True)
    assert np.allclose(found.predict_pairwise(X), local.predict_pairwise(X), atol=1e-6)


def test_of_a_few_rows_every_tree_sees_all():
    X, Y = problem(40, theta=1.0)
    ranker = BoostingLabelRanker(3, validation=None, random_state=0)
    found = boosted(ranker, X, Y, sizes=(15,))
    assert nested(found, sides=True) == nested(ranker.fit(X, Y), sides=True)


@pytest.fixture
def many(monkeypatch):
    """So that a few hundred rows are too many for the driver."""
    monkeypatch.setattr("prefero.distributed._boosting.SAMPLE_ROWS", 60)
    monkeypatch.setattr("prefero.distributed._boosting._ONE_OF", 5)


def test_the_rounds_of_many_rows_are_chosen_by_rows_held_out(many, path):
    X, Y = problem(900, theta=2.0)
    ranker = BoostingLabelRanker(80, n_iter_no_change=10, random_state=0)
    found = boosted(ranker, X[:600], Y[:600], sizes=(200, 200))
    constant = ConsensusLabelRanker().fit(X[:600], Y[:600]).score(X[600:], Y[600:])
    local = ranker.fit(X[:600], Y[:600]).score(X[600:], Y[600:])
    score = found.score(X[600:], Y[600:])
    assert score > constant + 0.1
    assert score == pytest.approx(local, abs=0.05)
    assert pairwise_calibration_error(Y[600:], found.predict_pairwise(X[600:])) < 0.06
    path_found = found.validation_path_
    assert found.n_estimators_ == path_found.argmin() == len(found._grown.roots)
    assert len(path_found) - 1 in (80, found.n_estimators_ + 10)
    # 60 of 600 rows are held out, and about 0.6 of the others are drawn.
    weight = found._grown.arrays["weight"][found._grown.roots]
    assert np.all((weight > 0.5 * 540) & (weight < 0.7 * 540))
    save(found, path)
    assert np.array_equal(load(path).predict(X), found.predict(X))


def test_where_features_say_nothing_the_constant_order_is_left(many):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(300, 3)), random.random((300, 3)).argsort().argsort() + 1
    found = boosted(BoostingLabelRanker(20, random_state=0), X, Y, sizes=(100, 100))
    assert found.n_estimators_ == 0
    assert len(np.unique(found.decision_function(X), axis=0)) == 1


def test_what_rounds_replace_is_not_written_to_files(tmp_path):
    X, Y = problem(3000, theta=1.0)
    ranker = BoostingLabelRanker(2, validation=None, random_state=0)
    inside = boosted(ranker, X, Y, sizes=(2000,))
    kept = boosted(ranker, X, Y, sizes=(2000,), folder=tmp_path)
    same_trees(inside, kept)
    written = len(list(tmp_path.glob("*.arrays")))
    assert written > 0
    boosted(ranker.set_params(n_estimators=4), X, Y, sizes=(2000,), folder=tmp_path)
    assert len(list(tmp_path.glob("*.arrays"))) == written  # the same names again


# Cuts


def gain_of(sums, penalty):
    first, second = sums[2:].reshape(2, -1)
    return (first**2 / (second + penalty)).sum()


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
def test_cuts(seed, min_leaf, missing):
    rng = np.random.default_rng(seed)
    n, bins = 12, np.array([0, 1, 2, 7, 255])[: 5 if missing else 4]
    statistics = np.column_stack([np.ones((n, 2)), rng.normal(size=(n, 2)), rng.random((n, 2))])
    column = rng.choice(bins, size=(n, 2))
    histograms = np.zeros((1, 2, 256, 6))
    for row in range(n):
        for k in range(2):
            histograms[0, k, column[row, k]] += statistics[row]
    total, best = statistics.sum(axis=0), -np.inf
    for k in range(2):
        for last in bins[:-1] if missing else bins:
            for side in (False, True):
                went = (column[:, k] <= last) | (side & (column[:, k] == 255))
                if min(went.sum(), n - went.sum()) >= min_leaf:
                    left = statistics[went].sum(axis=0)
                    best = max(best, gain_of(left, 0.5) + gain_of(total - left, 0.5))
    growing = boosted_tree(2, 2, min_leaf=min_leaf, max_leaves=2)
    assert growing.features.tolist() == [0, 1]
    assert growing.asked.tolist() == [0]
    growing.learn(histograms)
    assert growing.asked.tolist() == []
    found, own = Trees(growing.grown(), 2, 2), gain_of(total, 0.5)
    if found.is_leaf[0]:
        assert best <= own * (1 + 1e-5) + 1e-9
        assert not found.arrays["scores"].any()
        return
    assert found.arrays["decrease"][0] == pytest.approx((best - own) / 2, rel=1e-5, abs=1e-9)
    went = found.walker.apply(column.astype(np.uint8))[:, 0] == 0
    for side, score in zip((went, ~went), found.arrays["scores"].reshape(2, 2), strict=True):
        first, second = statistics[side].sum(axis=0)[2:].reshape(2, -1)
        assert np.allclose(score, -0.1 * first / (second + 0.5), atol=1e-5)
    assert found.arrays["weight"].tolist() == [n, went.sum(), n - went.sum()]


def boosted_tree(n_features, n_labels, **options):
    options = {"learning_rate": 0.1, "penalty": 0.5, "tree_features": n_features, **options}
    options = {"category_sets": True, "max_depth": 9, **options}
    return _core.BoostedTree(0, np.zeros(n_features, bool), n_labels, **options)


def test_histograms_that_were_not_asked_for_are_refused():
    growing = boosted_tree(2, 2, min_leaf=1, max_leaves=2)
    with pytest.raises(ValueError, match="asked for"):
        growing.learn(np.zeros((1, 2, 256, 5)))
    with pytest.raises(ValueError, match="asked for"):
        growing.learn(np.zeros((2, 2, 256, 6)))

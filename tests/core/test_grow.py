"""What grown trees tell: bins, means of nodes, effects, importances, against plain loops."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

import oracles
from prefero import BoostingLabelRanker, ForestLabelRanker, TreeLabelRanker
from prefero._trees._arrays import LEAF, NODE
from prefero._trees._bins import find_bins, numeric_edges
from prefero.datasets import make_label_ranking
from prefero.rankings import drop_labels
from split_oracles import mean_votes, votes_and_evidence, weighted_problems
from strategies import noisy_linear_problem


@given(problem=weighted_problems(), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_a_node_says_the_mean_votes_of_its_training_rows(problem, seed):
    X, Y, weight = problem
    forest = ForestLabelRanker(2, bootstrap=False, random_state=seed).fit(X, Y, weight)
    trees = forest._trees
    scores, evidence = trees.node_means()
    reached = trees.reached(forest._bins(X))
    for tree in range(2):
        rows, nodes = trees.passed(reached[:, tree])
        for node in np.unique(nodes):
            here = rows[nodes == node]
            expected = mean_votes(Y[here], weight[here])
            np.testing.assert_allclose(scores[node], expected, atol=1e-5)
            seen = weight[here] @ votes_and_evidence(Y[here])[1] / weight[here].sum()
            np.testing.assert_allclose(evidence[node], seen, atol=1e-5)


@pytest.mark.parametrize("missing", [0, 0.5])
def test_an_explanation_starts_from_the_mean_votes_of_all_rows(missing):
    X, Y = noisy_linear_problem(120, 3, 5, random_state=0)
    Y = drop_labels(Y, missing, random_state=0)
    X, Y = X[~np.isnan(Y).all(axis=1)], Y[~np.isnan(Y).all(axis=1)]
    trees = {"bootstrap": False, "min_samples_leaf": 8, "random_state": 0}
    forest = ForestLabelRanker(4, **trees).fit(X, Y)
    base, effects = forest.explain_scores(X)
    expected = mean_votes(Y, np.ones(len(Y)))
    np.testing.assert_allclose(base, np.tile(expected, (len(X), 1)), atol=1e-5)
    np.testing.assert_allclose(base + effects.sum(axis=1), forest.decision_function(X), atol=1e-6)


def test_importances_are_the_mean_of_each_trees_own():
    X, Y = noisy_linear_problem(60, 3, 4, random_state=0)
    weight = np.where(np.arange(60) < 3, 300.0, 1.0)  # trees differ in what there is to gain
    forest = ForestLabelRanker(6, max_depth=2, random_state=0).fit(X, Y, weight)
    arrays, gains = forest.trees_, np.zeros((6, 3))
    for tree in range(6):
        for node in range(*arrays["node_starts"][tree : tree + 2]):
            record = arrays["nodes"][node : node + 1].view(NODE)[0]
            if not record["flags"] & LEAF:
                gains[tree, record["feature"]] += arrays["decrease"][node]
    each = gains / gains.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(forest.feature_importances_, each.mean(axis=0))
    pooled = gains.sum(axis=0) / gains.sum()
    assert np.abs(pooled - each.mean(axis=0)).max() > 0.01


def test_neighbouring_floats_lie_in_different_bins():
    step = np.finfo(float).eps
    values = np.array([[1 + step], [1 + 2 * step]])  # their middle is rounded to the larger
    assert values[0] / 2 + values[1] / 2 == values[1]
    np.testing.assert_array_equal(find_bins(values).apply(values), [[0], [1]])


@given(
    arrays(
        np.float64,
        st.integers(1, 40),
        elements=st.one_of(
            st.integers(-3, 3).map(float),
            st.sampled_from([-0.0, np.nan, 5e-324, 1e308, -1e308, 1 + 2**-52]),
            st.floats(-100, 100, width=32),
        ),
    ),
    st.integers(1, 9),
    st.sampled_from([1, 2, 60]),
)
def test_edges_are_those_of_a_plain_sort(values, max_bins, times):
    column = np.repeat(values, times)  # many are sorted in another way
    np.random.default_rng(0).shuffle(column)
    every_other = np.repeat(column, 2)[::2]
    found = numeric_edges(every_other, max_bins)
    np.testing.assert_array_equal(found, oracles.numeric_edges(column, max_bins))
    every = numeric_edges(column, None)
    np.testing.assert_array_equal(every, oracles.numeric_edges(column, len(column) + 1))


@given(st.integers(1, 80), st.integers(1, 5), st.sampled_from("CF"), st.randoms())
def test_a_bin_is_how_many_edges_lie_below(rows, columns, order, random):
    X = np.array([[random.choice([1.0, 2.5, 7, np.nan]) for _ in range(columns)]] * rows)
    X += [[random.randrange(4)] for _ in range(rows)]
    bins = find_bins(X)
    found = bins.apply(np.asarray(X, order=order))
    for (row, column), value in np.ndenumerate(X):
        below = int((bins.of_feature(column) < value).sum())
        assert found[row, column] == (255 if np.isnan(value) else below)


def test_no_row_has_no_bins():
    bins = find_bins(np.array([[1.0], [2.0]]))
    assert bins.apply(np.empty((0, 1))).shape == (0, 1)


@pytest.mark.parametrize("kind", [TreeLabelRanker, ForestLabelRanker, BoostingLabelRanker])
def test_single_precision_is_binned_as_it_is_and_changes_nothing(kind, monkeypatch):
    monkeypatch.setattr("prefero._trees._bins._ROWS_TOGETHER", 7)
    X, Y = make_label_ranking(60, 3, 3, theta=1.0, random_state=0)
    narrow = X.astype(np.float32)
    ranker = kind(random_state=0)
    found = clone(ranker).fit(narrow, Y)
    expected = clone(ranker).fit(narrow.astype(np.float64), Y)
    assert np.array_equal(found.bin_edges_, expected.bin_edges_)
    assert np.array_equal(found.feature_ranges_, expected.feature_ranges_)
    for name, array in expected.trees_.items():
        assert np.array_equal(found.trees_[name], array)
    assert found._validate_X(narrow, reset=False).dtype == np.float32
    predicted = found.predict_pairwise(np.asfortranarray(narrow))
    assert np.array_equal(predicted, expected.predict_pairwise(narrow.astype(np.float64)))


def test_what_the_walker_holds_goes_with_the_model():
    X, Y = np.arange(8.0)[:, None], np.tile([[1, 2], [2, 1]], (4, 1))
    model = ForestLabelRanker(2, random_state=0).fit(X, Y)
    model.predict(X)
    held = [weakref.ref(array) for array in model._trees.arrays.values()]
    assert all(array() is not None for array in held)
    del model
    gc.collect()
    assert all(array() is None for array in held)

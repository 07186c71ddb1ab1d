import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

from oracles import perceptron
from prefero import ConstraintLabelRanker
from prefero.preferences import PreferenceGraphs
from prefero.rankings import drop_labels, strict_ranks
from strategies import edge_lists, rank_matrices


def linear_data(n=120, features=3, labels=4, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    utility = X @ rng.normal(size=(features, labels)) + noise * rng.normal(size=(n, labels))
    return X, strict_ranks(utility).astype(float)


@pytest.mark.filterwarnings("ignore:.*rows of y rank no label", "ignore:.*predicted last")
@given(
    edge_lists(graphs=(2, 4)).filter(lambda drawn: all(drawn[0])),
    st.integers(0, 99),
    st.sampled_from([1, 3, None]),
    st.sampled_from(["pair", "example"]),
    st.booleans(),
)
def test_each_visit_moves_the_failed_preferences(drawn, seed, alpha, alpha_per, average):
    edges, c = drawn
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(-2, 3, (len(edges), 2)) / 1.0, rng.integers(1, 3, len(edges))
    graphs = PreferenceGraphs.from_pairs(edges, n_labels=c)
    ranker = ConstraintLabelRanker(
        alpha,
        alpha_per=alpha_per,
        max_iter=4,
        margin=0.5,
        average=average,
        shuffle=False,
        scale=False,
    ).fit(X, graphs, weight)
    rows = np.column_stack([X, np.ones(len(X))])
    margin = 0.5 * np.mean(np.sum(rows**2, axis=1))
    last, mean = perceptron(rows, edges, c, weight, margin, alpha, alpha_per, epochs=4)
    found = np.vstack([ranker.coef_.T, ranker.intercept_])
    np.testing.assert_allclose(found, mean if average else last, atol=1e-10)


@pytest.mark.filterwarnings("ignore:.*rank no label", "ignore:.*predicted last")
@given(
    rank_matrices(rows=(2, 6)).filter(lambda Y: (Y == Y).any(axis=1).all()),
    st.integers(0, 99),
    st.sampled_from([2, None]),
    st.sampled_from(["pair", "example"]),
)
def test_a_ranking_is_learned_as_its_pairs(Y, seed, alpha, alpha_per):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(len(Y), 2)), rng.integers(1, 3, len(Y)).astype(float)
    layers = PreferenceGraphs.from_ranks(Y)
    pairs = [layers.edges(row).tolist() for row in range(len(Y))]
    written = PreferenceGraphs.from_pairs(pairs, n_labels=Y.shape[1])
    ranker = ConstraintLabelRanker(
        alpha, alpha_per=alpha_per, max_iter=5, margin=0.1, random_state=0, calibrate=False
    )
    found = []
    for graphs in (layers, written):
        ranker._fit(X, graphs, weight)
        found.append((ranker.coef_, ranker.intercept_, ranker.violations_))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_preferences_that_can_be_met_are_met():
    X, Y = linear_data()
    ranker = ConstraintLabelRanker(
        max_iter=2000, average=False, alpha_bound=None, random_state=0
    ).fit(X, Y)
    np.testing.assert_array_equal(ranker.predict(X), Y)
    assert ranker.violations_[-1] == 0
    assert ranker.n_iter_ == len(ranker.violations_) < 2000


def test_noise_is_ignored_after_alpha_updates():
    X, Y = linear_data(noise=3.0)
    patient, strict = (
        ConstraintLabelRanker(alpha, max_iter=40, random_state=0).fit(X, Y) for alpha in (None, 2)
    )
    assert strict.violations_.sum() <= 2 * 6 * len(X) < patient.violations_.sum()
    assert strict.violations_[-1] == 0


def test_incomplete_rankings_teach():
    X, Y = linear_data(n=400, noise=0.3)
    ranker = ConstraintLabelRanker(random_state=0).fit(X[:300], Y[:300])
    missing = drop_labels(Y[:300], 0.5, random_state=0)
    some = ~np.isnan(missing).all(axis=1)
    less = ConstraintLabelRanker(random_state=0).fit(X[:300][some], missing[some])
    assert less.score(X[300:], Y[300:]) > ranker.score(X[300:], Y[300:]) - 0.05 > 0.7


def test_sparse_features_give_the_same_model():
    X, Y = linear_data(noise=0.5)
    X[np.abs(X) < 0.5] = 0
    ranker = ConstraintLabelRanker(random_state=1, scale=False)
    dense, sparse = (clone(ranker).fit(x, Y) for x in (X, csr_array(X)))
    np.testing.assert_array_equal(dense.coef_, sparse.coef_)


def test_the_averaged_weights_are_the_stable_ones():
    X, Y = linear_data(n=600, noise=1.5)
    last, mean = (
        ConstraintLabelRanker(average=average, random_state=0, max_iter=20).fit(X[:300], Y[:300])
        for average in (False, True)
    )
    assert mean.score(X[300:], Y[300:]) > last.score(X[300:], Y[300:])


def test_graphs_with_cycles_are_legal():
    graphs = PreferenceGraphs.from_pairs(
        [[("a", "b"), ("b", "c"), ("c", "a")], [("a", "b")]], labels=["a", "b", "c"]
    )
    ranker = ConstraintLabelRanker(random_state=0).fit([[1.0], [1.0]], graphs)
    assert ranker.predict_order([[1.0]])[0].tolist().index("a") < 2


@pytest.mark.parametrize("parameter", [{"alpha_bound": 0}, {"max_iter": 0}, {"alpha_per": "row"}])
def test_bad_parameters_are_refused(parameter):
    with pytest.raises(ValueError, match=f"The '{next(iter(parameter))}' parameter"):
        ConstraintLabelRanker(**parameter).fit([[0.0], [1.0]], [[1, 2], [2, 1]])

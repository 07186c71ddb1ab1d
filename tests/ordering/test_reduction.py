"""Rank correlation dimension reduction against the published figure and example."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from oracles import rank_correlation_components
from prefero import ExpectedRankOrderer, RankCorrelationReducer
from prefero.ordering import ComponentsDisplay
from prefero.rankings import Queries
from strategies import grouped_objects, sample_orders


@parametrize_with_checks([RankCorrelationReducer()])
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


MEASURES = {
    ("kendall", "a"): "tau-a",
    ("kendall", "b"): "tau-b",
    ("spearman", "a"): "rho-a",
    ("spearman", "b"): "spearman",
}


@pytest.mark.parametrize("deflate", [False, True])
@pytest.mark.parametrize(("correlation", "ties"), MEASURES)
@settings(max_examples=20)
@given(objects=grouped_objects(columns=4, groups=(3, 6), size=(2, 6)), seed=st.integers(0, 9))
def test_the_algorithm_of_figure_3(correlation, ties, deflate, objects, seed):
    values, ranks, starts = objects
    # Binary and tied attributes beside two in general position.
    values = values + np.random.default_rng(seed).normal(size=values.shape) * [1, 1, 0, 0]
    queries = Queries(np.arange(len(ranks)), starts)
    positions = queries.positions(ranks)
    assume((queries.levels(ranks) > 0).any())
    reducer = RankCorrelationReducer(
        2, correlation=correlation, ties=ties, deflate_orders=deflate
    ).fit(values, ranks, queries.codes)
    assume(reducer.n_components_ == 2 and reducer.concordance_.min() > 1e-6)
    expected, norms = rank_correlation_components(
        values, positions, starts, 2, MEASURES[correlation, ties], deflate
    )
    assert_allclose(reducer.components_, expected, atol=1e-6)
    assert_allclose(reducer.concordance_, norms)


def artificial_orders(seed):
    """Section 4.1: weights (1, 1, 0.5, 0, 0), the fifth attribute a copy of the fourth."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(1000, 5))
    objects[:, 4] = objects[:, 3]
    worth = objects @ [1, 1, 0.5, 0, 0]
    orders = np.array([rng.choice(1000, 5, replace=False) for _ in range(300)])
    ranks = 1 + np.argsort(np.argsort(-worth[orders], axis=1), axis=1)
    return objects[orders.ravel()], ranks.ravel(), np.repeat(np.arange(300), 5)


@pytest.mark.parametrize("correlation", ["kendall", "spearman"])
def test_the_artificial_experiment_of_the_paper(correlation):
    vectors = []
    for seed in range(10):
        reducer = RankCorrelationReducer(2, correlation=correlation).fit(*artificial_orders(seed))
        assert reducer.concordance_[0] > 10 * reducer.concordance_[1]
        vectors.append(reducer.components_[0])
    published = [0.70, 0.64, 0.31, -0.06, -0.06]
    assert np.abs(np.mean(vectors, axis=0) - published).max() < 0.05 + np.std(vectors, axis=0).max()


def test_sparse_features_give_the_same_components():
    X, y, qid = sample_orders()
    X = np.where(np.abs(X) > 1, X, 0)
    dense = RankCorrelationReducer().fit(X, y, qid)
    sparse = RankCorrelationReducer().fit(csr_array(X), y, qid)
    assert_allclose(sparse.components_, dense.components_)
    assert_allclose(sparse.transform(csr_array(X)), dense.transform(X))


def test_all_components_are_a_rotation():
    X, y, qid = sample_orders()
    reducer = RankCorrelationReducer().fit(X, y, qid)
    assert_allclose(reducer.components_ @ reducer.components_.T, np.eye(4), atol=1e-12)
    assert_allclose(reducer.inverse_transform(reducer.transform(X)), X)


def test_components_end_where_the_features_do():
    X, y, qid = sample_orders()
    doubled = np.column_stack([X, np.zeros(len(X)), X[:, 0]])
    reducer = RankCorrelationReducer().fit(doubled, y, qid)
    assert reducer.n_components_ == 4
    assert_allclose(reducer.components_[:, 4], 0)
    assert_allclose(reducer.components_[:, 5], reducer.components_[:, 0])


def test_rounding_is_neither_an_order_nor_a_component():
    # All three attributes are alike, and the orders say nothing about their differences.
    first = np.array([[5.0, 3.0, 3.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [4.0, 3.0, 5.0]])
    X = np.vstack([np.roll(first, shift, axis=1) for shift in range(3)])
    reducer = RankCorrelationReducer().fit(X, [1, 2, 3, 4] * 3, np.repeat([0, 1, 2], 4))
    assert_allclose(reducer.components_, np.full((1, 3), 1 / np.sqrt(3)))


@pytest.mark.parametrize("correlation", ["kendall", "spearman"])
def test_a_binary_attribute_weighs_as_much_as_a_number_that_agrees_as_well(correlation):
    X = np.array([[1.0, 4.0], [1.0, 3.0], [0.0, 2.0], [0.0, 1.0]])
    reducer = RankCorrelationReducer(1, correlation=correlation).fit(X, [1, 1, 2, 2])
    best = [1.0, np.sqrt(4 / 6) if correlation == "kendall" else np.sqrt(16 / 20)]
    assert_allclose(reducer.components_[0], best / np.linalg.norm(best))
    assert_allclose(reducer.concordance_, np.linalg.norm(best))


@pytest.mark.parametrize("correlation", ["kendall", "spearman"])
def test_tied_pairs_count_zero_with_ties_a(correlation):
    X = np.array([[1.0, 4.0], [1.0, 3.0], [0.0, 2.0], [0.0, 1.0]])
    reducer = RankCorrelationReducer(1, correlation=correlation, ties="a").fit(X, [1, 2, 3, 4])
    binary = 4 / 6 if correlation == "kendall" else 4 / 5
    assert_allclose(reducer.components_[0], [binary, 1] / np.hypot(binary, 1))


def test_deflated_orders_mend_what_the_first_component_misses():
    def left_unexplained(seed, deflate):
        X, y, qid = artificial_orders(seed)
        reducer = RankCorrelationReducer(2, deflate_orders=deflate).fit(X, y, qid)
        coordinates, worth = reducer.transform(X), X @ [1, 1, 0.5, 0, 0]
        return np.linalg.lstsq(coordinates, worth, rcond=None)[1][0] / (worth @ worth)

    plain, deflated = (
        np.mean([left_unexplained(seed, deflate) for seed in range(5)]) for deflate in (False, True)
    )
    assert deflated < plain / 2


def test_auto_stops_where_shuffled_orders_agree_as_well():
    assert RankCorrelationReducer("auto").fit(*artificial_orders(0)).n_components_ == 1


def test_threads_and_blocks_change_nothing(monkeypatch):
    X, y, qid = sample_orders(n_groups=80)
    whole = RankCorrelationReducer().fit(X, y, qid)
    monkeypatch.setattr("prefero.ordering.reduction._BLOCK", 32)
    one, two = (RankCorrelationReducer(n_jobs=n).fit(X, y, qid) for n in (1, 2))
    assert_array_equal(one.components_, two.components_)
    assert_allclose(one.components_, whole.components_)


def test_a_pipeline_passes_the_groups_on():
    X, y, qid = sample_orders()
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(RankCorrelationReducer(1), ExpectedRankOrderer())
        assert pipeline.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.6
        assert list(pipeline[:1].get_feature_names_out()) == ["rankcorrelationreducer0"]


def test_the_reading_of_a_component():
    pd = pytest.importorskip("pandas")
    X, y, qid = sample_orders()
    table = pd.DataFrame(X, columns=["sweet", "sour", "salty", "noise"])
    reducer = RankCorrelationReducer(2).fit(table, y, qid)
    first, second = reducer.describe(top=2)
    assert {first.attribute, second.attribute} == {"sweet", "sour"}
    readings = {attribute: reading for attribute, _, reading in reducer.describe()}
    assert readings["sweet"] == "larger is better"
    assert readings["sour"] == "smaller is better"


def test_the_display_draws_the_largest_weights():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y, qid = sample_orders()
    reducer = RankCorrelationReducer(2).fit(X, y, qid)
    display = ComponentsDisplay.from_estimator(reducer, top=3)
    assert len(display.bars_) == 2
    for component, bars in enumerate(display.bars_):
        widths = [bar.get_width() for bar in bars]
        assert_allclose(widths, [weight for _, weight, _ in reducer.describe(component, 3)][::-1])


@pytest.mark.parametrize(
    ("reducer", "message"),
    [
        (RankCorrelationReducer(5), r"in 1\.\.4"),
        (RankCorrelationReducer(0), "'n_components' parameter"),
        (RankCorrelationReducer(correlation="pearson"), "'correlation' parameter"),
    ],
)
def test_bad_parameters_are_refused(reducer, message):
    with pytest.raises(ValueError, match=message):
        reducer.fit(*sample_orders())

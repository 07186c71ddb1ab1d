"""Where the virtual label stands, and probabilities of relevance, beside plain lines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from prefero import (
    AutoMultilabelRanker,
    BinaryRelevanceRanker,
    CalibratedMultilabelRanker,
    ConsensusMultilabelRanker,
    ForestLabelRanker,
    NeighborsMultilabelRanker,
    PairwiseMultilabelRanker,
    load,
    save,
)
from prefero._sampling import held_out_rows
from prefero.base._relevance import THRESHOLDS, learn_relevance, learn_threshold
from prefero.metrics import multilabel as metrics

RANKERS = [
    BinaryRelevanceRanker(),
    PairwiseMultilabelRanker(),
    NeighborsMultilabelRanker(),
    CalibratedMultilabelRanker(ForestLabelRanker(30, leaf_values="scores"), random_state=0),
    ConsensusMultilabelRanker(),
    AutoMultilabelRanker(preset="quick", random_state=0),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=lambda one: type(one).__name__)


def problem(n, seed=0, rare=1.2):
    """Labels that few rows hold, by noisy linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    weights = np.random.default_rng(7).normal(size=(3, 5))
    return X, (X @ weights + rng.logistic(size=(n, 5)) > rare).astype(float)


def plain_value(scores, relevance, weight, wanted, cut):
    """What a cut is worth, larger is better: F1 and Hamming loss for "auto"."""
    sets = (scores > cut).astype(float)
    if wanted == "subset-loss":
        return -metrics.subset_loss(relevance, sets, sample_weight=weight)
    loss = metrics.hamming_loss(relevance, sets, sample_weight=weight)
    f1 = metrics.f1_score(relevance, sets, sample_weight=weight)
    return {"f1": f1, "hamming-loss": -loss}.get(wanted, (f1, loss))


@st.composite
def held_out(draw):
    n, c = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    values = st.lists(st.integers(-3, 3), min_size=n * c, max_size=n * c)
    scores = np.reshape(draw(values), (n, c)) / 3.0
    cells = st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=n * c, max_size=n * c)
    relevance = np.reshape(draw(cells), (n, c))
    relevance[np.isnan(relevance).all(axis=1), 0] = 1.0
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return scores, relevance, weight


@pytest.mark.parametrize("wanted", THRESHOLDS)
@settings(max_examples=60)
@given(case=held_out())
def test_no_cut_is_better(wanted, case):
    scores, relevance, weight = case
    distinct = np.unique(scores[~np.isnan(relevance)])
    cuts = [distinct[0] - 1, *distinct, 0.0]
    found = learn_threshold(scores, relevance, weight, wanted)
    own = plain_value(scores, relevance, weight, wanted, found)
    values = [plain_value(scores, relevance, weight, wanted, cut) for cut in cuts]
    if wanted == "auto":
        least = min(loss for _, loss in values)
        assert own[1] <= 1.01 * least + 1e-9
        values, own = [f1 for f1, loss in values if loss <= 1.01 * least + 1e-12], own[0]
    defined = [value for value in values if not np.isnan(value)]
    assert np.isnan(own) or own >= max(defined) - 1e-9


def test_a_row_of_weight_two_is_the_row_twice():
    X, relevance = problem(60)
    scores = X @ np.ones((3, 5))
    weight = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(60), weight.astype(int))
    for wanted in THRESHOLDS:
        once = learn_threshold(scores, relevance, weight, wanted)
        assert_allclose(once, learn_threshold(scores[twice], relevance[twice], np.ones(80), wanted))


def test_equal_rows_and_groups_are_left_out_together():
    X, relevance = problem(40)
    twice = np.repeat(np.arange(40), 2)
    for seen, out in held_out_rows(X[twice], relevance[twice], None):
        assert not set(twice[seen]) & set(twice[out])
    groups = np.arange(40) // 5
    parts = held_out_rows(X, relevance, groups)
    assert_array_equal(np.sort(np.concatenate([out for _, out in parts])), np.arange(40))
    for seen, out in parts:
        assert not set(groups[seen]) & set(groups[out])
    assert held_out_rows(X[:20], relevance[:20], None) == []


def test_the_curve_ascends_and_is_never_certain():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 3))
    relevance = (scores + rng.normal(size=(200, 3)) > 0).astype(float)
    relevance[::7, 1] = np.nan
    knots, share = learn_relevance(scores, relevance, np.ones(200)).T
    assert (np.diff(knots) > 0).all()
    assert (np.diff(share) >= 0).all()
    assert 0 < share.min() < 0.2 < 0.8 < share.max() < 1


@every_ranker
def test_probabilities_are_calibrated_and_kept(ranker, tmp_path):
    X, relevance = problem(500)
    X_new, truth = problem(2000, seed=1)
    fitted = clone(ranker).fit(X, relevance)
    probability = fitted.predict_proba(X_new)
    assert probability.shape == truth.shape
    edges = np.quantile(probability, np.linspace(0, 1, 11)[1:-1])
    part = np.searchsorted(edges, probability)
    errors = [abs((probability - truth)[part == k].mean()) for k in np.unique(part)]
    assert np.average(errors, weights=[(part == k).sum() for k in np.unique(part)]) < 0.05
    base_rate = np.broadcast_to(relevance.mean(), truth.shape)
    assert np.mean((probability - truth) ** 2) < np.mean((base_rate - truth) ** 2)
    save(fitted, tmp_path / "m.prefero")
    assert_array_equal(load(tmp_path / "m.prefero").predict_proba(X_new), probability)


@every_ranker
def test_the_cut_follows_the_metric_and_leaves_the_order(ranker):
    X, relevance = problem(400)
    X_new, truth = problem(2000, seed=1)
    found = {
        wanted: clone(ranker).set_params(threshold=wanted).fit(X, relevance)
        for wanted in (None, "hamming-loss", "f1")
    }
    assert not hasattr(found[None], "predict_proba")
    for wanted in ("hamming-loss", "f1"):
        assert_array_equal(found[wanted].predict_ranks(X_new), found[None].predict_ranks(X_new))
    f1 = {name: metrics.f1_score(truth, one.predict(X_new)) for name, one in found.items()}
    loss = {name: metrics.hamming_loss(truth, one.predict(X_new)) for name, one in found.items()}
    assert f1["f1"] > f1["hamming-loss"]
    assert f1["f1"] > f1[None]
    assert loss["hamming-loss"] < loss["f1"]
    assert loss["hamming-loss"] < loss[None] + 0.01


def test_one_label_has_the_two_columns_of_a_classifier():
    X, relevance = problem(60)
    fitted = BinaryRelevanceRanker(GaussianNB()).fit(X, relevance[:, :1])
    probability = fitted.predict_proba(X)
    assert probability.shape == (60, 2)
    assert_allclose(probability.sum(axis=1), 1)
    assert np.corrcoef(probability[:, 1], relevance[:, 0])[0, 1] > 0.3


def test_few_rows_leave_the_virtual_label_where_it_is():
    X, relevance = problem(20)
    few = BinaryRelevanceRanker().fit(X, relevance)
    plain = BinaryRelevanceRanker(threshold=None).fit(X, relevance)
    assert_array_equal(few.decision_function(X), plain.decision_function(X))
    assert_allclose(few.predict_proba(X), (relevance.sum() + 0.5) / (relevance.size + 1))

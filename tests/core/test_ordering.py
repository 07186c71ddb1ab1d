"""The compiled kernels of ordering against plain versions."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from oracles import (
    bucket_positions,
    greedy_order,
    object_pairs,
    pair_hinge,
    rank_boost,
    rank_correlation,
)
from prefero import RankBoostOrderer, _core
from prefero.rankings import Queries
from strategies import grouped_objects


def blocks(starts):
    return [slice(a, b) for a, b in itertools.pairwise(starts)]


@given(grouped_objects())
def test_positions_ranks_and_levels_inside_groups(objects):
    _, ranks, starts = objects
    queries = Queries(np.arange(len(ranks)), starts)
    for block in blocks(starts):
        inside = ranks[block]
        assert_allclose(queries.positions(ranks)[block], bucket_positions(inside))
        assert_array_equal(queries.ranks(ranks)[block], [1 + sum(inside < r) for r in inside])
        assert_array_equal(
            queries.levels(ranks)[block], [len(set(inside[inside < r])) for r in inside]
        )


@given(grouped_objects(columns=1, size=(1, 9)))
def test_pair_hinge(objects):
    values, ranks, starts = objects
    scores = values[:, 0] / 2
    levels = Queries(np.arange(len(ranks)), starts).levels(ranks)
    weights = 1.0 + np.arange(len(ranks)) % 3
    loss, gradient, hessian = pair_hinge(scores, object_pairs(ranks, starts), weights)
    by_score = _core.sort_by_score(scores, starts)
    found_loss, found_gradient, active = _core.pair_hinge(scores, levels, weights, by_score, starts)
    assert_allclose(found_loss, loss, atol=1e-9)
    assert_allclose(found_gradient, gradient, atol=1e-9)
    assert_allclose(2 * active, np.diag(hessian))
    vector = np.arange(len(scores), dtype=float) - 2
    product = _core.pair_hinge_hessian(scores, levels, weights, by_score, starts, active, vector)
    assert_allclose(product, hessian @ vector, atol=1e-9)


@given(grouped_objects(), st.sampled_from(["tau-a", "tau-b", "rho-a", "spearman"]))
def test_concordance(objects, measure):
    values, ranks, starts = objects
    positions = Queries(np.arange(len(ranks)), starts).positions(ranks)
    expected = [
        sum(
            rank_correlation(positions[b], column[b], measure)
            for b in blocks(starts)
            if b.stop - b.start > 1
        )
        for column in values.T
    ]
    found = _core.concordance(values, positions, starts, np.zeros(3), measure)
    assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("measure", ["rho-a", "spearman"])
def test_long_orders_are_sorted_to_the_same_concordance(measure):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 30, size=(200, 3)).astype(float)
    starts = np.array([0, 130, 200])
    positions = Queries(np.arange(200), starts).positions(rng.integers(1, 40, 200).astype(float))
    expected = [
        sum(rank_correlation(positions[b], column[b], measure) for b in blocks(starts))
        for column in values.T
    ]
    assert_allclose(_core.concordance(values, positions, starts, np.zeros(3), measure), expected)
    blurred = values + 1e-13 * rng.normal(size=values.shape)
    found = _core.concordance(blurred, positions, starts, np.full(3, 1e-11), measure)
    assert_allclose(found, expected)


@given(grouped_objects(groups=(2, 5), size=(2, 6)), st.booleans(), st.booleans())
def test_rank_boost(objects, exact, missing):
    values, ranks, starts = objects
    values = np.where(values == 3, np.nan, values) if missing else values
    pairs = object_pairs(ranks, starts)
    assume(pairs)
    qid = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    bins = None if exact else 255
    orderer = RankBoostOrderer(8, learning_rate=0.5, max_bins=bins).fit(values, ranks, qid)
    weak = (orderer.attributes_, orderer.thresholds_, orderer.missing_, orderer.weights_)
    rounds = list(zip(*weak, strict=True))
    for (separation, best, weight), (*_, found) in zip(
        rank_boost(values, pairs, rounds), rounds, strict=True
    ):
        assert_allclose(abs(separation), best, atol=1e-9)
        assert_allclose(found / 0.5, weight, atol=1e-6)


def test_rank_boost_stays_finite_when_every_pair_is_right():
    qid = np.repeat([0, 1], 3)
    X, y = np.array([[2.0], [1.0], [0.0]] * 2), [1, 2, 3] * 2
    orderer = RankBoostOrderer(300, learning_rate=1.0).fit(X, y, qid)
    assert np.isfinite(orderer.weights_).all()
    assert orderer.decision_function(X).max() > 100
    assert orderer.score(X, y, qid) == 1


@given(grouped_objects(columns=4), arrays(np.float64, 4, elements=st.floats(-1, 1)))
def test_greedy_order(objects, weights):
    values, _, starts = objects
    places = _core.greedy_order(values, np.round(weights, 3), starts)
    for block in blocks(starts):
        assert_array_equal(np.sort(places[block]), np.arange(1, block.stop - block.start + 1))
    # Weights in general position leave no ties but those of equal objects.
    distinct = np.array([1.0, 0.61, 0.37, 0.173])
    places = _core.greedy_order(values, distinct, starts)
    for block in blocks(starts):
        inside, order = values[block], np.argsort(places[block])
        expected = np.argsort(greedy_order(inside, distinct))
        assert_array_equal(inside[order], inside[expected])

"""The compiled kernels of the ordering room against slow twins."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from oracles import (
    bucket_positions,
    greedy_order,
    object_pairs,
    pair_hinge,
    pair_potential,
    rank_correlation,
)
from prefero import _core
from prefero.rankings import Groups
from strategies import grouped_objects


def blocks(starts):
    return [slice(a, b) for a, b in itertools.pairwise(starts)]


@given(grouped_objects())
def test_positions_ranks_and_levels_inside_groups(objects):
    _, ranks, starts = objects
    groups = Groups(np.arange(len(ranks)), starts)
    for block in blocks(starts):
        inside = ranks[block]
        assert_allclose(groups.positions(ranks)[block], bucket_positions(inside))
        assert_array_equal(groups.ranks(ranks)[block], [1 + sum(inside < r) for r in inside])
        assert_array_equal(
            groups.levels(ranks)[block], [len(set(inside[inside < r])) for r in inside]
        )


@given(grouped_objects(columns=1, size=(1, 9)))
def test_pair_hinge(objects):
    values, ranks, starts = objects
    scores = values[:, 0] / 2
    levels = Groups(np.arange(len(ranks)), starts).levels(ranks)
    loss, gradient, hessian = pair_hinge(scores, object_pairs(ranks, starts))
    by_score = _core.sort_by_score(scores, starts)
    found_loss, found_gradient, active = _core.pair_hinge(scores, levels, by_score, starts)
    assert_allclose(found_loss, loss, atol=1e-9)
    assert_allclose(found_gradient, gradient, atol=1e-9)
    assert_allclose(2 * active, np.diag(hessian))
    vector = np.arange(len(scores), dtype=float) - 2
    product = _core.pair_hinge_hessian(scores, levels, by_score, starts, active, vector)
    assert_allclose(product, hessian @ vector, atol=1e-9)


@given(grouped_objects(), st.booleans())
def test_concordance(objects, kendall):
    values, ranks, starts = objects
    positions = Groups(np.arange(len(ranks)), starts).positions(ranks)
    expected = [
        sum(
            rank_correlation(positions[b], column[b], kendall)
            for b in blocks(starts)
            if b.stop - b.start > 1
        )
        for column in values.T
    ]
    found = _core.concordance(values, positions, starts, np.zeros(3), not kendall)
    assert_allclose(found, expected, atol=1e-9)


def test_long_orders_are_sorted_to_the_same_concordance():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 30, size=(200, 3)).astype(float)
    starts = np.array([0, 130, 200])
    positions = Groups(np.arange(200), starts).positions(rng.integers(1, 40, 200).astype(float))
    expected = [
        sum(rank_correlation(positions[b], column[b], kendall=False) for b in blocks(starts))
        for column in values.T
    ]
    assert_allclose(_core.concordance(values, positions, starts, np.zeros(3), True), expected)
    blurred = values + 1e-13 * rng.normal(size=values.shape)
    found = _core.concordance(blurred, positions, starts, np.full(3, 1e-11), True)
    assert_allclose(found, expected)


@given(grouped_objects(columns=1))
def test_pair_potential(objects):
    values, ranks, starts = objects
    groups = Groups(np.arange(len(ranks)), starts)
    total, potential = _core.pair_potential(
        values[:, 0], groups.levels(ranks), groups.sort(ranks), starts
    )
    expected_total, expected = pair_potential(values[:, 0], object_pairs(ranks, starts))
    assert_allclose(total, expected_total, atol=1e-9)
    assert_allclose(potential, expected, atol=1e-9)


def test_pair_potential_stays_finite_for_any_scores():
    scores, levels = np.array([0.0, 1e6]), np.array([0, 1])
    total, potential = _core.pair_potential(scores, levels, levels, np.array([0, 2]))
    assert np.isfinite(total)
    assert_array_equal(potential, [total, -total])


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

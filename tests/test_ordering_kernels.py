"""The compiled kernels of the ordering room against slow twins."""

import itertools

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from oracles import bucket_positions, object_pairs, pair_hinge
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

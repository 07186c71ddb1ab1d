"""Consensus with ties and by majorities, against all bucket orders and plain counts."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

import oracles
from prefero._optimal_orders import cut_into_buckets, exact_buckets, improved_buckets
from prefero.consensus import bucket_consensus, copeland
from prefero.metrics import kendall_tau
from strategies import rank_matrices


def tau_x(a, b):
    """Emond and Mason: a_ij is 1 if i is ahead of or tied with j, else -1."""
    known = [i for i in range(len(a)) if not np.isnan(a[i])]
    if len(known) < 2:
        return 0.0
    total = sum(
        (1 if a[i] <= a[j] else -1) * (1 if b[i] <= b[j] else -1)
        for i in known
        for j in known
        if i != j
    )
    return total / (len(known) * (len(known) - 1))


@cache
def bucket_orders(n):
    """Every bucket order of n labels, by smallest positions."""
    orders = {tuple(np.unique(r, return_inverse=True)[1]) for r in product(range(n), repeat=n)}
    return [[1 + sum(other < rank for other in order) for rank in order] for order in orders]


@given(rank_matrices(labels=(1, 5)))
def test_tau_x_by_its_definition(Y):
    prediction = np.resize([1.0, 2, 2, 4, 1], Y.shape)
    prediction = np.minimum(prediction, Y.shape[1])
    found = kendall_tau(Y, prediction, variant="x", average=False)
    defined = np.sum(~np.isnan(Y), axis=1) > 1
    expected = [tau_x(a, b) for a, b in zip(Y, prediction, strict=True)]
    np.testing.assert_allclose(found, np.where(defined, expected, np.nan))


@given(rank_matrices(rows=(1, 4), labels=(1, 5)), st.data())
def test_the_consensus_is_the_best_of_all_bucket_orders(Y, data):
    weight = data.draw(st.lists(st.integers(1, 3), min_size=len(Y), max_size=len(Y)))

    def agreement(order):
        return sum(w * tau_x(row, order) for row, w in zip(Y, weight, strict=True))

    found = bucket_consensus(Y, sample_weight=weight)
    assert found.tolist() in bucket_orders(Y.shape[1])
    best = max(agreement(order) for order in bucket_orders(Y.shape[1]))
    assert agreement(found) == pytest.approx(best, abs=1e-6)
    local = bucket_consensus(Y, method="local", sample_weight=weight)
    assert local.tolist() in bucket_orders(Y.shape[1])


def value(ranks, ahead, tied):
    return sum(
        tied[i, j] if ranks[i] == ranks[j] else ahead[i, j] * (1 if ranks[i] < ranks[j] else -1)
        for i, j in combinations(range(len(ranks)), 2)
    )


WORTHS = st.integers(1, 4).flatmap(
    lambda c: arrays(np.float64, (2, c, c), elements=st.integers(-5, 5).map(float))
)


@given(WORTHS, st.randoms(use_true_random=False))
def test_searches_find_what_they_promise(worths, random):
    ahead, tied = worths[0] - worths[0].T, worths[1] + worths[1].T
    c = len(ahead)
    exact = exact_buckets(ahead, tied)
    assert value(exact, ahead, tied) == max(value(r, ahead, tied) for r in bucket_orders(c))
    order = np.array(random.sample(range(c), c))
    cut = cut_into_buckets(order[None], ahead[None], tied[None])[0]
    assert (np.diff(cut[order]) >= 0).all()
    consistent = [r for r in bucket_orders(c) if (np.diff(np.array(r)[order]) >= 0).all()]
    assert value(cut, ahead, tied) == max(value(r, ahead, tied) for r in consistent)
    improved = improved_buckets(cut, ahead, tied)
    assert value(cut, ahead, tied) <= value(improved, ahead, tied) <= value(exact, ahead, tied)
    for label in range(c):
        for place in np.arange(0.5, c + 1.5, 0.5):
            moved = improved.astype(float)
            moved[label] = place
            assert value(moved, ahead, tied) <= value(improved, ahead, tied)


def test_single_moves_help_where_the_order_to_start_from_is_wrong():
    ahead = np.array([[0, 3, 3], [-3, 0, 3], [-3, -3, 0]], dtype=float)
    none = np.zeros((3, 3))
    assert_array_equal(improved_buckets(np.array([3, 1, 2]), ahead, none), [1, 2, 3])


def test_many_labels_take_the_local_search():
    Y = np.tile(np.repeat(np.arange(1, 11), 3), (4, 1)).astype(float)
    assert_array_equal(bucket_consensus(Y), np.repeat(np.arange(1, 31, 3), 3))
    with pytest.raises(ValueError, match="too many for 30 labels"):
        bucket_consensus(Y, method="exact")
    with pytest.raises(ValueError, match="method must be 'auto', 'exact' or 'local', got 'best'"):
        bucket_consensus(Y, method="best")


@given(rank_matrices(rows=(1, 5), labels=(1, 6)), st.data())
def test_copeland_counts_majorities(Y, data):
    weight = data.draw(st.lists(st.integers(1, 3), min_size=len(Y), max_size=len(Y)))
    c = Y.shape[1]
    wins = [
        sum(
            np.sign(sum(w * oracles.pair_sign(y, i, j) for y, w in zip(Y, weight, strict=True)))
            for j in range(c)
        )
        for i in range(c)
    ]
    found = copeland(Y, sample_weight=weight)
    assert sorted(found) == list(range(1, c + 1))
    assert (np.diff(np.array(wins)[np.argsort(found)]) <= 0).all()


def test_equal_majorities_go_by_the_borda_count():
    cycle = [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3], [3, 2, 1], [2, 1, 3]]
    assert copeland([[1, 2, 3], [2, 3, 1], [3, 1, 2]]).tolist() == [1, 2, 3]
    assert copeland(cycle, sample_weight=[1, 1, 1, 0, 0, 0]).tolist() == [1, 2, 3]

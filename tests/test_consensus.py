import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import oracles
from prefero.consensus import (
    borda,
    borda_batch,
    borda_votes,
    extend,
    footrule_order,
    kemeny,
    pair_sums,
)
from prefero.rankings import strict_ranks
from strategies import neighborhoods, rank_matrices

NAN = float("nan")


@given(rank_matrices())
def test_votes_are_those_of_proposition_2(Y):
    np.testing.assert_allclose(borda_votes(Y), [oracles.borda_votes(y) for y in Y])


@given(rank_matrices(rows=(1, 4), labels=(1, 6), ties=False))
def test_generalized_borda_minimises_the_expected_squared_distance(Y):
    # Proposition 2: completions uniform among the extensions of each ranking.
    means = np.array([np.mean(oracles.extensions(y), axis=0) for y in Y])

    def expected_loss(center):  # up to the variance, which no center changes
        return ((means - center) ** 2).sum()

    best = min(expected_loss(p) for p in oracles.permutations(Y.shape[1]))
    assert expected_loss(borda(Y)) == pytest.approx(best)


@given(rank_matrices(labels=(1, 6), missing=False))
def test_borda_is_the_optimal_aggregation_of_bucket_orders(Y):
    # Brinker & Hüllermeier 2007, Theorem 1.
    positions = np.array([oracles.bucket_positions(y) for y in Y])
    losses = [((positions - p) ** 2).sum() for p in oracles.permutations(Y.shape[1])]
    assert ((positions - borda(Y)) ** 2).sum() == pytest.approx(min(losses))


@given(rank_matrices(labels=(1, 5)), st.data())
def test_footrule_order_is_the_best_of_all_orders(Y, data):
    weight = data.draw(st.lists(st.integers(1, 3), min_size=len(Y), max_size=len(Y)))
    c = Y.shape[1]
    positions = [[c + 1 - v for v in oracles.borda_votes(y)] for y in Y]

    def cost(order):
        return sum(
            w * abs(row[j] - order[j])
            for row, y, w in zip(positions, Y, weight, strict=True)
            for j in range(c)
            if not np.isnan(y[j])
        )

    best = min(cost(order) for order in oracles.permutations(c))
    assert cost(footrule_order(Y, sample_weight=weight)) == pytest.approx(best)


@given(neighborhoods())
def test_batch_votes_are_those_of_each_set(problem):
    Y, indices, weights, indptr = problem
    votes = borda_batch(Y, indices, weights, indptr=indptr)
    for q, (a, b) in enumerate(itertools.pairwise(indptr)):
        w = weights[a:b]
        middle = np.full(Y.shape[1], (Y.shape[1] + 1) / 2)
        mean = np.average(borda_votes(Y)[indices[a:b]], axis=0, weights=w) if w.any() else middle
        np.testing.assert_allclose(votes[q], mean, atol=1e-7)
        if w.any():
            np.testing.assert_array_equal(strict_ranks(votes[[q]])[0], borda(Y[indices[a:b]], w))


@given(rank_matrices(rows=(2, 8)), st.randoms(use_true_random=False))
def test_votes_do_not_depend_on_the_order_of_the_rankings(Y, random):
    shuffled = list(range(len(Y)))
    random.shuffle(shuffled)
    np.testing.assert_array_equal(*borda_batch(Y, [range(len(Y)), shuffled]))


@given(rank_matrices(), st.data())
def test_pair_sums_count_strict_preferences(Y, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(Y), max_size=len(Y)))
    expected = sum(w * (y[:, None] < y) for w, y in zip(weights, Y, strict=True))
    np.testing.assert_array_equal(pair_sums(Y, weights), expected)


@given(rank_matrices(rows=(1, 3), labels=(1, 6)), st.data())
def test_extension_is_nearest_to_the_center(Y, data):
    # Proposition 1, for buckets too: none of all ways to insert comes closer.
    center = np.array(data.draw(st.permutations(range(1, Y.shape[1] + 1))), float)
    extended = extend(Y, center)
    np.testing.assert_array_equal(extended, [oracles.extend(y, center) for y in Y])
    for y, e in zip(Y, extended, strict=True):
        assert oracles.kendall_distance(y, e) == 0
        nearest = min(oracles.kendall_distance(other, center) for other in oracles.insertions(y))
        assert oracles.kendall_distance(e, center) == nearest


def test_extension_takes_one_center_a_row():
    Y = [[NAN, 1, 2], [NAN, 1, 2]]
    np.testing.assert_array_equal(extend(Y, [[1, 2, 3], [3, 1, 2]]), [[1, 2, 3], [3, 1, 2]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1],), "two dimensions"),
        (([[0, 2]],), r"indices must lie in 0\.\.1"),
        (([[-1, 0]],), r"indices must lie in 0\.\.1"),
        (([[0.5, 1]],), "indices must be integers"),
        (([[0, 1]], [1, 1]), r"weights has shape \(2,\)"),
        (([[0, 1]], [[1, -1]]), "not negative"),
        (([[0, 1]], [[1, NAN]]), "finite"),
    ],
)
def test_bad_sets_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        borda_batch([[1, 2], [2, 1]], *arguments)


def test_bad_indptr_is_refused():
    with pytest.raises(ValueError, match="indptr must ascend from 0 to 2"):
        borda_batch([[1, 2], [2, 1]], [0, 1], indptr=[0, 1])


def test_bad_center_is_refused():
    with pytest.raises(ValueError, match="center has shape"):
        extend([[1, 2, 3]], [1, 2])


def broken_weight(Y, center, weights):
    return np.dot(weights, [oracles.kendall_distance(y, center) for y in Y])


@given(rank_matrices(rows=(1, 6), labels=(1, 6)), st.data())
def test_exact_kemeny_breaks_the_least_weight(Y, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(Y), max_size=len(Y)))
    best = min(broken_weight(Y, p, weights) for p in oracles.permutations(Y.shape[1]))
    assert broken_weight(Y, kemeny(Y, sample_weight=weights), weights) == best


@given(rank_matrices(rows=(1, 6), labels=(1, 6)))
def test_local_kemeny_cannot_be_improved_by_one_move(Y):
    center = kemeny(Y, method="local")
    order = list(np.argsort(center))
    found = broken_weight(Y, center, np.ones(len(Y)))
    for label, place in itertools.product(order, range(len(order))):
        moved = [other for other in order if other != label]
        moved.insert(place, label)
        assert broken_weight(Y, np.argsort(moved), np.ones(len(Y))) >= found


def test_kemeny_solves_what_relaxation_leaves_fractional():
    # Random rankings of many labels: majorities go in circles everywhere.
    Y = np.array([np.random.default_rng(s).permutation(16) + 1 for s in range(5)])
    exact, local = kemeny(Y), kemeny(Y, method="local")
    weights = np.ones(len(Y))
    assert broken_weight(Y, exact, weights) <= broken_weight(Y, local, weights)


def test_kemeny_says_when_optimality_is_not_proven():
    Y = np.array([np.random.default_rng(s).permutation(40) + 1 for s in range(4)])
    with pytest.warns(ConvergenceWarning, match="not proven optimal"):
        center = kemeny(Y, time_limit=1e-6)
    local = kemeny(Y, method="local")
    assert broken_weight(Y, center, np.ones(4)) <= broken_weight(Y, local, np.ones(4))


def test_kemeny_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="method must be"):
        kemeny([[1, 2]], method="fast")
    with pytest.raises(ValueError, match="time_limit must be positive"):
        kemeny([[1, 2]], time_limit=0)

"""The kernels of boosting against plain loops: losses, derivatives, one tree, its steps."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero import _core
from prefero._trees._arrays import Trees
from strategies import rank_matrices

SCORES = st.floats(-8, 8)
OPTIONS = {
    "learning_rate": 1.0,
    "penalty": 1.0,
    "row_share": 1.0,
    "category_sets": True,
    "max_depth": 1,
    "min_leaf": 1,
    "max_leaves": 2,
}


def pairs_of(ranks):
    """Every known pair of labels of a row, and how much of it says that the first is ahead."""
    for i, j in combinations(range(len(ranks)), 2):
        if not np.isnan(ranks[[i, j]]).any():
            yield i, j, (1 + np.sign(ranks[j] - ranks[i])) / 2


def pair_weight(i, j, ahead, utilities):
    """What a pair counts: nothing where labels are tied, if it is known what they are worth."""
    return 1.0 if utilities is None else abs(utilities[i] - utilities[j]) * (ahead != 0.5)


def plain_loss(ranks, scores, utilities=None):
    total = 0.0
    for i, j, ahead in pairs_of(ranks):
        lead = scores[i] - scores[j]
        share = pair_weight(i, j, ahead, utilities)
        total += share * ahead * np.logaddexp(0, -lead) + share * (1 - ahead) * np.logaddexp(
            0, lead
        )
    return total / max(len(ranks) - 1, 1)


def plain_derivatives(ranks, scores, utilities=None):
    first, second = np.zeros((2, len(ranks)))
    for i, j, ahead in pairs_of(ranks):
        share = pair_weight(i, j, ahead, utilities) / max(len(ranks) - 1, 1)
        p = 1 / (1 + np.exp(scores[j] - scores[i]))
        first[i] += share * (p - ahead)
        first[j] -= share * (p - ahead)
        second[[i, j]] += share * p * (1 - p)
    return np.concatenate([first, second])


@st.composite
def scored_ranks(draw):
    ranks = draw(rank_matrices(rows=(1, 11), labels=(1, 9)))
    values = draw(st.lists(SCORES, min_size=ranks.size, max_size=ranks.size))
    return ranks, np.reshape(values, ranks.shape)


@given(scored_ranks())
@settings(deadline=None)
def test_losses_and_derivatives(problem):
    ranks, scores = problem
    losses = [plain_loss(*row) for row in zip(ranks, scores, strict=True)]
    np.testing.assert_allclose(_core.pair_logistic_losses(ranks, scores), losses, atol=1e-5)
    expected = [plain_derivatives(*row) for row in zip(ranks, scores, strict=True)]
    found = _core.pair_logistic_derivatives(ranks, scores)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@given(scored_ranks(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_pairs_weigh_what_is_at_stake(problem, seed):
    ranks, scores = problem
    utilities = np.random.default_rng(seed).normal(size=ranks.shape)
    rows = list(zip(ranks, scores, utilities, strict=True))
    unknown = np.where(np.isnan(ranks), np.nan, utilities)
    losses = _core.pair_logistic_losses(ranks, scores, unknown)
    np.testing.assert_allclose(losses, [plain_loss(*row) for row in rows], atol=1e-4)
    found = _core.pair_logistic_derivatives(ranks, scores, unknown)
    np.testing.assert_allclose(found, [plain_derivatives(*row) for row in rows], atol=1e-5)


def test_scores_far_apart_leave_everything_finite():
    ranks, scores = np.array([[1.0, 2.0, 3.0]]), np.array([[-1000.0, 0.0, 1000.0]])
    np.testing.assert_allclose(_core.pair_logistic_losses(ranks, scores), 2000)
    found = _core.pair_logistic_derivatives(ranks, scores)
    np.testing.assert_allclose(found, [[-1, 0, 1, 0, 0, 0]], atol=1e-6)


def test_many_labels_and_rows():
    rng = np.random.default_rng(0)
    ranks = np.argsort(rng.random((13, 30)), axis=1) + 1.0
    scores = rng.normal(size=ranks.shape)
    expected = [plain_loss(*row) for row in zip(ranks, scores, strict=True)]
    np.testing.assert_allclose(_core.pair_logistic_losses(ranks, scores), expected, rtol=1e-5)


def boosted(bins, ranks, weight, start, seeds=(1,), categorical=None, watched=None, **options):
    """Trees as arrays, and the losses of the watched rows."""
    bins = bins.astype(np.uint8)
    nominal = np.zeros(bins.shape[1], dtype=bool) if categorical is None else categorical
    rows = (bins[:0], ranks[:0], weight[:0]) if watched is None else watched
    options = {"tree_features": bins.shape[1], **OPTIONS, **options}
    booster = _core.LabelBooster(bins, nominal, ranks, weight, *rows, start, **options)
    losses = booster.add(np.array(seeds, dtype=np.uint64))
    return Trees(booster.trees(), bins.shape[1], ranks.shape[1]), losses


def gain_of(derivatives):
    first, second = np.split(derivatives.sum(axis=0), 2)
    return float(np.sum(first**2 / (second + OPTIONS["penalty"])))


@st.composite
def weighted_bins(draw):
    """Small and large nodes: both ways to find a cut."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, c = draw(st.sampled_from([8, 30, 300])), draw(st.sampled_from([2, 5, 9, 17, 25]))
    bins = rng.integers(0, draw(st.sampled_from([2, 5, 200])), size=(n, 3))
    bins[rng.random(bins.shape) < draw(st.sampled_from([0, 0.2]))] = 255
    ranks = np.argsort(rng.random((n, c)) + (bins[:, :1] % 3 == 0) * np.arange(c), axis=1) + 1.0
    ranks[rng.random(ranks.shape) < draw(st.sampled_from([0, 0.4]))] = np.nan
    return bins, ranks, rng.integers(1, 4, size=n).astype(float), rng.normal(size=c)


def cuts(bins):
    """Every way to send rows left: up to a bin, with or without the missing ones."""
    for feature in range(bins.shape[1]):
        column = bins[:, feature]
        for cut in np.unique(column[column < 255]):
            low = column <= cut
            yield low
            yield low | (column == 255)


@given(weighted_bins(), st.sampled_from([1, 5]))
@settings(deadline=None, max_examples=60)
def test_the_first_split_is_the_best_of_all(problem, min_leaf):
    bins, ranks, weight, start = problem
    rows = np.array([plain_derivatives(row, start) for row in ranks]) * weight[:, None]
    gains = [
        gain_of(rows[left]) + gain_of(rows[~left]) - gain_of(rows)
        for left in cuts(bins)
        if min(weight[left].sum(), weight[~left].sum()) >= min_leaf
    ]
    best = max(gains, default=0)
    trees, _ = boosted(bins, ranks, weight, start, min_leaf=min_leaf)
    scale = gain_of(rows) + 1
    if len(trees.nodes) == 1:
        assert best < 1e-4 * scale
        return
    assert 2 * trees.arrays["decrease"][0] == pytest.approx(best, rel=1e-5, abs=1e-4 * scale)
    reached = trees.reached(bins.astype(np.uint8))[:, 0]
    left = reached == 1
    found = gain_of(rows[left]) + gain_of(rows[~left]) - gain_of(rows)
    assert found == pytest.approx(best, rel=1e-5, abs=1e-4 * scale)
    for node in (1, 2):
        first, second = np.split(rows[reached == node].sum(axis=0), 2)
        step = trees.arrays["scores"].reshape(2, -1)[trees.children[node]]
        np.testing.assert_allclose(step, -first / (second + 1), atol=1e-4)
        assert trees.arrays["weight"][node] == pytest.approx(weight[reached == node].sum())


@given(weighted_bins(), st.integers(2, 12))
@settings(deadline=None, max_examples=40)
def test_every_leaf_of_a_tree_is_the_step_of_its_rows(problem, max_leaves):
    bins, ranks, weight, start = problem
    trees, _ = boosted(bins, ranks, weight, start, max_leaves=max_leaves, max_depth=100)
    assert len(trees.leaves) <= max_leaves
    if len(trees.leaves) == 1:
        return
    rows = np.array([plain_derivatives(row, start) for row in ranks]) * weight[:, None]
    reached = trees.reached(bins.astype(np.uint8))[:, 0]
    assert set(reached) == set(trees.leaves)
    gain = -gain_of(rows)
    for node in trees.leaves:
        first, second = np.split(rows[reached == node].sum(axis=0), 2)
        step = trees.arrays["scores"].reshape(-1, ranks.shape[1])[trees.children[node]]
        np.testing.assert_allclose(step, -first / (second + 1), atol=1e-4)
        gain += gain_of(rows[reached == node])
    # What histograms inherit must not differ from what rows say: gains of all splits add up.
    total = 2 * trees.arrays["decrease"].sum()
    assert total == pytest.approx(gain, abs=1e-3 * (gain_of(rows) + 1))


@pytest.mark.parametrize("bound", [{"max_leaves": 0, "max_depth": 3}, {"max_leaves": 8}])
def test_the_loss_of_training_rows_falls(bound):
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 100, size=(700, 4)).astype(np.uint8)
    utilities = np.column_stack([bins[:, 0], bins[:, 1], bins[:, 2], bins[:, :2].max(axis=1)])
    ranks = np.argsort(np.argsort(-utilities - rng.normal(size=utilities.shape), axis=1)) + 1.0
    weight, start = np.ones(700), np.zeros(4)
    options = {"learning_rate": 0.3, "max_depth": 100, **bound}
    _, losses = boosted(
        *(bins, ranks, weight, start, range(30)), watched=(bins, ranks, weight), **options
    )
    before = _core.pair_logistic_losses(ranks, np.zeros(ranks.shape)).sum()
    assert (np.diff([before, *losses]) < 0).all()
    assert losses[-1] < 0.6 * before


def test_the_scores_of_watched_rows_are_those_of_the_trees():
    rng = np.random.default_rng(1)
    bins = rng.integers(0, 9, size=(80, 3)).astype(np.uint8)
    ranks = np.argsort(rng.random((80, 4)), axis=1) + 1.0
    weight, start = rng.uniform(0.5, 2, size=80), rng.normal(size=4)
    watched = bins[:20].copy(), ranks[:20].copy(), weight[:20].copy()
    trees, losses = boosted(
        *(bins[20:], ranks[20:], weight[20:], start, range(10)), watched=watched, row_share=0.7
    )
    for rounds in (1, 4, 10):
        scores = start + trees.first(rounds).sums(watched[0])
        expected = watched[2] @ _core.pair_logistic_losses(watched[1], scores)
        assert losses[rounds - 1] == pytest.approx(expected, rel=1e-6)


def test_categories_are_split_into_the_best_sets():
    """With two labels the best set is one of neighbours in the order of the mean derivatives."""
    rng = np.random.default_rng(2)
    bins = rng.integers(0, 6, size=(200, 1)).astype(np.uint8)
    ahead = rng.random(200) < np.array([0.9, 0.1, 0.8, 0.2, 0.85, 0.5])[bins[:, 0]]
    ranks = np.where(ahead[:, None], [[1.0, 2.0]], [[2.0, 1.0]])
    trees, _ = boosted(bins, ranks, np.ones(200), np.zeros(2), categorical=np.array([True]))
    rows = np.array([plain_derivatives(row, np.zeros(2)) for row in ranks])
    sets = [
        np.isin(bins[:, 0], chosen) for size in (1, 2, 3) for chosen in combinations(range(6), size)
    ]
    best = max(gain_of(rows[left]) + gain_of(rows[~left]) - gain_of(rows) for left in sets)
    assert 2 * trees.arrays["decrease"][0] == pytest.approx(best, rel=1e-4)


def test_arrays_that_contradict_each_other_are_refused():
    bins, ranks, weight = np.zeros((4, 2), np.uint8), np.ones((4, 3)), np.ones(4)
    start, nominal = np.zeros(3), np.zeros(2, dtype=bool)
    options = {"tree_features": 2, **OPTIONS}
    good = [bins, nominal, ranks, weight, bins, ranks, weight, start]
    _core.LabelBooster(*good, **options)
    for place, bad in [
        *((0, bins[:3]), (1, nominal[:1]), (2, ranks[:3]), (3, weight[:3])),
        *((4, bins[:, :1].copy()), (5, ranks[:, :2].copy()), (6, weight[:3]), (7, start[:2])),
    ]:
        with pytest.raises(ValueError, match="must"):
            _core.LabelBooster(*good[:place], bad, *good[place + 1 :], **options)
    with pytest.raises(ValueError, match="same shape"):
        _core.pair_logistic_losses(ranks, ranks[:3])


def test_a_second_thread_is_refused():
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 99, (3000, 8), np.uint8)
    ranks = rng.permuted(np.tile(np.arange(1.0, 7), (3000, 1)), axis=1)
    none = np.empty((0, 8), np.uint8), np.empty((0, 6)), np.empty(0)
    options = OPTIONS | {"tree_features": 8, "max_depth": 9, "max_leaves": 99}
    rows = bins, np.zeros(8, bool), ranks, np.ones(3000)
    booster = _core.LabelBooster(*rows, *none, np.zeros(6), **options)
    seeds = np.arange(10**6, dtype=np.uint64)  # hours of work, unless it is stopped
    with ThreadPoolExecutor(2) as pool:
        adding = [pool.submit(booster.add, seeds) for _ in range(2)]
        (refused,), (other,) = wait(adding, return_when=FIRST_COMPLETED)
        booster.stop()
        with pytest.raises(RuntimeError, match="another thread"):
            refused.result()
        with pytest.raises(KeyboardInterrupt):
            other.result()

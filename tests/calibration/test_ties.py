"""Ties out: what leaves and neighbours know of ties, and what it is worth beside the margins."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import prefero
from prefero import ForestLabelRanker, NeighborsLabelRanker, PairwiseLabelRanker, TreeLabelRanker
from prefero.calibration import all_pairs, blended_ties, learn_tie_blend
from prefero.metrics import kendall_tau
from prefero.rankings import ranks_from_scores, strict_ranks
from strategies import rank_matrices

MASK = 2**64 - 1


def bootstrap_counts(seed, n):
    """How often each row is drawn: SplitMix64, its upper half scaled to the number of rows."""
    counts = np.zeros(n)
    for i in range(1, n + 1):
        z = (seed + i * 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        counts[(((z ^ (z >> 31)) >> 32) * n) >> 32] += 1
    return counts


def tied_share(ranks, weight, i, j):
    """The weighted share of rankings that tie two labels, and of those that rank both."""
    both = ~np.isnan(ranks[:, i]) & ~np.isnan(ranks[:, j])
    seen = weight[both].sum()
    tied = weight[both & (ranks[:, i] == ranks[:, j])].sum()
    return (tied / seen if seen else 0.0), (seen / weight.sum() if weight.sum() else 0.0)


@settings(deadline=None, max_examples=30)
@given(rank_matrices(rows=(3, 9), labels=(2, 4)), st.integers(0, 99), st.booleans())
@pytest.mark.filterwarnings("ignore:.*rows of y rank no label", "ignore:.*predicted last")
def test_leaves_hold_the_shares_of_ties_of_their_rows(ranks, seed, bootstrap):
    ranks = ranks[~np.isnan(ranks).all(axis=1)]
    assume(len(ranks) > 1)
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(0, 3, size=(len(ranks), 2)), rng.integers(1, 4, size=len(ranks)) / 2
    forest = ForestLabelRanker(3, bootstrap=bootstrap, shrinkage=0, random_state=seed)
    forest.fit(X, ranks, weight)
    pairs = np.transpose(all_pairs(ranks.shape[1]))
    assume(hasattr(forest, "leaf_ties_"))
    starts, leaves = forest.trees_["value_starts"], forest.apply(X)
    for tree, of_rows in enumerate(leaves.T):
        drawn = bootstrap_counts(int(forest.seeds_[tree]), len(X)) if bootstrap else 1
        for leaf in range(starts[tree + 1] - starts[tree]):
            here, row = of_rows == leaf, starts[tree] + leaf
            own = (drawn * weight)[here]
            expected = [tied_share(ranks[here], own, i, j) for i, j in pairs]
            found = forest.leaf_ties_[row], forest.leaf_pairs_[row]
            assert_allclose(np.transpose(found), expected, atol=1e-6)


@settings(deadline=None, max_examples=20)
@given(rank_matrices(rows=(3, 9), labels=(2, 4)), st.integers(0, 99))
@pytest.mark.filterwarnings("ignore:.*rows of y rank no label", "ignore:.*predicted last")
def test_shares_of_ties_are_means_over_trees_by_what_they_know(ranks, seed):
    ranks = ranks[~np.isnan(ranks).all(axis=1)]
    assume(len(ranks) > 1)
    X = np.random.default_rng(seed).normal(size=(len(ranks), 2))
    forest = ForestLabelRanker(4, shrinkage=0, random_state=seed).fit(X, ranks)
    assume(hasattr(forest, "leaf_ties_"))
    at = forest.apply(X) + forest.trees_["value_starts"][:-1]
    ties, known = forest.leaf_ties_[at].astype(float), forest.leaf_pairs_[at].astype(float)
    total = known.sum(axis=1)
    expected = np.where(total > 0, (ties * known).sum(axis=1) / np.where(total > 0, total, 1), 0)
    assert_allclose(forest._tie_shares(X), expected, atol=1e-6)


def test_the_constant_order_ties_as_often_as_everyone():
    X, Y = tied_problem(80)
    forest = ForestLabelRanker(50, bootstrap=False, shrinkage=np.inf, random_state=0).fit(X, Y)
    first, second = all_pairs(4)
    everyone = (Y[:, first] == Y[:, second]).mean(axis=0)
    assert_allclose(forest._tie_shares(X[:5]), np.tile(everyone, (5, 1)), atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(rank_matrices(rows=(3, 9), labels=(2, 4)), st.integers(0, 99))
def test_neighbors_tie_as_often_as_their_rankings(ranks, seed):
    ranks = ranks[~np.isnan(ranks).any(axis=1)]
    assume(len(ranks) > 2)
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(len(ranks), 2)), rng.integers(1, 4, size=len(ranks)) / 1.0
    ranker = NeighborsLabelRanker(2, weights="uniform", shrinkage=0.25).fit(X, ranks, weight)
    found = ranker._tie_shares(X + 0.1)
    assume(found is not None)
    near = ranker._cases.nearest(ranker._place(X + 0.1), 10).first(10)
    for row, (cases, own) in enumerate(zip(near.indices, near.places, strict=True)):
        for pair, (i, j) in enumerate(np.transpose(all_pairs(ranks.shape[1]))):
            local = tied_share(ranks[cases], own, i, j)[0]
            everyone = tied_share(ranks, weight, i, j)[0]
            assert_allclose(found[row, pair], 0.75 * local + 0.25 * everyone, atol=1e-9)


def tied_problem(n, seed=0):
    """Utilities of four labels in whole steps: the first two are tied where the last feature is."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    weights = np.random.default_rng(5).normal(size=(3, 4))
    utilities = (X @ weights + rng.normal(scale=0.1, size=(n, 4))).round(1)
    utilities[X[:, 2] > 0, 1] = utilities[X[:, 2] > 0, 0]
    return X, ranks_from_scores(utilities, higher_is_better=True)


RANKERS = [
    ForestLabelRanker(40, random_state=0),
    ForestLabelRanker(20, bootstrap=False, random_state=0),
    TreeLabelRanker(random_state=0),
    NeighborsLabelRanker(),
    PairwiseLabelRanker(ties="model"),
    PairwiseLabelRanker(ties="model", C=1.0),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_a_model_of_ties_finds_more_than_margins_do(ranker, tmp_path):
    (X, Y), (X_new, Y_new) = tied_problem(200), tied_problem(200, seed=1)
    ranker = clone(ranker).fit(X, Y)
    ties, before = ranker.predict_ties(X_new)[:, 0, 1], ranker.predict_pairwise(X_new)[:, 0, 1]
    assert ties[X_new[:, 2] > 0.3].mean() > 0.7 > 0.3 > ties[X_new[:, 2] < -0.3].mean()
    assert (ties <= 2 * np.minimum(before, 1 - before) + 1e-12).all()
    strict, buckets = ranker.predict(X_new), ranker.predict_buckets(X_new)
    gain = kendall_tau(Y_new, buckets, variant="x") - kendall_tau(Y_new, strict, variant="x")
    assert gain > 0.03
    prefero.save(ranker, tmp_path / "m.prefero")
    again = prefero.load(tmp_path / "m.prefero")
    assert_array_equal(again.predict_ties(X_new), ranker.predict_ties(X_new))


def test_without_a_tie_nothing_is_kept_of_ties():
    X, _ = tied_problem(60)
    Y = np.argsort(np.argsort(X, axis=1), axis=1) + 1
    for ranker in map(clone, RANKERS[:4]):
        ranker.fit(X, Y)
        assert not hasattr(ranker, "tie_blend_")
        assert not hasattr(ranker, "leaf_ties_")
        assert ranker._tie_shares(X) is None


def test_more_trees_know_more_of_ties():
    X, Y = tied_problem(60)
    forest = ForestLabelRanker(5, warm_start=True, random_state=0).fit(X, Y)
    whole = ForestLabelRanker(9, random_state=0).fit(X, Y)
    forest.set_params(n_estimators=9).fit(X, Y)
    assert_array_equal(forest.predict_ties(X), whole.predict_ties(X))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999), st.integers(5, 60))
def test_a_blend_is_the_penalised_logistic_regression(seed, n):
    rng = np.random.default_rng(seed)
    margin, shares = rng.random((2, n, 3))
    outcomes = rng.choice([0.0, 0.5, 1.0, np.nan], size=(n, 3))
    weight = rng.integers(1, 4, size=n).astype(float)
    blend = learn_tie_blend(margin, shares, outcomes, weight)
    assert (blend[1:] >= 0).all()

    def loss(value):
        tied = np.clip(blended_ties(value, margin, shares), 1e-12, 1 - 1e-12)
        each = np.where(outcomes == 0.5, np.log(tied), np.log(1 - tied))
        each = np.where(np.isnan(outcomes), 0, each)
        return -(weight @ each).sum() + ((value - [0, 0.5, 0.5]) ** 2).sum() / 2

    for step in np.vstack([np.eye(3), -np.eye(3)]) / 50:
        if (blend + step)[1:].min() >= 0:
            assert loss(blend + step) >= loss(blend) - 1e-6


def test_a_forest_splits_by_ranks_where_there_are_ties_or_many_labels():
    X, tied = tied_problem(60)
    strict = np.argsort(np.argsort(X, axis=1), axis=1) + 1
    many = strict_ranks(X @ np.random.default_rng(0).normal(size=(X.shape[1], 31)))
    for Y, criterion in ((tied, "spearman"), (strict, "kendall"), (many, "spearman")):
        auto = ForestLabelRanker(3, random_state=0).fit(X, Y)
        named = ForestLabelRanker(3, criterion=criterion, random_state=0).fit(X, Y)
        assert_array_equal(auto.trees_["nodes"], named.trees_["nodes"])

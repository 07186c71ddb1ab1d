"""Label ranking forests: sampling, threads, out-of-bag scores, proximity, reliability."""

import pickle

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.inspection import permutation_importance

from prefero import ForestLabelRanker, TreeLabelRanker
from prefero.metrics import kendall_tau
from prefero.rankings import drop_labels, strict_ranks
from strategies import noisy_linear_problem

CRITERIA = ["mallows", "kendall", "spearman", "entropy"]


@pytest.fixture(scope="module")
def problem():
    X, Y = noisy_linear_problem(300, 4, 5)
    return X[:200], Y[:200], X[200:], Y[200:]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_forests_beat_their_trees(problem, criterion, splitter):
    X, Y, X_new, Y_new = problem
    parameters = {"criterion": criterion, "splitter": splitter, "random_state": 0}
    tree = TreeLabelRanker(min_samples_split=2, **parameters).fit(X, Y)
    forest = ForestLabelRanker(30, **parameters).fit(X, Y)
    assert forest.score(X_new, Y_new) > tree.score(X_new, Y_new) + 0.02


def test_scores_are_the_mean_of_the_leaves(problem):
    X, Y, X_new, _ = problem
    forest = ForestLabelRanker(7, shrinkage=0, random_state=0).fit(X, Y)
    leaves = forest.apply(X_new)
    values = forest.trees_["scores"].reshape(-1, 5)
    starts = forest.trees_["value_starts"][:-1]
    expected = np.mean([values[starts[t] + leaves[:, t]] for t in range(7)], axis=0)
    np.testing.assert_allclose(forest.decision_function(X_new), expected, rtol=1e-6, atol=1e-7)


def test_a_leaf_holds_the_mean_votes_of_its_rows(problem):
    X, Y, _, _ = problem
    forest = ForestLabelRanker(1, bootstrap=False, max_depth=2, random_state=0).fit(X, Y)
    leaves = forest.apply(X)[:, 0]
    votes = (Y.shape[1] + 1 - 2 * Y) / (Y.shape[1] - 1)
    for leaf in np.unique(leaves):
        np.testing.assert_allclose(
            forest.trees_["scores"].reshape(-1, 5)[leaf],
            votes[leaves == leaf].mean(axis=0),
            rtol=1e-5,
            atol=1e-6,
        )


def test_incomplete_votes_count_by_their_evidence(problem):
    X, Y, X_new, Y_new = problem
    sparse = drop_labels(Y, 0.4, random_state=0)
    used = ~np.isnan(sparse).all(axis=1)
    forest = ForestLabelRanker(5, max_depth=3, shrinkage=0, random_state=0).fit(
        X[used], sparse[used]
    )
    leaves, starts = forest.apply(X_new), forest.trees_["value_starts"][:-1]
    scores = forest.trees_["scores"].reshape(-1, 5)
    evidence = forest.trees_["evidence"].reshape(-1, 5)
    rows = [starts[t] + leaves[:, t] for t in range(5)]
    expected = sum(evidence[r] * scores[r] for r in rows) / sum(evidence[r] for r in rows)
    np.testing.assert_allclose(forest.decision_function(X_new), expected, rtol=1e-5, atol=1e-6)
    assert forest.score(X_new, Y_new) > 0.5


def test_threads_change_nothing(problem):
    X, Y, X_new, _ = problem
    many = np.tile(X_new, (30, 1))
    one = ForestLabelRanker(20, random_state=0, n_jobs=1).fit(X, Y)
    two = ForestLabelRanker(20, random_state=0, n_jobs=3).fit(X, Y)
    for name, array in one.trees_.items():
        np.testing.assert_array_equal(array, two.trees_[name])
    np.testing.assert_array_equal(one.decision_function(many), two.decision_function(many))
    np.testing.assert_array_equal(one.apply(many), two.apply(many))


def test_adding_trees_gives_the_larger_forest(problem):
    X, Y, X_new, _ = problem
    grown = ForestLabelRanker(5, warm_start=True, random_state=0).fit(X, Y)
    grown.set_params(n_estimators=12).fit(X, Y)
    whole = ForestLabelRanker(12, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(grown.decision_function(X_new), whole.decision_function(X_new))
    with pytest.warns(UserWarning, match="adds no trees"):
        grown.fit(X, Y)
    with pytest.raises(ValueError, match="must not shrink"):
        grown.set_params(n_estimators=3).fit(X, Y)


def test_out_of_bag_scores_come_from_trees_that_have_not_seen_the_row(problem):
    X, Y, X_new, Y_new = problem
    forest = ForestLabelRanker(60, oob_score=True, random_state=0).fit(X, Y)
    assert forest.oob_score_ == pytest.approx(forest.score(X_new, Y_new), abs=0.08)
    assert forest.oob_score_ < forest.score(X, Y)
    ranks = strict_ranks(forest.oob_decision_function_)
    assert forest.oob_score_ == pytest.approx(kendall_tau(Y, ranks))
    with pytest.warns(UserWarning, match="every tree"):
        small = ForestLabelRanker(2, oob_score=True, random_state=0).fit(X, Y)
    unseen = np.isnan(small.oob_decision_function_)
    np.testing.assert_array_equal(unseen.any(axis=1), unseen.all(axis=1))
    assert 0.2 < unseen.all(axis=1).mean() < 0.6  # about (1 - 1/e)^2
    kept = ~unseen.all(axis=1)
    ranks = strict_ranks(small.oob_decision_function_[kept])
    assert small.oob_score_ == pytest.approx(kendall_tau(Y[kept], ranks))
    with pytest.raises(ValueError, match="needs bootstrap"):
        ForestLabelRanker(oob_score=True, bootstrap=False).fit(X, Y)


def test_a_root_whose_drawn_features_do_not_split_tries_the_others():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros((60, 15)), rng.random(60)])
    Y = np.where(X[:, 15:] < 0.5, [[1, 2]], [[2, 1]])
    forest = ForestLabelRanker(20, max_features=1, random_state=0).fit(X, Y)
    assert forest.score(X, Y) == 1
    np.testing.assert_allclose(forest.feature_importances_, [0] * 15 + [1])


def test_importances_find_the_features_that_matter(problem):
    X, Y, X_new, Y_new = problem
    noise = np.random.default_rng(0).normal(size=(300, 3))
    forest = ForestLabelRanker(50, random_state=0).fit(np.hstack([X, noise[:200]]), Y)
    assert forest.feature_importances_[:4].min() > forest.feature_importances_[4:].max()
    permuted = permutation_importance(
        forest, np.hstack([X_new, noise[200:]]), Y_new, n_repeats=3, random_state=0
    )
    assert permuted.importances_mean[:4].min() > permuted.importances_mean[4:].max()


def test_proximity_counts_shared_leaves(problem):
    X, Y, _, _ = problem
    forest = ForestLabelRanker(10, max_depth=3, random_state=0).fit(X, Y)
    shares = forest.proximity(X[:20], X[:20])
    np.testing.assert_array_equal(np.diag(shares), 1)
    np.testing.assert_array_equal(shares, shares.T)
    leaves = forest.apply(X[:2])
    assert shares[0, 1] == np.mean(leaves[0] == leaves[1])


def test_pair_shares_count_trees(problem):
    X, Y, X_new, _ = problem
    forest = ForestLabelRanker(9, shrinkage=0, random_state=0).fit(X, Y)
    leaves = forest.apply(X_new[:3])
    values = forest.trees_["scores"].reshape(-1, 5)
    starts = forest.trees_["value_starts"][:-1]
    trees = np.array([values[starts[t] + leaves[:, t]] for t in range(9)])
    difference = trees[:, :, :, None] - trees[:, :, None, :]
    expected = np.mean((np.sign(difference) + 1) / 2, axis=0)
    np.testing.assert_allclose(forest.predict_votes(X_new[:3]), expected)


def test_reliability_goes_with_tau(problem):
    X, Y, X_new, Y_new = problem
    forest = ForestLabelRanker(50, random_state=0).fit(X, Y)
    tau = kendall_tau(Y_new, forest.predict(X_new), average=False)
    tree = TreeLabelRanker().fit(X, Y)
    tree_tau = kendall_tau(Y_new, tree.predict(X_new), average=False)
    own = np.corrcoef(forest.predict_expected_tau(X_new), tau)[0, 1]
    assert own > 0.2
    assert own > np.corrcoef(tree.predict_expected_tau(X_new), tree_tau)[0, 1]


def test_many_labels_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    utilities = X @ rng.normal(size=(2, 500))
    Y = strict_ranks(utilities).astype(float)
    for criterion in CRITERIA:
        forest = ForestLabelRanker(3, criterion=criterion, random_state=0)
        with pytest.warns(UserWarning, match="500 labels make 124,750 pairs"):
            forest.fit(X[:50], Y[:50])
        assert forest.score(X[50:], Y[50:]) > 0.3


def test_pickled_forests_predict_the_same_and_damaged_ones_are_refused(problem):
    X, Y, X_new, _ = problem
    forest = ForestLabelRanker(5, random_state=0).fit(X, Y)
    copy = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(copy.decision_function(X_new), forest.decision_function(X_new))
    state = forest.__getstate__()
    state["trees_"] = {**state["trees_"], "scores": state["trees_"]["scores"][:-5]}
    damaged = ForestLabelRanker()
    damaged.__setstate__(state)
    with pytest.raises(ValueError, match="do not fit"):
        damaged.predict(X_new)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_rankings_of_trees_are_averaged_as_printed(problem, missing):
    X, Y, X_new, _ = problem
    Y = drop_labels(Y, missing, random_state=0)
    used = ~np.isnan(Y).all(axis=1)
    parameters = {"max_depth": 3, "shrinkage": 0, "random_state": 0}
    forest = ForestLabelRanker(9, aggregation="rankings", **parameters).fit(X[used], Y[used])
    leaves, c = forest.apply(X_new), Y.shape[1]
    values = forest.trees_["scores"].reshape(-1, c).round(5)
    starts = forest.trees_["value_starts"][:-1]
    rankings = [rankdata(-values[starts[t] + leaves[:, t]], axis=1) for t in range(9)]
    votes = (c + 1 - 2 * np.mean(rankings, axis=0)) / (c - 1)
    np.testing.assert_allclose(forest.decision_function(X_new), votes, atol=1e-6)
    explained = forest.explain_scores(X_new[:5])
    total = explained.base + explained.effects.sum(axis=1)
    np.testing.assert_allclose(total, votes[:5], atol=1e-6)


def test_votes_and_rankings_are_two_aggregations(problem):
    X, Y, X_new, _ = problem
    votes, rankings = (
        ForestLabelRanker(20, aggregation=how, max_depth=2, random_state=0).fit(X, Y)
        for how in ("votes", "rankings")
    )
    assert (votes.predict(X_new) != rankings.predict(X_new)).any()
    # Pair probabilities are learned from what is averaged.
    assert np.nanmax(np.abs(rankings.predict_pairwise(X_new) - votes.predict_pairwise(X_new))) > 0


def test_depths_are_those_of_the_trees(problem):
    X, Y, _, _ = problem
    forest = ForestLabelRanker(5, random_state=0, max_features=1).fit(X, Y)
    nodes, starts = forest._grown.nodes, forest.trees_["node_starts"]

    def depth(tree, at):
        node = nodes[starts[tree] + at]
        if node["flags"] & 1:
            return 0
        return 1 + max(depth(tree, node["child"] + side) for side in (0, 1))

    assert forest.get_depths().tolist() == [depth(tree, 0) for tree in range(5)]
    constant = ForestLabelRanker(2, random_state=0).fit(X, np.tile(Y[:1], (len(Y), 1)))
    assert constant.get_depths().tolist() == [0, 0]


def test_a_gamma_above_one_lets_purity_fall(problem):
    X, Y, _, _ = problem
    strict, loose = (
        TreeLabelRanker.rt(min_similarity_ratio=gamma).fit(X, Y).get_n_leaves()
        for gamma in (0.98, 1.5)
    )
    assert loose > strict


@pytest.mark.filterwarnings("ignore:.*rank no label")
def test_incomplete_rankings_may_follow_complete_ones(problem):
    X, Y, X_new, Y_new = problem
    forest = ForestLabelRanker(10, warm_start=True, random_state=0).fit(X, Y)
    alone = ForestLabelRanker(20, random_state=0).fit(X, Y)
    forest.set_params(n_estimators=20).fit(X, drop_labels(Y, 0.3, random_state=0))
    assert forest.get_depths().shape == (20,)
    tau = forest.score(X_new, Y_new)
    assert tau == pytest.approx(alone.score(X_new, Y_new), abs=0.05)


def test_a_label_that_a_later_fit_sees_takes_its_place():
    X = np.linspace(0, 1, 40)[:, None]
    Y = np.tile([2.0, 1.0, np.nan], (40, 1))
    with pytest.warns(UserWarning, match="predicted last"):
        forest = ForestLabelRanker(5, warm_start=True, random_state=0).fit(X, Y)
    assert forest.unseen_labels_.tolist() == [False, False, True]
    forest.set_params(n_estimators=10).fit(X, np.tile([3.0, 2.0, 1.0], (40, 1)))
    assert not forest.unseen_labels_.any()
    assert forest.predict(X[:1]).tolist() == [[3, 2, 1]]

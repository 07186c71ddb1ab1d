"""Label ranking trees: splits against an exhaustive scan, leaves, pruning, reading, saving."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import split_oracles
from prefero import TreeLabelRanker
from prefero._core import mallows_theta
from prefero._state import StateError, check_state, fitted_state
from prefero._trees._pruning import reached_when_pruned
from prefero.consensus import extend
from prefero.rankings import bucket_positions, drop_labels, ranks_from_scores, strict_ranks
from strategies import noisy_linear_problem

CRITERIA = ["mallows", "kendall", "spearman", "entropy"]


@st.composite
def ranking_problems(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, m, c = draw(st.integers(4, 14)), draw(st.integers(1, 3)), draw(st.integers(2, 5))
    X = rng.integers(0, draw(st.integers(2, 9)), size=(n, m)).astype(float)
    scores = rng.integers(0, 4 if draw(st.booleans()) else 1000, size=(n, c)).astype(float)
    if draw(st.booleans()):
        scores[rng.random((n, c)) < 0.3] = np.nan
    return X, ranks_from_scores(scores, higher_is_better=True)


def informative(X, Y):
    """Rows that say nothing are dropped with a warning, so leave them out here."""
    known = ~np.isnan(Y).all(axis=1)
    return X[known], Y[known]


def grown_fully(criterion, X, Y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # labels that no row ranks
        tree = TreeLabelRanker(criterion=criterion, min_samples_split=2, **parameters)
        return tree.fit(X, Y)


def check_like_an_exhaustive_scan(criterion, tree, X, Y):
    """Every node's split is as good as the best of all thresholds, and no leaf misses a gain."""
    nodes, rows = tree._trees.nodes, tree.decision_path(X).toarray().T > 0
    for node, here in enumerate(rows):
        best = split_oracles.best_split_quality(criterion, X[here], Y[here], mallows_theta)
        if nodes["flags"][node] & 1:
            assert (
                best is None
                or split_oracles.rankings_agree(Y[here])
                or best <= split_oracles.node_quality(criterion, Y[here]) + 1e-5
            )
            continue
        left = rows[nodes["child"][node]]
        assert 0 < left.sum() < here.sum()
        found = split_oracles.split_quality(criterion, Y[here], left[here], mallows_theta)
        assert found == pytest.approx(best, abs=2e-5)


@pytest.mark.parametrize("criterion", [*CRITERIA, "mallows_em"])
@given(problem=ranking_problems(), missing=st.booleans(), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_every_node_is_that_of_an_exhaustive_scan(criterion, problem, missing, seed):
    X, Y = informative(*problem)
    if missing:
        X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    if len(X) < 2:
        return
    tree = grown_fully(criterion, X, Y)
    check_like_an_exhaustive_scan(criterion, tree, X, Y)


# Nodes of up to 32, of up to 255 and of more rows are scanned in different ways.
@pytest.mark.parametrize("n_samples", [30, 100, 300])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_large_nodes_are_those_of_an_exhaustive_scan(criterion, n_samples):
    rng = np.random.default_rng(n_samples)
    X = rng.integers(0, [5, 20], size=(n_samples, 2)).astype(float)
    scores = rng.normal(size=(n_samples, 4)) + X[:, :1] * [0, 0.2, 0.4, 0.6]
    X[rng.random(X.shape) < 0.1] = np.nan
    scores[rng.random(scores.shape) < 0.1] = np.nan
    X, Y = informative(X, ranks_from_scores(scores, higher_is_better=True))
    tree = grown_fully(criterion, X, Y, max_depth=1)
    left = tree.apply(X) == 1
    found = split_oracles.split_quality(criterion, Y, left, mallows_theta)
    best = split_oracles.best_split_quality(criterion, X, Y, mallows_theta)
    assert found == pytest.approx(best, abs=2e-5)


def test_few_bins_cost_little_and_many_rows_work():
    X, Y = noisy_linear_problem(2000, 4, 5, random_state=0)
    tree = TreeLabelRanker.rt().fit(X[:1500], Y[:1500])
    assert tree.score(X[1500:], Y[1500:]) > 0.5


def test_limits_are_kept():
    X, Y = noisy_linear_problem(300, 4, 5, random_state=0)
    tree = TreeLabelRanker(criterion="kendall", min_samples_split=2)
    assert tree.set_params(max_depth=3).fit(X, Y).get_depth() == 3
    tree.set_params(max_depth=None, max_leaf_nodes=7).fit(X, Y)
    assert tree.get_n_leaves() == 7
    tree.set_params(max_leaf_nodes=None, min_samples_leaf=20).fit(X, Y)
    leaves = np.unique(tree.apply(X))
    assert tree.n_node_samples_[leaves].min() >= 20
    grown = tree.set_params(min_samples_leaf=1).fit(X, Y).get_n_leaves()
    assert tree.set_params(min_impurity_decrease=0.01).fit(X, Y).get_n_leaves() < grown
    default = TreeLabelRanker(criterion="kendall").fit(X, Y)
    inner = np.setdiff1d(np.arange(len(default.theta_)), default.apply(X))
    assert default.n_node_samples_[inner].min() >= 2 * Y.shape[1]


def test_best_first_splits_the_best_node_first():
    X, Y = noisy_linear_problem(300, 4, 5, random_state=0)
    full = TreeLabelRanker(criterion="kendall", min_samples_split=2).fit(X, Y)
    small = TreeLabelRanker(criterion="kendall", min_samples_split=2, max_leaf_nodes=3).fit(X, Y)
    below_root = full.trees_["decrease"][1:3]
    assert small.trees_["decrease"][1:].max() == below_root.max()


def test_a_split_that_gamma_forbids_is_not_made():
    X = np.arange(8.0)[:, None]
    Y = np.array([[1, 2, 3]] * 4 + [[1, 3, 2]] * 4)
    signs = np.array([split_oracles.sign_vector(row) for row in Y])
    similarity = signs @ signs.T / 3
    apart = (similarity.sum() - 8) / (8 * 7)
    needed = (1 + apart) / 2  # the children are pure: 1 + similarity = 2
    for gamma, leaves in ((needed + 0.01, 2), (needed - 0.01, 1)):
        tree = TreeLabelRanker.rt(min_similarity_ratio=gamma).fit(X, Y)
        assert tree.get_n_leaves() == leaves


def test_missing_features_take_the_better_side():
    X = np.array([[0.0], [1], [2], [10], [11], [12], [np.nan], [np.nan]])
    Y = np.array([[1, 2]] * 3 + [[2, 1]] * 3 + [[1, 2]] * 2)
    tree = TreeLabelRanker(criterion="kendall", min_samples_split=2).fit(X, Y)
    assert tree.get_n_leaves() == 2
    np.testing.assert_array_equal(tree.predict(X), Y)
    Y[6:] = [2, 1]
    np.testing.assert_array_equal(tree.fit(X, Y).predict(X), Y)
    Y[:6], Y[6:] = [1, 2], [2, 1]
    np.testing.assert_array_equal(tree.fit(X, Y).predict(X), Y)


def test_values_never_missing_in_training_follow_the_larger_child():
    X = np.array([[0.0], [1], [2], [3], [10], [11]])
    Y = np.array([[1, 2]] * 4 + [[2, 1]] * 2)
    tree = TreeLabelRanker(criterion="kendall", min_samples_split=2).fit(X, Y)
    np.testing.assert_array_equal(tree.predict([[np.nan]]), [[1, 2]])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_sets_of_categories_need_one_test(criterion):
    X = pd.DataFrame({"city": pd.Categorical(list("abcdef") * 4)})
    good = X["city"].isin(["b", "e", "f"]).to_numpy()
    Y = np.where(good[:, None], [[1, 2, 3]], [[3, 2, 1]])
    tree = TreeLabelRanker(criterion=criterion, min_samples_split=2).fit(X, Y)
    assert tree.get_n_leaves() == 2
    np.testing.assert_array_equal(tree.predict(X), Y)
    one = TreeLabelRanker(criterion=criterion, min_samples_split=2, category_splits="one")
    assert one.fit(X, Y).get_n_leaves() == 4
    np.testing.assert_array_equal(one.predict(X), Y)


def test_categories_by_index_match_the_dtype_and_unknown_ones_are_missing():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=60)
    Y = ranks_from_scores(rng.random((4, 3))[codes], higher_is_better=True)
    named = pd.DataFrame({"k": pd.Categorical(np.array(list("wxyz"))[codes])})
    by_dtype = TreeLabelRanker(min_samples_split=2).fit(named, Y)
    by_index = TreeLabelRanker(min_samples_split=2, categorical_features=[0])
    by_index.fit(codes[:, None].astype(float), Y)
    np.testing.assert_array_equal(by_dtype.predict(named), by_index.predict(codes[:, None]))
    unknown = by_dtype.predict(pd.DataFrame({"k": pd.Categorical(["new"])}))
    assert sorted(unknown[0]) == [1, 2, 3]
    assert "k in {" in by_dtype.export_text()


def test_too_many_categories_are_refused():
    X = np.arange(300.0)[:, None]
    Y = np.tile([1, 2], (300, 1))
    with pytest.raises(ValueError, match="300 categories"):
        TreeLabelRanker(categorical_features=[0]).fit(X, Y)


@pytest.mark.filterwarnings("ignore:.*rank no label")
def test_leaves_complete_their_ranking_from_their_predecessors():
    X, Y = noisy_linear_problem(80, 3, 5, random_state=1)
    Y = drop_labels(Y, 0.6, random_state=1)
    tree = TreeLabelRanker(criterion="kendall", min_samples_split=2).fit(X, Y)
    used = ~np.isnan(Y).all(axis=1)
    X, Y = X[used], Y[used]
    path = tree.decision_path(X).toarray() > 0
    incomplete = 0
    for leaf in np.unique(tree.apply(X)):
        nodes = np.flatnonzero(path[tree.apply(X) == leaf][0])[::-1]  # leaf first
        known = [~np.isnan(Y[path[:, node]]).all(axis=0) for node in nodes]
        order = np.where(known[0], -tree.votes_[leaf], np.nan)
        ranking = bucket_positions(ranks_from_scores(-order[None], higher_is_better=True))
        incomplete += not known[0].all()
        for node, labels in zip(nodes[1:], known[1:], strict=True):
            if not (labels & np.isnan(ranking[0])).any():
                continue
            center = ranks_from_scores(tree.votes_[node][None, labels], higher_is_better=True)
            ranking[0, labels] = extend(bucket_positions(ranking[:, labels]), center[0])
            ranking = bucket_positions(ranking)
        np.testing.assert_array_equal(
            tree.predict(X[tree.apply(X) == leaf])[0], np.argsort(np.argsort(ranking[0])) + 1
        )
    assert incomplete > 0


def test_reading_a_tree():
    X, Y = noisy_linear_problem(200, 3, 4, random_state=0)
    tree = TreeLabelRanker(max_depth=3).fit(X, Y)
    text = tree.export_text(max_depth=1)
    assert text.count("...") == 2
    assert text.splitlines()[0].startswith("x")
    path = tree.decision_path(X)
    assert path.shape == (200, len(tree.theta_))
    np.testing.assert_array_equal(path[:, 0].toarray().ravel(), 1)
    np.testing.assert_array_equal(path.sum(axis=0).A1, tree.n_node_samples_)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(NotFittedError):
        TreeLabelRanker().export_text()


def test_pruning_follows_its_path():
    X, Y = noisy_linear_problem(300, 4, 5, random_state=0)
    tree = TreeLabelRanker(criterion="kendall", min_samples_split=2)
    alphas, leaves = tree.cost_complexity_pruning_path(X, Y)
    assert leaves[-1] == 1
    assert (np.diff(leaves) < 0).all()
    for k in range(0, len(alphas) - 1, max(1, len(alphas) // 5)):
        middle = (alphas[k] + alphas[k + 1]) / 2
        assert tree.set_params(ccp_alpha=middle).fit(X, Y).get_n_leaves() == leaves[k]


def test_pruned_trees_minimise_cost_plus_leaves():
    X, Y = noisy_linear_problem(120, 3, 4, random_state=3)
    tree = TreeLabelRanker(criterion="kendall", min_samples_split=2, max_depth=4).fit(X, Y)
    nodes = tree._trees.nodes
    weight = tree.trees_["weight"][0]

    def best(node, alpha):
        """Gain minus alpha a leaf of the best pruning below a node, by trying both ways."""
        if nodes["flags"][node] & 1:
            return -alpha
        child = nodes["child"][node]
        own = tree.trees_["decrease"][node] / weight
        return max(-alpha, own + best(child, alpha) + best(child + 1, alpha))

    for alpha in (0.0005, 0.002, 0.01, 0.05):
        small = TreeLabelRanker(
            criterion="kendall", min_samples_split=2, max_depth=4, ccp_alpha=alpha
        ).fit(X, Y)
        value = small.trees_["decrease"].sum() / weight - alpha * small.get_n_leaves()
        assert value == pytest.approx(best(0, alpha), abs=1e-6)


def test_pruning_is_chosen_by_cross_validation():
    X, Y = noisy_linear_problem(300, 4, 5, random_state=0)
    noise = np.random.default_rng(0).random(Y.shape)
    noisy = ranks_from_scores(-Y + 4 * noise, higher_is_better=True)
    full = TreeLabelRanker(criterion="kendall", min_samples_split=2).fit(X[:200], noisy[:200])
    auto = TreeLabelRanker(criterion="kendall", min_samples_split=2, ccp_alpha="auto")
    auto.fit(X[:200], noisy[:200])
    assert auto.get_n_leaves() < full.get_n_leaves()
    assert auto.score(X[200:], noisy[200:]) > full.score(X[200:], noisy[200:])


def test_presets_are_the_papers_trees():
    X, Y = noisy_linear_problem(300, 4, 5, random_state=0)
    sizes = {
        name: getattr(TreeLabelRanker, name)().fit(X, Y).get_n_leaves()
        for name in ("lrt", "rt", "ert")
    }
    assert sizes["ert"] < sizes["rt"]
    assert TreeLabelRanker.rt(min_similarity_ratio=0.5).min_similarity_ratio == 0.5
    assert TreeLabelRanker.ert().mdl_stopping


@pytest.mark.parametrize(
    ("array", "index", "value"),
    [
        ("node_starts", -1, 10**6),
        ("value_starts", -1, 3),
        ("nodes", 0, 2**40),
        ("nodes", 0, -1),
        ("nodes", -1, 10**6 + (1 << 56)),
        ("nodes", 0, 1 + (60000 << 32)),
    ],
)
def test_damaged_trees_are_refused(array, index, value):
    X, Y = noisy_linear_problem(100, 3, 4, random_state=0)
    tree = TreeLabelRanker().fit(X, Y)
    state = {**tree.__getstate__(), "trees_": {**tree.trees_, array: tree.trees_[array].copy()}}
    state["trees_"][array][index] = value
    restored = TreeLabelRanker()
    restored.__setstate__(state)
    with pytest.raises(ValueError, match=r"damaged|starts"):
        restored.predict(X)


def test_lacking_or_wrong_arrays_and_tangled_nodes_are_refused():
    X, Y = noisy_linear_problem(100, 3, 4, random_state=0)
    tree = TreeLabelRanker().fit(X, Y)
    nodes = tree.trees_["nodes"].copy()
    leaves = np.flatnonzero(tree._trees.is_leaf)
    nodes[leaves[0]] = nodes[leaves[1]]  # two leaves share a row of scores
    inner = np.flatnonzero(~tree._trees.is_leaf)
    knot = tree.trees_["nodes"].copy()
    knot.view(np.int32)[2 * inner[1]] = knot.view(np.int32)[2 * inner[2]]  # and children
    for change in (
        {"scores": tree.trees_["scores"].astype(float)},
        {"weight": tree.trees_["weight"][1:]},
        {"nodes": nodes},
        {"nodes": knot},
        {"sets": None},
    ):
        arrays = {k: v for k, v in {**tree.trees_, **change}.items() if v is not None}
        with pytest.raises(StateError, match="trees_ of tree"):
            check_state("tree", fitted_state(TreeLabelRanker), {**vars(tree), "trees_": arrays})


def test_pickled_trees_predict_the_same():
    X, Y = noisy_linear_problem(100, 3, 4, random_state=0)
    tree = TreeLabelRanker().fit(X, Y)
    copy = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(copy.decision_function(X), tree.decision_function(X))


def test_weights_count_as_repetitions():
    X, Y = noisy_linear_problem(80, 3, 4, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    repeated = np.repeat(np.arange(80), weight)
    for criterion in CRITERIA:
        tree = TreeLabelRanker(criterion=criterion)
        weighted = tree.fit(X, Y, sample_weight=weight).predict(X)
        np.testing.assert_array_equal(tree.fit(X[repeated], Y[repeated]).predict(X), weighted)


def test_equal_votes_are_told_apart_by_the_node_above():
    # The two rows on the right contradict each other in the last two labels; the root does not.
    X = np.array([[-1.0], [-1], [-1], [-1], [1], [1]])
    Y = np.array([[1, 3, 2]] * 4 + [[3, 1, 2], [3, 2, 1]])
    tree = TreeLabelRanker(max_depth=1, min_samples_split=2).fit(X, Y)
    np.testing.assert_array_equal(tree.predict([[1.0]]), [[3, 2, 1]])
    flat = TreeLabelRanker(min_samples_split=7).fit(X[4:], Y[4:])
    np.testing.assert_array_equal(flat.predict([[1.0]]), [[3, 1, 2]])


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_rows_end_in_the_leaves_of_the_pruned_tree(missing):
    X, Y = noisy_linear_problem(200, 3, 4, random_state=1)
    X, Y = informative(X, drop_labels(Y, missing, random_state=0))
    whole = TreeLabelRanker(min_samples_split=2).fit(X, Y)
    alphas, _ = whole.cost_complexity_pruning_path(X, Y)
    chosen = alphas[:: max(1, len(alphas) // 8)]
    ends = list(reached_when_pruned(whole._trees, whole.apply(X), chosen))
    for alpha, at in zip(chosen, ends, strict=True):
        small = TreeLabelRanker(min_samples_split=2, ccp_alpha=alpha).fit(X, Y)
        np.testing.assert_array_equal(small.predict(X), strict_ranks(whole.votes_[at]))


@pytest.mark.parametrize("preset", ["lrt", "rt", "ert"])
def test_trees_of_the_papers_grow_no_others_for_probabilities(preset):
    X, Y = np.arange(12.0)[:, None], np.tile([[1.0, 2, 3], [3, 2, 1]], (6, 1))
    make = getattr(TreeLabelRanker, preset)
    assert not hasattr(make().fit(X, Y), "predict_pairwise")
    assert make(calibrate=True).fit(X, Y).predict_pairwise(X).shape == (12, 3, 3)

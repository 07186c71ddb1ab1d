"""Shrinkage of trees: leaves against a naive recursion, the choice, what is built on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero import ForestLabelRanker, TreeLabelRanker
from prefero._sampling import evenly_spaced
from prefero._trees._shrinkage import STRENGTHS, strongest_alike
from prefero.calibration import all_pairs, learn_calibration, pair_outcomes, score_margins
from prefero.metrics import kendall_tau
from prefero.rankings import drop_labels, strict_ranks
from split_oracles import mean_votes, votes_and_evidence, weighted_problems
from strategies import noisy_linear_problem


def naive_leaves(forest, X, Y, weight):
    """Score and evidence of the leaf of each row, by the definition and the rows of each node."""
    trees, strength = forest._trees, forest.shrinkage
    _, evidence = votes_and_evidence(Y)
    rows, nodes = trees.passed(trees.reached(forest._bins(X))[:, 0])

    def own(node):
        here = rows[nodes == node]
        seen = weight[here] @ evidence[here] / weight[here].sum()
        return mean_votes(Y[here], weight[here]), seen, weight[here].sum()

    def shrunk(path):
        score, seen, _ = own(path[0])
        if len(path) == 1:
            return score, seen
        (above, above_seen), (parent, parent_seen, weight_above) = shrunk(path[1:]), own(path[1])
        mass = weight_above * parent_seen
        part = np.divide(mass, mass + strength, out=np.zeros_like(mass), where=mass > 0)
        step = np.where(seen > 0, score - parent, 0)
        return above + part * step, above_seen + part * (seen - parent_seen)

    ends = trees.reached(forest._bins(X))[:, 0]
    return [shrunk(trees.path_to(int(leaf))[::-1]) for leaf in ends]


@given(problem=weighted_problems(), strength=st.sampled_from([0.01, 0.5, 3, 40, 1e6]))
@settings(deadline=None, max_examples=60)
def test_leaves_are_those_of_the_definition(problem, strength):
    X, Y, weight = problem
    forest = ForestLabelRanker(1, bootstrap=False, shrinkage=strength, random_state=0)
    forest.fit(X, Y, weight)
    leaves = forest._trees.children[forest._trees.reached(forest._bins(X))[:, 0]]
    arrays, c = forest._trees.arrays, Y.shape[1]
    expected = naive_leaves(forest, X, Y, weight)
    for leaf, (score, evidence) in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(arrays["scores"].reshape(-1, c)[leaf], score, atol=1e-5)
        if len(arrays["evidence"]):
            np.testing.assert_allclose(arrays["evidence"].reshape(-1, c)[leaf], evidence, atol=1e-5)


@pytest.mark.parametrize("missing", [0, 0.5])
@pytest.mark.parametrize("strength", [0.0, 5.0, np.inf])
def test_effects_of_shrunk_forests_are_the_decision_function(strength, missing):
    X, Y = noisy_linear_problem(120, 3, 5, random_state=0)
    Y = drop_labels(Y, missing, random_state=0)
    X, Y = X[~np.isnan(Y).all(axis=1)], Y[~np.isnan(Y).all(axis=1)]
    for ranker in (ForestLabelRanker(8, shrinkage=strength), TreeLabelRanker(shrinkage=strength)):
        model = ranker.set_params(random_state=0).fit(X, Y)
        base, effects = model.explain_scores(X)
        expected = model.decision_function(X)
        np.testing.assert_allclose(base + effects.sum(axis=1), expected, atol=1e-6)


def test_infinite_shrinkage_is_the_constant_order():
    X, Y = noisy_linear_problem(150, 3, 5, random_state=0)
    Y, weight = drop_labels(Y, 0.3, random_state=0), np.linspace(0.5, 2, 150)
    used = ~np.isnan(Y).all(axis=1)
    X, Y, weight = X[used], Y[used], weight[used]
    forest = ForestLabelRanker(10, shrinkage=np.inf, random_state=0).fit(X, Y, weight)
    expected = mean_votes(Y, weight)
    np.testing.assert_allclose(forest.mean_votes_, expected)
    scores = forest.decision_function(X)
    np.testing.assert_allclose(scores, np.tile(expected, (len(X), 1)), rtol=1e-6)
    tree = TreeLabelRanker(shrinkage=np.inf).fit(X, Y, weight)
    np.testing.assert_array_equal(tree.votes_, np.tile(tree.votes_[0], (len(tree.votes_), 1)))
    assert (tree.theta_ == tree.theta_[0]).all()


def test_noise_gives_the_constant_order_and_signal_the_forest():
    rng = np.random.default_rng(0)
    X, Y = noisy_linear_problem(1200, 4, 5, random_state=0)
    noise = strict_ranks(np.array([1.0, 0.5, 0, -0.5, -1]) / 2 + rng.normal(size=Y.shape))
    new = slice(200, None)
    plain = ForestLabelRanker(shrinkage=0, random_state=0)
    forest = ForestLabelRanker(random_state=0).fit(X[:200], Y[:200])
    assert forest.shrinkage_ <= 3
    assert forest.score(X[new], Y[new]) > plain.fit(X[:200], Y[:200]).score(X[new], Y[new]) - 0.01
    plain.fit(X[:200], noise[:200])
    forest.fit(X[:200], noise[:200])
    assert forest.shrinkage_ >= 100
    assert forest.score(X[new], noise[new]) > plain.score(X[new], noise[new]) + 0.02
    tree = TreeLabelRanker(shrinkage="auto", ccp_alpha="auto").fit(X[:200], noise[:200])
    full = TreeLabelRanker().fit(X[:200], noise[:200])
    assert tree.score(X[new], noise[new]) > full.score(X[new], noise[new]) + 0.02


def test_the_path_shows_what_out_of_bag_predictions_lose():
    X, Y = noisy_linear_problem(120, 3, 4, random_state=0)
    forest = ForestLabelRanker(30, random_state=0).fit(X, Y)
    path = forest.shrinkage_path_
    np.testing.assert_array_equal(path["shrinkage"], STRENGTHS)
    for k in (0, 3):
        fixed = ForestLabelRanker(30, shrinkage=STRENGTHS[k], oob_score=True, random_state=0)
        scores = fixed.fit(X, Y).oob_decision_function_
        assert path["tau"][k] == pytest.approx(kendall_tau(Y, strict_ranks(scores)))
        error = (scores - votes_and_evidence(Y)[0]) ** 2
        assert path["squared_error"][k] == pytest.approx(error.sum(axis=1).mean())
        assert not hasattr(fixed, "shrinkage_path_")
    votes = votes_and_evidence(Y)[0]
    others = (votes.sum(axis=0) - votes) / (len(Y) - 1)
    assert path["tau"][-1] == pytest.approx(kendall_tau(Y, strict_ranks(others)))


def test_the_strongest_within_a_standard_error_of_the_best_is_taken():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 1)) * np.array([0, 1, 1, 1])  # the standard error is 1/20
    weight = np.ones(400)
    noise -= noise.mean(axis=0)
    noise[:, 1:] /= noise[:, 1:].std(axis=0)
    first = np.array([0, 0.02, 0.04, 0.06]) + noise
    assert strongest_alike([first], weight) == 2
    second = np.array([0, 0.02, 0.06, 0]) + noise  # by this metric the third is worse
    assert strongest_alike([first, second], weight) == 1
    assert strongest_alike([np.full((400, 4), np.nan)], weight) == 0


def test_without_out_of_bag_rows_nothing_is_shrunk():
    X, Y = noisy_linear_problem(60, 3, 4, random_state=0)
    assert ForestLabelRanker(5, bootstrap=False, random_state=0).fit(X, Y).shrinkage_ == 0


def test_adding_trees_starts_from_those_that_were_grown():
    X, Y = noisy_linear_problem(100, 3, 4, random_state=0)
    grown = ForestLabelRanker(5, warm_start=True, shrinkage=20.0, random_state=0).fit(X, Y)
    grown.set_params(n_estimators=12).fit(X, Y)
    whole = ForestLabelRanker(12, shrinkage=20.0, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(grown.decision_function(X), whole.decision_function(X))


def test_of_many_rows_evenly_spaced_ones_choose_the_shrinkage(monkeypatch):
    X, Y = noisy_linear_problem(300, 3, 4, random_state=0)
    Y = drop_labels(Y, 0.2, random_state=0)
    some = evenly_spaced(300, 80)
    whole = ForestLabelRanker(20, shrinkage=0.0, oob_score=True, random_state=0).fit(X, Y)
    monkeypatch.setattr("prefero._trees._shrinkage.evenly_spaced", lambda n: evenly_spaced(n, 80))
    sampled = ForestLabelRanker(20, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(sampled.trees_["scores"], whole.trees_["scores"])
    scores = whole.oob_decision_function_[some]
    known = ~np.isnan(scores).any(axis=1)
    tau = kendall_tau(Y[some][known], strict_ranks(scores[known]))
    np.testing.assert_allclose(sampled.shrinkage_path_["tau"][0], tau)


def test_probabilities_of_many_rows_are_those_of_out_of_bag_rows(monkeypatch):
    X, Y = noisy_linear_problem(150, 3, 4, random_state=0)
    monkeypatch.setattr("prefero._trees._shrinkage.evenly_spaced", lambda n: evenly_spaced(n, 80))
    sampled = ForestLabelRanker(20, random_state=0).fit(X, Y)
    strength = sampled.shrinkage_
    whole = ForestLabelRanker(20, shrinkage=strength, oob_score=True, random_state=0).fit(X, Y)
    pairs = all_pairs(4)
    margins = score_margins(whole.oob_decision_function_, pairs)
    expected = learn_calibration(margins, pair_outcomes(Y, pairs), np.ones(150))
    for ranker in (sampled, whole):
        np.testing.assert_allclose(ranker.calibration_, expected, atol=1e-7)

"""Scores beside ranks: what they must agree with, and what rankers learn from them."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from prefero import (
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    PreferenceGraphs,
    load,
    make_ranking_pipeline,
    save,
)
from prefero._trees._shrinkage import leaf_votes
from prefero.metrics import SCORERS, regret, regret_scorer
from prefero.preferences import decompose
from prefero.rankings import ScoredRanks, ranks_from_scores

LEARNERS = [
    ForestLabelRanker(5, random_state=0),
    PairwiseLabelRanker(),
    LogLinearLabelRanker(),
    NeighborsLabelRanker(),
]


def problem(n=60, c=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    S = X @ rng.normal(size=(2, c)) + rng.normal(size=(n, c))
    return X, ranks_from_scores(S, higher_is_better=True), S


def high_stakes(n=200, seed=0):
    """Most rows gain a little by label 0, few lose much by it, and features do not tell which."""
    rng = np.random.default_rng(seed)
    rare = np.arange(n) % 4 == 0
    S = np.column_stack([np.where(rare, -100.0, 1.0), np.zeros(n)])
    return rng.normal(size=(n, 1)), ranks_from_scores(S, higher_is_better=True), S


@st.composite
def scored_ranks(draw):
    """Scores on a coarse grid, some missing, and their ranks: ties are frequent."""
    n, c = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    cell = st.one_of(st.just(np.nan), st.integers(-2, 2).map(float))
    S = np.array(draw(st.lists(st.lists(cell, min_size=c, max_size=c), min_size=n, max_size=n)))
    ranks = ranks_from_scores(S, higher_is_better=True)
    return ScoredRanks.checked(ranks, S)


def slow_blend(target, weight):
    """Votes and centred scores, row by row, the scores as large as the votes over all rows."""
    n, c = target.ranks.shape
    votes, worth = np.zeros((n, c)), np.zeros((n, c))
    for r in range(n):
        known = [i for i in range(c) if not np.isnan(target.ranks[r, i])]
        for i in known:
            before = sum(target.ranks[r, i] < target.ranks[r, j] for j in known)
            after = sum(target.ranks[r, i] > target.ranks[r, j] for j in known)
            votes[r, i] = (before - after) / (c - 1)
            mean = sum(target.scores[r, j] for j in known) / len(known)
            worth[r, i] = (target.scores[r, i] - mean) * (len(known) - 1) / (c - 1)
    size = sum(weight[r] * worth[r, i] ** 2 for r in range(n) for i in range(c))
    wanted = sum(weight[r] * votes[r, i] ** 2 for r in range(n) for i in range(c))
    worth = worth * np.sqrt(wanted / size) if size > 0 else worth
    return votes, worth, (votes + worth) / 2


@given(scored_ranks(), st.integers(0, 3))
def test_leaves_average_votes_scores_or_half_of_each(target, seed):
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(target))
    expected = slow_blend(target, weight)
    for leaf, values in zip(("ranks", "scores", "blend"), expected, strict=True):
        np.testing.assert_allclose(leaf_votes(target, weight, leaf)[0], values, atol=1e-12)


@pytest.mark.parametrize("leaf_values", ["scores", "blend"])
def test_a_stump_says_the_mean_of_its_rows(leaf_values):
    X, Y, S = problem(30)
    Y = Y.astype(float)
    Y[::3, 0] = np.nan
    given = S.copy()
    given[::6, 0] = np.nan  # where a label is not ranked its score is not looked at
    stump = ForestLabelRanker(
        1, leaf_values=leaf_values, max_depth=1, min_samples_leaf=30, shrinkage=0, bootstrap=False
    )
    stump.fit(X, Y, scores=given)
    votes, evidence = leaf_votes(ScoredRanks.checked(Y, given), np.ones(30), leaf_values)
    expected = votes.sum(axis=0) / evidence.sum(axis=0)
    np.testing.assert_allclose(stump.decision_function(X[:2]), np.tile(expected, (2, 1)), rtol=1e-5)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_where_much_is_at_stake_the_rare_rows_decide(learner):
    X, Y, S = high_stakes()
    assert sklearn.clone(learner).fit(X, Y).predict(X).mean(axis=0)[0] < 1.1
    option = {"leaf_values": "scores"} if hasattr(learner, "leaf_values") else {}
    cautious = sklearn.clone(learner).set_params(**option).fit(X, Y, scores=S)
    assert cautious.predict(X).mean(axis=0)[0] > 1.9
    assert regret(S, cautious.predict(X)) < 1


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_scores_keep_probabilities_calibrated_and_models_saved(learner, tmp_path):
    X, Y, S = problem()
    frame = pd.DataFrame(Y, columns=list("abc"))
    model = sklearn.clone(learner).fit(X, frame, scores=pd.DataFrame(S, columns=list("abc")))
    save(model, tmp_path / "m.prefero")
    again = load(tmp_path / "m.prefero")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_pairwise(X), model.predict_pairwise(X))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_rows_that_are_left_out_take_their_scores_with_them(learner):
    X, Y, S = problem(30)
    more = np.vstack([X, X[:3]]), np.vstack([Y, Y[:3]]), np.vstack([S, S[:3] * 50])
    weight = np.append(np.ones(30), np.zeros(3))
    one = sklearn.clone(learner).fit(X, Y, scores=S)
    other = sklearn.clone(learner).fit(*more[:2], weight, scores=more[2])
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_scores_switched_off_change_nothing(learner):
    X, Y, S = problem(40)
    off = {"leaf_values": "ranks"} if hasattr(learner, "leaf_values") else {"pair_weight": None}
    plain = sklearn.clone(learner).set_params(**off)
    without = sklearn.clone(plain).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(plain.fit(X, Y, scores=S).decision_function(X), without)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_scores_that_are_asked_for_must_be_given(learner):
    X, Y, _ = problem(30)
    on = (
        {"leaf_values": "blend"}
        if hasattr(learner, "leaf_values")
        else {"pair_weight": "score_difference"}
    )
    with pytest.raises(ValueError, match="needs scores"):
        sklearn.clone(learner).set_params(**on).fit(X, Y)


@pytest.mark.parametrize("estimator", [LogisticRegression(C=2.0, tol=1e-10), GaussianNB()])
def test_a_pair_weighs_the_difference_of_its_scores(estimator):
    X, Y, S = problem(40)
    weight = np.random.default_rng(1).uniform(0.5, 2, 40)
    ranker = PairwiseLabelRanker(estimator, calibrate=False).fit(X, Y, weight, scores=S)
    stakes = np.abs(S[:, [0, 0, 1]] - S[:, [1, 2, 2]])
    stakes = stakes * 3 * weight.sum() / (weight @ stakes.sum(axis=1))
    for number, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        alone = sklearn.clone(estimator).fit(X, Y[:, i] < Y[:, j], weight * stakes[:, number])
        expected = alone.predict_proba(X)[:, 1]
        np.testing.assert_allclose(ranker._probabilities(X)[:, number], expected, atol=1e-5)


@given(scored_ranks(), st.integers(0, 3))
def test_weighted_edges_against_plain_sums(target, seed):
    graphs = PreferenceGraphs.from_ranks(target)
    rng = np.random.default_rng(seed)
    scores, weight = rng.normal(size=target.ranks.shape), rng.uniform(0.5, 2, len(target))
    cut = decompose(graphs, "domination")
    indptr, edges = graphs.compressed()
    loss, slopes = 0.0, np.zeros_like(scores)
    violated = np.zeros((len(target), 2))
    for r in range(len(target)):
        for e in range(indptr[r], indptr[r + 1]):
            i, j = edges[e]
            share = graphs.weights[e] / (indptr[r + 1] - indptr[r])
            margin = scores[r, i] - scores[r, j]
            loss += weight[r] * share * np.log1p(np.exp(-margin))
            slopes[r, j] += weight[r] * share / (1 + np.exp(margin))
            slopes[r, i] -= weight[r] * share / (1 + np.exp(margin))
            violated[r] += graphs.weights[e] * (margin <= 0), graphs.weights[e]
    found, by_scores = cut.gradient(scores, weight)
    np.testing.assert_allclose(found, loss, atol=1e-9)
    np.testing.assert_allclose(by_scores, slopes, atol=1e-9)
    np.testing.assert_allclose(cut.violations(scores), violated, atol=1e-9)
    some = rng.permutation(len(target))[: 1 + len(target) // 2]
    np.testing.assert_allclose(
        graphs[some].weights, np.concatenate([graphs[[r]].weights for r in some])
    )


def test_weights_of_edges_are_what_labels_are_apart():
    graphs = PreferenceGraphs.from_ranks([[1, 2, 3]], scores=[[9.0, 8.0, 0.0]])
    assert graphs.edges(0).tolist() == [[0, 1], [0, 2], [1, 2]]
    np.testing.assert_allclose(graphs.weights, np.array([1, 9, 8]) / 6)
    both = PreferenceGraphs.concatenate([graphs, PreferenceGraphs.from_ranks([[2, 1, np.nan]])])
    np.testing.assert_allclose(both.weights, [*(np.array([1, 9, 8]) / 6), 1])
    with pytest.raises(ValueError, match=r"weights\[1\] is -1"):
        PreferenceGraphs([0, 2], [[0, 1], [1, 2]], 3, weights=[1, -1])
    with pytest.raises(ValueError, match="one entry per edge"):
        PreferenceGraphs([0, 1], [[0, 1]], 2, weights=[1, 2])


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([[1.0, 2.0]], r"scores\[0\]: label 'a' is ranked before label 'b' but scored 1, below 2"),
        ([[2.0, np.nan]], r"scores\[0\]: label 'b' is ranked but has no score"),
        ([[2.0]], r"shape \(1, 1\), but y has \(1, 2\)"),
        ([[2.0, -1e200]], "beyond 1e\\+100"),
        (pd.DataFrame([[1.0, 2.0]], columns=["b", "a"]), "columns of scores are"),
    ],
)
def test_scores_that_contradict_the_ranks_are_refused(scores, sentence):
    Y = pd.DataFrame([[1, 2]], columns=["a", "b"])
    with pytest.raises(ValueError, match=sentence):
        ForestLabelRanker(2).fit([[0.0]], Y, scores=scores)


def test_graphs_bring_their_own_weights():
    X, Y, S = problem(30)
    graphs = PreferenceGraphs.from_ranks(Y, scores=S)
    with pytest.raises(ValueError, match="scores go with ranks"):
        LogLinearLabelRanker().fit(X, graphs, scores=S)
    one = LogLinearLabelRanker(alpha=0.01).fit(X, graphs)
    other = LogLinearLabelRanker(alpha=0.01).fit(X, Y, scores=S)
    np.testing.assert_allclose(one.coef_, other.coef_)


def test_search_and_pipelines_hand_scores_on():
    X, Y, S = high_stakes(60)
    forest = ForestLabelRanker(5, leaf_values="scores", random_state=0)
    model = make_ranking_pipeline(StandardScaler(), forest).fit(X, Y, scores=S)
    by_hand = sklearn.clone(forest).fit(StandardScaler().fit_transform(X), Y, scores=S)
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(model[:-1].transform(X)))
    assert regret_scorer(model, X, scores=S) == -regret(S, model.predict(X))
    with pytest.raises(ValueError, match="needs scores"):
        regret_scorer(model, X, Y)
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"forestlabelranker__leaf_values": ["ranks", "scores"]}
        search = GridSearchCV(model, grid, scoring=regret_scorer, cv=KFold(3))
        search.fit(X, Y, scores=S)
        assert search.best_params_ == {"forestlabelranker__leaf_values": "scores"}
        closed = SCORERS["gap-closed"]
        found = cross_val_score(model, X, Y, scoring=closed, cv=3, params={"scores": S})
        assert found.shape == (3,)

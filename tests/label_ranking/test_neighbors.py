"""The instance-based label ranker, against plain loops and its promises."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors

import oracles
from case_problems import PLAIN, problem
from prefero import NeighborsLabelRanker
from prefero.datasets import make_label_ranking
from prefero.label_ranking._aggregation import AGGREGATIONS, LEFT_OUT, neighborhoods, spreads
from prefero.mallows import fit_pairs_batch
from prefero.metrics import completeness, correctness, kendall_tau
from prefero.rankings import ranks_from_scores
from strategies import rank_matrices


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_algorithm_1(missing):
    X, Y = problem(missing=missing)
    queries = np.random.default_rng(1).normal(size=(15, 2))
    ranker = NeighborsLabelRanker.iblr(n_neighbors=11, scale=False).fit(X, Y)
    ranks, theta = ranker.predict(queries), ranker.predict_spread(queries)
    for row, query in enumerate(queries):
        cases, distances = oracles.nearest(X, query, 11)
        center, mean = oracles.fit_mallows(Y[cases], oracles.dudani_weights(distances))
        assert_array_equal(ranks[row], center)
        assert np.isinf(theta[row]) == (mean < 1e-12)


@given(rank_matrices(rows=(1, 6), labels=(2, 5)), st.integers(0, 10**6))
@example(np.array([[3.0, 4, 4, 3], [3, 1, 2, 2], [2, 3, 1, 4], [4, 1, 3, 2]]), 0)
def test_votes_from_pairs(Y, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(Y)) / 2
    batch = fit_pairs_batch(Y, np.arange(len(Y))[None], weights[None], prior=0.1)
    votes, share = oracles.pair_votes(Y, weights, 0.1)
    assert_allclose(batch.votes[0], votes, atol=1e-7)
    center = batch.centers[0]
    distance = sum(
        (1 - share[i, j]) / 2
        for i, j in itertools.permutations(range(Y.shape[1]), 2)
        if center[i] < center[j]
    )
    # The order of the votes can be further from the pairs than a random one: theta is 0 there.
    distance = min(distance, Y.shape[1] * (Y.shape[1] - 1) / 4)
    others = oracles.permutations(Y.shape[1])
    expected = oracles.mallows_pmf(center, batch.theta[0]) @ [
        oracles.kendall_distance(other, center) for other in others
    ]
    assert_allclose(expected, distance, atol=1e-5)


@given(rank_matrices(rows=(1, 6), labels=(2, 5)))
def test_no_single_move_improves_a_kemeny_order(Y):
    weights = np.arange(1.0, len(Y) + 1)
    votes = AGGREGATIONS["kemeny"](neighborhoods(Y, np.arange(len(Y))[None], weights[None]))
    _, share = oracles.pair_votes(Y, weights, 0.05)
    order = list(np.argsort(-votes[0]))

    def agreement(labels):
        return sum(share[a, b] for a, b in itertools.combinations(labels, 2))

    for label, place in itertools.product(order, range(len(order))):
        moved = [other for other in order if other != label]
        moved.insert(place, label)
        assert agreement(moved) <= agreement(order) + 1e-9


@given(rank_matrices(rows=(2, 6), labels=(2, 5)), st.integers(0, 10**6))
def test_votes_of_all_but_one(Y, seed):
    weights = np.random.default_rng(seed).integers(1, 4, len(Y)) / 2.0
    for name, left_out in LEFT_OUT.items():
        votes = left_out(Y, weights, np.arange(len(Y)))
        for case in range(len(Y)):
            rest = weights.copy()
            rest[case] = max(rest[case] - 1, 0)
            one = neighborhoods(Y, np.arange(len(Y))[None], rest[None])
            assert_allclose(votes[[case]], AGGREGATIONS[name](one), atol=1e-7)


def test_rankings_that_features_say_nothing_of_get_the_constant_order():
    rng = np.random.default_rng(0)
    Y = ranks_from_scores(np.arange(4) + rng.normal(size=(150, 4)), higher_is_better=True)
    ranker = NeighborsLabelRanker().fit(rng.normal(size=(150, 3)), Y)
    assert ranker.shrinkage_ == 1
    assert_array_equal(ranker.predict(rng.normal(size=(9, 3))), [[4, 3, 2, 1]] * 9)
    X, Y = problem()
    assert NeighborsLabelRanker().fit(X, Y).shrinkage_ < 1


@pytest.mark.parametrize("aggregation", ["pairs", "kemeny", "borda"])
def test_shrinkage_is_the_share_of_all_cases_in_the_votes(aggregation):
    X, Y = problem(missing=0.2)
    weight = np.arange(len(X)) % 3 + 1.0
    votes = {}
    for shrinkage in (0, 0.3, 1):
        settings = {**PLAIN, "shrinkage": shrinkage, "aggregation": aggregation}
        ranker = NeighborsLabelRanker(5, **settings).fit(X, Y, weight)
        votes[shrinkage] = ranker.decision_function(X + 0.1)
    everyone = AGGREGATIONS[aggregation](neighborhoods(Y, np.arange(len(Y))[None], weight[None]))
    assert_array_equal(votes[1], np.tile(everyone, (len(X), 1)))
    assert_allclose(votes[0.3], 0.7 * votes[0] + 0.3 * votes[1])


def test_kemeny_is_taken_where_votes_mislead():
    rng = np.random.default_rng(0)
    # Most put one label first; the others put it so far back that its mean rank is in the middle.
    most, others = [1, 2, 3, 4, 5, 6, 7], [7, 1, 2, 3, 4, 5, 6]
    Y = np.array([most if u < 0.7 else others for u in rng.random(200)], dtype=float)
    X = rng.normal(size=(200, 2))
    assert NeighborsLabelRanker().fit(X, Y).aggregation_ == "kemeny"
    X, Y = problem()
    assert NeighborsLabelRanker().fit(X, Y).aggregation_ == "pairs"


def test_learned_weights_are_switched_off_where_equal_ones_do_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = ranks_from_scores(X + 0.3 * rng.normal(size=(120, 4)), higher_is_better=True)
    ranker = NeighborsLabelRanker(5, n_directions=0, shrinkage=0).fit(X, Y)
    assert_array_equal(ranker.feature_weights_, 1)
    learned = NeighborsLabelRanker(5, n_directions=0, feature_weights="learned").fit(X, Y)
    assert (learned.feature_weights_ != 1).all()


def test_held_out_scores_are_those_of_a_ranker_without_the_row():
    X, Y = problem(n=40, missing=0.2)
    settings = {**PLAIN, "shrinkage": 0.25}
    ranker = NeighborsLabelRanker(6, **settings).fit(X, Y)
    scores = ranker._held_out_scores(X, Y, np.ones(40), np.arange(0, 40, 7))
    for row, found in zip(range(0, 40, 7), scores, strict=True):
        rest = np.delete(np.arange(40), row)
        alone = NeighborsLabelRanker(6, **settings).fit(X[rest], Y[rest])
        assert_allclose(found, alone.decision_function(X[[row]])[0])


def test_the_spread_of_one_neighbor_looks_at_ten():
    X, Y = problem(n=200)
    one = NeighborsLabelRanker(1, **PLAIN).fit(X, Y)
    ten = NeighborsLabelRanker(10, **PLAIN).fit(X, Y)
    assert_array_equal(one.predict_spread(X), ten.predict_spread(X))
    assert len(set(one.predict_spread(X))) > 20


def test_all_aggregations_agree_where_neighbors_do():
    Y = np.array([[2, 1, 4, 3]] * 3 + [[np.nan, 1, 3, 2]])
    sets = neighborhoods(Y, np.array([[0, 1, 2, 3]]), np.ones((1, 4)))
    for name, votes in AGGREGATIONS.items():
        assert_array_equal(np.argsort(-votes(sets)[0]), [1, 0, 3, 2])
        assert spreads(name, sets)[0] > 2


@pytest.mark.parametrize("weights", ["dudani", "uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_auto_chooses_what_refitting_for_each_size_would(weights, missing):
    X, Y = problem(n=30, missing=missing)
    ranker = NeighborsLabelRanker(weights=weights, **PLAIN).fit(X, Y)
    for k, tau in ranker.leave_one_out_.items():
        left_out = []
        for i in range(len(X)):
            rest = np.delete(np.arange(len(X)), i)
            one = NeighborsLabelRanker(k, weights=weights, **PLAIN).fit(X[rest], Y[rest])
            left_out.append(kendall_tau(Y[[i]], one.predict(X[[i]]), average=False)[0])
        assert_allclose(tau, np.nanmean(left_out))
    best = max(ranker.leave_one_out_, key=ranker.leave_one_out_.get)
    assert ranker.n_neighbors_ >= best


@pytest.mark.parametrize("scale", [True, False])
def test_a_case_asked_for_alone_is_found_at_distance_zero(scale):
    X, Y = problem(n=60, noise_features=15)
    ranker = NeighborsLabelRanker(3, scale=scale).fit(X + 12_000, Y)
    for row in range(20):
        why = ranker.explain_neighbors(X[[row]] + 12_000)
        assert (why.cases[0, 0], why.distances[0, 0]) == (row, 0)


@st.composite
def weighted_cases(draw):
    """Points on a grid, so that many are equal or equally far; ranks; weights; new points."""
    n = draw(st.integers(2, 8))
    points = arrays(float, (n, 2), elements=st.integers(0, 3).map(float))
    Y = draw(rank_matrices(rows=(n, n), labels=(3, 3)))
    Y[np.isnan(Y).all(axis=1)] = [1, 2, 3]
    weight = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return draw(points), Y, weight, draw(points)


@pytest.mark.parametrize("weights", ["dudani", "uniform", "distance"])
@pytest.mark.parametrize("n_neighbors", [3, 10, "auto"])
@pytest.mark.filterwarnings("ignore:.*in no row of y:UserWarning")
@settings(max_examples=30)
@given(weighted_cases())
def test_weight_two_is_the_case_twice(n_neighbors, weights, cases):
    X, Y, weight, X_new = cases
    ranker = NeighborsLabelRanker(n_neighbors, weights=weights, **PLAIN).fit(X, Y, weight)
    repeated = NeighborsLabelRanker(n_neighbors, weights=weights, **PLAIN)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    assert ranker.n_neighbors_ == repeated.n_neighbors_
    if n_neighbors == "auto":
        assert ranker.leave_one_out_ == pytest.approx(repeated.leave_one_out_)
    assert_allclose(ranker.decision_function(X_new), repeated.decision_function(X_new))


def test_weight_two_is_the_case_twice_in_what_is_learned_of_features():
    X, Y = problem(n=40, missing=0.2, noise_features=3)
    weight = np.arange(40) % 3 + 1
    ranker = NeighborsLabelRanker().fit(X, Y, weight)
    repeated = NeighborsLabelRanker().fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )
    assert_allclose(ranker.feature_weights_, repeated.feature_weights_)
    assert ranker.n_neighbors_ == repeated.n_neighbors_
    assert_array_equal(ranker.predict(X + 0.1), repeated.predict(X + 0.1))


class CountingIndex(BaseEstimator):
    """An exact index that counts its queries."""

    queries = 0

    def fit(self, points):
        self.index_ = NearestNeighbors().fit(points)
        return self

    def kneighbors(self, queries, n_neighbors):
        type(self).queries += 1
        return self.index_.kneighbors(queries, n_neighbors)


def test_choosing_and_calibrating_cost_one_query():
    X, Y = problem()
    CountingIndex.queries = 0
    ranker = NeighborsLabelRanker(algorithm=CountingIndex(), **PLAIN).fit(X, Y)
    assert CountingIndex.queries == 2  # one to choose and calibrate, one for the recall
    assert len(ranker.leave_one_out_) >= 15
    assert ranker.recall_ == 1
    plain = NeighborsLabelRanker(**PLAIN).fit(X, Y)
    assert_array_equal(ranker.predict(X), plain.predict(X))


def test_explanation_tells_what_the_prediction_is_made_of():
    X, Y = problem(missing=0.3)
    ranker = NeighborsLabelRanker(5, shrinkage=0, aggregation="pairs").fit(X, Y)
    why = ranker.explain_neighbors(X[:4] + 0.1)
    assert why.cases.shape == why.distances.shape == why.weights.shape == (4, 5)
    assert_array_equal(why.rankings, ranker.rankings_[why.cases])
    votes = fit_pairs_batch(ranker.rankings_, why.cases, why.weights).votes
    assert_array_equal(votes, ranker.decision_function(X[:4] + 0.1))


def test_new_cases_join():
    X, Y = problem()
    weight = np.arange(len(X)) % 3 + 1.0
    ranker = NeighborsLabelRanker(4, **PLAIN)
    ranker.partial_fit(X[:30], Y[:30], weight[:30]).partial_fit(X[30:], Y[30:], weight[30:])
    whole = NeighborsLabelRanker(4, **PLAIN).fit(X, Y, weight)
    assert_array_equal(ranker.decision_function(X + 0.1), whole.decision_function(X + 0.1))


def test_new_cases_may_bring_the_first_ranks_of_a_label():
    X, Y = problem()
    holes = Y.copy()
    holes[:, 0] = np.nan
    with pytest.warns(UserWarning, match="predicted last"):
        ranker = NeighborsLabelRanker(3, **PLAIN).fit(X, np.where(holes > 3, 3, holes))
    assert (ranker.predict(X)[:, 0] == 4).all()
    ranker.partial_fit(X + 1e-3, Y)
    assert not ranker.unseen_labels_.any()
    assert (ranker.predict(X)[:, 0] < 4).any()


def test_new_cases_must_have_the_same_labels():
    X, Y = problem()
    ranker = NeighborsLabelRanker(3).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    with pytest.raises(ValueError, match=r"columns of y.*same columns in the same order"):
        ranker.partial_fit(X, pd.DataFrame(Y, columns=list("abdc")))
    with pytest.raises(ValueError, match="4 were expected"):
        ranker.partial_fit(X, Y[:, :3].clip(max=3))


def test_abstaining_makes_the_rest_more_right():
    X, Y = problem(n=300, labels=5)
    ranker = NeighborsLabelRanker(10).fit(X[:200], Y[:200])
    right, stated = [], []
    for threshold in (0.5, 0.7, 0.9):
        before = ranker.predict_partial(X[200:], threshold)
        chained = np.einsum("nij,njk->nik", before.astype(int), before.astype(int)) > 0
        assert not (chained & ~before).any(), "the relation is not transitive"
        right.append(correctness(Y[200:], before))
        stated.append(completeness(before))
    assert right == sorted(right)
    assert stated == sorted(stated, reverse=True)
    assert right[0] < right[-1]


def test_correctness_of_all_pairs_is_tau():
    X, Y = problem(labels=4)
    ranks = NeighborsLabelRanker(3).fit(X, Y).predict(X + 0.2)
    before = ranks[:, :, None] < ranks[:, None, :]
    assert_allclose(correctness(Y, before), kendall_tau(Y, ranks))
    assert completeness(before) == 1
    assert correctness(Y, np.zeros_like(before)) == 1


def test_relations_of_the_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"shape \(n_samples, 3, 3\)"):
        correctness([[1, 2, 3]], np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="before must have shape"):
        completeness(np.zeros((3, 3)))


def test_pickles_hold_plain_state_only():
    X, Y = problem()
    ranker = NeighborsLabelRanker().fit(X, Y)
    state = ranker.__getstate__()
    assert "_index" not in state
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), ranker.predict(X))
    pickle.loads(pickle.dumps(NeighborsLabelRanker()))


def test_the_scale_of_the_weights_does_not_choose_the_size():
    X, Y = problem()
    plain = NeighborsLabelRanker(**PLAIN).fit(X, Y)
    light = NeighborsLabelRanker(**PLAIN).fit(X, Y, np.full(len(X), 1e-3))
    assert light.n_neighbors_ == plain.n_neighbors_
    assert light.leave_one_out_ == pytest.approx(plain.leave_one_out_)


def test_few_cases():
    X, Y = problem()
    assert NeighborsLabelRanker(50).fit(X[:3], Y[:3]).n_neighbors_ == 3
    assert NeighborsLabelRanker().fit(X[:1], Y[:1]).predict(X[:2]).shape == (2, 4)


def test_wrong_parameters_are_named():
    X, Y = problem()
    for wrong in ({"aggregation": "mean"}, {"n_neighbors": 0}, {"weights": "far"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            NeighborsLabelRanker(**wrong).fit(X, Y)
    with pytest.raises(NotFittedError):
        NeighborsLabelRanker().predict_spread(X)


def test_approximate_neighbors_report_their_recall():
    pytest.importorskip("faiss", reason="the ann extra is not installed")
    X, Y = problem(n=2000)
    ranker = NeighborsLabelRanker(10, algorithm="approximate").fit(X, Y)
    assert 0.8 < ranker.recall_ <= 1
    assert ranker.score(X, Y) > 0.7
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), ranker.predict(X))


def test_the_best_size_is_the_best_of_those_left_out():
    X, Y = make_label_ranking(60, n_labels=4, random_state=0)
    best, auto = (NeighborsLabelRanker.iblr(n_neighbors=k).fit(X, Y) for k in ("best", "auto"))
    assert best.leave_one_out_ == auto.leave_one_out_
    assert best.n_neighbors_ == max(best.leave_one_out_, key=best.leave_one_out_.get)
    assert auto.n_neighbors_ > best.n_neighbors_
    assert NeighborsLabelRanker.iblr().n_neighbors == "best"

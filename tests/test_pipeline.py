"""Pipelines that keep what their ranker predicts, and how metadata reach the steps."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from model_files import problem
from prefero import (
    AutoLabelRanker,
    ConsensusLabelRanker,
    ForestLabelRanker,
    PairwiseLabelRanker,
    PairwiseMultilabelRanker,
    RankCorrelationReducer,
    RankingPipeline,
    RankSVMOrderer,
    TreeLabelRanker,
    load,
    make_ranking_pipeline,
    save,
)
from prefero._pipelines import fit_final
from prefero.metrics import SCORERS, kendall_tau_scorer

PASSED = (
    *("predict_order", "predict_pairwise", "predict_ties", "predict_buckets"),
    *("predict_expected_tau", "predict_partial", "decision_function", "predict"),
)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted_problem():
    """Rankings of two kinds whose weights decide which is the consensus order."""
    X = np.zeros((6, 1))
    Y = np.array([[1, 2]] * 4 + [[2, 1]] * 2)
    return X, Y, np.array([1.0, 1, 1, 1, 9, 9])


def grouped_problem(seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(12), 4)
    offset = 10 * rng.normal(size=12)[qid]
    X = rng.normal(size=(48, 3))
    ranks = np.concatenate([np.argsort(np.argsort(-X[qid == g, 0])) + 1 for g in range(12)])
    X[:, 0] += offset  # only the order inside a group says anything
    return X, ranks, qid


@pytest.mark.parametrize("method", PASSED)
def test_predictions_are_those_of_the_ranker_on_transformed_instances(method):
    X, Y = problem(30)
    frame = pd.DataFrame(Y, columns=list("wxyz"))
    model = make_ranking_pipeline(StandardScaler(), PairwiseLabelRanker()).fit(X, frame)
    scaler = StandardScaler().fit(X)
    ranker = PairwiseLabelRanker().fit(scaler.transform(X), frame)
    expected = getattr(ranker, method)(scaler.transform(X))
    np.testing.assert_array_equal(getattr(model, method)(X), expected)
    assert model.labels_.tolist() == list("wxyz")
    assert not model.unseen_labels_.any()


def test_arguments_are_passed_on():
    X, Y = problem(30)
    model = make_ranking_pipeline(StandardScaler(), PairwiseLabelRanker()).fit(X, Y)
    assert model.predict_order(X, top=2).shape == (30, 2)
    sure = model.predict_partial(X, threshold=0.9)
    assert sure.sum() < model.predict_partial(X, 0.5).sum()


def test_a_pipeline_of_the_ranker_alone():
    X, Y = problem(20)
    model = make_ranking_pipeline(TreeLabelRanker()).fit(X, Y)
    np.testing.assert_array_equal(model.predict_order(X), model[-1].predict_order(X))
    assert kendall_tau_scorer(model, X, Y) == model.score(X, Y)


def test_it_has_only_what_its_ranker_has():
    X, Y = problem(20)
    labels = make_ranking_pipeline(StandardScaler(), PairwiseLabelRanker(calibrate=False))
    assert not hasattr(labels.fit(X, Y), "predict_pairwise")
    assert not hasattr(labels, "predict_calibrated")
    assert hasattr(labels, "predict_order")
    relevance = make_ranking_pipeline(StandardScaler(), PairwiseMultilabelRanker())
    relevance.fit(X, (Y < 3).astype(int))
    np.testing.assert_array_equal(
        relevance.predict_ranks(X), relevance[-1].predict_ranks(relevance[:-1].transform(X))
    )
    assert relevance.predict_calibrated(X).shape == (20, 5)
    assert not hasattr(relevance, "predict_buckets")


def test_it_is_cloned_searched_and_saved(tmp_path):
    X, Y = problem(30)
    model = make_ranking_pipeline(StandardScaler(), ForestLabelRanker(3, random_state=0))
    assert isinstance(model[:1], RankingPipeline)
    grid = {"forestlabelranker__max_depth": [1, 3]}
    search = GridSearchCV(clone(model), grid, cv=3, scoring=SCORERS["tau"]).fit(X, Y)
    best = search.best_estimator_
    save(best, tmp_path / "model.prefero")
    again = load(tmp_path / "model.prefero")
    assert type(again) is RankingPipeline
    for method in PASSED:
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(best, method)(X))


def test_set_output_names_the_features_that_reach_the_ranker():
    X, Y = problem(20)
    frame = pd.DataFrame(X, columns=["rain", "sun", "wind"])
    model = make_ranking_pipeline(StandardScaler(), TreeLabelRanker())
    model.set_output(transform="pandas").fit(frame, Y)
    assert model[-1].feature_names_in_.tolist() == list(frame)
    assert model.feature_names_in_.tolist() == list(frame)
    np.testing.assert_array_equal(model.predict(frame), model.fit(X, Y).predict(X))


def test_weights_reach_the_ranker_by_their_bare_name():
    X, Y, weight = weighted_problem()
    model = make_ranking_pipeline(StandardScaler(), ConsensusLabelRanker())
    assert model.fit(X, Y).predict(X[:1]).tolist() == [[1, 2]]
    assert model.fit(X, Y, sample_weight=None).predict(X[:1]).tolist() == [[1, 2]]
    assert model.fit(X, Y, sample_weight=weight).predict(X[:1]).tolist() == [[2, 1]]
    assert model.score(X, Y, sample_weight=weight) == pytest.approx(14 / 22)
    named = clone(model).fit(X, Y, consensuslabelranker__sample_weight=weight)
    assert named.predict(X[:1]).tolist() == [[2, 1]]


@pytest.mark.parametrize("kind", [RankingPipeline, Pipeline])
def test_a_row_of_weight_two_counts_as_two_rows_at_every_step(kind):
    X, Y = problem(30)
    weight = np.where(np.arange(30) % 3 == 0, 2, 1)
    twice = np.repeat(np.arange(30), weight)
    blank = kind([("scale", StandardScaler()), ("ranker", PairwiseLabelRanker(calibrate=False))])
    weighted = fit_final(clone(blank), X, Y, sample_weight=weight, qid=None)
    repeated = clone(blank).fit(X[twice], Y[twice])
    np.testing.assert_allclose(weighted[0].mean_, repeated[0].mean_)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-4
    )


@pytest.mark.usefixtures("routing")
def test_what_steps_request_decides_where_metadata_are_routed():
    X, Y, weight = weighted_problem()
    for kind in (RankingPipeline, Pipeline):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        ranker = ConsensusLabelRanker().set_fit_request(sample_weight=True)
        model = fit_final(kind([("scale", scaler), ("ranker", ranker)]), X, Y, sample_weight=weight)
        assert model.predict(X[:1]).tolist() == [[2, 1]]


def test_groups_reach_the_orderer_and_a_reducer_before_it():
    X, ranks, qid = grouped_problem()
    model = make_ranking_pipeline(
        StandardScaler(), RankCorrelationReducer(1), RankSVMOrderer(random_state=0)
    )
    model.fit(X, ranks, qid=qid)
    scaled = StandardScaler().fit_transform(X)
    by_hand = RankCorrelationReducer(1).fit(scaled, ranks, qid=qid)
    np.testing.assert_array_equal(model[1].components_, by_hand.components_)
    reduced = by_hand.transform(scaled)
    orderer = RankSVMOrderer(random_state=0).fit(reduced, ranks, qid=qid)
    assert model.score(X, ranks, qid=qid) == orderer.score(reduced, ranks, qid=qid)
    blind = clone(model).fit(X, ranks, ranksvmorderer__qid=qid)
    assert not np.allclose(blind[1].components_, model[1].components_)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(model).fit(X, ranks, qid=qid)
        np.testing.assert_array_equal(routed[1].components_, model[1].components_)
        np.testing.assert_array_equal(routed.predict(X, qid=qid), model.predict(X, qid=qid))


@pytest.mark.usefixtures("routing")
def test_routed_groups_reach_splitter_steps_and_score():
    X, ranks, qid = grouped_problem()
    model = make_ranking_pipeline(RankCorrelationReducer(2), RankSVMOrderer(random_state=0))
    scores = cross_val_score(model, X, ranks, cv=GroupKFold(3), params={"groups": qid, "qid": qid})
    for train, test in GroupKFold(3).split(X, groups=qid):
        one = clone(model).fit(X[train], ranks[train], qid=qid[train])
        expected = one.score(X[test], ranks[test], qid=qid[test])
        assert np.isclose(scores, expected).any()


@pytest.mark.usefixtures("routing")
def test_routed_weights_reach_the_ranker_and_the_scorer():
    X, Y, weight = weighted_problem()
    ranker = ConsensusLabelRanker().set_fit_request(sample_weight=True)
    ranker.set_score_request(sample_weight=True)
    model = make_ranking_pipeline(StandardScaler().set_fit_request(sample_weight=False), ranker)
    assert model.fit(X, Y, sample_weight=weight).predict(X[:1]).tolist() == [[2, 1]]
    assert model.score(X, Y, sample_weight=weight) == pytest.approx(14 / 22)
    folds = [(np.arange(6), np.arange(6))]
    for scoring in (None, kendall_tau_scorer.set_score_request(sample_weight=True)):
        found = cross_validate(
            model, X, Y, cv=folds, scoring=scoring, params={"sample_weight": weight}
        )
        assert found["test_score"] == pytest.approx(14 / 22)
    plain = kendall_tau_scorer.set_score_request(sample_weight=False)
    found = cross_validate(model, X, Y, cv=folds, scoring=plain, params={"sample_weight": weight})
    assert found["test_score"] == pytest.approx(-1 / 3)


def test_a_plain_pipeline_still_serves_where_one_did(tmp_path):
    X, Y = problem(20)
    model = Pipeline([("scale", StandardScaler()), ("ranker", TreeLabelRanker())]).fit(X, Y)
    save(model, tmp_path / "model.prefero")
    assert type(load(tmp_path / "model.prefero")) is Pipeline


def test_a_pipeline_that_could_run_code_is_not_saved(tmp_path):
    X, Y = problem(20)
    model = make_ranking_pipeline(FunctionTransformer(np.abs), TreeLabelRanker()).fit(X, Y)
    with pytest.raises(TypeError, match="cannot be saved safely"):
        save(model, tmp_path / "model.prefero")


def test_rank_intervals_are_passed_on():
    X, Y = problem(60)
    ranker = AutoLabelRanker(preset="quick", baseline_guard=0, random_state=0)
    model = make_ranking_pipeline(StandardScaler(), ranker).fit(X, Y)
    expected = model[-1].predict_rank_intervals(model[0].transform(X), 0.2)
    np.testing.assert_array_equal(model.predict_rank_intervals(X, 0.2), expected)
    assert not hasattr(make_ranking_pipeline(TreeLabelRanker()), "predict_rank_intervals")

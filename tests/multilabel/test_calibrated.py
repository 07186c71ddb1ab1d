"""Any label ranker as a multilabel ranker."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from prefero import (
    CalibratedMultilabelRanker,
    ConsensusLabelRanker,
    ConstraintLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    TreeLabelRanker,
    load,
    make_ranking_pipeline,
    save,
)
from prefero.checks import MULTILABEL_RANKER_AXIOMS, run_axiom
from prefero.metrics import multilabel as metrics
from prefero.rankings import calibrated_from_relevance, calibrated_from_scores, split_calibrated

INNER = [
    None,
    PairwiseLabelRanker(C=1.0),  # two penalties nearly tie here: rounding would choose
    NeighborsLabelRanker(10),
    TreeLabelRanker(random_state=0),
    make_ranking_pipeline(StandardScaler(), LogLinearLabelRanker()),
]
RANKERS = [CalibratedMultilabelRanker(ranker, random_state=0) for ranker in INNER]
DRAWN_BY_ROW = "bootstrap samples are drawn by row number"
EXPECTED = {None: {"check_sample_order": DRAWN_BY_ROW, "check_weight_two_is_twice": DRAWN_BY_ROW}}


def name(ranker):
    return str(ranker.ranker).split("(")[0]


def problem(n=60, c=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, c)) + 0.4 * rng.normal(size=(n, c)) - 0.5
    return X, *split_calibrated(calibrated_from_scores(scores))


@parametrize_with_checks([CalibratedMultilabelRanker(PairwiseLabelRanker(C=1.0))])
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS[:3], ids=name)
@pytest.mark.parametrize("axiom", MULTILABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
def test_axiom(ranker, axiom):
    expected = EXPECTED.get(ranker.ranker, {})
    run_axiom(axiom, ranker, expected_to_fail=axiom.__name__ in expected)


@pytest.mark.parametrize("ranker", RANKERS, ids=name)
def test_sets_and_orders_agree_and_files_keep_both(ranker, tmp_path):
    X, relevance, ranks = problem()
    model = clone(ranker).fit(X, relevance, ranks)
    calibrated = model.predict_calibrated(X)
    assert_array_equal(model.predict(X), calibrated[:, :-1] < calibrated[:, -1:])
    save(model, tmp_path / "m.prefero")
    again = load(tmp_path / "m.prefero")
    assert_array_equal(again.predict_calibrated(X), calibrated)
    assert metrics.hamming_loss(relevance, model.predict(X)) < 0.25


@pytest.mark.parametrize(
    "inner", [ConsensusLabelRanker("borda"), ConstraintLabelRanker(random_state=0)]
)
def test_rankers_of_orders_alone_get_the_calibrated_ranks(inner):
    X, relevance, _ = problem()
    model = CalibratedMultilabelRanker(inner, threshold=None).fit(X, relevance)
    alone = clone(inner).fit(X, calibrated_from_relevance(relevance))
    scores = alone.decision_function(X)
    assert_array_equal(model.decision_function(X), scores[:, :-1] - scores[:, -1:])


def test_a_wide_zero_point_lets_the_majority_decide():
    # Label 0 is relevant in six of ten rows, beside nine labels that never are.
    relevance = np.zeros((10, 10))
    relevance[:6, 0] = 1
    X = np.zeros((10, 1))
    leaves = ForestLabelRanker(
        1, leaf_values="scores", shrinkage=0, bootstrap=False, min_samples_leaf=10
    )
    assert CalibratedMultilabelRanker(leaves).fit(X, relevance).predict(X[:1])[0, 0] == 1
    narrow = CalibratedMultilabelRanker(leaves, gap_amplification=0).fit(X, relevance)
    # One label before the virtual label half a place; ten behind it five.
    assert np.mean([0.5] * 6 + [-5.0] * 4) < 0
    assert narrow.predict(X[:1])[0, 0] == 0
    wide = CalibratedMultilabelRanker(leaves, gap_amplification=100).fit(X, relevance)
    assert wide.predict(X[:1])[0, 0] == 1


def test_places_count_where_a_row_orders_labels_of_one_side():
    ranker = CalibratedMultilabelRanker()
    sides = calibrated_from_relevance([[1, 0, 0, np.nan]])
    assert_array_equal(ranker._places(sides), [[1, -1, -1, np.nan, 0]])
    inside = calibrated_from_relevance([[1, 1, 0, 0]], [[1, 2, 3, 3]])
    assert_array_equal(ranker._places(inside), [[1.5 + 2, 0.5 + 2, -1 - 2, -1 - 2, 0]])
    assert_array_equal(
        CalibratedMultilabelRanker(gap_amplification=1)._places(inside), [[2, 1, -1.5, -1.5, 0]]
    )


def test_labels_never_judged_come_last():
    X, relevance, _ = problem()
    relevance[:, 2] = np.nan
    with pytest.warns(UserWarning, match="1 of 4 labels are judged in no row"):
        model = CalibratedMultilabelRanker(PairwiseLabelRanker()).fit(X, relevance)
    assert (model.predict_calibrated(X)[:, 2] == 5).all()
    pairs = model.predict_pairwise(X)
    assert pairs.shape == (60, 5, 5)
    assert (pairs[:, 2] == 0.5).all()


def test_probabilities_of_relevance_are_those_of_the_ranker():
    X, relevance, _ = problem()
    model = CalibratedMultilabelRanker(PairwiseLabelRanker()).fit(X, relevance)
    assert_array_equal(model.predict_pairwise(X), model.ranker_.predict_pairwise(X))
    silent = CalibratedMultilabelRanker(PairwiseLabelRanker(calibrate=False))
    assert not hasattr(silent.fit(X, relevance), "predict_pairwise")


@pytest.mark.parametrize("inner", [LogLinearLabelRanker(), ForestLabelRanker(5)])
def test_a_pipeline_may_be_the_ranker(inner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1, 100, 1]
    relevance, weight = (X > 0).astype(int), rng.integers(1, 3, 60)
    pipeline = make_pipeline(StandardScaler(), inner)
    ranker = CalibratedMultilabelRanker(pipeline, random_state=0)
    ranker.fit(X, relevance, sample_weight=weight)
    assert np.mean(ranker.predict(X) == relevance) > 0.9
    seeded = clone(inner)
    if "random_state" in inner.get_params():
        seeded.set_params(random_state=ranker.ranker_[-1].random_state)
    scaler = StandardScaler().fit(X, sample_weight=weight)
    plain = CalibratedMultilabelRanker(seeded)
    plain.fit(scaler.transform(X), relevance, sample_weight=weight)
    expected = plain.predict_pairwise(scaler.transform(X))
    assert_array_equal(ranker.predict_pairwise(X), expected)

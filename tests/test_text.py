import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from prefero import LogLinearLabelRanker, PreferenceGraphs
from prefero.label_ranking._loglinear import (
    LinearFunctions,
    Objective,
    boosting_step,
    boosting_sums,
    smooth_l1,
)
from prefero.text import BoostingFeatureSelector, LogCountTransformer


@parametrize_with_checks([LogCountTransformer(), BoostingFeatureSelector()])
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


def test_sparse_counts_are_treated_as_dense_ones():
    counts = np.random.default_rng(0).poisson(0.5, (20, 6))
    dense = LogCountTransformer().fit_transform(counts)
    np.testing.assert_array_equal(dense > 0, counts > 0)
    sparse = LogCountTransformer().fit_transform(csr_array(counts))
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_the_score_is_what_an_update_of_one_feature_gains_at_least():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 4)), np.array([rng.permutation(3) + 1 for _ in range(30)])
    graphs = PreferenceGraphs.from_ranks(Y)
    scores = BoostingFeatureSelector().fit(X, graphs).scores_
    for feature in range(4):
        alone = LinearFunctions(X[:, [feature]], graphs, fit_intercept=False)
        objective = Objective(alone, "domination", np.ones(30), smooth_l1(0.0))
        zero = np.zeros(alone.shape)
        _, plus, minus = boosting_sums(objective, 0.0, zero)
        step = boosting_step(plus, minus, 0.0) / alone.rho(objective.cut)
        assert 0 < scores[feature] <= objective.value(zero) - objective.value(zero - step) + 1e-9


def test_words_that_tell_the_labels_apart_are_kept():
    texts = ["goal the match", "the goal", "match the goal", "bank the rate", "the rate", "bank"]
    graphs = PreferenceGraphs.from_classes(["sport"] * 3 + ["money"] * 3)
    pipeline = make_pipeline(
        CountVectorizer(),
        LogCountTransformer(),
        BoostingFeatureSelector(4),
        LogLinearLabelRanker(fit_intercept=False),
    ).fit(texts, graphs)
    kept = pipeline[:-1].get_feature_names_out()
    assert sorted(kept) == ["bank", "goal", "match", "rate"]
    assert pipeline.predict(["the bank"]).tolist() == [[1, 2]]

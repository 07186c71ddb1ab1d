import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_predict

from prefero import ConsensusLabelRanker
from prefero.checks import check_label_ranker
from prefero.consensus import borda, kemeny
from prefero.mallows import fit_mallows
from prefero.plackett_luce import fit_plackett_luce
from prefero.rankings import ranks_from_scores
from strategies import rank_matrices

CENTERS = {
    "borda": borda,
    "kemeny": kemeny,
    "mallows": lambda Y: fit_mallows(Y).center,
    "plackett_luce": lambda Y: fit_plackett_luce(Y).center,
}


@pytest.mark.parametrize("aggregation", ["kemeny", "mallows", "plackett_luce"])
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_every_aggregation_makes_a_label_ranker(aggregation):
    check_label_ranker(ConsensusLabelRanker(aggregation))


@pytest.mark.parametrize("aggregation", CENTERS)
@given(Y=rank_matrices(rows=(2, 6), labels=(2, 5), missing=False))
def test_prediction_is_the_consensus(aggregation, Y):
    ranker = ConsensusLabelRanker(aggregation).fit(np.zeros((len(Y), 1)), Y)
    predicted = ranker.predict(np.zeros((2, 1)))
    np.testing.assert_array_equal(predicted, np.tile(CENTERS[aggregation](Y), (2, 1)))


@given(ranks=rank_matrices(rows=(2, 6), labels=(2, 5)), seed=st.integers(0, 99))
def test_with_scores_the_first_choice_is_the_single_best_label(ranks, seed):
    rng = np.random.default_rng(seed)
    scores = np.where(np.isnan(ranks), np.nan, rng.integers(-3, 4, ranks.shape))
    scores[0] = rng.integers(-3, 4, ranks.shape[1])  # every label is scored somewhere
    weight = rng.integers(1, 4, len(scores)).astype(float)
    means = [
        sum(w * s for w, s in zip(weight, column, strict=True) if s == s)
        / sum(w for w, s in zip(weight, column, strict=True) if s == s)
        for column in scores.T
    ]
    X, Y = np.zeros((len(scores), 1)), ranks_from_scores(scores, higher_is_better=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that rank nothing
        ranker = ConsensusLabelRanker(calibrate=False).fit(X, Y, weight, scores)
    np.testing.assert_allclose(ranker.votes_, means)
    assert ranker.aggregation_ == "scores"
    assert means[int(ranker.predict_order(X[:1])[0, 0])] == pytest.approx(max(means))


def test_rare_large_losses_count_in_scores_and_not_in_ranks():
    X, scores = np.zeros((10, 1)), np.tile([[1.0, 0.9]], (10, 1))
    scores[:2, 0] = -50
    Y = ranks_from_scores(scores, higher_is_better=True)
    assert ConsensusLabelRanker().fit(X, Y).predict(X[:1]).tolist() == [[1, 2]]
    assert ConsensusLabelRanker().fit(X, Y, scores=scores).predict(X[:1]).tolist() == [[2, 1]]
    borda_of_ranks = ConsensusLabelRanker("borda").fit(X, Y, scores=scores)
    assert borda_of_ranks.predict(X[:1]).tolist() == [[1, 2]]


def test_mean_scores_need_scores():
    with pytest.raises(ValueError, match="needs scores"):
        ConsensusLabelRanker("scores").fit([[0], [1]], [[1, 2], [2, 1]])


@pytest.mark.parametrize("aggregation", CENTERS)
def test_pair_probabilities_agree_with_the_order(aggregation):
    Y = [[1, 2, 3], [2, 1, 3], [1, 3, 2]] * 4
    ranker = ConsensusLabelRanker(aggregation).fit(np.zeros((12, 1)), Y)
    X = np.zeros((2, 1))
    ranks = ranker.predict(X)
    before = ranks[:, :, None] < ranks[:, None, :]
    np.testing.assert_array_equal(ranker.predict_pairwise(X) > 0.5, before)


def test_only_a_mallows_model_has_a_spread():
    assert not hasattr(ConsensusLabelRanker("borda"), "predict_spread")
    ranker = ConsensusLabelRanker("mallows").fit(np.zeros((2, 1)), [[1, 2, 3], [1, 3, 2]])
    np.testing.assert_array_equal(ranker.predict_spread(np.zeros((2, 1))), ranker.theta_)


def test_a_target_that_scikit_learn_numbered_anew_is_refused():
    rng = np.random.default_rng(0)
    X, Y = np.zeros((12, 1)), rng.permuted(np.tile([1, 2, 3], (12, 1)), axis=1)
    assert cross_val_predict(ConsensusLabelRanker(), X, Y, cv=2).shape == (12, 3)
    with pytest.raises(ValueError, match=r"rank 0, outside 1\.\.3"):
        cross_val_predict(ConsensusLabelRanker(), X, Y, cv=2, method="decision_function")

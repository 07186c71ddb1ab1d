import numpy as np
import pytest
from hypothesis import given
from sklearn.model_selection import cross_val_predict

from prefero import ConsensusLabelRanker
from prefero.checks import check_label_ranker
from prefero.consensus import borda, kemeny
from prefero.mallows import fit_mallows
from prefero.plackett_luce import fit_plackett_luce
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

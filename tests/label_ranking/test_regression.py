"""Label ranking by one regressor per label."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from prefero import RegressionLabelRanker
from prefero.consensus import borda_votes
from strategies import noisy_linear_problem


def test_each_label_has_its_regressor():
    X, Y = noisy_linear_problem(40, 3, 4)
    votes = borda_votes(Y)
    ranker = RegressionLabelRanker(calibrate=False, scale=False).fit(X, Y)
    expected = np.column_stack([Ridge().fit(X, column).predict(X) for column in votes.T])
    np.testing.assert_allclose(ranker.decision_function(X), expected)


def test_weights_that_the_regressor_cannot_take_are_refused():
    X, Y = noisy_linear_problem(40, 3, 4)
    ranker = RegressionLabelRanker(KNeighborsRegressor(3))
    ranker.fit(X, Y, sample_weight=np.ones(40))
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        ranker.fit(X, Y, sample_weight=np.arange(1, 41))

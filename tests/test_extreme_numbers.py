"""Numbers so large that their products leave the range of float64."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

import prefero
from prefero.base import BaseLabelRanker

RANKERS = [prefero.PairwiseLabelRanker, prefero.LogLinearLabelRanker, prefero.ConstraintLabelRanker]
ORDERERS = [
    prefero.RankSVMOrderer,
    prefero.OrderSVMOrderer,
    prefero.ExpectedRankOrderer,
    prefero.CohenOrderer,
]
HUGE = np.array([[0.0, 1.0], [1.0, 1e307], [2.0, 3.0], [3.0, 1.0]])


@pytest.mark.parametrize("estimator", [*RANKERS, *ORDERERS])
def test_features_beyond_the_range_are_named(estimator: type[BaseEstimator]):
    ranker = issubclass(estimator, BaseLabelRanker)
    y = [[1, 2], [2, 1], [1, 2], [2, 1]] if ranker else [1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"X holds 1e\+307 in column 1, row 1: .*Scale them"):
        estimator().fit(HUGE, y)
    if get_tags(estimator()).input_tags.sparse:
        with pytest.raises(ValueError, match=r"X holds 1e\+307 in column 1, row 1"):
            estimator().fit(csr_array(HUGE), y)
    fitted = estimator().fit(np.minimum(HUGE, 10), y)
    with pytest.raises(ValueError, match=r"X holds 1e\+307"):
        fitted.predict(HUGE)


@pytest.mark.parametrize("ranker", [*RANKERS, prefero.NeighborsLabelRanker])
def test_weights_beyond_the_range_are_named(ranker):
    with pytest.raises(ValueError, match=r"sample_weight\[2\] is 1e\+300.*divide them"):
        ranker().fit([[0.0], [1.0], [2.0]], [[1, 2], [2, 1], [1, 2]], [1, 1, 1e300])

"""Warnings name the line of the user, through however many layers they come."""

import inspect
import warnings

import numpy as np
import pytest

from prefero import (
    ExpectedRankOrderer,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsMultilabelRanker,
    RankSVMOrderer,
    TreeLabelRanker,
)
from prefero.metrics import kendall_tau

X = np.random.default_rng(0).normal(size=(6, 2))
RANKS = np.array([[1.0, 2.0, 3.0]] * 5 + [[np.nan] * 3])
GROUPS = [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: TreeLabelRanker().fit(X, RANKS),
        lambda: LogLinearLabelRanker().fit(X, RANKS),
        lambda: LogLinearLabelRanker(max_iter=1, alpha=1e-9).fit(X, RANKS[[0] * 6]),
        lambda: ForestLabelRanker(1, oob_score=True).fit(X, RANKS[[0] * 6]),
        lambda: NeighborsMultilabelRanker(1).fit(X, np.where(np.isnan(RANKS), np.nan, 1)),
        lambda: ExpectedRankOrderer().fit(X, np.ones(6), GROUPS),
        lambda: RankSVMOrderer(max_iter=1).fit(X, [1, 2, 3] * 2, GROUPS),
        lambda: kendall_tau([[1, np.nan]], [[1, 2]]),
    ],
)
def test_warnings_name_the_line_of_the_user(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    line = inspect.getsourcelines(call)[1]
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]

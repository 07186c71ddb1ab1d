"""Ties of rankers that learn from ordered pairs alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from prefero import (
    ConstraintLabelRanker,
    LogLinearLabelRanker,
    PairwiseLabelRanker,
    RegressionLabelRanker,
    load,
    save,
)
from prefero.metrics import kendall_tau
from prefero.rankings import bucket_positions

RANKERS = [
    PairwiseLabelRanker(),
    LogLinearLabelRanker(),
    RegressionLabelRanker(),
    ConstraintLabelRanker(random_state=0),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=lambda one: type(one).__name__)


def problem(n=240, seed=0):
    """Two labels lead and two follow; a feature of its own ties either two, whatever the margin."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    first = np.where(X[:, :1] > 0, [[1, 2, 3, 4]], [[2, 1, 4, 3]])
    tied = (first + 1) // 2
    return X, bucket_positions(np.where(X[:, 2:] > 0, tied, first).astype(float))


@every_ranker
def test_ties_need_no_small_margin(ranker):
    X, ranks = problem()
    X_new, truth = problem(seed=1)
    fitted = clone(ranker).fit(X, ranks)
    predicted = fitted.predict_buckets(X_new)
    assert kendall_tau(truth, predicted, variant="x") > 0.85
    ties = fitted.predict_ties(X_new)[:, 0, 1]
    assert ties[X_new[:, 2] > 0.5].mean() > 0.7 > 0.3 > ties[X_new[:, 2] < -0.5].mean()
    strict = fitted.predict(X_new)
    assert_array_equal(fitted.decision_function(X_new).argmax(axis=1), strict.argmin(axis=1))


def test_a_model_of_a_pair_is_a_logistic_regression():
    X, ranks = problem(90)
    X, ranks[::5, 1] = X * [1, 9, 50] + [0, 0, 1000], np.nan
    fitted = LogLinearLabelRanker().fit(X, ranks)
    scaled = StandardScaler().fit_transform(X)
    found = fitted._tie_shares(X)
    for pair, (i, j) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        rows = np.flatnonzero(~np.isnan(ranks[:, [i, j]]).any(axis=1))
        tied = ranks[rows, i] == ranks[rows, j]
        expected = np.full(len(X), (tied.sum() + 1) / (len(rows) + 2))
        if tied.any():
            expected = LogisticRegression().fit(scaled[rows], tied).predict_proba(scaled)[:, 1]
        assert_allclose(found[:, pair], expected, atol=1e-3)


@every_ranker
def test_models_of_ties_are_kept_in_files(ranker, tmp_path):
    X, ranks = problem(90)
    fitted = clone(ranker).fit(X, ranks)
    save(fitted, tmp_path / "m.prefero")
    assert_array_equal(load(tmp_path / "m.prefero").predict_ties(X), fitted.predict_ties(X))


def test_without_ties_none_are_learnt():
    X, ranks = problem(90)
    strict = np.argsort(np.argsort(ranks, axis=1, kind="stable"), axis=1) + 1
    fitted = LogLinearLabelRanker(alpha=0.1, warm_start=True).fit(X, ranks)
    assert hasattr(fitted, "tie_coef_")
    fitted.fit(X, strict)
    assert not hasattr(fitted, "tie_coef_")
    assert not hasattr(fitted, "tie_blend_")
    assert_array_equal(fitted.predict_buckets(X), fitted.predict(X))


def test_sparse_features_give_the_same_ties():
    X, ranks = problem(90)
    dense, sparse = (PairwiseLabelRanker(C=1.0).fit(of, ranks) for of in (X, csr_array(X)))
    assert_allclose(dense.predict_ties(X), sparse.predict_ties(csr_array(X)), atol=0.05)

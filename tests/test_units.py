"""Neither the zero nor the unit of a feature changes what a ranker predicts."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import prefero
from prefero import (
    BoostingOrderer,
    ConstraintLabelRanker,
    LogLinearLabelRanker,
    PairwiseLabelRanker,
    RegressionLabelRanker,
    StackingLabelRanker,
)

UNITS = {
    "shifted by 2000": lambda X: X + 2000,
    "shifted by 1e9": lambda X: X + 1e9,
    "times 1e6": lambda X: X * 1e6,
    "times 1e-6": lambda X: X * 1e-6,
    "each its own": lambda X: X * np.array([1e6, 1e-6, 1.0, 1e3]) - [0, 0, 1e9, 0],
}
LINEAR = [
    LogLinearLabelRanker(),
    LogLinearLabelRanker("edges", solver="boosting", alpha=0.1, max_iter=5000),
    LogLinearLabelRanker(loss="plackett_luce", alpha=0.01),
    ConstraintLabelRanker(random_state=0, max_iter=50),
    PairwiseLabelRanker(),
    PairwiseLabelRanker(C=np.inf),
    PairwiseLabelRanker(ties="model"),
    RegressionLabelRanker(),
]


def problem(n=150, c=4):
    rng = np.random.default_rng(0)
    X = rng.integers(-999, 1000, (n, 4)) / 256
    utility = X @ rng.normal(size=(4, c)) + rng.normal(size=(n, c))
    return X, (-utility).argsort(axis=1).argsort(axis=1) + 1.0


def rankers():
    """Every label ranker that can be made without an argument, and a stack."""
    yield from LINEAR
    yield StackingLabelRanker([("l", LogLinearLabelRanker()), ("p", PairwiseLabelRanker())], cv=3)
    for name in prefero.__all__:
        owner = getattr(prefero, name)
        known = {type(ranker) for ranker in LINEAR} | {StackingLabelRanker}
        if name.endswith("LabelRanker") and owner not in known and not name.startswith("Auto"):
            yield owner()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("ranker", list(rankers()), ids=str)
def test_label_rankers(ranker, unit):
    if "random_state" in ranker.get_params():
        ranker = clone(ranker).set_params(random_state=0)
    X, Y = problem()
    other = UNITS[unit](X)
    plain = clone(ranker).fit(X[:100], Y[:100])
    moved = clone(ranker).fit(other[:100], Y[:100])
    same = (plain.predict(X[100:]) == moved.predict(other[100:])).all(axis=1)
    assert same.mean() >= 0.95  # rounding may exchange labels that are nearly level
    assert moved.score(other[100:], Y[100:]) == pytest.approx(
        plain.score(X[100:], Y[100:]), abs=0.02
    )


@pytest.mark.parametrize("ranker", LINEAR, ids=str)
def test_coefficients_are_of_the_features_as_given(ranker):
    X, Y = problem()
    other = 1000 * X + 2000
    fitted = clone(ranker).fit(other, Y)
    models = getattr(fitted, "estimators_", None) or [fitted]
    coef = np.vstack([model.coef_ for model in models])
    intercept = np.hstack([model.intercept_ for model in models])
    again = clone(ranker).fit(X, Y)
    inner = np.vstack([m.coef_ for m in getattr(again, "estimators_", None) or [again]])
    np.testing.assert_allclose(1000 * coef, inner, rtol=0.05, atol=0.02 * np.abs(inner).max())
    if hasattr(fitted, "coef_") and not isinstance(ranker, PairwiseLabelRanker):
        np.testing.assert_allclose(fitted.decision_function(other), other @ coef.T + intercept)


@pytest.mark.parametrize("ranker", [LINEAR[0], LINEAR[3], LINEAR[4], LINEAR[7]], ids=str)
def test_sparse_features_are_scaled_and_stay_sparse(ranker):
    X, Y = problem()
    X[np.abs(X) < 1.5] = 0
    columns = np.array([1e6, 1e-6, 1.0, 1e3])
    plain = clone(ranker).fit(csr_array(X), Y)
    moved = clone(ranker).fit(csr_array(X * columns), Y)
    np.testing.assert_array_equal(
        plain.predict(csr_array(X)), moved.predict(csr_array(X * columns))
    )


def test_without_scaling_the_units_matter():
    X, Y = problem()
    moved = LogLinearLabelRanker(scale=False).fit(X * 1e-6, Y)
    assert moved.score(X * 1e-6, Y) < LogLinearLabelRanker(scale=False).fit(X, Y).score(X, Y) - 0.1


def test_a_constant_feature_is_no_division_by_zero():
    X, Y = problem()
    for value in (0.0, 1e9, -3e-7):
        constant = np.hstack([X, np.full((len(X), 1), value)])
        found = LogLinearLabelRanker().fit(constant, Y)
        assert np.isfinite(found.coef_).all()
        assert (
            found.predict(constant) == LogLinearLabelRanker().fit(X, Y).predict(X)
        ).mean() > 0.97


@pytest.mark.parametrize("unit", ["shifted by 2000", "times 1e6", "times 1e-6"])
@pytest.mark.parametrize("name", [n for n in prefero.__all__ if n.endswith("Orderer")])
def test_orderers(name, unit):
    orderer = getattr(prefero, name)
    orderer = orderer() if orderer is not BoostingOrderer else orderer(random_state=0)
    X, Y = problem(n=60)
    qid = np.repeat(np.arange(6), 10)
    ranks = np.hstack([Y[qid == q, 0].argsort().argsort() + 1.0 for q in range(6)])
    other = UNITS[unit](X)
    plain, moved = clone(orderer).fit(X, ranks, qid), clone(orderer).fit(other, ranks, qid)
    assert moved.score(other, ranks, qid) == pytest.approx(plain.score(X, ranks, qid), abs=0.1)


@pytest.mark.parametrize("unit", ["shifted by 2000", "times 1e6", "times 1e-6"])
@pytest.mark.parametrize("name", [n for n in prefero.__all__ if n.endswith("MultilabelRanker")])
def test_multilabel_rankers(name, unit):
    X, Y = problem()
    relevance, other = (Y <= 2).astype(int), UNITS[unit](X)
    make = getattr(prefero, name)
    plain, moved = make().fit(X, relevance), make().fit(other, relevance)
    assert (plain.predict(X) == moved.predict(other)).mean() > 0.95

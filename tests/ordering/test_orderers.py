"""What every orderer promises."""

import pickle
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import prefero
from prefero import load, save
from prefero.base import BaseOrderer
from strategies import sample_orders

# The leaves of a default tree are too large for twenty rows to be told apart.
PARAMETERS = {"BoostingOrderer": {"n_estimators": 20, "min_samples_leaf": 5}}
ORDERERS = [
    estimator(**PARAMETERS.get(name, {}))
    for name in import_module("prefero.ordering").__all__
    if isinstance(estimator := getattr(prefero.ordering, name), type)
    and issubclass(estimator, BaseOrderer)
]
assert len(ORDERERS) > 5
WITH_SCORES = [orderer for orderer in ORDERERS if hasattr(orderer, "decision_function")]


def name(estimator):
    return type(estimator).__name__


ROUNDING = "rounding chooses between weak rankers that separate the same pairs"
# Weights mean repeated objects: tests/ordering/test_methods.py shows it where these cannot.
EXPECTED_FAILURES = {
    "BoostingOrderer": {
        "check_sample_weight_equivalence_on_dense_data": "min_samples_leaf counts rows",
    },
    "CohenOrderer": dict.fromkeys(
        (
            *("check_sample_weights_list", "check_sample_weights_not_overwritten"),
            "check_sample_weight_equivalence_on_dense_data",
        ),
        "it knows no weights and refuses them",
    ),
    "ExpectedRankOrderer": dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "leave-one-out of RidgeCV sees the copies of a repeated row",
    ),
    "RankBoostOrderer": {"check_sample_weight_equivalence_on_dense_data": ROUNDING},
}


def expected_failures(estimator):
    subset = {"check_methods_subset_invariance": "a rank is a place in the set that is ordered"}
    return subset | EXPECTED_FAILURES.get(name(estimator), {})


@parametrize_with_checks(ORDERERS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


every_orderer = pytest.mark.parametrize("orderer", ORDERERS, ids=name)


def seeded(orderer):
    orderer = clone(orderer)
    return orderer.set_params(random_state=0) if hasattr(orderer, "random_state") else orderer


def fitted(orderer, X, y, qid=None):
    return seeded(orderer).fit(X, y, qid)


@every_orderer
def test_a_linear_order_is_learned(orderer):
    X, y, qid = sample_orders()
    X_new, y_new, groups_new = sample_orders(seed=1)
    assert fitted(orderer, X, y, qid).score(X_new, y_new, groups_new) > 0.6


@every_orderer
def test_predicted_ranks_are_places_in_the_group(orderer):
    X, y, qid = sample_orders()
    ranks = fitted(orderer, X, y, qid).predict(X, qid)
    assert ranks.dtype == np.int64
    for g in np.unique(qid):
        inside = np.sort(ranks[qid == g])
        assert inside[0] == 1
        assert all(inside[k] in (k + 1, inside[k - 1]) for k in range(1, len(inside)))


@every_orderer
def test_the_set_that_is_ordered_decides_the_ranks_alone(orderer):
    X, y, qid = sample_orders()
    orderer = fitted(orderer, X, y, qid)
    together = orderer.predict(X, qid)
    for g in (0, 7):
        assert_array_equal(orderer.predict(X[qid == g]), together[qid == g])


@pytest.mark.parametrize("orderer", WITH_SCORES, ids=name)
def test_scores_do_not_depend_on_the_set(orderer):
    X, y, qid = sample_orders()
    orderer = fitted(orderer, X, y, qid)
    one_by_one = np.concatenate([orderer.decision_function(row[None]) for row in X])
    assert_allclose(orderer.decision_function(X), one_by_one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("orderer", WITH_SCORES, ids=name)
def test_the_order_of_groups_and_rows_does_not_matter(orderer):
    X, y, qid = sample_orders()
    renamed = np.array([f"order {g * 7 % 40}" for g in qid])
    # Whole qid change places; inside a group the rows stay in their order.
    by_name = np.argsort(renamed, kind="stable")
    first = fitted(orderer, X, y, qid)
    second = fitted(orderer, X[by_name], y[by_name], renamed[by_name])
    assert_allclose(first.decision_function(X), second.decision_function(X), rtol=1e-3, atol=1e-3)


@every_orderer
def test_only_the_order_of_ranks_counts(orderer):
    X, y, qid = sample_orders()
    y = np.where(y == 4, 3, y)
    first, second = fitted(orderer, X, y, qid), fitted(orderer, X, 10 * y + 7, qid)
    assert_array_equal(first.predict(X, qid), second.predict(X, qid))


@every_orderer
def test_an_object_of_unknown_rank_is_left_out(orderer):
    X, y, qid = sample_orders()
    unknown = np.arange(len(y)) % 5 == 0
    first = fitted(orderer, X, np.where(unknown, np.nan, y), qid)
    second = fitted(orderer, X[~unknown], y[~unknown], qid[~unknown])
    assert_array_equal(first.predict(X, qid), second.predict(X, qid))
    with pytest.raises(ValueError, match="nothing to learn"):
        fitted(orderer, X, np.full(len(y), np.nan), qid)


@every_orderer
def test_a_single_object_a_group_is_legal(orderer):
    X, y, qid = sample_orders()
    first = fitted(orderer, X, y, qid)
    second = fitted(
        orderer, np.vstack([X, X[:3]]), np.append(y, [1, 1, 1]), np.append(qid, [90, 91, 92])
    )
    assert second.score(X, y, qid) == pytest.approx(first.score(X, y, qid), abs=0.05)


@every_orderer
def test_orders_without_a_pair_warn_and_tie_everything(orderer):
    X, y, qid = sample_orders()
    with pytest.warns(UserWarning, match="no object before another"):
        orderer = fitted(orderer, X, np.ones(len(y)), qid)
    assert (orderer.predict(X, qid) == 1).all()
    assert orderer.score(X, y, qid) == 0
    with pytest.warns(UndefinedMetricWarning, match="undefined"):
        assert np.isnan(orderer.score(X, np.ones(len(y)), qid))


@every_orderer
def test_grades_given_as_ranks_are_refused(orderer):
    X, y, qid = sample_orders()
    with pytest.raises(ValueError, match=r"y\[\d+\] is 0, but ranks inside a query start at 1"):
        fitted(orderer, X, y - 1, qid)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted(orderer, X, y, qid[:-1])


@every_orderer
def test_copies_order_the_same(orderer):
    X, y, qid = sample_orders()
    orderer = fitted(orderer, X, y, qid)
    expected = orderer.predict(X, qid)
    assert_array_equal(pickle.loads(pickle.dumps(orderer)).predict(X, qid), expected)
    assert_array_equal(fitted(orderer, X, y, qid).predict(X, qid), expected)


@every_orderer
def test_a_saved_orderer_orders_the_same(orderer, tmp_path):
    X, y, qid = sample_orders()
    orderer = fitted(orderer, X, y, qid)
    save(orderer, tmp_path / "orderer.prefero")
    assert_array_equal(load(tmp_path / "orderer.prefero").predict(X, qid), orderer.predict(X, qid))


@every_orderer
def test_groups_are_routed_through_pipelines_searches_and_folds(orderer):
    X, y, qid = sample_orders()
    orderer = seeded(orderer)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), orderer)
        scores = cross_val_score(
            pipeline, X, y, params={"groups": qid, "qid": qid}, cv=GroupKFold(3)
        )
        assert len(scores) == 3
        assert np.mean(scores) > 0.5
        search = GridSearchCV(pipeline, {"standardscaler__with_mean": [True]}, cv=GroupKFold(3))
        search.fit(X, y, groups=qid, qid=qid)
        assert search.best_score_ == pytest.approx(np.mean(scores))

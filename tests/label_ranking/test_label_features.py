"""Labels with features: pairs as objects, labels never seen, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import prefero
from model_files import estimators_of
from prefero import BoostingOrderer, ExpectedRankOrderer, LabelFeatureRanker, load, save
from prefero.datasets import make_dyad_ranking
from prefero.metrics import kendall_tau

ORDERERS = [
    orderer
    for orderer in estimators_of("ordering")
    if prefero.RankCorrelationReducer is not type(orderer)
]


def problem(**sizes):
    return make_dyad_ranking(**{"n_samples": 80, "n_labels": 6, "random_state": 0} | sizes)


def test_pairs_are_written_out_one_by_one():
    X, Y, Z = problem(n_samples=12)
    Y[0, :2] = np.nan
    Y[1] = [1, 1, 3, 4, 5, 6]
    ranker = LabelFeatureRanker(label_features=Z, calibrate=False).fit(X, Y)
    x, z = (StandardScaler().fit_transform(part) for part in (X, Z))
    objects, ranks, qid = [], [], []
    for i in range(12):
        for j in range(6):
            if not np.isnan(Y[i, j]):
                objects.append([*z[j], *(a * b for a in x[i] for b in z[j])])
                ranks.append(Y[i, j])
                qid.append(i)
    orderer = ExpectedRankOrderer().fit(objects, ranks, qid=qid)
    every = [[*z[j], *(a * b for a in x[i] for b in z[j])] for i in range(12) for j in range(6)]
    expected = orderer.decision_function(every).reshape(12, 6)
    assert_allclose(ranker.decision_function(X), expected, atol=1e-10)


@pytest.mark.parametrize("orderer", ORDERERS, ids=lambda orderer: type(orderer).__name__)
def test_any_orderer_ranks_labels_it_never_saw(orderer, tmp_path):
    X, Y, Z = problem(n_samples=60)
    if "random_state" in orderer.get_params():
        orderer = clone(orderer).set_params(random_state=0)
    known = pd.DataFrame(Y[:, :5], columns=list("abcde")).rank(axis=1)
    features = pd.DataFrame(Z, index=list("abcdef"))
    ranker = LabelFeatureRanker(orderer, features, calibrate=False).fit(X, known)
    every = ranker.predict(X, labels=features)
    assert_array_equal(np.sort(every, axis=1), np.tile(np.arange(1, 7), (60, 1)))
    assert kendall_tau(Y, every) > 0.2
    order = ranker.predict_order(X, top=2, labels=features)
    assert set(np.unique(order)) <= set("abcdef")
    assert_array_equal(ranker.predict(X, labels=features[:5]), ranker.predict(X))
    save(ranker, tmp_path / "m.prefero")
    again = load(tmp_path / "m.prefero")
    assert_array_equal(again.predict(X, labels=features), every)


def test_features_tell_more_of_a_new_label_than_the_others_do():
    X, Y, Z = problem(n_samples=150, n_labels=10, n_label_features=2)
    held_out, place = 3, []
    seen = [j for j in range(10) if j != held_out]
    ranks = Y[:100][:, seen].argsort(axis=1).argsort(axis=1) + 1
    ranker = LabelFeatureRanker(label_features=Z[seen], calibrate=False).fit(X[:100], ranks)
    predicted = ranker.predict(X[100:], labels=Z)
    for j in seen:
        right = (predicted[:, held_out] < predicted[:, j]) == (Y[100:, held_out] < Y[100:, j])
        place.append(right.mean())
    assert np.mean(place) > 0.65


def test_a_label_never_ranked_stands_where_its_features_put_it():
    X, Y, Z = problem()
    Y[:, 2] = np.nan
    ranker = LabelFeatureRanker(label_features=Z, calibrate=False).fit(X, Y)
    assert not ranker.unseen_labels_.any()
    assert len(np.unique(ranker.predict(X)[:, 2])) > 1
    with pytest.warns(UserWarning, match="ranked in no row"):
        plain = LabelFeatureRanker(calibrate=False).fit(X, Y)
    assert (plain.predict(X)[:, 2] == 6).all()


def test_rows_of_a_table_are_found_by_the_names_of_the_labels():
    X, Y, Z = problem()
    names = list("abcdef")
    shuffled = pd.DataFrame(Z, index=names).loc[names[::-1]]
    frame = pd.DataFrame(Y, columns=names)
    one = LabelFeatureRanker(label_features=shuffled, calibrate=False).fit(X, frame)
    other = LabelFeatureRanker(label_features=Z, calibrate=False).fit(X, Y)
    assert_array_equal(one.predict(X), other.predict(X))
    with pytest.raises(ValueError, match="no row for the label 'f'"):
        LabelFeatureRanker(label_features=shuffled[1:]).fit(X, frame)


def test_trees_get_features_side_by_side():
    X, Y, Z = problem(n_samples=20)
    ranker = LabelFeatureRanker(BoostingOrderer(random_state=0), Z, calibrate=False)
    assert ranker.fit(X, Y).orderer_.n_features_in_ == 5 + 4
    ranker.set_params(products=True)
    assert ranker.fit(X, Y).orderer_.n_features_in_ == 4 + 5 * 4


@pytest.mark.parametrize(
    ("given", "labels", "sentence"),
    [
        (np.eye(5), None, "label_features have 5 rows, but y has 6 labels"),
        (None, np.eye(3), "trained without label_features"),
        (np.eye(6), np.eye(3), "labels have 3 features, but label_features had 6"),
    ],
)
def test_features_that_do_not_fit_are_refused(given, labels, sentence):
    X, Y, _ = problem(n_samples=20)
    with pytest.raises(ValueError, match=sentence):
        LabelFeatureRanker(label_features=given, calibrate=False).fit(X, Y).predict(X, labels)


def test_weights_are_whole_numbers():
    X, Y, Z = problem(n_samples=20)
    ranker = LabelFeatureRanker(label_features=Z, calibrate=False)
    twice = clone(ranker).fit(np.vstack([X, X[:5]]), np.vstack([Y, Y[:5]]))
    weighted = clone(ranker).fit(X, Y, sample_weight=[2] * 5 + [1] * 15)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is 0.5, but orderers know"):
        clone(ranker).fit(X, Y, sample_weight=[0.5] * 20)
    assert_allclose(twice.decision_function(X), weighted.decision_function(X), atol=1e-9)


def test_made_dyads_hold_what_they_promise():
    X, Y, Z = make_dyad_ranking(500, 3, 6, 2, personal=0, noise=0, random_state=1)
    assert (Y == Y[0]).all()
    assert (X.shape, Z.shape) == ((500, 3), (6, 2))
    personal = make_dyad_ranking(500, 3, 6, 2, personal=5, noise=0, random_state=1)[1]
    assert len(np.unique(personal, axis=0)) > 20

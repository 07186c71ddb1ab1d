"""Labels left out in turn: what is measured, by whom, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import StandardScaler

from prefero import LabelFeatureRanker, make_ranking_pipeline
from prefero.datasets import make_dyad_ranking
from prefero.evaluation import leave_one_label_out
from prefero.metrics import kendall_tau
from prefero.rankings import ranks_from_scores

RANKERS = {"regression": LabelFeatureRanker(calibrate=False)}


def problem(n=40, c=5, seed=0, *, gaps=0.0, ties=False):
    X, Y, Z = make_dyad_ranking(n, n_labels=c, random_state=seed)
    if ties:
        Y = ranks_from_scores(-np.ceil(Y / 2), higher_is_better=True)
    Y = Y.astype(float)
    Y[np.random.default_rng(seed).random(Y.shape) < gaps] = np.nan
    return X, Y, Z


def placed_by_hand(truth, predicted, label):
    """The share of the pairs of a label that are put right; a loop over rows and others."""
    right = total = 0
    for true, found in zip(truth, predicted, strict=True):
        for other in range(len(true)):
            gap = true[label] - true[other]
            if other != label and gap == gap and gap != 0:
                total += 1
                right += np.sign(gap) == np.sign(found[label] - found[other])
    return right / total


@pytest.mark.parametrize("how", [{}, {"gaps": 0.3}, {"ties": True}, {"gaps": 0.2, "ties": True}])
def test_what_is_measured_is_counted_by_hand(how):
    X, Y, Z = problem(**how)
    train, test = np.arange(20, 40), np.arange(20)
    groups = np.arange(40) // 20  # one group per fold, so that the folds are known

    found = leave_one_label_out(RANKERS, X, Y, Z, n_splits=2, groups=groups, labels=[1, 3])
    for label in (1, 3):
        rows = found.where(ranker="regression", fold=label)
        seen = [j for j in range(5) if j != label]
        expected = []
        for fitted, asked in ((train, test), (test, train)):
            known = ranks_from_scores(Y[fitted][:, seen], higher_is_better=False)
            some = ~np.isnan(known).all(axis=1)
            ranker = LabelFeatureRanker(label_features=Z[seen], calibrate=False)
            predicted = ranker.fit(X[fitted][some], known[some]).predict(X[asked], labels=Z)
            share = placed_by_hand(Y[asked], predicted, label)
            expected.append((share, kendall_tau(Y[asked], predicted)))
        (row,) = rows
        assert any(np.allclose((row["placed"], row["tau"]), one) for one in expected)


def test_the_constant_order_puts_the_new_label_in_the_middle():
    # All agree on 0 > 1 > 2 > 3 > 4, and features say nothing.
    Y = np.tile(np.arange(1.0, 6.0), (12, 1))
    Z = np.random.default_rng(0).normal(size=(5, 1))
    found = leave_one_label_out({}, np.zeros((12, 1)), Y, Z, n_splits=2)
    constant = found.where(ranker="consensus")
    # Between the second and the third of the other four, or tied with them: two pairs of a label
    # at an end are right, three or four of one inside.
    assert constant["placed"][[0, 4]].tolist() == [0.5, 0.5]
    assert (constant["placed"][1:4] >= 0.75).all()


def test_mean_ranks_follow_the_features():
    Y = np.tile(np.arange(1.0, 6.0), (12, 1))
    Z = np.arange(5.0)[:, None]
    found = leave_one_label_out(RANKERS, np.zeros((12, 1)), Y, Z, n_splits=2)
    assert_allclose(found.where(ranker="mean-ranks")["placed"], 1)
    assert_allclose(found.where(ranker="regression")["tau"], 1)


def test_pipelines_are_asked_about_new_labels_too():
    X, Y, Z = problem()
    steps = make_ranking_pipeline(StandardScaler(), LabelFeatureRanker(calibrate=False))
    found = leave_one_label_out({"plain": RANKERS["regression"], "behind": steps}, X, Y, Z)
    plain, behind = (found.where(ranker=name)["placed"] for name in ("plain", "behind"))
    assert_allclose(plain, behind, atol=0.1)
    assert len(plain) == 5


@pytest.mark.parametrize(
    ("labels", "rows", "said"), [(5, 4, "have 4 rows, but Y has 5"), (2, 2, "at least three")]
)
def test_what_cannot_be_left_out_is_refused(labels, rows, said):
    X, Y, Z = problem(c=labels)
    with pytest.raises(ValueError, match=said):
        leave_one_label_out(RANKERS, X, Y, Z[:rows])


def test_features_of_labels_are_found_by_name():
    import pandas as pd

    X, Y, Z = problem()
    table = pd.DataFrame(Z, columns=[f"z{j}" for j in range(Z.shape[1])])
    ranker = LabelFeatureRanker(label_features=table, calibrate=False).fit(X, Y)
    turned = table[table.columns[::-1]]
    assert ranker.label_feature_names_in_.tolist() == list(table)
    np.testing.assert_array_equal(ranker.predict(X, labels=turned), ranker.predict(X, labels=Z))
    with pytest.raises(ValueError, match="lack the feature 'z0'"):
        ranker.predict(X, labels=table.drop(columns="z0"))

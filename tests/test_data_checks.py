"""What should make the owner of a data set wonder, and what should not."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from prefero._data_checks import leaks, repeated_rows, shared_entities
from prefero.datasets import dataset_names, load_dataset, make_label_ranking
from prefero.rankings import drop_labels, ranks_from_scores


def problem(n=120, c=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, c)) + rng.normal(size=(n, c))
    ranks = ranks_from_scores(scores, higher_is_better=True)
    return pd.DataFrame(X, columns=list("uvw")), scores, ranks


def test_a_copy_of_a_label_is_found_in_any_unit_and_with_holes():
    X, _, ranks = problem()
    sparse = drop_labels(ranks, 0.3, random_state=0)
    for copy in (ranks[:, 2], -3 * ranks[:, 2] + 7, np.exp(ranks[:, 2])):
        (leak,) = leaks(X.assign(copy=copy), ranks, list("abcd"))
        assert leak.features == ("copy",)
        assert "the rank of 'c'" in str(leak)
    assert not leaks(X, sparse, list("abcd"))
    assert leaks(X.assign(copy=sparse[:, 2]), sparse, list("abcd"))


def test_scores_left_among_the_features_are_found():
    X, scores, ranks = problem()
    for sign in (1, -1):
        table = X.join(pd.DataFrame(sign * scores, columns=["s1", "s2", "s3", "s4"]))
        (leak,) = leaks(table, ranks, list("abcd"))
        assert str(leak) == "'s1', 's2', 's3', 's4' say the whole order, read side by side"


def test_a_column_that_names_the_winner_is_found():
    X, _, ranks = problem()
    winner = np.array(list("abcd"))[np.argmin(ranks, axis=1)]
    (leak,) = leaks(X.assign(winner=winner), ranks, list("abcd"))
    assert str(leak) == "'winner' says which label comes first (100% of the rows)"
    assert not leaks(X.assign(kind=np.roll(winner, 1)), ranks, list("abcd"))


@pytest.mark.parametrize("name", dataset_names())
def test_good_features_are_no_leaks(name):
    data = load_dataset(name, as_frame=True)
    assert not leaks(data.data, data.target.to_numpy(float), list(data.target.columns))
    assert repeated_rows(data.data) == 0


def test_a_strong_cause_is_no_leak():
    X, Y = make_label_ranking(500, 3, 5, model="tree", random_state=0)
    assert not leaks(X, Y, range(5))
    x = np.random.default_rng(0).normal(size=(200, 1))
    assert not leaks(x, np.where(x > 0, [[1, 2]], [[2, 1]]).astype(float), "ab")


def test_few_rows_say_nothing():
    X, _, ranks = problem(n=19)
    assert not leaks(X.assign(copy=ranks[:, 0]), ranks, list("abcd"))


def test_coarse_features_repeat_by_chance():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 500), "age": rng.integers(1, 6, 500)})
    assert repeated_rows(people) == 0
    subjects = np.repeat(rng.normal(size=(15, 4)), 22, axis=0)
    assert repeated_rows(subjects) == 330
    few = np.vstack([rng.normal(size=(300, 4)), subjects[:4]])
    assert repeated_rows(few) == 0


def test_many_columns_cost_a_few_matrix_products(monkeypatch):
    rng = np.random.default_rng(0)
    X, ranks = rng.normal(size=(60, 300)), np.argsort(rng.normal(size=(60, 30)), axis=1) + 1.0
    calls = []
    corrcoef = np.corrcoef
    monkeypatch.setattr(np, "corrcoef", lambda *given: calls.append(1) or corrcoef(*given))
    X[:, 7] = ranks[:, 3]
    (leak,) = leaks(X, ranks, range(30))
    assert leak.features == ("x7",)
    assert len(calls) < 10


def test_correlations_are_those_of_spearman():
    from scipy.stats import spearmanr

    from prefero._data_checks import _correlations

    X, _, ranks = problem()
    expected = [[spearmanr(x, y).statistic for y in ranks.T] for x in X.to_numpy().T]
    np.testing.assert_allclose(_correlations(X.to_numpy(), ranks), expected)
    constant = np.column_stack([np.ones(120), np.full(120, np.nan)])
    assert not _correlations(constant, ranks).any()


def test_columns_that_describe_shared_things_are_found():
    rng = np.random.default_rng(0)
    halides, additives = rng.normal(size=(15, 4)), rng.normal(size=(22, 3))
    which = np.array([(i, j) for i in range(15) for j in range(22)])
    X = pd.DataFrame(np.hstack([halides[which[:, 0]], additives[which[:, 1]]]))
    X["colour"], X["count"], X["size"] = "red", which[:, 0], rng.normal(size=len(X))
    first, second = shared_entities(X)
    assert (first.columns, first.n_entities, first.n_rows) == (("0", "1", "2", "3"), 15, 330)
    assert (second.columns, second.n_entities) == (("4", "5", "6"), 22)
    # Measurements of their own, coarse ones too, describe no things.
    assert not shared_entities(rng.normal(size=(330, 4)))
    assert not shared_entities(rng.integers(0, 9, size=(330, 4)) / 2)


def test_counts_of_outcomes_leak():
    rng = np.random.default_rng(0)
    times = rng.exponential(size=(80, 5))
    ranks = stats.rankdata(np.minimum(times, 1.0), axis=1, method="min").astype(float)
    solved = (times < 1).sum(axis=1)
    X = np.column_stack([rng.normal(size=80), solved])
    assert [leak.features for leak in leaks(X, ranks, list("abcde"))] == [("x1",)]
    ranked = np.where(rng.random(ranks.shape) < 0.4, np.nan, ranks)
    X = np.column_stack([rng.normal(size=80), (~np.isnan(ranked)).sum(axis=1)])
    (leak,) = leaks(X, ranked, list("abcde"))
    assert "how many labels are ranked" in str(leak)

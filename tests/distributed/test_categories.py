"""Columns of words in partitions: categories get the numbers that one machine would give them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clusters import two_workers
from partitions import nested, problem, same_trees
from prefero import BoostingLabelRanker, ForestLabelRanker
from prefero.distributed import DistributedLabelRanker
from prefero.persistence import load, save

dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

TOWNS = np.array(["Aachen", "Bonn", "Celle", "Düren", "Essen", "Fulda"], dtype=object)


def table(n=150, *, seed=0, gaps=False, sort=False):
    """A table with a column of words, one of pandas' category dtype and two of numbers."""
    X, Y = problem(n, n_labels=5, seed=seed, theta=1.0)
    random = np.random.default_rng(seed)
    places = np.clip(np.round(X[:, 0] + 2.5 + random.normal(size=n) / 2), 0, 5).astype(int)
    if sort:  # partitions then see different towns
        order = np.argsort(places, kind="stable")
        X, Y, places = X[order], Y[order], places[order]
    towns, trees = TOWNS[places], np.array(["fir", "oak", "yew"])[(X[:, 1] > 0) * 1 + (X[:, 2] > 1)]
    if gaps:
        towns = np.where(random.random(n) < 0.2, None, towns)
    frame = pd.DataFrame(X[:, 2:], columns=["size", "age"]).assign(
        town=towns, tree=pd.Categorical(trees)
    )
    return frame, pd.DataFrame(Y, columns=list("abcde"))


def fitted(ranker, frame, ranks, n_parts=1, **options):
    parts = [dd.from_pandas(one, npartitions=n_parts, sort=False) for one in (frame, ranks)]
    return DistributedLabelRanker(ranker, **{"client": False, **options}).fit(*parts)


FOREST = {"criterion": "spearman", "max_features": None, "random_state": 0}


@settings(max_examples=10)
@example(seed=69, gaps=True, sort=False, parts=1, splits="partition", leaf=1)
@given(
    seed=st.integers(0, 99),
    gaps=st.booleans(),
    sort=st.booleans(),
    parts=st.sampled_from([1, 3]),
    splits=st.sampled_from(["partition", "one"]),
    leaf=st.sampled_from([1, 4]),
)
def test_without_drawn_features_the_forest_is_that_of_one_machine(
    seed, gaps, sort, parts, splits, leaf
):
    frame, ranks = table(seed=seed, gaps=gaps, sort=sort)
    forest = ForestLabelRanker(2, category_splits=splits, min_samples_leaf=leaf, **FOREST)
    found, local = fitted(forest, frame, ranks, parts).to_local(), forest.fit(frame, ranks)
    assert found.categories_ == local.categories_
    assert np.array_equal(found.nominal_features_, local.nominal_features_)
    assert np.array_equal(found.feature_ranges_, local.feature_ranges_)
    assert nested(found) == nested(local)
    assert len(local.trees_["categories"])
    # Rows with gaps may part where no row of a tree's sample has one: see `nested`.
    known = frame[frame.notna().all(axis=1)]
    assert np.allclose(found.decision_function(known), local.decision_function(known), atol=1e-6)


@settings(max_examples=8)
@given(
    seed=st.integers(0, 99),
    gaps=st.booleans(),
    parts=st.sampled_from([1, 3]),
    splits=st.sampled_from(["partition", "one"]),
)
def test_boosting_from_all_rows_is_that_of_one_machine(seed, gaps, parts, splits):
    frame, ranks = table(90, seed=seed, gaps=gaps)
    ranker = BoostingLabelRanker(
        3, subsample=1.0, validation=None, category_splits=splits, random_state=seed
    )
    found, local = fitted(ranker, frame, ranks, parts).to_local(), ranker.fit(frame, ranks)
    assert found.categories_ == local.categories_
    # One of two categories gains what the other does, but for the rounding of one machine.
    how = {"swapped": True} if splits == "one" else {"sides": True}
    assert nested(found, **how) == nested(local, **how)
    assert np.allclose(found.decision_function(frame), local.decision_function(frame), atol=1e-6)


def test_trees_of_one_partition_are_those_of_one_machine():
    frame, ranks = table(gaps=True)
    forest = ForestLabelRanker(4, min_samples_leaf=3, random_state=0)
    found = fitted(forest, frame, ranks, forest="partitions").to_local()
    same_trees(found, forest.fit(frame, ranks))


@pytest.mark.parametrize("ranker", [ForestLabelRanker(6), BoostingLabelRanker(6)], ids=str)
def test_a_cluster_grows_the_trees_of_threads(ranker, path):
    frame, ranks = table(sort=True, gaps=True)
    ranker.set_params(random_state=0)
    with two_workers() as client:
        by_workers = fitted(ranker, frame, ranks, 3, client=client)
        lazy = by_workers.predict(dd.from_pandas(frame, npartitions=2)).compute()
    model = by_workers.to_local()
    same_trees(model, fitted(ranker, frame, ranks, 3).to_local())
    save(model, path)
    assert np.array_equal(load(path).predict(frame), lazy)
    unseen = frame.assign(town="Zeven")
    assert np.array_equal(model.predict(unseen), model.predict(unseen.assign(town=None)))


def test_what_is_words_in_one_partition_is_names_in_all():
    frame, ranks = table(60, sort=True)
    numbers = frame.assign(town=np.where(frame.town == "Aachen", "7", frame.town))
    numbers = numbers.sort_values("town", kind="stable", ignore_index=True)
    forest = ForestLabelRanker(2, **FOREST)
    found = fitted(forest, numbers, ranks, 6).to_local()
    local = forest.fit(numbers, ranks)
    assert found.categories_ == local.categories_
    assert "7" in found.categories_[2]
    assert nested(found) == nested(local)


def test_columns_named_as_nominal():
    X, Y = problem(80, n_labels=5)
    X = X.round(0)
    forest = ForestLabelRanker(2, categorical_features=[0, 2], **FOREST)
    frame, ranks = pd.DataFrame(X), pd.DataFrame(Y)
    found, local = fitted(forest, frame, ranks, 3).to_local(), forest.fit(frame, ranks)
    assert found.categories_ == local.categories_
    assert nested(found) == nested(local)

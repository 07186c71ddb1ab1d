"""Partitions that are wrong, empty or unlike each other: what is said, and what is left out."""

import numpy as np
import pytest

from partitions import cut, nested, orders, problem
from prefero import (
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    RankSVMOrderer,
)
from prefero.distributed import DistributedLabelRanker, DistributedOrderer

dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")


def test_the_partition_that_is_wrong_is_named():
    X, Y = problem(30)
    X[25, 1] = np.inf
    ranker = DistributedLabelRanker(ForestLabelRanker(2), client=False)
    with pytest.raises(ValueError, match=r"Partition 2: .*infinity"):
        ranker.fit(cut(X, 10, 10), cut(Y, 10, 10))
    X[25, 1], Y[12, 0] = 0, 9
    with pytest.raises(ValueError, match="Partition 1: "):
        ranker.fit(cut(X, 10, 10), cut(Y, 10, 10))


def test_rankers_that_take_numbers_alone_refuse_words():
    X, Y = problem(30)
    words = pd.DataFrame(X, columns=list("abcd")).assign(town=["1"] * 20 + ["here"] * 10)
    tables = [dd.from_pandas(table, npartitions=3) for table in (words, pd.DataFrame(Y))]
    with pytest.raises(ValueError, match="Partition 2: X holds the word 'here' in column 'town'"):
        DistributedLabelRanker(LogLinearLabelRanker(), client=False).fit(*tables)


def test_too_many_categories_of_all_partitions():
    X, Y = problem(300)
    words = pd.DataFrame(X, columns=list("abcd")).assign(town=[f"town {k}" for k in range(300)])
    tables = [dd.from_pandas(table, npartitions=2) for table in (words, pd.DataFrame(Y))]
    with pytest.raises(ValueError, match="Feature 'town' has 300 categories, but at most 255"):
        DistributedLabelRanker(ForestLabelRanker(2), client=False).fit(*tables)


def test_partitions_have_the_same_columns():
    X, Y = problem(30)
    features = dd.from_delayed([frame(X[:15], "abcd"), frame(X[15:], "abdc")], verify_meta=False)
    ranks = dd.from_pandas(pd.DataFrame(Y), npartitions=2)
    with pytest.raises(ValueError, match="Partition 1: the columns of X are"):
        DistributedLabelRanker(ForestLabelRanker(2), client=False).fit(features, ranks)


def frame(values, names):
    import dask

    return dask.delayed(pd.DataFrame)(values, columns=list(names))


def test_as_many_partitions_of_ranks_as_of_features():
    X, Y = problem(30)
    table = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    with pytest.raises(ValueError, match="same number of partitions, got X 3, y 2"):
        DistributedLabelRanker(ForestLabelRanker(2), client=False).fit(table, cut(Y, 15))


def test_an_order_in_two_partitions_is_refused():
    X, y, groups = orders()
    with pytest.raises(ValueError, match="Partition 1: qid 10 also lies in partition 0"):
        DistributedOrderer(RankSVMOrderer(), client=False).fit(
            cut(X, 63), cut(y, 63), cut(groups, 63)
        )


@pytest.mark.parametrize(
    "ranker",
    [
        ForestLabelRanker(2, random_state=0),
        LogLinearLabelRanker(alpha=0.1),
        PairwiseLabelRanker(C=1.0),
        NeighborsLabelRanker(5),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
@pytest.mark.filterwarnings("ignore:.*rank no label:UserWarning")
def test_a_partition_may_say_nothing_at_all(ranker):
    X, Y = problem(60)
    Y[20:40] = np.nan
    known = np.r_[:20, 40:60]
    found = DistributedLabelRanker(ranker, client=False).fit(cut(X, 20, 20), cut(Y, 20, 20))
    other = DistributedLabelRanker(ranker, client=False).fit(X[known], Y[known])
    assert np.allclose(found.decision_function(X), other.decision_function(X))


def test_rows_that_say_nothing_are_left_out_with_one_warning():
    X, Y = problem(60, n_labels=5)
    empty = Y.copy()
    empty[::4] = np.nan
    forest = ForestLabelRanker(2, criterion="spearman", max_features=None, random_state=0)
    ranker = DistributedLabelRanker(forest, client=False)
    with pytest.warns(UserWarning, match="15 rows of y rank no label"):
        found = ranker.fit(cut(X, 20, 20), cut(empty, 20, 20)).to_local()
    known = np.arange(60) % 4 > 0
    assert nested(found) == nested(forest.fit(X[known], Y[known]))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_client_need_not_be_the_default_one():
    from distributed import Client, LocalCluster

    X, Y = problem(30)
    options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        forest = ForestLabelRanker(2, random_state=0)
        found = DistributedLabelRanker(forest, client=client).fit(cut(X, 10), cut(Y, 10))
    assert found.to_local().predict(X).shape == Y.shape

"""Bins of features: edges, and the categories of nominal features."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from prefero import BoostingLabelRanker, ForestLabelRanker, TreeLabelRanker
from prefero._trees._bins import MAX_ROWS_FOR_QUANTILES, find_bins


def test_every_category_of_many_rows_has_a_bin():
    codes = np.zeros((MAX_ROWS_FOR_QUANTILES + 2, 1))
    codes[100_001] = 2  # in no sample of every second row
    bins = find_bins(codes, np.array([True]))
    assert bins.apply(codes)[100_001, 0] == 2
    assert (bins.apply(codes) != 255).all()


def test_edges_of_many_rows_do_not_follow_a_period():
    n = 2 * MAX_ROWS_FOR_QUANTILES
    column = np.where(np.arange(n) % 2, np.arange(n), 0.0)
    edges = find_bins(column[:, None]).edges
    # Half of the rows are 0: the other half has its quantiles all the same.
    assert len(edges) > 100
    np.testing.assert_allclose(np.median(edges), n / 2, rtol=0.1)


@pytest.mark.parametrize("kind", [TreeLabelRanker, ForestLabelRanker, BoostingLabelRanker])
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_a_polars_table_with_words_is_one_of_pandas(kind, dtype):
    rng = np.random.default_rng(0)
    soil = rng.choice(["clay", "sand", "loam"], 60)
    table = {"soil": soil.tolist(), "rain": rng.normal(size=60).tolist()}
    Y = np.where((soil == "clay")[:, None], [1, 2, 3], [3, 2, 1])
    ranker = kind(random_state=0)
    expected = ranker.fit(pd.DataFrame(table), Y).decision_function(pd.DataFrame(table))
    polar = pl.DataFrame(table, schema_overrides={"soil": dtype})
    again = kind(random_state=0).fit(polar, Y)
    np.testing.assert_array_equal(again.decision_function(polar), expected)
    assert again.feature_names_in_.tolist() == ["soil", "rain"]

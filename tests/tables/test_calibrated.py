"""Relevance, calibrated rankings, costs and time-outs in tables, both ways."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from prefero.exceptions import DataError
from prefero.rankings import split_calibrated
from prefero.tables import Rankings, in_form, read_rankings, with_costs
from prefero.tables._costs import least_weight
from strategies import calibrated_matrices


@settings(max_examples=50, deadline=None)
@given(calibrated_matrices())
def test_every_form_with_a_virtual_label_is_read_back(C):
    labels = [f"y{j}" for j in range(C.shape[1] - 1)]
    relevance, ranks = split_calibrated(C)
    table = read_rankings(pd.DataFrame(relevance, columns=labels), format="relevance").table
    rankings = Rankings(table, ranks, labels, np.arange(len(C)), [], calibrated=C)
    for form in ("relevance", "calibrated", "scores"):
        meaning = "relevance" if form == "relevance" else "calibrated"
        frame = in_form(rankings, form)
        if form == "calibrated" and (frame["calibrated"] == "[][]").all():
            continue  # names no label
        again = read_rankings(frame, format=meaning)
        found = split_calibrated(again.calibrated)
        at = [labels.index(name) for name in again.labels]
        assert_array_equal(found[0], relevance[:, at])
        if form != "relevance":
            assert_array_equal(found[1], split_calibrated(C[:, [*at, -1]])[1])


def test_nought_and_one_are_no_ranks():
    frame = pd.DataFrame({"a": [1, 0], "b": [0, None]})
    with pytest.raises(DataError, match=r"row 1: all cells are 0 or 1.*format='relevance'"):
        read_rankings(frame)
    with pytest.raises(DataError, match=r"row 2: .*format='calibrated'"):
        read_rankings(pd.DataFrame({"a": [1, -0.5]}), format="relevance")
    with pytest.raises(DataError, match="which labels are relevant"):
        in_form(read_rankings(pd.DataFrame({"a": [1], "b": [2]})), "relevance")


def scored(**columns):
    return read_rankings(pd.DataFrame(columns), "q *", format="scores", higher_is_better=True)


def test_costs_are_found_by_name_and_weighed():
    rankings = scored(**{"q a x": [0.9], "q b x": [0.5], "c b x": [1.0], "c a x": [9.0]})
    weighed = with_costs(rankings, "c *", weight=0.1)
    assert_allclose(weighed.scores, [[0.0, 0.4]])
    assert_allclose(weighed.values["cost"], [[9, 1]])
    assert weighed.others == []
    assert_array_equal(with_costs(rankings, "c *", budget=9).ranks, [[1, 2]])
    assert_array_equal(with_costs(rankings, "c b x,c a x", weight=0.1).ranks, [[1, 2]])


def test_costs_that_do_not_fit_are_named():
    rankings = scored(**{"q a": [0.9], "q b": [0.5], "c a": [1.0], "c z": [9.0]})
    with pytest.raises(DataError, match="the cost of 'q b'"):
        with_costs(rankings, "c *", weight=1)
    with pytest.raises(ValueError, match="one of weight, budget and mean_budget"):
        with_costs(rankings, "c *")
    unknown = scored(**{"q a": [0.9], "q b": [0.5], "c a": [None], "c b": [1.0]})
    assert np.isnan(with_costs(unknown, "c *", weight=1).ranks).tolist() == [[True, False]]


def mean_cost(scores, costs, weight):
    """What the best label of each row costs, the cheapest of those alike; row by row."""
    total, n = 0.0, 0
    for score, cost in zip(scores, costs, strict=True):
        offers = [
            (s - weight * c, -c) for s, c in zip(score, cost, strict=True) if s == s and c == c
        ]
        if offers:
            total, n = total - max(offers)[1], n + 1
    return total / max(n, 1)


@given(st.integers(0, 10_000), st.floats(0.1, 1.2))
def test_a_budget_in_the_mean_finds_the_least_weight(seed, share):
    rng = np.random.default_rng(seed)
    scores, costs = rng.normal(size=(5, 3)).round(1), rng.integers(1, 9, (5, 3)).astype(float)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    costs[rng.random(costs.shape) < 0.2] = np.nan
    known = np.where(np.isnan(scores), np.nan, costs)
    rows = ~np.isnan(known).all(axis=1)
    cheapest = np.nanmin(known[rows], axis=1).mean() if rows.any() else 0.0
    dearest = mean_cost(scores, costs, 0.0)
    budget = cheapest + share * (dearest - cheapest) + 1e-9
    weight = least_weight(scores, costs, budget)
    assert mean_cost(scores, costs, weight) <= budget
    assert weight == 0 or mean_cost(scores, costs, weight * (1 - 1e-4)) > budget
    assert (weight == 0) == (dearest <= budget)


def test_a_budget_below_the_cheapest_labels_is_refused():
    rankings = scored(**{"q a": [0.9], "q b": [0.5], "c a": [4.0], "c b": [3.0]})
    with pytest.raises(DataError, match="even the cheapest label of each row costs 3 on average"):
        with_costs(rankings, "c *", mean_budget=2)
    assert with_costs(rankings, "c *", mean_budget=9).cost_weight == 0
    weighed = with_costs(rankings, "c *", mean_budget=3)
    assert weighed.cost_weight == pytest.approx(0.4, rel=1e-5)
    assert_array_equal(weighed.ranks, [[2, 1]])


def test_time_outs_are_at_least_the_cutoff():
    frame = pd.DataFrame({"a": [3.0], "b": [60.0], "c": [75.0], "d": [None]})
    found = read_rankings(frame, format="scores", higher_is_better=False, cutoff=60)
    assert_array_equal(found.ranks, [[1, 2, 2, np.nan]])
    assert_array_equal(found.values["PAR10"], [[3, 600, 600, np.nan]])
    with pytest.raises(ValueError, match="cutoff is for run times"):
        read_rankings(frame, format="scores", higher_is_better=True, cutoff=60)


def test_all_columns_that_hold_no_numbers_are_told():
    frame = pd.DataFrame({"a": ["1", "x"], "b": ["y", "2"]})
    with pytest.raises(DataError, match=r"row 2: column 'a' holds 'x'.*neither do 'b' \('y'\)"):
        read_rankings(frame)
    with pytest.raises(DataError, match=r"no column is named 'aa' \(did you mean 'a'\?\)"):
        read_rankings(frame, "aa")

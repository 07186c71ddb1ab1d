"""Orders: text both ways, ranks both ways, top-k lists."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import bucket_positions
from prefero.exceptions import RowError
from prefero.rankings import format_order, orders_from_ranks, parse_order, ranks_from_orders
from strategies import rank_matrices

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
AWKWARD = ["New York", "NA", "<script>", "~", ">", '"', 'a "b" c', " a", "a ", "", "東京", "a\nb"]


@st.composite
def orders(draw, names=NAMES):
    labels = draw(st.lists(names, unique=True, max_size=8))
    order = []
    while labels:
        size = draw(st.integers(1, len(labels)))
        place, labels = tuple(labels[:size]), labels[size:]
        order.append(place if size > 1 else place[0])
    return order


@given(orders())
def test_any_order_survives_text(order):
    assert parse_order(format_order(order)) == order


@given(orders(st.sampled_from(AWKWARD)))
def test_awkward_names_survive_text(order):
    assert parse_order(format_order(order)) == order


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("b>a~c", ["b", ("a", "c")]),
        ("  b  >a ~   c ", ["b", ("a", "c")]),
        ("a", ["a"]),
        ("", []),
        ("  ", []),
        ("L1>L2>L3", ["L1", "L2", "L3"]),
        ('"a > b" > c', ["a > b", "c"]),
        ('"say ""hi""" ~ x', [('say "hi"', "x")]),
        ("New York > Los Angeles", ["New York", "Los Angeles"]),
    ],
)
def test_text_is_read(text, order):
    assert parse_order(text) == order


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a >", "a name is missing at character 4"),
        ("> a", "a name is missing at character 1"),
        ("a > > b", "a name is missing at character 5"),
        ("a ~ > b", "a name is missing at character 5"),
        ("<script> > a", "a name is missing at character 10.*double quotes"),
        ('"a" b > c', "a mark > or ~ is missing at character 5"),
        ('a > "b', "a double quote at character 5 .* is not closed"),
    ],
)
def test_broken_text_is_refused_with_its_place(text, problem):
    with pytest.raises(ValueError, match=problem):
        parse_order(text)


@given(rank_matrices())
def test_ranks_survive_orders(ranks):
    labels = [f"label {j}" for j in range(ranks.shape[1])]
    again, names = ranks_from_orders(orders_from_ranks(ranks, labels), labels)
    assert names.tolist() == labels
    expected = [bucket_positions(row) for row in ranks]
    np.testing.assert_array_equal([bucket_positions(row) for row in again], expected)


@given(rank_matrices())
def test_ranks_survive_text(ranks):
    labels = ["b > a", "NA", " x", "~", '"', "", "<script>"][: ranks.shape[1]]
    text = [format_order(order) for order in orders_from_ranks(ranks, labels)]
    again, _ = ranks_from_orders(text, labels)
    np.testing.assert_array_equal(
        [bucket_positions(row) for row in again], [bucket_positions(row) for row in ranks]
    )


@given(rank_matrices(labels=(1, 6)), st.integers(1, 7))
def test_top_keeps_whole_places(ranks, top):
    for row, order in zip(ranks, orders_from_ranks(ranks, top=top), strict=True):
        kept = {label for place in order for label in np.atleast_1d(place)}
        expected = {j for j in range(len(row)) if sum(row < row[j]) < top and row[j] == row[j]}
        assert kept == expected


def test_unranked_labels_are_unknown_or_below_as_told():
    unknown, labels = ranks_from_orders(["c > a"], ["a", "b", "c", "d"])
    below, _ = ranks_from_orders(["c > a"], labels, unranked="below")
    np.testing.assert_array_equal(unknown, [[2, np.nan, 1, np.nan]])
    np.testing.assert_array_equal(below, [[2, 3, 1, 3]])


def test_names_by_position_with_empty_positions():
    table = pd.DataFrame({"first": ["b", "a"], "second": ["a", None], "third": ["c", None]})
    ranks, labels = ranks_from_orders(table.to_numpy())
    np.testing.assert_array_equal(ranks, [[2, 1, 3], [1, np.nan, np.nan]])
    assert labels.tolist() == ["a", "b", "c"]


def test_missing_text_ranks_nothing():
    ranks, _ = ranks_from_orders(["a > b", None, float("nan"), ""])
    assert np.isnan(ranks[1:]).all()


def test_labels_default_to_those_found_sorted_even_if_they_do_not_compare():
    assert ranks_from_orders([[10, 9], [2]])[1].tolist() == [2, 9, 10]
    assert ranks_from_orders([["b", 1]])[1].tolist() == [1, "b"]


def test_orders_take_names_from_a_table():
    assert orders_from_ranks(pd.DataFrame({"x": [2], "y": [1]})) == [["y", "x"]]


@pytest.mark.parametrize(
    ("orders", "labels", "problem"),
    [
        (["a > b", "a > b > a"], None, r"orders\[1\]: label 'a' occurs twice"),
        ([["a", ("b", "a")]], None, r"orders\[0\]: label 'a' occurs twice"),
        (["a > b", "a > z"], ["a", "b"], r"orders\[1\]: label 'z' is not one of 'a', 'b'"),
        (["a > b", "a >"], None, r"orders\[1\]: a name is missing"),
    ],
)
def test_bad_orders_are_refused_with_the_row(orders, labels, problem):
    with pytest.raises(RowError, match=problem):
        ranks_from_orders(orders, labels)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="'unknown' or 'below'"):
        ranks_from_orders(["a"], unranked="last")
    with pytest.raises(ValueError, match="'a' occurs twice, again at position 1"):
        ranks_from_orders(["a"], ["a", "a"])
    with pytest.raises(ValueError, match="top must be at least 1"):
        orders_from_ranks([[1, 2]], top=0)
    with pytest.raises(ValueError, match="3 names for 2 columns"):
        orders_from_ranks([[1, 2]], ["a", "b", "c"])

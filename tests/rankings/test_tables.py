"""Pairs, best and worst choices, long tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import bucket_positions
from prefero.exceptions import RowError
from prefero.rankings import (
    pairs_from_ranks,
    ranks_from_best_worst,
    ranks_from_long,
    ranks_from_pairs,
    ranks_from_scores,
)
from strategies import rank_matrices


def strict_preferences(row):
    return {(i, j) for i, j in itertools.permutations(range(len(row)), 2) if row[i] < row[j]}


@given(rank_matrices())
def test_pairs_are_the_strict_preferences(ranks):
    assert [set(pairs) for pairs in pairs_from_ranks(ranks)] == [
        strict_preferences(row) for row in ranks
    ]


@given(rank_matrices(labels=(2, 6)))
def test_preferences_survive_pairs(ranks):
    again, _ = ranks_from_pairs(pairs_from_ranks(ranks), labels=range(ranks.shape[1]))
    assert [strict_preferences(row) for row in again] == [strict_preferences(row) for row in ranks]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_pairs_are_accepted_exactly_if_some_ranking_of_their_labels_implies_them_all(pairs):
    """Brute force: transitivity aside, a ranking must order just what the pairs order."""
    named = sorted({label for pair in pairs for label in pair})
    implied = set(pairs)
    while bigger := {(a, d) for a, b in implied for c, d in implied if b == c} - implied:
        implied |= bigger
    fits = [
        levels
        for levels in itertools.product(range(len(named)), repeat=len(named))
        if {(named[i], named[j]) for i, j in strict_preferences(levels)} == implied
    ]
    try:
        ranks, _ = ranks_from_pairs([pairs], labels=range(5))
    except RowError:
        assert not fits
    else:
        assert fits
        assert strict_preferences(ranks[0]) == implied


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([("a", "b"), ("b", "a")], "'a' and 'b' each come before the other"),
        ([("a", "b"), ("b", "c"), ("c", "a")], "each come before the other.*PreferenceGraphs"),
        ([("a", "b"), ("c", "c")], "label 'c' is paired with itself"),
        ([("a", "b"), ("c", "d")], "leave open how 'a' and 'd' compare.*PreferenceGraphs"),
        ([("a", "b"), ("b", "c"), ("a", "d")], "leave open"),
        ([("a", "z")], "label 'z' is not one of 'a', 'b', 'c', 'd'"),
    ],
)
def test_pairs_that_are_no_order_are_refused_with_the_row(pairs, problem):
    with pytest.raises(RowError, match=rf"pairs\[1\]: .*{problem}"):
        ranks_from_pairs([[("a", "b")], pairs], labels=["a", "b", "c", "d"])


def test_a_row_without_pairs_ranks_nothing():
    assert np.isnan(ranks_from_pairs([[], [("a", "b")]])[0][0]).all()


def test_best_and_worst_of_three():
    shown = [["a", "b", "c"], ["d", "c", "b"], ["a", "d", "b"]]
    ranks, labels = ranks_from_best_worst(["a", "c", None], ["b", None, "d"], shown)
    assert labels.tolist() == ["a", "b", "c", "d"]
    nan = np.nan
    np.testing.assert_array_equal(ranks, [[1, 3, 2, nan], [nan, 2, 1, 2], [1, 1, nan, 3]])


def test_best_and_worst_of_all_labels():
    ranks, _ = ranks_from_best_worst(["a", "d"], ["b", "a"], labels=["a", "b", "c", "d"])
    np.testing.assert_array_equal(ranks, [[1, 4, 2, 2], [4, 2, 2, 1]])


@pytest.mark.parametrize(
    ("best", "worst", "shown", "problem"),
    [
        ("a", "a", ["a", "b"], r"best\[1\]: label 'a' is also the worst"),
        ("z", "a", ["a", "b"], r"best\[1\]: label 'z' is not among those shown"),
        ("a", "c", ["a", "b"], r"worst\[1\]: label 'c' is not among those shown"),
        ("a", "b", ["a", "b", "q"], r"shown\[1\]: label 'q' is not one of 'a', 'b', 'c'"),
    ],
)
def test_impossible_choices_are_refused_with_the_row(best, worst, shown, problem):
    with pytest.raises(RowError, match=problem):
        ranks_from_best_worst(["a", best], ["b", worst], [["a", "b"], shown], ["a", "b", "c"])


@given(rank_matrices(rows=(1, 4), labels=(2, 5)), st.booleans(), st.randoms())
def test_a_shuffled_long_table_is_the_wide_one(ranks, higher_is_better, random):
    lines = [(i, j, ranks[i, j]) for i in range(len(ranks)) for j in range(ranks.shape[1])]
    random.shuffle(lines)
    long, labels = ranks_from_long(
        *zip(*lines, strict=True),
        higher_is_better=higher_is_better,
        order_of_instances=range(len(ranks)),
    )
    assert labels.tolist() == list(range(ranks.shape[1]))
    wide = ranks_from_scores(ranks, higher_is_better=higher_is_better)
    np.testing.assert_array_equal(long, wide)


def test_ranks_from_a_long_table_of_positions():
    table = pd.DataFrame(
        {"who": ["u", "u", "v", "v"], "what": ["b", "a", "c", "a"], "position": [10, 20, 5, 5]}
    )
    ranks, labels = ranks_from_long(
        table["who"], table["what"], table["position"], higher_is_better=False
    )
    np.testing.assert_array_equal(ranks, [[2, 1, np.nan], [1, np.nan, 1]])
    assert [bucket_positions(row) for row in ranks][1][0] == 1.5
    assert labels.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"names": ["a", "a"]}, r"names\[1\]: instance 1 has label 'a' twice"),
        ({"labels": ["a"]}, r"names\[1\]: label 'b' is not one of 'a'"),
        ({"order_of_instances": [2]}, r"instances\[0\]: 1 is not in order_of_instances"),
        ({"values": [1.0, np.inf]}, "infinity"),
        ({"values": [1.0]}, "inconsistent numbers of samples"),
    ],
)
def test_broken_long_tables_are_refused(changes, problem):
    arguments = {"instances": [1, 1], "names": ["a", "b"], "values": [1.0, 2.0], **changes}
    with pytest.raises(ValueError, match=problem):
        ranks_from_long(**arguments, higher_is_better=True)

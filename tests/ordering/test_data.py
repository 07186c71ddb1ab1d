"""From orders, pairs, clicks and grades to rows, ranks and qid."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from prefero import ExpectedRankOrderer
from prefero.ordering import (
    objects_from_clicks,
    objects_from_orders,
    objects_from_pairs,
    ranks_in_queries,
)

TABLE = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 3.0]])


def test_orders_with_ties_and_names():
    objects = objects_from_orders(TABLE, [["d", ("a", "b")], ["c"]], names="abcd")
    assert_array_equal(objects.X, TABLE[[3, 0, 1, 2]])
    assert_array_equal(objects.y, [1, 2, 2, 1])
    assert_array_equal(objects.qid, [0, 0, 0, 1])


def test_orders_feed_an_orderer_and_keep_a_sparse_table_sparse():
    objects = objects_from_orders(csr_array(TABLE), [[3, 2, 1], [2, 0]])
    assert issparse(objects.X)
    orderer = ExpectedRankOrderer().fit(*objects)
    assert_array_equal(orderer.predict(TABLE[:2]), [2, 1])


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([[0, 1], [2, 7]], "order 1 lists 7, which is not an object"),
        ([[0, 1, 0]], "order 0 lists an object twice"),
    ],
)
def test_bad_orders_are_named(orders, message):
    with pytest.raises(ValueError, match=message):
        objects_from_orders(TABLE, orders)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("abc", "names has 3 entries, but the table has 4 rows"),
        ("abca", r"names\[3\] is 'a', as is"),
    ],
)
def test_bad_names_are_named(names, message):
    with pytest.raises(ValueError, match=message):
        objects_from_orders(TABLE, [["a", "b"]], names=names)


def test_pairs_may_contradict_each_other():
    objects = objects_from_pairs(TABLE, [(2, 0), (0, 2)])
    assert_array_equal(objects.qid, [0, 0, 1, 1])
    assert_array_equal(objects.y, [1, 2, 1, 2])
    with pytest.raises(ValueError, match="pair 1 holds 3 objects"):
        objects_from_pairs(TABLE, [(0, 1), (0, 1, 2)])


def test_a_click_prefers_to_what_was_skipped_above_it():
    objects = objects_from_clicks(TABLE, [[3, 0, 2, 1], [1, 2]], [[0, 1], [1]])
    # 0 before 3; 1 before 3 and 2; the click on top of the second list says nothing.
    assert_array_equal(objects.X, TABLE[[0, 3, 1, 3, 2]])
    assert_array_equal(objects.y, [1, 2, 1, 2, 2])
    assert_array_equal(objects.qid, [0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="list 0 does not show 3"):
        objects_from_clicks(TABLE, [[1, 2]], [[3]])
    with pytest.raises(ValueError, match="1 lists were shown, but clicked has 2"):
        objects_from_clicks(TABLE, [[1, 2]], [[1], [2]])


def test_grades_become_ranks_inside_groups():
    grades, qid = [2, 0, 1, 1, np.nan], ["q", "p", "q", "q", "p"]
    assert_array_equal(ranks_in_queries(grades, qid, higher_is_better=True), [1, 1, 2, 2, np.nan])
    assert_array_equal(ranks_in_queries([5.0, 2.0], higher_is_better=False), [2, 1])

"""Validation, scores, positions, strict ranks, dropped labels."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from oracles import bucket_positions as slow_positions
from prefero._trees._shrinkage import row_votes
from prefero.exceptions import DataError, RowError
from prefero.rankings import (
    bucket_index,
    bucket_positions,
    check_label_names,
    check_ranks,
    drop_labels,
    have_ties,
    label_names,
    ranks_from_scores,
    strict_ranks,
)
from strategies import rank_matrices


@given(rank_matrices())
def test_legal_ranks_pass_unchanged(ranks):
    checked = check_ranks(ranks)
    np.testing.assert_array_equal(checked, ranks)
    assert checked.flags.c_contiguous
    assert checked.dtype == np.float64


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_tables_are_ranks_with_names(make):
    table = make({"New York": [1, 2], "<script>": [2, 1], "NA": [None, 3]})
    np.testing.assert_array_equal(check_ranks(table), [[1, 2, np.nan], [2, 1, 3]])
    assert label_names(table).tolist() == ["New York", "<script>", "NA"]


def test_average_ranks_gaps_ties_and_missing_are_legal():
    check_ranks([[1, 2.5, 2.5, 4], [4, 4, 4, 4], [1, np.nan, np.nan, 4], [np.nan] * 4])


@pytest.mark.parametrize(
    ("ranks", "problem"),
    [
        ([[1, 2], [0, 1]], r"Y\[1\]: label 0 has rank 0, outside 1..2; .*ranks_from_scores"),
        ([[1, 2], [1, 3]], r"Y\[1\]: label 1 has rank 3, outside 1..2"),
        ([[0.3, 0.7]], "looks like scores"),
        ([[-1.0, 2.0]], "label 0 has rank -1"),
        ([[1, np.inf]], "infinity"),
        ([1, 2], "Expected 2D array"),
        ([["a", "b"]], "could not convert string"),
        ([], "Expected 2D array"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((2, 0)), r"0 feature\(s\)"),
    ],
)
def test_what_is_no_ranks_is_refused(ranks, problem):
    with pytest.raises(ValueError, match=problem):
        check_ranks(ranks)


def test_the_error_names_the_label_and_the_argument():
    table = pd.DataFrame({"left": [1, 1], "right": [2, 9]})
    with pytest.raises(RowError, match=r"y\[1\]: label 'right' has rank 9"):
        check_ranks(table, name="y")
    with pytest.raises(ValueError, match="y has 2 labels, but 3 were expected"):
        check_ranks(table, name="y", n_labels=3)


def test_a_single_label_may_hold_any_number():
    check_ranks([[17.0], [-2.0], [np.nan]])


def test_label_names_are_kept_as_they_are_and_unique():
    assert check_label_names(["a", 1, None]).tolist() == ["a", 1, None]
    with pytest.raises(ValueError, match="Label 'a' occurs twice, again at position 2"):
        check_label_names(["a", "b", "a"])
    assert label_names(np.ones((2, 2))) is None


@given(rank_matrices(), st.booleans())
def test_scores_become_ranks(scores, higher_is_better):
    ranks = ranks_from_scores(scores * 1000 - 7, higher_is_better=higher_is_better)
    sign = -1 if higher_is_better else 1
    np.testing.assert_array_equal(
        [slow_positions(row) for row in ranks], [slow_positions(sign * row) for row in scores]
    )
    check_ranks(ranks)


def test_infinite_scores_are_refused():
    with pytest.raises(ValueError, match="Input S contains infinity"):
        ranks_from_scores([[np.inf, 1]], higher_is_better=False)


@given(rank_matrices())
def test_positions_meet_their_definition(ranks):
    np.testing.assert_array_equal(bucket_positions(ranks), [slow_positions(row) for row in ranks])


@given(rank_matrices(missing=False))
def test_strict_ranks_are_permutations_that_break_ties_by_index(scores):
    c = scores.shape[1]
    for row, ranks in zip(scores, strict_ranks(scores), strict=True):
        by_score = sorted(range(c), key=lambda j: (-row[j], j))
        assert [by_score.index(j) + 1 for j in range(c)] == ranks.tolist()


@given(rank_matrices(), st.floats(0, 1), st.integers(0, 99))
def test_dropping_labels_keeps_the_order_of_the_rest(ranks, p, seed):
    dropped = drop_labels(ranks, p, random_state=seed)
    kept = ~np.isnan(dropped)
    np.testing.assert_array_equal(
        [slow_positions(row) for row in dropped],
        [slow_positions(row) for row in np.where(kept, ranks, np.nan)],
    )
    np.testing.assert_array_equal(dropped, drop_labels(ranks, p, random_state=seed))


def test_labels_drop_with_the_probability_asked_for():
    complete = np.tile([1.0, 2.0, 3.0, 4.0], (5000, 1))
    dropped = np.isnan(drop_labels(complete, 0.3, random_state=0))
    np.testing.assert_allclose(dropped.mean(axis=0), 0.3, atol=0.03)
    assert abs(np.corrcoef(dropped.T)[0, 1]) < 0.05
    assert not np.isnan(drop_labels(complete, 0)).any()
    assert np.isnan(drop_labels(complete, 1)).all()


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_a_probability_must_be_one(p):
    with pytest.raises(ValueError, match="p must be a probability"):
        drop_labels([[1, 2]], p)


@pytest.mark.parametrize(
    "error", [RowError("wrong.", "Y", 3), DataError("wrong.", "a.csv", 2), DataError("wrong.")]
)
def test_errors_survive_pickling(error):
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


MATRIX_FUNCTIONS = {
    "ranks_from_scores": lambda Y: ranks_from_scores(S=Y, higher_is_better=False),
    "bucket_positions": bucket_positions,
    "bucket_index": bucket_index,
    "strict_ranks": strict_ranks,
    "drop_labels": lambda Y: drop_labels(Y, 0.3, random_state=0),
}


@pytest.mark.parametrize("name", MATRIX_FUNCTIONS)
def test_frames_in_frames_out(name):
    function = MATRIX_FUNCTIONS[name]
    values = np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 2.0]])
    frame = pd.DataFrame(values, columns=["a", "b", 3], index=["u", "v"])
    found = function(frame)
    assert isinstance(found, pd.DataFrame)
    assert (found.columns.tolist(), found.index.tolist()) == (["a", "b", 3], ["u", "v"])
    np.testing.assert_array_equal(found, function(values))
    polar = function(pl.DataFrame(values, schema=["a", "b", "c"]))
    assert polar.columns == ["a", "b", "c"]
    np.testing.assert_array_equal(polar.to_numpy(), function(values))
    assert isinstance(function(values), np.ndarray)


@given(rank_matrices(labels=(1, 9)), st.booleans())
def test_votes_and_ties_are_those_of_plain_loops(ranks, wide):
    if wide:  # more labels than are counted
        ranks = np.hstack([ranks, np.full((len(ranks), 60), np.nan)])
    votes, evidence = row_votes(ranks)
    for row, *found in zip(ranks, votes, evidence, strict=True):
        np.testing.assert_allclose(found, oracles.row_votes(row), rtol=1e-15)
    known = [row[~np.isnan(row)].tolist() for row in ranks]
    assert have_ties(ranks) == any(len(set(row)) < len(row) for row in known)


@pytest.mark.parametrize("labels", [1, 2, 7, 48, 49])
def test_strict_ranks_are_those_of_a_stable_sort(labels):
    rng = np.random.default_rng(labels)
    scores = rng.integers(0, 5, size=(200, labels)) / 2 - 1.0
    scores[rng.random(scores.shape) < 0.1] *= 0.0  # zeros of both signs
    order = np.argsort(-scores, axis=1, kind="stable")
    np.testing.assert_array_equal(strict_ranks(scores), np.argsort(order, axis=1) + 1)

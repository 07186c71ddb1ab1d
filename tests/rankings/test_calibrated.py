"""Calibrated rankings: what they are made from, and how they are averaged."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from oracles import bucket_positions, expanded_calibrated, squared_rank_distance
from prefero.metrics.multilabel import calibrated_rho
from prefero.multilabel.aggregation import mean_calibrated_ranks
from prefero.rankings import (
    calibrated_from_relevance,
    calibrated_from_scores,
    calibrated_from_text,
    check_calibrated,
    split_calibrated,
    strict_calibrated,
    text_from_calibrated,
    virtual_label_offsets,
)
from strategies import calibrated_matrices

nan = float("nan")


@given(calibrated_matrices())
def test_splitting_and_joining_gives_the_ranking_back(C):
    relevance, ranks = split_calibrated(C)
    assert_array_equal(calibrated_from_relevance(relevance, ranks), C)


@given(calibrated_matrices())
def test_relevance_alone_gives_three_buckets(C):
    relevance, _ = split_calibrated(C)
    plain = calibrated_from_relevance(relevance)
    for before, after in zip(relevance, plain, strict=True):
        assert len(set(after[:-1][before == 1])) <= 1
        assert len(set(after[:-1][before == 0])) <= 1
        assert (after[:-1][before == 1] < after[-1]).all()
        assert (after[:-1][before == 0] > after[-1]).all()
        assert_array_equal(np.isnan(after[:-1]), np.isnan(before))


def test_partial_ranks_put_the_others_in_the_middle_of_their_part():
    C = calibrated_from_relevance([[1, 1, 1, 0, 0]], ranks=[[2, nan, 1, nan, nan]])
    assert_array_equal(C, [[3, 2, 1, 5, 5, 4]])


def test_a_rank_without_relevance_is_not_used():
    C = calibrated_from_relevance([[1, nan, 0]], ranks=[[1, 2, 3]])
    assert_array_equal(C, [[1, nan, 3, 2]])


def test_ranks_that_contradict_the_relevance_are_refused_by_name():
    pd = pytest.importorskip("pandas")
    relevance = pd.DataFrame([[1, 0, 0], [1, 0, 1]], columns=["pol", "eco", "spo"])
    with pytest.raises(
        ValueError, match=r"ranks\[1\]: the relevant label 'spo' has rank 3.*'eco' with rank 2"
    ):
        calibrated_from_relevance(relevance, ranks=[[1, 2, 3], [1, 2, 3]])


@pytest.mark.parametrize(
    ("C", "words"),
    [
        ([[1, 2, nan]], "virtual label .last column. has no rank"),
        ([[1, 2, 3], [1, 2, 1]], r"C\[1\]: label 0 is tied"),
        ([[0.2, 2, 3]], "outside 1..3"),
    ],
)
def test_what_is_no_calibrated_ranking_is_refused(C, words):
    with pytest.raises(ValueError, match=words):
        check_calibrated(C)


def test_wrong_relevance_and_shapes_are_refused():
    with pytest.raises(ValueError, match=r"relevance\[1\]: label 0 is -1"):
        calibrated_from_relevance([[1, 0], [-1, 0]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        calibrated_from_relevance([[1, 0], [1, 0]], ranks=[[1, 2]])
    with pytest.raises(ValueError, match="ranks has 3 labels, but 2 were expected"):
        calibrated_from_relevance([[1, 0]], ranks=[[1, 2, 3]])


def test_tables_are_matched_by_name():
    pd = pytest.importorskip("pandas")
    relevance = pd.DataFrame([[1, 0, 1]], columns=["pol", "eco", "spo"])
    ranks = pd.DataFrame([[3, 2, 1]], columns=["eco", "pol", "spo"])
    assert_array_equal(calibrated_from_relevance(relevance, ranks), [[2, 4, 1, 3]])
    with pytest.raises(ValueError, match=r"columns of ranks are \['eco', 'war', 'spo'\]"):
        calibrated_from_relevance(relevance, ranks.rename(columns={"pol": "war"}))


def test_a_score_of_zero_is_on_neither_side():
    assert_array_equal(calibrated_from_scores([[0.0, nan, -1.0]]), [[nan, nan, 2, 1]])


def test_the_virtual_label_wins_a_tie():
    assert_array_equal(strict_calibrated([[0.0, 1.0, -1.0]]), [[3, 1, 4, 2]])


@pytest.mark.parametrize(
    ("gap", "zero", "first", "relevant"),
    [(1, 2, 13 / 6, []), (2, 2.5, 2.5, []), (3, 3, 17 / 6, [0])],
)
def test_worked_example_of_brinker_and_huellermeier(gap, zero, first, relevant):
    C = calibrated_from_relevance([[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]])
    means = mean_calibrated_ranks(C, gap)
    assert_allclose(means[[5, 0]], [zero, first])
    assert_array_equal(np.flatnonzero(means[:-1] < means[-1] - 1e-12), relevant)


@given(calibrated_matrices(missing=False), st.integers(1, 6))
def test_a_gap_is_as_many_virtual_labels_merged(C, gap):
    expanded = [bucket_positions(expanded_calibrated(row, gap)) for row in C]
    virtual = np.array(expanded)[:, -gap:]
    assert (virtual == virtual[:, :1]).all()
    merged = np.mean(expanded, axis=0)[: C.shape[1]]
    assert_allclose(mean_calibrated_ranks(C, gap), merged)


@given(calibrated_matrices(labels=(1, 4), missing=False))
def test_ordering_by_mean_ranks_is_optimal(C):
    """Theorem 1: no permutation of labels and virtual label has a smaller sum of distances."""

    def cost(ranks):
        return sum(squared_rank_distance(np.array(ranks, float), row) for row in C)

    size = C.shape[1]
    mean_order = np.argsort(np.argsort(mean_calibrated_ranks(C), kind="stable")) + 1
    best = min(cost(ranks) for ranks in permutations(range(1, size + 1)))
    assert_allclose(cost(mean_order), best)


def test_with_ties_the_least_squares_are_not_the_best_correlation():
    C = np.array([[1.0, 3, 4, 2], [1, 3, 3, 2], [1, 1, 1, 2]])
    by_mean, other = [[1, 3, 4, 2]] * 3, [[1, 2, 4, 3]] * 3
    assert_array_equal(np.argsort(mean_calibrated_ranks(C)), [0, 3, 1, 2])
    assert calibrated_rho(C, other) > calibrated_rho(C, by_mean)


@given(calibrated_matrices())
def test_offsets_count_the_labels_on_the_way_to_the_virtual_label(C):
    offsets, places = virtual_label_offsets(C)
    for row, offset, place in zip(C, offsets, places, strict=True):
        known = ~np.isnan(row[:-1])
        stretch = len(row) / (known.sum() + 1)
        assert_allclose(place, stretch * np.sum(row[:-1] < row[-1]))
        for rank, found in zip(row[:-1][known], offset[known], strict=True):
            side = np.sign(rank - row[-1])
            nearer = np.sum((side * (row[:-1] - row[-1]) > 0) & (side * (rank - row[:-1]) > 0))
            bucket = np.sum(row[:-1] == rank)
            assert_allclose(found, side * stretch * (nearer + bucket / 2))
        assert np.isnan(offset[~known]).all()


@given(calibrated_matrices(), st.integers(0, 5))
def test_weights_count_rows(C, gap):
    weight = np.arange(len(C)) + 1
    assert_allclose(
        mean_calibrated_ranks(C, gap, sample_weight=weight),
        mean_calibrated_ranks(np.repeat(C, weight, axis=0), gap),
    )


@given(calibrated_matrices(labels=(5, 5)))
def test_text_both_ways(C):
    names = ["pol", "New York", "a]b", '"[x] > y', "ü~"]
    texts = text_from_calibrated(C, names)
    back, labels = calibrated_from_text(texts, names)
    assert_array_equal(back, C)
    assert_array_equal(labels, np.array(names, dtype=object))


def test_text_of_the_paper():
    C, labels = calibrated_from_text(["[pol > eco][edu > spo]"])
    assert_array_equal(C, [[2, 4, 1, 5, 3]])
    assert text_from_calibrated(C, labels) == ["[pol > eco][edu > spo]"]
    assert text_from_calibrated([[1, 2]]) == ["[0][]"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pol > eco", r"texts\[1\]: expected two orders in square brackets"),
        ("[pol][eco", "expected two orders"),
        ("[pol > ][eco]", r"texts\[1\]: a name is missing"),
        ("[pol][pol]", "label 'pol' occurs twice"),
        ("[war][pol]", "label 'war' is not one of 'pol', 'eco'"),
    ],
)
def test_broken_text_is_refused_with_its_row(text, words):
    with pytest.raises(ValueError, match=words):
        calibrated_from_text(["[pol][eco]", text], labels=["pol", "eco"])

"""Metrics of orders of objects, against plain lines that look at every order of the ties."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from prefero import metrics
from prefero.metrics import ordering

groups = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=4),
    min_size=1,
    max_size=3,
)


def columns(found):
    truth = np.array([pair[0] for group in found for pair in group], dtype=float)
    scores = np.array([pair[1] for group in found for pair in group], dtype=float)
    names = np.repeat(np.arange(len(found)), [len(group) for group in found])
    return truth, scores, names


def untied(scores):
    """All orders of objects that agree with their scores."""
    every = permutations(range(len(scores)))
    return [o for o in every if all(scores[a] >= scores[b] for a, b in pairwise(o))]


@settings(max_examples=60, deadline=None)
@given(groups)
@pytest.mark.filterwarnings("ignore")
def test_reciprocal_rank_is_the_mean_over_the_orders_of_a_tie(found):
    truth, scores, names = columns(found)
    relevance = (truth > 0).astype(float)
    expected = []
    for g in range(len(found)):
        rel, score = relevance[names == g], scores[names == g]
        if rel.any():
            firsts = [min(i for i, at in enumerate(o) if rel[at]) + 1 for o in untied(score)]
            expected.append(np.mean([1 / place for place in firsts]))
    value = ordering.mean_reciprocal_rank(relevance, scores, names)
    assert_allclose(value, np.mean(expected) if expected else np.nan)


@settings(max_examples=60, deadline=None)
@given(groups)
@pytest.mark.filterwarnings("ignore")
def test_gain_is_the_mean_over_the_orders_of_a_tie(found):
    truth, scores, names = columns(found)
    expected = []
    for g in range(len(found)):
        gains, score = truth[names == g], scores[names == g]
        if len(gains) > 1 and gains.any():
            discounts = 1 / np.log2(np.arange(len(gains)) + 2)
            discounts[2:] = 0
            ideal = np.sort(gains)[::-1] @ discounts
            expected.append(np.mean([gains[list(o)] @ discounts for o in untied(score)]) / ideal)
    value = ordering.ndcg(truth, scores, names, k=2)
    assert_allclose(value, np.mean(expected) if expected else np.nan)


@settings(max_examples=60, deadline=None)
@given(groups)
@pytest.mark.filterwarnings("ignore")
def test_correlations_are_those_of_scipy(found):
    ranks, scores, names = columns(found)
    for measure, peer in (
        (ordering.query_tau, stats.kendalltau),
        (ordering.query_rho, stats.spearmanr),
    ):
        expected = []
        for g in range(len(found)):
            true, score = ranks[names == g] + 1, scores[names == g]
            if len(set(true)) > 1:
                value = peer(-true, score).statistic
                expected.append(0.0 if np.isnan(value) else value)
        value = measure(ranks + 1, scores, names)
        assert_allclose(value, np.mean(expected) if expected else np.nan, atol=1e-12)


def test_what_says_nothing_is_left_out():
    # The second group has no relevant object, the third object is not judged.
    relevance = [1, 0, np.nan, 0, 0]
    assert ordering.mean_average_precision(relevance, [1, 2, 3, 1, 2], [0, 0, 0, 1, 1]) == 0.5
    with pytest.warns(UserWarning, match="no query tells"):
        assert np.isnan(ordering.ndcg([0, 0], [1, 2]))
    with pytest.raises(ValueError, match="negative"):
        ordering.ndcg([-1, 0], [1, 2])


GRADES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=5)


def err_of_order(stops, k):
    read, total = 1.0, 0.0
    for place, stop in enumerate(stops[:k], start=1):
        total += read * stop / place
        read *= 1 - stop
    return total


@given(GRADES, st.sampled_from([None, 1, 3]))
def test_err_is_the_mean_over_the_orders_of_ties(objects, k):
    grades, scores = np.transpose(objects)
    assume(grades.any())
    orders = [o for o in permutations(range(len(grades))) if (np.diff(scores[list(o)]) <= 0).all()]
    expected = np.mean([err_of_order([(2.0 ** grades[i] - 1) / 8 for i in o], k) for o in orders])
    found = metrics.expected_reciprocal_rank(grades, scores, max_grade=3, k=k)
    assert found == pytest.approx(expected)


@given(GRADES, st.sampled_from([0.3, 0.9]))
def test_rank_biased_overlap_is_the_sum_over_depths(objects, p):
    ranks, scores = np.transpose(objects) + 1
    n, total = len(ranks), p ** len(ranks)
    for d in range(1, n + 1):
        one = {i for i in range(n) if (ranks < ranks[i]).sum() < d}
        other = {i for i in range(n) if (scores > scores[i]).sum() < d}
        total += (1 - p) * p ** (d - 1) * 2 * len(one & other) / (len(one) + len(other))
    assert metrics.rank_biased_overlap(ranks, scores, p=p) == pytest.approx(total)


def test_the_caller_chooses_the_gain():
    grades, scores = np.array([2, 0, 3, 1]), [4, 3, 2, 1]
    exponential = metrics.ndcg(grades, scores, gain="exponential")
    assert exponential == pytest.approx(metrics.ndcg(2.0**grades - 1, scores))
    assert exponential != pytest.approx(metrics.ndcg(grades, scores))
    with pytest.raises(ValueError, match="gain must be"):
        metrics.ndcg(grades, scores, gain="log")


def test_what_lies_outside_the_scale_is_refused():
    with pytest.raises(ValueError, match="max_grade=1"):
        metrics.expected_reciprocal_rank([2, 0], [1, 0], max_grade=1)
    with pytest.raises(ValueError, match="p must lie"):
        metrics.rank_biased_overlap([1, 2], [1, 0], p=1.0)

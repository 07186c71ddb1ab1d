"""Metrics of orders of objects, against plain lines that look at every order of the ties."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

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

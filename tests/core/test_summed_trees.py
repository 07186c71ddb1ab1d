"""Trees from summed histograms: sums, and the cuts found in them, against a few plain lines."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero import _core

MISSING, NONE = 255, 65535


@st.composite
def levels(draw):
    """Rows of three statistics and a vector, in the leaves of a tree of which some are open."""
    n, n_features, n_leaves, n_vector = (draw(st.integers(1, k)) for k in (12, 3, 3, 2))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    bins = rng.choice([0, 1, 2, 7, MISSING], size=(n, n_features)).astype(np.uint8)
    statistics = rng.integers(1, 4, size=(n, 3 + n_vector)).astype(
        draw(st.sampled_from(["f4", "f8"]))
    )
    statistics[:, 3:] -= 2
    drawn = rng.integers(0, 3, n).astype(np.uint16)
    leaves = rng.integers(0, n_leaves, n).astype(np.int32)
    places = rng.permutation(n_leaves).astype(np.int32) - 1
    features = rng.choice([*range(n_features), NONE], size=(max(n_leaves - 1, 1), 2))
    return bins, statistics, drawn, leaves, places, features.astype(np.uint16)


@given(levels())
def test_histograms(level):
    bins, statistics, drawn, leaves, places, features = level
    width = statistics.shape[1]
    expected = np.zeros((*features.shape, 256, width))
    for row in range(len(bins)):
        place = places[leaves[row]]
        for k, feature in enumerate(features[place]):
            if place >= 0 and feature != NONE:
                expected[place, k, bins[row, feature]] += drawn[row] * statistics[row]
    found = _core.node_histograms(bins, statistics, width, drawn, leaves, places, features)
    assert np.array_equal(found, expected)
    narrow = _core.node_histograms(bins, statistics, 3, drawn, leaves, places, features)
    assert np.array_equal(narrow, expected[..., :3])


@given(levels())
def test_leaf_sums(level):
    bins, statistics, drawn, leaves, places, _ = level
    expected = np.zeros((len(places), statistics.shape[1]))
    for row in range(len(bins)):
        expected[leaves[row]] += drawn[row] * statistics[row]
    assert np.array_equal(_core.leaf_sums(bins, statistics, drawn, leaves, len(places)), expected)


def gain(left, total):
    """How much less vectors spread around the means of two parts than around their own."""
    right = total - left

    def length(part):
        return part[3:] @ part[3:] / part[0]

    return length(left) + length(right) - length(total)


def cuts_of(sums, features, min_leaf, nominal, category_sets=True):
    """Yield the cut of each node and its only feature, whose histogram is one of these."""
    for node, number in np.ndindex(features.shape):
        if features[node, number] == NONE:
            continue
        own, feature = sums[node : node + 1, number : number + 1], features[node, number]
        one = np.ascontiguousarray(own), np.array([[feature]], np.uint16)
        found = _core.node_cuts(*one, nominal, float(min_leaf), category_sets)
        yield sums[node, number], feature, *(array[0] for array in found)


@given(levels(), st.integers(1, 4))
def test_cuts(level, min_leaf):
    bins, statistics, drawn, leaves, places, features = level
    width = statistics.shape[1]
    sums = _core.node_histograms(bins, statistics, width, drawn, leaves, places, features)
    numbers = np.zeros(bins.shape[1], bool)
    for own, feature, varied, quality, at, cut, _, left in cuts_of(
        sums, features, min_leaf, numbers
    ):
        known, total = own[:MISSING], own.sum(axis=0)
        best = -np.inf
        for missing in [0, own[MISSING]]:
            for last in range(MISSING):
                here = known[: last + 1].sum(axis=0) + missing
                sizes = here[1], total[1] - here[1]
                if min(sizes) >= max(min_leaf, 1) and 0 < here[0] < total[0]:
                    best = max(best, gain(here, total))
        assert varied == (np.count_nonzero(own[:, 0]) > 1)
        if np.isinf(best):
            assert quality == -np.inf
            continue
        assert at == feature
        assert cut[3] == (own[MISSING, 0] > 0)
        assert quality == pytest.approx(best, abs=1e-5)
        went = known[: int(cut[0]) + 1].sum(axis=0) + (own[MISSING] if cut[2] else 0)
        assert np.array_equal(went, left)
        assert not known[int(cut[0]) + 1 : int(cut[1])].any()
        assert gain(went, total) == pytest.approx(best, abs=1e-5)


@given(levels())
def test_the_first_of_the_best_features_is_taken(level):
    bins, statistics, drawn, leaves, places, features = level
    width = statistics.shape[1]
    sums = _core.node_histograms(bins, statistics, width, drawn, leaves, places, features)
    numbers = np.zeros(bins.shape[1], bool)
    varied, quality, feature, *_ = _core.node_cuts(sums, features, numbers, 1.0, True)
    single = list(cuts_of(sums, features, 1, numbers))
    for node, asked in enumerate(features):
        own = [single.pop(0) for one in asked if one != NONE]
        assert varied[node] == sum(one[2] for one in own)
        assert quality[node] == max((one[3] for one in own), default=-np.inf)
        if quality[node] > -np.inf:
            assert feature[node] == next(one[1] for one in own if one[3] == quality[node])


@given(levels(), st.integers(1, 4), st.booleans())
def test_sets_of_categories(level, min_leaf, category_sets):
    bins, statistics, drawn, leaves, places, features = level
    width = statistics.shape[1]
    sums = _core.node_histograms(bins, statistics, width, drawn, leaves, places, features)
    nominal = np.arange(bins.shape[1]) == 0
    for own, feature, varied, quality, _, cut, sets, left in cuts_of(
        sums, features, min_leaf, nominal, category_sets
    ):
        if not nominal[feature]:
            continue
        filled, total = np.flatnonzero(own[:, 0]), own.sum(axis=0)
        assert varied == (len(filled) > 1)
        gains = {}
        for size in range(1, len(filled) if category_sets else 2):
            for chosen in combinations(filled.tolist(), size):
                here = own[list(chosen)].sum(axis=0)
                if min(here[1], total[1] - here[1]) >= min_leaf and len(chosen) < len(filled):
                    gains[chosen] = gain(here, total)
        bits = np.unpackbits(sets.view(np.uint8), bitorder="little")
        chosen = tuple(np.flatnonzero(bits).tolist())
        if np.isinf(quality):
            # Neighbours may all be too small where other sets are not.
            assert chosen == ()
            assert not gains or (category_sets and min_leaf > 1)
            continue
        assert quality == pytest.approx(gains[chosen], abs=1e-5)
        assert np.array_equal(own[list(chosen)].sum(axis=0), left)
        assert cut[2] == (MISSING in chosen)
        assert cut[3] == (MISSING in filled)
        # Of one number the best set is among neighbours; bounds may leave worse ones alone.
        if not category_sets or (width == 4 and min_leaf == 1):
            assert quality == pytest.approx(max(gains.values()), abs=1e-5)


@given(st.integers(0, 2**64 - 1), st.integers(1, 40), st.data())
def test_a_bootstrap_sample_does_not_depend_on_its_parts(seed, n, data):
    cut = data.draw(st.integers(0, n))
    parts = [
        _core.bootstrap_counts(seed, 0, cut, n),
        _core.bootstrap_counts(seed, cut, n - cut, n),
    ]
    whole = _core.bootstrap_counts(seed, 0, n, n)
    assert np.array_equal(np.concatenate(parts), whole)
    assert whole.sum() == n


@given(st.integers(0, 2**63), st.integers(1, 40), st.floats(0, 1.2), st.data())
def test_a_sample_of_a_share_does_not_depend_on_its_parts(seed, n, share, data):
    cut = data.draw(st.integers(0, n))
    parts = [
        _core.share_counts(seed, 0, cut, n, share),
        _core.share_counts(seed, cut, n - cut, n, share),
    ]
    whole = _core.share_counts(seed, 0, n, n, share)
    assert np.array_equal(np.concatenate(parts), whole)
    assert set(whole) <= {0, 1}
    assert share < 1 or whole.all()


def test_a_sample_holds_about_its_share():
    assert _core.share_counts(3, 0, 10_000, 10_000, 0.3).mean() == pytest.approx(0.3, abs=0.02)


def test_rows_beyond_the_last_are_refused():
    with pytest.raises(ValueError, match="some of all rows"):
        _core.bootstrap_counts(0, 3, 3, 5)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"leaves": np.array([5], np.int32)}, "leaves of the tree"),
        ({"places": np.array([3], np.int32)}, "rows of features"),
        ({"features": np.array([[4]], np.uint16)}, "columns of bins"),
        ({"width": 9}, "number of statistics"),
        ({"drawn": np.array([1, 1], np.uint16)}, "same rows"),
    ],
)
def test_indices_that_would_leave_the_arrays_are_refused(wrong, match):
    given = {
        "bins": np.zeros((1, 1), np.uint8),
        "statistics": np.ones((1, 4)),
        "width": 4,
        "drawn": np.ones(1, np.uint16),
        "leaves": np.zeros(1, np.int32),
        "places": np.zeros(1, np.int32),
        "features": np.zeros((1, 1), np.uint16),
    }
    assert _core.node_histograms(**given).sum() == 4
    with pytest.raises(ValueError, match=match):
        _core.node_histograms(**{**given, **wrong})

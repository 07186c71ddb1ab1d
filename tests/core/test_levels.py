"""Sums of a level of a tree, and the cuts found in them, against a few plain lines."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero import _core

MISSING, NONE = 255, 65535


@st.composite
def levels(draw):
    """Rows of three lanes and a vector, in the leaves of a tree of which some are open."""
    n, n_features, n_leaves, n_vector = (draw(st.integers(1, k)) for k in (12, 3, 3, 2))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    bins = rng.choice([0, 1, 2, 7, MISSING], size=(n, n_features)).astype(np.uint8)
    lanes = rng.integers(1, 4, size=(n, 3 + n_vector)).astype(draw(st.sampled_from(["f4", "f8"])))
    lanes[:, 3:] -= 2
    drawn = rng.integers(0, 3, n).astype(np.uint16)
    leaves = rng.integers(0, n_leaves, n).astype(np.int32)
    places = rng.permutation(n_leaves).astype(np.int32) - 1
    features = rng.choice([*range(n_features), NONE], size=(max(n_leaves - 1, 1), 2))
    return bins, lanes, drawn, leaves, places, features.astype(np.uint16)


@given(levels())
def test_histograms(level):
    bins, lanes, drawn, leaves, places, features = level
    width = lanes.shape[1]
    expected = np.zeros((*features.shape, 256, width))
    for row in range(len(bins)):
        place = places[leaves[row]]
        for k, feature in enumerate(features[place]):
            if place >= 0 and feature != NONE:
                expected[place, k, bins[row, feature]] += drawn[row] * lanes[row]
    found = _core.level_histograms(bins, lanes, width, drawn, leaves, places, features)
    assert np.array_equal(found, expected)
    narrow = _core.level_histograms(bins, lanes, 3, drawn, leaves, places, features)
    assert np.array_equal(narrow, expected[..., :3])


@given(levels())
def test_leaf_sums(level):
    bins, lanes, drawn, leaves, places, _ = level
    expected = np.zeros((len(places), lanes.shape[1]))
    for row in range(len(bins)):
        expected[leaves[row]] += drawn[row] * lanes[row]
    assert np.array_equal(_core.leaf_sums(bins, lanes, drawn, leaves, len(places)), expected)


def gain(left, total):
    """How much less vectors spread around the means of two parts than around their own."""
    right = total - left

    def length(part):
        return part[3:] @ part[3:] / part[0]

    return length(left) + length(right) - length(total)


@given(levels(), st.integers(1, 4))
def test_cuts(level, min_leaf):
    bins, lanes, drawn, leaves, places, features = level
    sums = _core.level_histograms(bins, lanes, lanes.shape[1], drawn, leaves, places, features)
    numbers = np.zeros(features.shape, bool)
    quality, cuts, marks, left, sets = _core.level_cuts(sums, float(min_leaf), numbers, True)
    assert sets.shape == (*features.shape, 0)
    for at in np.ndindex(features.shape):
        own = sums[at]
        known, total = own[:MISSING], own.sum(axis=0)
        best = -np.inf
        for missing in [0, own[MISSING]]:
            for last in range(MISSING):
                here = known[: last + 1].sum(axis=0) + missing
                sizes = here[1], total[1] - here[1]
                if min(sizes) >= max(min_leaf, 1) and 0 < here[0] < total[0]:
                    best = max(best, gain(here, total))
        assert marks[at][0] == (np.count_nonzero(own[:, 0]) > 1)
        assert marks[at][2] == (marks[at][0] and own[MISSING, 0] > 0)
        if np.isinf(best):
            assert quality[at] == -np.inf
            continue
        assert quality[at] == pytest.approx(best, abs=1e-5)
        went = known[: int(cuts[at]) + 1].sum(axis=0) + (own[MISSING] if marks[at][1] else 0)
        assert np.array_equal(went, left[at])
        assert gain(went, total) == pytest.approx(best, abs=1e-5)


@given(levels(), st.integers(1, 4), st.booleans())
def test_sets_of_categories(level, min_leaf, category_sets):
    bins, lanes, drawn, leaves, places, features = level
    sums = _core.level_histograms(bins, lanes, lanes.shape[1], drawn, leaves, places, features)
    nominal = features == 0
    quality, _, marks, left, sets = _core.level_cuts(sums, float(min_leaf), nominal, category_sets)
    for at in zip(*np.nonzero(nominal), strict=True):
        own = sums[at]
        filled, total = np.flatnonzero(own[:, 0]), own.sum(axis=0)
        assert marks[at][0] == (len(filled) > 1)
        gains = {}
        for size in range(1, len(filled) if category_sets else 2):
            for chosen in combinations(filled.tolist(), size):
                here = own[list(chosen)].sum(axis=0)
                if min(here[1], total[1] - here[1]) >= min_leaf and len(chosen) < len(filled):
                    gains[chosen] = gain(here, total)
        bits = np.unpackbits(sets[at].view(np.uint8), bitorder="little")
        chosen = tuple(np.flatnonzero(bits).tolist())
        if np.isinf(quality[at]):
            # Neighbours may all be too small where other sets are not.
            assert chosen == ()
            assert not gains or (category_sets and min_leaf > 1)
            continue
        assert quality[at] == pytest.approx(gains[chosen], abs=1e-5)
        assert np.array_equal(own[list(chosen)].sum(axis=0), left[at])
        assert marks[at][1] == (MISSING in chosen)
        assert marks[at][2] == (MISSING in filled)
        # Of one number the best set is among neighbours; bounds may leave worse ones alone.
        if not category_sets or (lanes.shape[1] == 4 and min_leaf == 1):
            assert quality[at] == pytest.approx(max(gains.values()), abs=1e-5)


def test_categories_are_ordered_by_their_means():
    means = np.array([[0.0, 0.5], [3.0, 3.2], [-2.0, -1.9], [1.0, 1.1]])
    weight = np.array([2.0, 1.0, 3.0, 1.0])
    sums = np.column_stack([weight, weight[:, None] * means])
    order = _core.category_order(sums, 1, 3).tolist()
    assert order in ([2, 0, 3, 1], [1, 3, 0, 2])
    with pytest.raises(ValueError, match="behind the weight"):
        _core.category_order(sums, 0, 3)


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


def test_rows_beyond_the_last_are_refused():
    with pytest.raises(ValueError, match="some of all rows"):
        _core.bootstrap_counts(0, 3, 3, 5)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"leaves": np.array([5], np.int32)}, "leaves of the tree"),
        ({"places": np.array([3], np.int32)}, "rows of features"),
        ({"features": np.array([[4]], np.uint16)}, "columns of bins"),
        ({"width": 9}, "number of lanes"),
        ({"drawn": np.array([1, 1], np.uint16)}, "same rows"),
    ],
)
def test_indices_that_would_leave_the_arrays_are_refused(wrong, match):
    given = {
        "bins": np.zeros((1, 1), np.uint8),
        "lanes": np.ones((1, 4)),
        "width": 4,
        "drawn": np.ones(1, np.uint16),
        "leaves": np.zeros(1, np.int32),
        "places": np.zeros(1, np.int32),
        "features": np.zeros((1, 1), np.uint16),
    }
    assert _core.level_histograms(**given).sum() == 4
    with pytest.raises(ValueError, match=match):
        _core.level_histograms(**{**given, **wrong})

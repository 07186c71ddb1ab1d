"""Neighbour search, weights and places, against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from prefero import _neighbors
from prefero._neighbors import (
    FaissIndex,
    Neighbors,
    build_index,
    in_chunks,
    index_recall,
    largest_good_size,
    leave_one_out,
    neighbor_weights,
    occupied_places,
    spread,
)

RNG = np.random.default_rng(0)


@st.composite
def sorted_distances(draw):
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 6)))
    return np.sort(draw(arrays(float, shape, elements=st.integers(0, 4).map(float))), axis=1)


def neighbors(distances, places=None):
    indices = np.tile(np.arange(distances.shape[1]), (len(distances), 1))
    return Neighbors(distances, indices, np.ones_like(distances) if places is None else places)


@given(sorted_distances())
def test_dudani_weights(distances):
    weights = neighbor_weights(neighbors(distances), "dudani")
    assert_allclose(weights, [oracles.dudani_weights(row) for row in distances])


@given(sorted_distances())
def test_inverse_distance_weights(distances):
    weights = neighbor_weights(neighbors(distances), "distance")
    for row, weight in zip(distances, weights, strict=True):
        expected = row == 0 if (row == 0).any() else 1 / row
        assert_allclose(weight, expected)


@given(arrays(float, (2, 5), elements=st.integers(0, 3).map(float)), st.integers(1, 6))
def test_a_weight_is_that_many_places(weight, k):
    places = occupied_places(weight, k)
    for row, taken in zip(weight, places, strict=True):
        copies = np.repeat(np.arange(len(row)), row.astype(int))[:k]
        assert_array_equal(taken, np.bincount(copies, minlength=len(row)))


def test_a_small_weight_takes_a_place_of_its_own():
    assert_allclose(occupied_places(np.array([[0.5, 0.25, 1.0]]), 2), [[0.5, 0.25, 0.0]])


def test_absent_neighbors_do_not_shape_the_weights():
    distances = np.array([[0.0, 1.0, 2.0, 9.0]])
    places = np.array([[0.0, 1.0, 1.0, 0.0]])
    assert_allclose(neighbor_weights(neighbors(distances, places), "dudani"), [[0, 1, 0, 0]])


def test_weights_by_a_function():
    near = neighbors(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]))
    assert_allclose(neighbor_weights(near, lambda d: np.exp(-d)), [[np.exp(-1), 2 * np.exp(-2)]])
    with pytest.raises(ValueError, match=r"shape \(1, 2\).*got shape \(1,\)"):
        neighbor_weights(near, lambda d: d[:, 0])
    with pytest.raises(ValueError, match="got -1 for the distance 1"):
        neighbor_weights(near, lambda d: -d)


def test_a_function_that_divides_by_zero_is_refused_unless_nobody_stands_there():
    distances = np.array([[0.0, 2.0]])
    with pytest.raises(ValueError, match="got inf for the distance 0"):
        neighbor_weights(neighbors(distances), lambda d: 1 / d)
    left_out = neighbors(distances, np.array([[0.0, 1.0]]))
    assert_allclose(neighbor_weights(left_out, lambda d: 1 / d), [[0, 0.5]])


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
def test_leave_one_out_never_asks_the_case_itself(algorithm):
    points = np.round(RNG.normal(size=(30, 2)), 1)
    weight = np.where(np.arange(30) % 4 == 0, 2.0, 1.0)
    queries = np.arange(0, 30, 3)
    near = leave_one_out(build_index(points, algorithm), points, weight, 5, queries)
    for row, case in enumerate(queries):
        own = near.places[row, near.indices[row] == case]
        assert_array_equal(own, weight[case] - 1)
        others = np.delete(np.arange(30), case)
        expected = np.sort(np.linalg.norm(points[others] - points[case], axis=1))[:5]
        found = near.distances[row, near.indices[row] != case][:5]
        assert_allclose(found, expected, atol=1e-12)


def test_chunks_do_not_show(monkeypatch):
    X = RNG.normal(size=(50, 3))
    index = build_index(X)
    whole = in_chunks(lambda rows: index.kneighbors(rows, 4), X)
    monkeypatch.setattr(_neighbors, "CHUNK_ROWS", 7)
    for n_jobs in (1, 2):
        for part, expected in zip(
            in_chunks(lambda rows: index.kneighbors(rows, 4), X, n_jobs), whole, strict=True
        ):
            assert_array_equal(part, expected)


class Forgetful:
    """An index that never finds a case with an odd number."""

    def fit(self, points):
        self.index = build_index(points[::2])
        return self

    def kneighbors(self, queries, n_neighbors):
        distances, indices = self.index.kneighbors(queries, n_neighbors)
        return distances, 2 * indices


def test_any_object_can_be_the_index_and_its_recall_is_told():
    points = RNG.normal(size=(200, 2))
    index = build_index(points, Forgetful())
    assert isinstance(index, Forgetful)
    assert 0.3 < index_recall(index, build_index(points), points, 5) < 0.7


def test_faiss_finds_true_distances_of_most_neighbors():
    pytest.importorskip("faiss", reason="the ann extra is not installed")
    points = RNG.normal(size=(3000, 6))
    index, exact = build_index(points, "approximate"), build_index(points)
    assert index_recall(index, exact, points, 10) > 0.8
    distances, indices = index.kneighbors(points[:20] + 0.01, 10)
    expected = np.linalg.norm(points[:20, None] + 0.01 - points[indices], axis=2)
    assert_allclose(distances, expected)
    assert (np.diff(distances, axis=1) >= 0).all()


def test_faiss_reads_on_where_a_cell_holds_too_few():
    pytest.importorskip("faiss", reason="the ann extra is not installed")
    points = RNG.normal(size=(400, 2))
    index = FaissIndex(n_cells=10, n_probes=1).fit(points)
    indices = index.kneighbors(points, 300)[1]
    assert (indices >= 0).all()
    assert all(len(set(row)) == 300 for row in indices)


def test_approximate_search_needs_the_euclidean_metric():
    with pytest.raises(ValueError, match="Euclidean"):
        build_index(np.zeros((3, 2)), "approximate", "manhattan")


@given(st.integers(1, 50), st.integers(1, 60))
def test_a_spread_sample_has_no_row_twice(n, most):
    rows = spread(n, most)
    assert len(rows) == len(set(rows)) == min(n, most)
    assert rows.min() >= 0
    assert rows.max() < n


def test_of_sizes_that_chance_may_have_told_apart_the_larger_one_is_chosen():
    noise = np.tile([0.4, -0.4], 50)
    clearly_worse, best, slightly_worse = np.full(100, 0.1), np.full(100, 0.5), 0.49 + noise
    weight = np.full(100, 0.01)
    assert largest_good_size(np.array([clearly_worse, best, slightly_worse]), weight) == 2
    assert largest_good_size(np.array([best, slightly_worse, clearly_worse]), weight) == 1
    assert largest_good_size(np.array([best, best - 0.01]), weight) == 0

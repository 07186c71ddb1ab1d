"""Neighbour search, weights and places, against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import oracles
from prefero._neighbors import _case_base, _index
from prefero._neighbors._case_base import CaseBase, evenly_sampled, in_chunks, largest_good_size
from prefero._neighbors._index import FaissIndex, build_index, index_recall
from prefero._neighbors._neighborhoods import Neighbors, neighbor_weights, occupied_places


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape)


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


ALGORITHMS = ["auto", "brute", "kd_tree", "ball_tree"]
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


@every_algorithm
def test_leave_one_out_never_asks_the_case_itself(algorithm):
    points = np.round(normal(30, 2), 1)
    weight = np.where(np.arange(30) % 4 == 0, 2.0, 1.0)
    queries = np.arange(0, 30, 3)
    near = CaseBase(points, weight, algorithm).others(queries, 5)
    for row, case in enumerate(queries):
        own = near.places[row, near.indices[row] == case]
        assert_array_equal(own, [1.0] if weight[case] == 2 else [])
        others = np.delete(np.arange(30), case)
        expected = np.sort(np.linalg.norm(points[others] - points[case], axis=1))
        found = near.distances[row, near.indices[row] != case]
        assert_allclose(found, expected[: len(found)], atol=1e-12)


def test_all_others_are_asked_where_there_are_fewer_than_places():
    near = CaseBase(np.arange(3.0)[:, None], np.array([2.0, 2.0, 1.0])).others(np.arange(3), 10)
    assert_array_equal(near.indices, [[0, 1, 2], [1, 0, 2], [1, 0, 2]])
    assert_array_equal(near.places, [[1, 2, 1], [1, 2, 1], [2, 2, 0]])


@pytest.fixture(params=[True, False], ids=["scan", "index"])
def scanning(request, monkeypatch):
    """Few queries are answered by looking at all cases, many through an index: both are asked."""
    if not request.param:
        monkeypatch.setattr(_index, "MAX_SCAN", 0)


@every_algorithm
def test_equal_points_are_at_distance_zero_however_far_from_the_origin(algorithm, scanning):
    points = np.repeat(12_000 + normal(40, 20), 2, axis=0)
    distances, indices = build_index(points, algorithm).kneighbors(points, 3)
    assert_array_equal(distances[:, :2], 0)
    assert (distances[:, 2] > 1).all()
    assert_array_equal(indices[:, :2] // 2, np.repeat(np.arange(40), 2)[:, None] * [1, 1])


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "correlation"])
def test_equal_points_are_at_distance_zero_by_other_metrics(metric):
    points = np.repeat(normal(40, 20), 2, axis=0)
    distances, _ = build_index(points, "brute", metric).kneighbors(points, 3)
    assert_array_equal(distances[:, :2], 0)
    assert (distances[:, 2] > 1e-3).all()


@given(
    arrays(
        float, st.tuples(st.integers(2, 12), st.just(3)), elements=st.integers(-2, 2).map(float)
    ),
    st.integers(1, 12),
    st.sampled_from(ALGORITHMS),
    st.booleans(),
)
def test_of_equally_near_cases_the_first_ones_are_found(points, k, algorithm, scan):
    k = min(k, len(points))
    queries = points[::2] + 0.5
    with pytest.MonkeyPatch.context() as patch:
        if not scan:
            patch.setattr(_index, "MAX_SCAN", 0)
        distances, indices = build_index(points, algorithm).kneighbors(queries, k)
    for query, distance, index in zip(queries, distances, indices, strict=True):
        exact = np.sqrt(((points - query) ** 2).sum(axis=1))
        assert_array_equal(index, np.argsort(exact, kind="stable")[:k])
        assert_allclose(distance, exact[index])


@every_algorithm
def test_more_equal_points_than_neighbors(algorithm, scanning):
    points = np.vstack([np.zeros((60, 17)), np.ones((60, 17))])
    distances, indices = build_index(points, algorithm).kneighbors(points[[100, 3]], 5)
    assert_array_equal(distances, 0)
    assert_array_equal(indices, [np.arange(60, 65), np.arange(5)])


@every_algorithm
def test_a_query_gets_the_same_bits_alone_and_among_others(algorithm):
    points = normal(300, 20)
    queries = points[:60] + 0.01
    index = build_index(points, algorithm)
    together = index.kneighbors(queries, 7)
    for row in range(60):
        for alone, among in zip(index.kneighbors(queries[[row]], 7), together, strict=True):
            assert_array_equal(alone[0], among[row])


def test_chunks_do_not_show(monkeypatch):
    X = normal(50, 3)
    index = build_index(X)
    whole = in_chunks(lambda rows: index.kneighbors(rows, 4), X)
    monkeypatch.setattr(_case_base, "CHUNK_ROWS", 7)
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
    points = normal(200, 2)
    index = build_index(points, Forgetful())
    assert isinstance(index, Forgetful)
    assert 0.3 < index_recall(index, build_index(points), points, 5) < 0.7


def test_faiss_finds_true_distances_of_most_neighbors():
    pytest.importorskip("faiss", reason="the ann extra is not installed")
    points = normal(3000, 6)
    index, exact = build_index(points, "approximate"), build_index(points)
    assert index_recall(index, exact, points, 10) > 0.8
    distances, indices = index.kneighbors(points[:20] + 0.01, 10)
    expected = np.linalg.norm(points[:20, None] + 0.01 - points[indices], axis=2)
    assert_allclose(distances, expected)
    assert (np.diff(distances, axis=1) >= 0).all()


def test_faiss_reads_on_where_a_cell_holds_too_few():
    pytest.importorskip("faiss", reason="the ann extra is not installed")
    points = normal(400, 2)
    index = FaissIndex(n_cells=10, n_probes=1).fit(points)
    indices = index.kneighbors(points, 300)[1]
    assert (indices >= 0).all()
    assert all(len(set(row)) == 300 for row in indices)


def test_approximate_search_needs_the_euclidean_metric():
    with pytest.raises(ValueError, match="Euclidean"):
        build_index(np.zeros((3, 2)), "approximate", "manhattan")


@given(st.lists(st.integers(1, 4), min_size=1, max_size=50), st.integers(1, 60))
def test_a_sample_of_weighted_cases_is_that_of_the_cases_repeated(weight, most):
    cases, counted = evenly_sampled(np.array(weight, dtype=float), most)
    owner = np.repeat(np.arange(len(weight)), weight)
    rows, ones = evenly_sampled(np.ones(len(owner)), most)
    assert_array_equal(ones, 1)
    assert len(rows) == len(set(rows)) == min(len(owner), most)
    assert_array_equal(np.repeat(cases, counted.astype(int)), owner[rows])


def test_a_sample_of_light_cases_has_their_weights():
    cases, counted = evenly_sampled(np.full(9, 0.25), 3)
    assert_array_equal(cases, [0, 4, 8])
    assert_array_equal(counted, 0.25)


@pytest.mark.parametrize(
    ("points", "weight"),
    [
        (csr_array(np.ones((3, 2))), np.ones(3)),
        (np.ones(3), np.ones(3)),
        (np.ones((3, 2), dtype=np.float32), np.ones(3)),
        (np.full((3, 2), np.nan), np.ones(3)),
        (np.ones((3, 2)), np.ones(4)),
        (np.ones((3, 2)), np.array(["a", "b", "c"])),
        (np.ones((0, 2)), np.ones(0)),
    ],
)
def test_cases_of_the_wrong_kind_are_refused(points, weight):
    with pytest.raises(ValueError, match="fit again"):
        CaseBase(points, weight)


def test_of_sizes_that_chance_may_have_told_apart_the_larger_one_is_chosen():
    noise = np.tile([0.4, -0.4], 50)
    clearly_worse, best, slightly_worse = np.full(100, 0.1), np.full(100, 0.5), 0.49 + noise
    weight = np.ones(100)
    assert largest_good_size(np.array([clearly_worse, best, slightly_worse]), weight) == 2
    assert largest_good_size(np.array([best, slightly_worse, clearly_worse]), weight) == 1
    assert largest_good_size(np.array([best, best - 0.01]), weight) == 0


@given(
    arrays(float, (4, 6), elements=st.integers(-3, 3).map(lambda x: x / 3)),
    st.lists(st.integers(1, 3), min_size=6, max_size=6),
)
def test_a_trial_of_weight_two_is_two_trials(scores, weight):
    scores[:, 0] = np.nan
    repeated = np.repeat(scores, weight, axis=1)
    chosen = largest_good_size(scores, np.array(weight, dtype=float))
    assert chosen == largest_good_size(repeated, np.ones(repeated.shape[1]))

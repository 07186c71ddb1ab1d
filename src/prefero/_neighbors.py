"""Who is near, how near, and what that is worth: shared by the rankers that keep their cases."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from prefero._optional import require
from prefero._typing import Indices, Values

__all__ = [
    "FaissIndex",
    "Neighbors",
    "build_index",
    "in_chunks",
    "index_recall",
    "largest_good_size",
    "leave_one_out",
    "nearest_places",
    "neighbor_weights",
    "occupied_places",
]

WeightFunction = Callable[[Values], Values]

# Rows a query: results do not depend on how many jobs share the chunks, and memory is bounded
# by a chunk, whatever the number of queries.
CHUNK_ROWS = 4096

# What a ranker tries where it is to choose: twenty sizes, each about a quarter larger than the
# one before, on at most so many cases left out one at a time.
NEIGHBORHOOD_SIZES = (1, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 25, 32, 40, 50, 65, 85, 110, 150, 200)
MAX_TRIALS = 3000
# The part of its standard error below which a difference is taken for chance.
CHANCE = 0.5


class Neighbors(NamedTuple):
    """The nearest cases of some queries, nearest first; each array is (n_queries, k).

    ``places`` says how many of the k places each case takes: its weight, cut off where the
    neighbourhood is full.
    """

    distances: Values
    indices: Indices
    places: Values


def build_index(
    points: Values,
    algorithm: Any = "auto",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
) -> Any:
    """Index cases for neighbour queries.

    Parameters
    ----------
    points : ndarray of shape (n_cases, n_features)
        The cases.
    algorithm : str or object, default="auto"
        One of the algorithms of :class:`sklearn.neighbors.NearestNeighbors`, ``"approximate"``
        for :class:`FaissIndex`, or an object with ``fit(points)`` and
        ``kneighbors(queries, n_neighbors)``, which is cloned.
    metric, p, metric_params
        As in :class:`sklearn.neighbors.NearestNeighbors`; not used for an object.

    Returns
    -------
    object
        The fitted index; ``kneighbors(queries, n_neighbors)`` returns distances and indices.

    Examples
    --------
    >>> index = build_index(np.array([[0.0], [2.0], [5.0]]))
    >>> index.kneighbors(np.array([[4.0]]), 2)
    (array([[1., 2.]]), array([[2, 1]]))
    """
    if not isinstance(algorithm, str):
        return clone(algorithm, safe=False).fit(points)
    if algorithm == "approximate":
        _require_euclidean(metric, p)
        return FaissIndex().fit(points)
    return NearestNeighbors(
        algorithm=algorithm, metric=metric, p=p, metric_params=metric_params
    ).fit(points)


def _require_euclidean(metric: Any, p: float) -> None:
    if metric == "euclidean" or (metric == "minkowski" and p == 2):
        return
    raise ValueError(
        f"algorithm='approximate' needs the Euclidean metric, got metric={metric!r}, p={p!r}: "
        "choose another algorithm, or pass an index object of your own."
    )


class FaissIndex:
    """An approximate Euclidean index: cells of an inverted file, of which the nearest are read.

    Needs the ``ann`` extra. Distances of the cases found are exact.

    Parameters
    ----------
    n_cells : int, optional
        Cells of the inverted file; the root of the number of cases by default.
    n_probes : int, default=32
        Cells read for each query: more find more of the true neighbours, more slowly.
    """

    def __init__(self, n_cells: int | None = None, n_probes: int = 32) -> None:
        self.n_cells = n_cells
        self.n_probes = n_probes

    def fit(self, points: Values) -> Self:
        """Index the cases.

        Parameters
        ----------
        points : ndarray of shape (n_cases, n_features)
            The cases.

        Returns
        -------
        self
            The index.
        """
        faiss = require("faiss", extra="ann", purpose="algorithm='approximate'")
        n, d = points.shape
        # Training a cell takes about forty cases; fewer make faiss print a warning.
        cells = min(self.n_cells or round(np.sqrt(n)), max(1, n // 40))
        self._points = points
        self._index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, cells)
        self._index.cp.seed = 0
        singles = np.ascontiguousarray(points, dtype=np.float32)
        self._index.train(singles)
        self._index.add(singles)
        self._index.nprobe = min(self.n_probes, cells)
        return self

    def kneighbors(self, queries: Values, n_neighbors: int) -> tuple[Values, Indices]:
        """Find near cases.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)
            The queries.
        n_neighbors : int
            How many to find.

        Returns
        -------
        distances, indices : ndarray of shape (n_queries, n_neighbors)
            Nearest first.
        """
        singles = np.ascontiguousarray(queries, dtype=np.float32)
        _, found = self._index.search(singles, n_neighbors)
        # Where the cells read hold too few cases faiss fills up with -1: read them all.
        short = (found < 0).any(axis=1)
        if short.any():
            found[short] = self._search_all_cells(singles[short], n_neighbors)
        # Single precision loses the differences that the weights are made of.
        distances = np.linalg.norm(queries[:, None, :] - self._points[found], axis=2)
        order = np.argsort(distances, axis=1, kind="stable")
        return np.take_along_axis(distances, order, 1), np.take_along_axis(found, order, 1)

    def _search_all_cells(self, singles: NDArray[np.float32], n_neighbors: int) -> Indices:
        faiss = require("faiss", extra="ann", purpose="algorithm='approximate'")
        everywhere = faiss.SearchParametersIVF(nprobe=self._index.nlist)
        return self._index.search(singles, n_neighbors, params=everywhere)[1]


def index_recall(index: Any, exact: Any, points: Values, k: int, n_queries: int = 200) -> float:
    """Return the share of the true k nearest cases that an index finds, on a sample of cases.

    Parameters
    ----------
    index, exact : object
        Two indices of the points, the second one exact.
    points : ndarray of shape (n_cases, n_features)
        The cases.
    k : int
        Neighbours a query.
    n_queries : int, default=200
        Cases to ask for, spread evenly over all.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> points = np.random.default_rng(0).normal(size=(50, 2))
    >>> index_recall(build_index(points), build_index(points, "brute"), points, 5)
    1.0
    """
    queries = points[spread(len(points), n_queries)]
    true, found = exact.kneighbors(queries, k)[1], index.kneighbors(queries, k)[1]
    return float(np.mean([np.isin(*pair).mean() for pair in zip(found, true, strict=True)]))


def spread(n: int, most: int) -> Indices:
    """At most so many row numbers out of n, evenly spaced: a sample without chance."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def in_chunks(
    function: Callable[[Values], tuple[NDArray[Any], ...]], X: Values, n_jobs: int | None = None
) -> tuple[NDArray[Any], ...]:
    """Apply a function to chunks of rows, in parallel, and join what it returns.

    Parameters
    ----------
    function : callable
        Takes some rows of X, returns a tuple of arrays with as many rows.
    X : ndarray of shape (n_samples, n_features)
        The rows.
    n_jobs : int, optional
        As in joblib. The chunks are the same for any number of jobs.

    Returns
    -------
    tuple of ndarray
        The arrays of all chunks, concatenated.

    Examples
    --------
    >>> in_chunks(lambda rows: (rows.sum(axis=1),), np.ones((3, 2)))
    (array([2., 2., 2.]),)
    """
    if len(X) <= CHUNK_ROWS:
        return function(X)
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(function)(X[rows]) for rows in gen_batches(len(X), CHUNK_ROWS)
    )
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def occupied_places(weight: Values, k: int) -> Values:
    """Fill the k places of a neighbourhood, nearest case first.

    A case of weight w stands for w equal cases and takes as many places, so weight 2 is the
    case twice. A case of a weight below 1 takes one place and votes with its weight.

    Parameters
    ----------
    weight : ndarray of shape (n_queries, m)
        Weights of the cases, nearest first; zero for absent.
    k : int
        The places.

    Returns
    -------
    ndarray of shape (n_queries, m)
        The weight with which each case takes part: zero where the places are taken.

    Examples
    --------
    >>> occupied_places(np.array([[1.0, 2.0, 0.5, 3.0, 1.0]]), 5)
    array([[1. , 2. , 0.5, 1. , 0. ]])
    """
    size = np.where(weight > 0, np.maximum(weight, 1), 0)
    free = k - (np.cumsum(size, axis=1) - size)
    return weight * np.clip(free, 0, size) / np.where(size > 0, size, 1)


def leave_one_out(
    index: Any, points: Values, weight: Values, k: int, queries: Indices
) -> Neighbors:
    """Return the k nearest other cases of some of the cases, from one query.

    Parameters
    ----------
    index : object
        An index of the points.
    points : ndarray of shape (n_cases, n_features)
        The cases.
    weight : ndarray of shape (n_cases,)
        Their weights. Of a case of weight w, w - 1 stay when one is left out.
    k : int
        Neighbours a query.
    queries : ndarray of int
        The cases to ask for.

    Returns
    -------
    Neighbors
        One column more than k, as the case itself is kept, without a place. ``places`` are
        weights, not yet cut off: a smaller k takes them from here too.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> near = leave_one_out(build_index(points), points, np.ones(3), 1, np.arange(3))
    >>> near.indices, near.places
    (array([[0, 1],
            [1, 0],
            [2, 1]]), array([[0., 1.],
            [0., 1.],
            [0., 1.]]))
    """
    distances, indices = index.kneighbors(points[queries], min(k + 1, len(points)))
    itself = indices == queries[:, None]
    return Neighbors(distances, indices, np.maximum(weight[indices] - itself, 0))


def nearest_places(near: Neighbors, k: int, *, itself: bool = True) -> Neighbors:
    """Return the neighbours that share the first k places.

    Parameters
    ----------
    near : Neighbors
        At least k neighbours a query; ``places`` are weights, not yet cut off.
    k : int
        The places.
    itself : bool, default=True
        Whether the case left out is among them, as ``leave_one_out`` gives.

    Returns
    -------
    Neighbors
        With places that sum to k at most.

    Examples
    --------
    >>> near = Neighbors(np.array([[0.0, 1, 2]]), np.array([[5, 3, 4]]), np.array([[0.0, 2, 1]]))
    >>> nearest_places(near, 1).places
    array([[0., 1.]])
    """
    columns = slice(k + itself)
    return Neighbors(
        near.distances[:, columns],
        near.indices[:, columns],
        occupied_places(near.places[:, columns], k),
    )


def largest_good_size(scores: Values, weight: Values) -> int:
    """Choose a neighbourhood size: the largest whose score is the best, up to chance.

    A difference counts as chance if it is below a part of its standard error: of sizes that
    the cases left out cannot tell apart, the larger one has the smaller variance.

    Parameters
    ----------
    scores : ndarray of shape (n_sizes, n_trials)
        What each size scores on each case left out, sizes ascending.
    weight : ndarray of shape (n_trials,)
        Weights of the cases; their sum is 1.

    Returns
    -------
    int
        The row of scores.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.5, 0.6], [0.9, 0.1]])
    >>> largest_good_size(scores, np.array([0.5, 0.5]))
    2
    """
    behind = scores[np.argmax(scores @ weight)] - scores
    gap = behind @ weight
    error = np.sqrt(((behind - gap[:, None]) ** 2) @ weight**2)
    return int(np.flatnonzero(gap <= CHANCE * error)[-1])


def neighbor_weights(near: Neighbors, kind: str | WeightFunction) -> Values:
    """Weigh neighbours by their distance.

    Parameters
    ----------
    near : Neighbors
        The neighbours.
    kind : {"dudani", "uniform", "distance", "squared_distance"} or callable
        ``"dudani"``: (d_k - d_i)/(d_k - d_1), 1 where all are equally far (Dudani 1976);
        ``"uniform"``: 1; ``"distance"``: 1/d and ``"squared_distance"``: 1/d², where neighbours
        at distance 0 leave none of the weight to others; a callable takes the distances and
        returns as many weights.

    Returns
    -------
    ndarray of shape (n_queries, k)
        Weights, times the places each neighbour takes.

    Examples
    --------
    >>> near = Neighbors(np.array([[1.0, 2.0, 5.0]]), np.array([[4, 0, 7]]), np.ones((1, 3)))
    >>> neighbor_weights(near, "dudani")
    array([[1.  , 0.75, 0.  ]])
    """
    distances, places = near.distances, near.places
    if callable(kind):
        return _called_weights(kind, distances, taken=places > 0) * places
    if kind == "uniform":
        return places
    if kind in ("distance", "squared_distance"):
        exact = (distances == 0) & (places > 0)
        inverse = 1 / np.where(distances > 0, distances, 1) ** (1 if kind == "distance" else 2)
        return np.where(exact.any(axis=1, keepdims=True), exact, inverse) * places
    nearest = np.min(distances, axis=1, where=places > 0, initial=np.inf, keepdims=True)
    farthest = np.max(distances, axis=1, where=places > 0, initial=-np.inf, keepdims=True)
    width = farthest - nearest
    rise = (farthest - distances) / np.where(width > 0, width, 1)
    return np.where(width > 0, rise, 1) * places


def _called_weights(
    function: WeightFunction, distances: Values, taken: NDArray[np.bool_]
) -> Values:
    """What a function makes of distances; zero for neighbours that take no place."""
    with np.errstate(divide="ignore"):
        weights = np.asarray(function(distances), dtype=np.float64)
    if weights.shape != distances.shape:
        raise ValueError(
            f"weights must return an array of shape {distances.shape}, one weight a "
            f"distance, got shape {weights.shape}."
        )
    weights = np.where(taken, weights, 0)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise ValueError(
            f"weights must return finite numbers that are not negative, got {weights[bad][0]:g} "
            f"for the distance {distances[bad][0]:g}; weights='distance' is a 1/d that knows zero."
        )
    return weights

"""Who is near: indices of cases, and the one place where their distances are taken."""

from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import VALID_METRICS, NearestNeighbors

from prefero import _core
from prefero._optional import require
from prefero._sampling import evenly_spaced
from prefero._state import Array, Attribute, FittedState, Number, State, Word
from prefero._typing import Indices, Mask, Values

# scikit-learn's own rule: in more dimensions a tree has to look at nearly everything.
MAX_TREE_FEATURES = 15
# Products of queries, cases and features up to which looking at all cases is fastest.
MAX_SCAN = 100_000


class Index(Protocol):
    """What finds the nearest of the cases it was built from."""

    def kneighbors(self, queries: Values, n_neighbors: int, /) -> tuple[Values, Indices]:
        """Return distances and row numbers, nearest first."""


_METRICS = sorted(
    {name for name in VALID_METRICS["brute"] if isinstance(name, str)}
    - {"haversine", "precomputed", "pyfunc"}
)


def _are_metric_params(params: Any, state: State) -> bool:
    """Whether the parameters of a metric are arrays for as many coordinates as cases have."""
    width = state.size("n_coordinates")
    for name, value in params.items():
        shape = (width,) if np.ndim(value) == 1 else (width, width)
        if name not in ("V", "VI", "w") or np.shape(value) != shape:
            return False
        Array("f8", *shape, low=0 if len(shape) == 1 else -np.inf).check(value, state)
    return True


# What a file may give for the parameters of an index: no object, no function.
INDEX_PARAMETERS: FittedState = {
    "algorithm": Word("auto", "brute", "kd_tree", "ball_tree", "approximate"),
    "metric": Word(*_METRICS),
    "p": Number(0, 100),
    "metric_params": Attribute(none=True, rule=("an array a coordinate", _are_metric_params)),
}


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
    Index
        The fitted index; ``kneighbors(queries, n_neighbors)`` returns distances and indices.

    Examples
    --------
    >>> index = build_index(np.array([[0.0], [2.0], [5.0]]))
    >>> index.kneighbors(np.array([[4.0]]), 2)
    (array([[1., 2.]]), array([[2, 1]]))
    """
    if not isinstance(algorithm, str):
        return clone(algorithm, safe=False).fit(points)
    if not metric_params and (metric == "euclidean" or (metric == "minkowski" and p == 2)):
        kind = FaissIndex() if algorithm == "approximate" else EuclideanIndex(algorithm)
        return kind.fit(points)
    if algorithm == "approximate":
        raise ValueError(
            f"algorithm='approximate' needs the Euclidean metric, got metric={metric!r}, p={p!r}: "
            "choose another algorithm, or pass an index object of your own."
        )
    return OtherMetricIndex(algorithm, metric, p, metric_params).fit(points)


def nearest_first(distances: Values, indices: Indices) -> tuple[Values, Indices]:
    """Sort by distance; of equally near cases the one that comes first in the case base."""
    back = np.diff(distances, axis=1)
    unsorted = np.flatnonzero(
        ((back < 0) | ((back == 0) & (np.diff(indices, axis=1) < 0))).any(axis=1)
    )
    if unsorted.size:
        distances, indices = distances.copy(), indices.copy()
        order = np.lexsort((indices[unsorted], distances[unsorted]), axis=1)
        for part in (distances, indices):
            part[unsorted] = np.take_along_axis(part[unsorted], order, 1)
    return distances, indices


def measured(queries: Values, points: Values, indices: Indices) -> tuple[Values, Indices]:
    """Take the distances of proposed cases from differences, and sort them."""
    distances = _core.distances_of(np.ascontiguousarray(queries), points, indices)
    return nearest_first(distances, indices)


class EuclideanIndex:
    """An exact Euclidean index: the k nearest, of equally near ones those that come first.

    An index of scikit-learn proposes cases; their distances are taken from differences, so that
    they have the same bits whatever proposes them and however many queries are asked. Its own
    come from products where it uses no tree, and leave equal points apart.

    Parameters
    ----------
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How cases are proposed.
    """

    def __init__(self, algorithm: str = "auto") -> None:
        self.algorithm = algorithm

    def fit(self, points: Values) -> Self:
        """Index the cases (n_cases, n_features)."""
        algorithm = self.algorithm
        if algorithm == "auto":
            algorithm = "kd_tree" if points.shape[1] <= MAX_TREE_FEATURES else "brute"
        self._points = np.ascontiguousarray(points)
        # Products are the more exact the nearer to the origin.
        self._center = points.mean(axis=0) if algorithm == "brute" else np.zeros(points.shape[1])
        centered = points - self._center if algorithm == "brute" else points
        self._proposing = NearestNeighbors(algorithm=algorithm).fit(centered)
        self._reach = float((centered**2).sum(axis=1).max()) if algorithm == "brute" else None
        return self

    def kneighbors(self, queries: Values, n_neighbors: int) -> tuple[Values, Indices]:
        """Return the distances and row numbers of the nearest cases, nearest first."""
        if len(queries) * self._points.size <= MAX_SCAN:
            return self._scan(queries, n_neighbors)
        wanted = min(n_neighbors + 1, len(self._points))
        distances, indices, certain = self._propose(queries, n_neighbors, wanted)
        # More cases are as far as the last one than were proposed.
        while not certain.all():
            wanted = min(4 * wanted, len(self._points))
            rows = np.flatnonzero(~certain)
            distances[rows], indices[rows], certain[rows] = self._propose(
                queries[rows], n_neighbors, wanted
            )
        return distances, indices

    def _scan(self, queries: Values, k: int) -> tuple[Values, Indices]:
        distances = _core.distances(np.ascontiguousarray(queries), self._points)
        indices = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(distances, indices, 1), indices

    def _propose(self, queries: Values, k: int, wanted: int) -> tuple[Values, Indices, Mask]:
        """The k nearest of some proposed cases, and whether no other case can be as near."""
        centered = queries - self._center
        proposed, indices = self._proposing.kneighbors(centered, wanted)
        distances, indices = measured(queries, self._points, indices)
        distances, indices = distances[:, :k], indices[:, :k]
        if wanted == len(self._points):
            return distances, indices, np.ones(len(queries), dtype=bool)
        farthest = proposed[:, -1] ** 2
        size = farthest if self._reach is None else (centered**2).sum(axis=1) + self._reach
        error = 8 * (queries.shape[1] + 4) * np.finfo(np.float64).eps * size
        return distances, indices, farthest - error > distances[:, -1] ** 2


class OtherMetricIndex:
    """An index by any metric of scikit-learn, in which equal points are at distance 0.

    Parameters
    ----------
    algorithm, metric, p, metric_params
        As in :class:`sklearn.neighbors.NearestNeighbors`.
    """

    def __init__(
        self, algorithm: str, metric: Any, p: float, metric_params: dict[str, Any] | None
    ) -> None:
        self._proposing = NearestNeighbors(
            algorithm=algorithm, metric=metric, p=p, metric_params=metric_params
        )

    def fit(self, points: Values) -> Self:
        """Index the cases (n_cases, n_features)."""
        self._points = points
        self._proposing.fit(points)
        return self

    def kneighbors(self, queries: Values, n_neighbors: int) -> tuple[Values, Indices]:
        """Return the distances and row numbers of the nearest cases, nearest first."""
        distances, indices = self._proposing.kneighbors(queries, n_neighbors)
        equal = (queries[:, None] == self._points[indices]).all(axis=2)
        return nearest_first(np.where(equal, 0, distances), indices)


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
        """Index the cases (n_cases, n_features)."""
        faiss = require("faiss", extra="ann", purpose="algorithm='approximate'")
        n, d = points.shape
        # Training a cell takes about forty cases; fewer make faiss print a warning.
        cells = min(self.n_cells or round(np.sqrt(n)), max(1, n // 40))
        self._points = np.ascontiguousarray(points)
        self._index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, cells)
        self._index.cp.seed = 0
        singles = np.ascontiguousarray(points, dtype=np.float32)
        self._index.train(singles)
        self._index.add(singles)
        self._index.nprobe = min(self.n_probes, cells)
        # Where the cells read hold too few cases faiss fills up with -1: then all are read.
        self._everywhere = faiss.SearchParametersIVF(nprobe=cells)
        return self

    def kneighbors(self, queries: Values, n_neighbors: int) -> tuple[Values, Indices]:
        """Return the distances and row numbers of near cases, nearest first."""
        singles = np.ascontiguousarray(queries, dtype=np.float32)
        found = self._index.search(singles, n_neighbors)[1]
        short = (found < 0).any(axis=1)
        if short.any():
            found[short] = self._index.search(singles[short], n_neighbors, params=self._everywhere)[
                1
            ]
        # Single precision loses the differences that the weights are made of.
        return measured(queries, self._points, found)


def index_recall(index: Any, exact: Any, points: Values, k: int, n_queries: int = 200) -> float:
    """Return the share of the true k nearest cases that an index finds, on a sample of cases.

    Parameters
    ----------
    index, exact : Index
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
    queries = points[evenly_spaced(len(points), n_queries)]
    true, found = exact.kneighbors(queries, k)[1], index.kneighbors(queries, k)[1]
    return float(np.mean([np.isin(*pair).mean() for pair in zip(found, true, strict=True)]))

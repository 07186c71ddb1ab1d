"""Cases and their neighbours: queries, leaving cases out, and the choice of a size by it."""

from collections.abc import Callable, Iterable
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from prefero._neighbors._index import INDEX_PARAMETERS, build_index, index_recall
from prefero._neighbors._neighborhoods import Neighbors, place_sizes
from prefero._sampling import evenly_spaced
from prefero._sent_once import SentOnce, called
from prefero._sklearn import HasMethods, Interval, StrOptions, limit_threads
from prefero._state import Array, Count, FittedState, State
from prefero._typing import Indices, Values

EXACT_ALGORITHMS = {"auto", "brute", "kd_tree", "ball_tree"}

# Rows a query: results do not depend on how many jobs share the chunks, and memory is bounded
# by a chunk, whatever the number of queries.
CHUNK_ROWS = 4096
# Cases left out, one at a time, to choose a size.
MAX_TRIALS = 2000
# Sums of numbers of about 1 that differ by less are equal.
ROUNDING = 1e-12

# A part of the docstrings of both rankers.
INDEX_DOCS = """
algorithm : str or object, default="auto"
    ``"auto"``, ``"brute"``, ``"kd_tree"`` or ``"ball_tree"`` of scikit-learn;
    ``"approximate"`` for large case bases (needs the ``ann`` extra); or an object with
    ``fit(X)`` and ``kneighbors(X, n_neighbors)``, which gets the scaled cases. Model files hold
    names only.
metric : str or callable, default="minkowski"
    As in :class:`sklearn.neighbors.NearestNeighbors`; a function is not saved to model files.
p : float, default=2
    The power of the Minkowski metric.
metric_params : dict, optional
    More parameters of the metric.
n_jobs : int, optional
    Chunks of queries to answer at a time, as in joblib. Results do not depend on it.
"""


class CaseBase:
    """Points with weights, and the index of them, which is built at the first query.

    Parameters
    ----------
    points : ndarray of shape (n_cases, n_features), dtype float64
        The cases.
    weight : ndarray of shape (n_cases,), dtype float64
        Their weights, positive. A case of weight 2 is the case twice.
    algorithm, metric, p, metric_params
        As in :func:`build_index`.

    Examples
    --------
    >>> cases = CaseBase(np.array([[0.0], [1.0], [3.0]]), np.ones(3))
    >>> cases.nearest(np.array([[0.9]]), 2).indices
    array([[1, 0]])
    >>> cases.others(np.arange(3), 1).indices
    array([[1],
           [0],
           [1]])
    """

    def __init__(
        self,
        points: Values,
        weight: Values,
        algorithm: Any = "auto",
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
    ) -> None:
        _require(points, ndim=2, name="points_")
        _require(weight, ndim=1, name="case_weight_")
        if not 0 < len(points) == len(weight):
            raise ValueError(
                f"The {len(points)} rows of points_ have {len(weight)} weights in case_weight_, "
                "where each must have one: fit again."
            )
        self.points, self.weight = points, weight
        self.algorithm, self.metric = algorithm, metric
        self.p, self.metric_params = p, metric_params

    @cached_property
    def index(self) -> Any:
        """The index of the points."""
        return self._index(self.algorithm)

    def _index(self, algorithm: Any) -> Any:
        return build_index(self.points, algorithm, self.metric, self.p, self.metric_params)

    @cached_property
    def n_places(self) -> int:
        """How many places of a neighbourhood all cases fill."""
        return int(place_sizes(self.weight).sum())

    def nearest(self, queries: Values, k: int) -> Neighbors:
        """Return the nearest cases of each query, enough of them for k places."""
        return self._refined(queries, self._found(queries, k), k)

    # One of a few queries of a fit, which are too short to share.
    @limit_threads(limits=1, user_api="openmp")
    def others(self, cases: Indices, k: int) -> Neighbors:
        """Return the nearest other cases of some cases, enough of them for k places.

        Of a case of weight w, w - 1 stay when one is left out.
        """
        queries = self.points[cases]
        near = self._found(queries, k + 1)
        places = np.maximum(near.places - (near.indices == cases[:, None]), 0)
        near = self._refined(queries, near._replace(places=places), k + 1)
        # A case without a place goes to the end, and out if there are enough.
        order = np.argsort(near.places == 0, axis=1, kind="stable")[:, :k]
        return Neighbors(
            np.take_along_axis(near.distances, order, axis=1),
            np.take_along_axis(near.indices, order, axis=1),
            np.take_along_axis(near.places, order, axis=1),
        )

    def _found(self, queries: Values, k: int) -> Neighbors:
        distances, indices = self.index.kneighbors(queries, min(k, len(self.points)))
        return Neighbors(distances, indices, self.weight[indices])

    def _refined(self, queries: Values, near: Neighbors, k: int) -> Neighbors:
        """Choose among more neighbours than asked for, where a subclass finds more."""
        return near

    def trials(self) -> tuple[Indices, Values]:
        """Return the cases to leave out one after the other, and what each counts."""
        return evenly_sampled(self.weight, MAX_TRIALS)

    def sizes(self, asked: int | str, tried: Iterable[int]) -> list[int]:
        """Return the size asked for, or those of some sizes that cases left out can judge."""
        if asked == "all":
            return [self.n_places]
        if asked not in ("auto", "best"):
            return [min(int(asked), self.n_places)]
        return [k for k in tried if k < self.n_places] or [1]

    def recall(self, k: int) -> float:
        """Return the share of the true k nearest cases that the index finds, on a sample."""
        if isinstance(self.algorithm, str) and self.algorithm in EXACT_ALGORITHMS:
            return 1.0
        return index_recall(self.index, self._index("auto"), self.points, min(k, len(self.points)))


def _require(array: Any, *, ndim: int, name: str) -> None:
    """Refuse what a damaged file may hold in place of an array: indices follow it blindly."""
    plain = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.ndim == ndim
    if not plain or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a {ndim}-dimensional array of finite floats: fit again.")


def _are_filled(n_places: int, state: State) -> bool:
    return bool(n_places <= place_sizes(state.values["case_weight_"]).sum())


class CaseRankerMixin:
    """What rankers that keep their cases share: ``points_``, ``case_weight_``, and their index."""

    points_: Values
    case_weight_: Values

    _fitted_state: ClassVar[FittedState] = {
        "case_weight_": Array("f8", "n_cases", low=np.finfo(float).tiny),
        "n_neighbors_": Count(1, rule=("no more places than cases fill", _are_filled)),
    }
    _saved_parameters: ClassVar[FittedState] = INDEX_PARAMETERS

    _case_constraints: ClassVar[dict[str, list[Any]]] = {
        "algorithm": [
            StrOptions(EXACT_ALGORITHMS | {"approximate"}),
            HasMethods(["fit", "kneighbors"]),
        ],
        "metric": [str, callable],
        "p": [Interval(Real, 0, None, closed="neither")],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
    }

    @cached_property
    def _cases(self) -> CaseBase:
        """The cases, whose index is made at the first query: files hold plain arrays only."""
        return CaseBase(self.points_, self.case_weight_, **self._index_options())

    def _index_options(self) -> dict[str, Any]:
        names = ("algorithm", "metric", "p", "metric_params")
        return {name: getattr(self, name) for name in names}


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
    sent = SentOnce(function)
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(called)(sent, X[rows]) for rows in gen_batches(len(X), CHUNK_ROWS)
    )
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def evenly_sampled(weight: Values, most: int) -> tuple[Indices, Values]:
    """Choose cases by places, evenly spaced, at most so many: a sample without chance.

    Parameters
    ----------
    weight : ndarray of shape (n_cases,)
        Weights of the cases.
    most : int
        How many places to choose.

    Returns
    -------
    cases : ndarray of int
        Row numbers, ascending.
    weight : ndarray
        What each counts, so that a case of weight 2 counts as the case twice would.

    Examples
    --------
    >>> evenly_sampled(np.array([1.0, 1.0, 4.0]), 3)
    (array([0, 2]), array([1., 2.]))
    """
    size = place_sizes(weight)
    ends = np.cumsum(size)
    if ends[-1] <= most:
        return np.arange(len(weight)), weight
    taken = np.searchsorted(ends, evenly_spaced(int(ends[-1]), most), side="right")
    cases, count = np.unique(taken, return_counts=True)
    return cases, count * (weight / size)[cases]


def largest_good_size(scores: Values, weight: Values) -> int:
    """Choose the last of some sizes, ascending, whose score is the best, up to chance.

    A difference counts as chance if it is below its standard error: of sizes that the cases
    left out cannot tell apart, the larger one has the smaller variance.

    Parameters
    ----------
    scores : ndarray of shape (n_sizes, n_trials)
        What each size scores on each case left out, sizes ascending; NaN where nothing is judged.
    weight : ndarray of shape (n_trials,)
        Weights of the cases: 2 is the case twice.

    Returns
    -------
    int
        The row of scores.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.5, 0.6], [0.9, 0.1]])
    >>> largest_good_size(scores, np.array([1.0, 1.0]))
    2
    """
    judged = np.where(np.isnan(scores[0]), 0, weight)
    share, scores = judged / (judged.sum() or 1.0), np.nan_to_num(scores)
    behind = scores[np.argmax(np.round(scores @ share, 12))] - scores
    gap = behind @ share
    # A case of weight w is w witnesses, each with its part of the share.
    error = np.sqrt((behind - gap[:, None]) ** 2 @ (share**2 / place_sizes(weight)))
    return int(np.flatnonzero(gap <= error + ROUNDING)[-1])

"""Nearest neighbours of rows in partitions: those of each partition, merged."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prefero._neighbors._case_base import CaseBase
from prefero._neighbors._neighborhoods import Neighbors
from prefero._typing import Indices, Values
from prefero.base import copy_of, place_unseen_last
from prefero.distributed._base import each_block
from prefero.distributed._engine import need
from prefero.distributed._partitions import PartitionRows, Partitions, Place, lean_copy
from prefero.label_ranking import NeighborsLabelRanker
from prefero.label_ranking._ranked_cases import RankedCases


class OwnCases(NamedTuple):
    """The cases of a partition, as the metric sees them, and the number of the first."""

    points: Values
    ranks: Values
    weight: Values
    first: int


class NearCases(NamedTuple):
    """Near cases of some queries: each array has one row per query and one column per case."""

    distances: Values
    numbers: Indices
    places: Values
    ranks: Values


def _own_cases(rows: PartitionRows, place: Place, ranker: Any) -> OwnCases:
    return OwnCases(ranker._place(rows.X), rows.ranks, rows.weight, place.first)


def _distinct(cases: OwnCases, _: Any) -> tuple[Values, Values]:
    """The different rankings of a partition, and their weights."""
    return _counted(cases.ranks, cases.weight)


def _counted(ranks: Values, weight: Values) -> tuple[Values, Values]:
    distinct, number = np.unique(ranks, axis=0, return_inverse=True)
    return distinct, np.bincount(number.ravel(), weight, len(distinct)).astype(np.float64)


def _merged(found: Sequence[NearCases], k: int) -> NearCases:
    """Return the nearest of several partitions' nearest; of equally near ones the first rows."""
    distances, numbers, places, ranks = (
        np.concatenate(column, axis=1) for column in zip(*found, strict=True)
    )
    order = np.lexsort((numbers, distances))[:, :k]
    row = np.arange(len(order))[:, None]
    return NearCases(*(array[row, order] for array in (distances, numbers, places, ranks)))


def fit_neighbors(ranker: NeighborsLabelRanker, partitions: Partitions) -> "PartitionedCases":
    """Choose space, size and shrinkage by a sample; leave all cases in their partitions."""
    for name in ("instance_selection", "local_metric"):
        if getattr(ranker, name) is not None:
            raise ValueError(f"{name} looks at all cases at once: leave it at None.")
    engine = partitions.engine
    _, sample = partitions.sample()
    blank = copy_of(ranker, anew=False)
    ranker._fit(sample.X, sample.ranks, sample.weight)
    ranker._calibrate(blank, sample.X, sample.ranks, sample.ranks, sample.weight)
    if ranker.n_neighbors == "all":
        ranker.shrinkage_ = 1.0
    parts = partitions.read(_own_cases, shared=_lean(ranker))
    distinct = engine.gather(engine.each(_distinct, parts))
    ranks, weight = _counted(*(np.concatenate(column) for column in zip(*distinct, strict=True)))
    return PartitionedCases(engine.settle(parts), ranks, weight)


def _lean(ranker: Any) -> Any:
    return lean_copy(ranker, "points_", "rankings_", "case_weight_", "leave_one_out_")


class PartitionedCases:
    """All cases of a ranker, left in their partitions.

    Parameters
    ----------
    parts : list
        ``OwnCases``, or futures of them.
    ranks : ndarray of shape (n_distinct, n_labels)
        The different rankings of all cases.
    weight : ndarray of shape (n_distinct,)
        Their weights.
    """

    def __init__(self, parts: list[Any], ranks: Values, weight: Values) -> None:
        self.parts, self._ranks, self._weight = parts, ranks, weight

    def gathered(self, ranker: NeighborsLabelRanker) -> NeighborsLabelRanker:
        """Return a plain ranker that holds all cases."""
        parts = [part.result() if hasattr(part, "result") else part for part in self.parts]
        local = copy_of(ranker, anew=False)
        points, ranks, weight = (np.concatenate(c) for c in list(zip(*parts, strict=True))[:3])
        local._store(points, ranks, weight)
        return local

    def decision_function(self, ranker: NeighborsLabelRanker, X: Any) -> Any:
        """Return the votes of the nearest cases; lazily for a collection."""
        delayed = need("dask").delayed
        everyone = _cases_of(self._ranks, self._weight, ranker)
        voting = delayed(_Voting(_lean(ranker), everyone.votes_of_all(ranker.aggregation_)))
        parts = [delayed(part) for part in self.parts]

        def votes(block: Any) -> Any:
            near = [delayed(_nearest)(voting, part, block) for part in parts]
            return delayed(_vote)(voting, block, near)

        if not hasattr(X, "__dask_graph__"):
            return votes(X).compute()
        return each_block(X, votes, np.float64, (len(ranker.labels_),))


class _Voting(NamedTuple):
    ranker: Any
    everyone: Values


def _cases_of(ranks: Values, weight: Values, ranker: Any) -> RankedCases:
    return RankedCases(np.zeros((len(ranks), 1)), weight, ranks, ranker.weights, None)


def _nearest(voting: _Voting, cases: OwnCases, X: Any) -> NearCases:
    ranker = voting.ranker
    queries = ranker._place(ranker._validate_X(X, reset=False))
    index = CaseBase(cases.points, cases.weight, **ranker._index_options())
    near = index.nearest(queries, ranker.n_neighbors_)
    numbers = near.indices + cases.first
    return NearCases(near.distances, numbers, near.places, cases.ranks[near.indices])


def _vote(voting: _Voting, X: Any, found: list[NearCases]) -> Values:
    ranker, k = voting.ranker, voting.ranker.n_neighbors_
    near = _merged(found, k)
    n, width = near.distances.shape
    cases = _cases_of(near.ranks.reshape(n * width, -1), np.ones(n * width), ranker)
    own = Neighbors(near.distances, np.arange(n * width).reshape(n, width), near.places)
    votes = cases.votes(own.first(k), ranker.aggregation_)
    share = ranker.shrinkage_
    return place_unseen_last((1 - share) * votes + share * voting.everyone, ranker.unseen_labels_)

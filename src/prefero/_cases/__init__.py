"""Case bases: who is near, how near, and what that is worth. For rankers that keep their cases."""

from prefero._cases._case_base import (
    CaseBase,
    CaseRankerMixin,
    evenly_sampled,
    in_chunks,
    largest_good_size,
)
from prefero._cases._index import FaissIndex, build_index, index_recall
from prefero._cases._neighborhoods import (
    Neighbors,
    WeightFunction,
    neighbor_weights,
    occupied_places,
)
from prefero._cases._space import learned_space, nearest_in_local_metric, selected_cases

__all__ = [
    "CaseBase",
    "CaseRankerMixin",
    "FaissIndex",
    "Neighbors",
    "WeightFunction",
    "build_index",
    "evenly_sampled",
    "in_chunks",
    "index_recall",
    "largest_good_size",
    "learned_space",
    "nearest_in_local_metric",
    "neighbor_weights",
    "occupied_places",
    "selected_cases",
]

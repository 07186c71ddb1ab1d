"""Case bases: who is near, how near, and what that is worth. For rankers that keep their cases."""

from prefero._neighbors._case_base import (
    INDEX_DOCS,
    CaseBase,
    CaseRankerMixin,
    evenly_sampled,
    in_chunks,
    largest_good_size,
)
from prefero._neighbors._index import FaissIndex, build_index, index_recall
from prefero._neighbors._neighborhoods import (
    Neighbors,
    WeightFunction,
    neighbor_weights,
    occupied_places,
)
from prefero._neighbors._space import (
    Space,
    candidate_spaces,
    nearest_in_local_metric,
    selected_cases,
)

__all__ = [
    "INDEX_DOCS",
    "CaseBase",
    "CaseRankerMixin",
    "FaissIndex",
    "Neighbors",
    "Space",
    "WeightFunction",
    "build_index",
    "candidate_spaces",
    "evenly_sampled",
    "in_chunks",
    "index_recall",
    "largest_good_size",
    "nearest_in_local_metric",
    "neighbor_weights",
    "occupied_places",
    "selected_cases",
]

"""What a ranking is: validate it, convert it, blank parts of it.

Ranks are the numeric form used everywhere: ``Y[i, j]`` is the position of label ``j`` for
instance ``i``. Smaller is better, equal means tied, NaN means unknown (not: last). Only the
order inside a row counts.
"""

from prefero.rankings._groups import Groups
from prefero.rankings._ranks import (
    bucket_positions,
    drop_labels,
    pair_signs,
    ranks_from_scores,
    strict_ranks,
)
from prefero.rankings._validation import check_label_names, check_ranks, label_names

__all__ = [
    "Groups",
    "bucket_positions",
    "check_label_names",
    "check_ranks",
    "drop_labels",
    "label_names",
    "pair_signs",
    "ranks_from_scores",
    "strict_ranks",
]

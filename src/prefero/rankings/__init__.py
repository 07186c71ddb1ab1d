"""What a ranking is: validate it, convert it, blank parts of it.

Ranks are the numeric form used everywhere: ``Y[i, j]`` is the position of label ``j`` for
instance ``i``. Smaller is better, equal means tied, NaN means unknown (not: last). Only the
order inside a row counts. Converters that meet label names return the ranks and the labels.
"""

from prefero.rankings._calibrated import (
    calibrated_from_relevance,
    calibrated_from_scores,
    calibrated_from_text,
    check_calibrated,
    check_relevance,
    split_calibrated,
    strict_calibrated,
    text_from_calibrated,
    zero_offsets,
)
from prefero.rankings._orders import format_order, orders_from_ranks, parse_order, ranks_from_orders
from prefero.rankings._queries import Queries
from prefero.rankings._ranks import (
    bucket_index,
    bucket_positions,
    drop_labels,
    have_ties,
    pair_signs,
    ranks_from_scores,
    strict_ranks,
)
from prefero.rankings._scored import ScoredRanks, ranks_of
from prefero.rankings._tables import (
    pairs_from_ranks,
    ranks_from_best_worst,
    ranks_from_long,
    ranks_from_pairs,
)
from prefero.rankings._validation import check_label_names, check_ranks, label_names

__all__ = [
    "Queries",
    "ScoredRanks",
    "bucket_index",
    "bucket_positions",
    "calibrated_from_relevance",
    "calibrated_from_scores",
    "calibrated_from_text",
    "check_calibrated",
    "check_label_names",
    "check_ranks",
    "check_relevance",
    "drop_labels",
    "format_order",
    "have_ties",
    "label_names",
    "orders_from_ranks",
    "pair_signs",
    "pairs_from_ranks",
    "parse_order",
    "ranks_from_best_worst",
    "ranks_from_long",
    "ranks_from_orders",
    "ranks_from_pairs",
    "ranks_from_scores",
    "ranks_of",
    "split_calibrated",
    "strict_calibrated",
    "strict_ranks",
    "text_from_calibrated",
    "zero_offsets",
]

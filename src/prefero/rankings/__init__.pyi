from ._calibrated import (
    calibrated_from_relevance,
    calibrated_from_scores,
    calibrated_from_text,
    check_calibrated,
    check_relevance,
    split_calibrated,
    strict_calibrated,
    text_from_calibrated,
    virtual_label_offsets,
)
from ._orders import format_order, orders_from_ranks, parse_order, ranks_from_orders
from ._queries import Queries
from ._ranks import (
    bucket_index,
    bucket_positions,
    drop_labels,
    have_ties,
    pair_signs,
    ranks_from_scores,
    strict_ranks,
)
from ._scored import ScoredRanks, ranks_of
from ._tables import pairs_from_ranks, ranks_from_best_worst, ranks_from_long, ranks_from_pairs
from ._validation import check_label_names, check_ranks, label_names

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
    "virtual_label_offsets",
]

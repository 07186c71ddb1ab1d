"""From margins to what a ranker knows: pair probabilities, ties, buckets, expected tau.

A margin says how far one label is ahead of another. How often labels ahead by so much really
come first is learned once, from training rows that the model had not seen, and kept as one small
table of numbers (:func:`learn_calibration`). Everything else is read off it.
"""

from prefero.calibration._curve import (
    blended_ties,
    learn_calibration,
    learn_tie_blend,
    probability_ahead,
    probability_tied,
)
from prefero.calibration._pairs import (
    LabelPairs,
    all_pairs,
    bucket_ranks,
    calibration_pairs,
    calibration_rows,
    expected_tau,
    pair_numbers,
    pair_outcomes,
    score_margins,
    square,
)

__all__ = [
    "LabelPairs",
    "all_pairs",
    "blended_ties",
    "bucket_ranks",
    "calibration_pairs",
    "calibration_rows",
    "expected_tau",
    "learn_calibration",
    "learn_tie_blend",
    "pair_numbers",
    "pair_outcomes",
    "probability_ahead",
    "probability_tied",
    "score_margins",
    "square",
]

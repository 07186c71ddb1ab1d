"""From margins to what a ranker knows: pair probabilities, ties, buckets, expected tau.

A margin says how far one label is ahead of another. How often labels ahead by so much really
come first is learned once, from training rows that the model had not seen, and kept as one small
table of numbers (:func:`learn_calibration`). Everything else is read off it.
"""

from prefero.calibration._curve import learn_calibration, probability_ahead, probability_tied
from prefero.calibration._decisions import bucket_ranks, expected_tau
from prefero.calibration._pairs import (
    LabelPairs,
    all_pairs,
    calibration_pairs,
    calibration_rows,
    pair_numbers,
    pair_outcomes,
    score_margins,
    square,
)
from prefero.calibration._ties import blended_ties, learn_tie_blend

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

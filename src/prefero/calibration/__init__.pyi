from ._curve import (
    blended_ties,
    learn_calibration,
    learn_tie_blend,
    probability_ahead,
    probability_tied,
)
from ._expected import (
    Expectation,
    ScoreModel,
    expected_outcome,
    expected_scores,
    learn_scores,
)
from ._pairs import (
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
    "Expectation",
    "LabelPairs",
    "ScoreModel",
    "all_pairs",
    "blended_ties",
    "bucket_ranks",
    "calibration_pairs",
    "calibration_rows",
    "expected_outcome",
    "expected_scores",
    "expected_tau",
    "learn_scores",
    "learn_calibration",
    "learn_tie_blend",
    "pair_numbers",
    "pair_outcomes",
    "probability_ahead",
    "probability_tied",
    "score_margins",
    "square",
]

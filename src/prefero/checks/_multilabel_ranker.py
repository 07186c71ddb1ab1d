"""The axioms of multilabel ranking."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from prefero._docs import documented
from prefero._typing import Values
from prefero.checks._running import (
    Axioms,
    Problem,
    assert_complementary,
    assert_refused,
    assert_same_scores,
    assert_valid_rankings,
    fitted,
    linear_problem,
    run_all,
)
from prefero.metrics import spearman_rho
from prefero.rankings import (
    bucket_positions,
    calibrated_from_relevance,
    calibrated_from_scores,
    drop_labels,
    split_calibrated,
)


def _targets(utilities: Values) -> dict[str, Any]:
    """Labels are relevant where their utility is positive."""
    relevance, ranks = split_calibrated(calibrated_from_scores(utilities))
    return {"y": relevance, "ranks": ranks}


def _problem() -> Problem:
    return linear_problem(_targets)


MULTILABEL_RANKER_AXIOMS = Axioms(_problem)
_axiom = MULTILABEL_RANKER_AXIOMS.add


@documented()
def check_multilabel_ranker(
    estimator: Any, expected_failed_checks: Mapping[str, str] | None = None
) -> None:
    """Run scikit-learn's checks in full and every axiom of multilabel ranking on an estimator.

    %(of_check)s

    Examples
    --------
    >>> from prefero import BinaryRelevanceRanker
    >>> check_multilabel_ranker(BinaryRelevanceRanker())
    """
    run_all(estimator, MULTILABEL_RANKER_AXIOMS, expected_failed_checks)


def _assert_consistent(ranker: Any, X: Any, n_labels: int) -> None:
    """Assert that scores, label sets, ranks and calibrated ranks tell the same story."""
    scores, sets = ranker.decision_function(X), ranker.predict(X)
    ranks, calibrated = ranker.predict_ranks(X), ranker.predict_calibrated(X)
    assert scores.shape == sets.shape == ranks.shape == (len(X), n_labels)
    assert np.isfinite(scores).all(), "decision_function is not finite"
    assert_array_equal(sets, scores > 0, "a label is relevant if and only if its score is positive")
    assert_valid_rankings(ranks, n_labels)
    assert_valid_rankings(calibrated, n_labels + 1)
    in_order = np.take_along_axis(scores, np.argsort(ranks, axis=1), axis=1)
    assert (np.diff(in_order, axis=1) <= 0).all(), "predict_ranks and decision_function disagree"
    relevant, without_zero = split_calibrated(calibrated)
    assert_array_equal(relevant, sets, "predict_calibrated and predict disagree")
    assert_array_equal(without_zero, ranks, "predict_calibrated and predict_ranks disagree")


@_axiom
def check_consistency(estimator: Any, problem: Problem) -> None:
    """Relevant labels come first, in every form that a prediction has."""
    _assert_consistent(fitted(estimator, problem), problem.X_new, 5)


@_axiom
def check_score(estimator: Any, problem: Problem) -> None:
    """The score is the mean Spearman correlation with the virtual label as one more label."""
    ranker = fitted(estimator, problem)
    weight = np.arange(len(problem.X), dtype=float)
    for targets in (problem.targets, {"y": problem.targets["y"]}):
        truth = calibrated_from_relevance(targets["y"], targets.get("ranks"))
        predicted = ranker.predict_calibrated(problem.X)
        expected = spearman_rho(truth, predicted, sample_weight=weight)
        assert_allclose(ranker.score(problem.X, **targets, sample_weight=weight), expected)


@_axiom
def check_ranks_are_optional(estimator: Any, problem: Problem) -> None:
    """Relevance alone is enough; of ranks only the order counts, and any of them may lack."""
    relevance, ranks = problem.targets["y"], problem.targets["ranks"]
    _assert_consistent(fitted(estimator, problem.with_only(y=relevance)), problem.X_new, 5)
    for rate in (0.3, 0.8, 1.0):
        partial = drop_labels(np.ceil(ranks / 2), rate, random_state=0)
        first = fitted(estimator, problem.with_only(y=relevance, ranks=partial))
        _assert_consistent(first, problem.X_new, 5)
        assert_same_scores(
            first,
            fitted(estimator, problem.with_only(y=relevance, ranks=bucket_positions(partial))),
            problem.X_new,
            "ranks with gaps give other scores than average ranks of the same order",
        )


@_axiom
def check_unknown_relevance(estimator: Any, problem: Problem) -> None:
    """Relevance may be unknown in any mixture, down to one label per row."""
    coins = np.random.default_rng(1).random(problem.targets["y"].shape)
    for rate in (0.3, 0.8):
        relevance = np.where(coins < rate, np.nan, problem.targets["y"])
        _assert_consistent(fitted(estimator, problem.with_only(y=relevance)), problem.X_new, 5)


@_axiom
def check_constant_relevance(estimator: Any, problem: Problem) -> None:
    """What all rows agree on is predicted."""
    for value in (0.0, 1.0):
        constant = np.full_like(problem.targets["y"], value)
        predicted = fitted(estimator, problem.with_only(y=constant)).predict(problem.X_new)
        assert (predicted == value).all(), f"relevance is {value:g} in all rows, but not predicted"


@_axiom
def check_bad_targets_are_refused(estimator: Any, problem: Problem) -> None:
    """Contradictions, scores given as relevance and infinite values stop with a sentence."""
    relevance, ranks = problem.targets["y"], problem.targets["ranks"]
    infinite = np.where(relevance == 1, np.inf, relevance)
    bad_targets: list[tuple[dict[str, Any], str]] = [
        ({"y": relevance, "ranks": 6 - ranks}, "relevant labels come first"),
        ({"y": relevance, "ranks": ranks[:, :-1]}, "ranks has 4 labels"),
        ({"y": relevance * 3 - 1}, "calibrated_from_scores"),
        ({"y": infinite}, "infinity"),
        ({"y": relevance[:-1]}, "inconsistent numbers of samples"),
    ]
    for targets, words in bad_targets:
        assert_refused(estimator, problem.with_only(**targets), words)


@_axiom
def check_degenerate_data(estimator: Any, problem: Problem) -> None:
    """One label, few samples and constant features do not crash."""
    for degenerate in (
        problem.with_targets(lambda target: np.minimum(target[:, :1], 1)),
        problem._replace(X=np.ones_like(problem.X)),
        problem.rows(np.arange(3)),
        problem.rows(np.arange(1)),
    ):
        n_labels = degenerate.targets["y"].shape[1]
        _assert_consistent(fitted(estimator, degenerate), problem.X_new, n_labels)


@_axiom
def check_pair_probabilities(estimator: Any, problem: Problem) -> None:
    """Pair probabilities are complementary, the virtual label included."""
    if not hasattr(estimator, "predict_pairwise"):
        return
    assert_complementary(fitted(estimator, problem).predict_pairwise(problem.X_new), 6)

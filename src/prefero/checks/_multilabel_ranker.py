"""The axioms of multilabel ranking."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from prefero._docs import documented
from prefero._typing import Values
from prefero.checks._running import (
    Axiom,
    Problem,
    assert_complementary,
    assert_refused,
    assert_same_scores,
    assert_valid_rankings,
    fitted,
    linear_problem,
    run_all,
    shared_axioms,
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


MULTILABEL_RANKER_AXIOMS: list[Axiom] = shared_axioms(_problem)


def _axiom(function: Axiom) -> Axiom:
    MULTILABEL_RANKER_AXIOMS.append(function)
    return function


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


def _with_relevance(relevance: Any) -> Problem:
    """The problem with another relevance, and no ranks."""
    return _problem()._replace(targets={"y": relevance})


def _with_ranks(ranks: Any) -> Problem:
    """The problem with other ranks."""
    problem = _problem()
    return problem._replace(targets=problem.targets | {"ranks": ranks})


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
def check_consistency(estimator: Any) -> None:
    """Relevant labels come first, in every form that a prediction has."""
    problem = _problem()
    _assert_consistent(fitted(estimator, problem), problem.X_new, 5)


@_axiom
def check_score(estimator: Any) -> None:
    """The score is the mean Spearman correlation with the virtual label as one more label."""
    problem = _problem()
    ranker = fitted(estimator, problem)
    weight = np.arange(len(problem.X), dtype=float)
    for targets in (problem.targets, {"y": problem.targets["y"]}):
        truth = calibrated_from_relevance(targets["y"], targets.get("ranks"))
        predicted = ranker.predict_calibrated(problem.X)
        expected = spearman_rho(truth, predicted, sample_weight=weight)
        assert_allclose(ranker.score(problem.X, **targets, sample_weight=weight), expected)


@_axiom
def check_ranks_are_optional(estimator: Any) -> None:
    """Relevance alone is enough; of ranks only the order counts, and any of them may lack."""
    problem = _problem()
    relevance, ranks = problem.targets["y"], problem.targets["ranks"]
    _assert_consistent(fitted(estimator, _with_relevance(relevance)), problem.X_new, 5)
    for rate in (0.3, 0.8, 1.0):
        partial = drop_labels(np.ceil(ranks / 2), rate, random_state=0)
        first = fitted(estimator, _with_ranks(partial))
        _assert_consistent(first, problem.X_new, 5)
        assert_same_scores(
            first,
            fitted(estimator, _with_ranks(bucket_positions(partial))),
            problem.X_new,
            "ranks with gaps give other scores than average ranks of the same order",
        )


@_axiom
def check_unknown_relevance(estimator: Any) -> None:
    """Relevance may be unknown in any mixture, down to one label per row."""
    problem = _problem()
    coins = np.random.default_rng(1).random(problem.targets["y"].shape)
    for rate in (0.3, 0.8):
        relevance = np.where(coins < rate, np.nan, problem.targets["y"])
        _assert_consistent(fitted(estimator, _with_relevance(relevance)), problem.X_new, 5)


@_axiom
def check_constant_relevance(estimator: Any) -> None:
    """What all rows agree on is predicted."""
    problem = _problem()
    for value in (0.0, 1.0):
        constant = np.full_like(problem.targets["y"], value)
        predicted = fitted(estimator, _with_relevance(constant)).predict(problem.X_new)
        assert (predicted == value).all(), f"relevance is {value:g} in all rows, but not predicted"


@_axiom
def check_bad_targets_are_refused(estimator: Any) -> None:
    """Contradictions, scores given as relevance and infinite values stop with a sentence."""
    relevance, ranks = _problem().targets["y"], _problem().targets["ranks"]
    assert_refused(estimator, _with_ranks(6 - ranks), "relevant labels come first")
    assert_refused(estimator, _with_ranks(ranks[:, :-1]), "ranks has 4 labels")
    assert_refused(estimator, _with_relevance(relevance * 3 - 1), "calibrated_from_scores")
    infinite = np.where(relevance == 1, np.inf, relevance)
    assert_refused(estimator, _with_relevance(infinite), "infinity")
    assert_refused(estimator, _with_relevance(relevance[:-1]), "inconsistent numbers of samples")


@_axiom
def check_degenerate_data(estimator: Any) -> None:
    """One label, few samples and constant features do not crash."""
    problem = _problem()
    for degenerate in (
        problem.with_targets(lambda target: np.minimum(target[:, :1], 1)),
        problem._replace(X=np.ones_like(problem.X)),
        problem.rows(np.arange(3)),
        problem.rows(np.arange(1)),
    ):
        n_labels = degenerate.targets["y"].shape[1]
        _assert_consistent(fitted(estimator, degenerate), problem.X_new, n_labels)


@_axiom
def check_pair_probabilities(estimator: Any) -> None:
    """Pair probabilities are complementary, the virtual label included."""
    if not hasattr(estimator, "predict_pairwise"):
        return
    problem = _problem()
    assert_complementary(fitted(estimator, problem).predict_pairwise(problem.X_new), 6)

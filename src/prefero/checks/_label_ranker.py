"""The axioms of label ranking."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from prefero._docs import documented
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
from prefero.metrics import kendall_tau
from prefero.rankings import bucket_positions, drop_labels, ranks_from_scores


def _problem() -> Problem:
    return linear_problem(lambda scores: {"y": ranks_from_scores(scores, higher_is_better=True)})


LABEL_RANKER_AXIOMS = Axioms(_problem)
_axiom = LABEL_RANKER_AXIOMS.add


@documented()
def check_label_ranker(
    estimator: Any, expected_failed_checks: Mapping[str, str] | None = None
) -> None:
    """Run scikit-learn's checks in full and every ranking axiom on an estimator.

    %(of_check)s

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> check_label_ranker(ConsensusLabelRanker())
    """
    run_all(estimator, LABEL_RANKER_AXIOMS, expected_failed_checks)


@_axiom
def check_permutations(estimator: Any, problem: Problem) -> None:
    """Predicted ranks are permutations and the order of the scores."""
    ranker = fitted(estimator, problem)
    ranks, scores = ranker.predict(problem.X_new), ranker.decision_function(problem.X_new)
    assert_valid_rankings(ranks, 5)
    assert scores.shape == ranks.shape
    assert np.isfinite(scores).all(), "decision_function is not finite"
    in_order = np.take_along_axis(scores, np.argsort(ranks, axis=1), axis=1)
    assert (np.diff(in_order, axis=1) <= 0).all(), "predict and decision_function disagree"


@_axiom
def check_score(estimator: Any, problem: Problem) -> None:
    """The score is the mean Kendall tau, weighted if asked."""
    X, Y = problem.X, problem.targets["y"]
    ranker = fitted(estimator, problem)
    weight = np.arange(len(X), dtype=float)
    expected = kendall_tau(Y, ranker.predict(X), sample_weight=weight)
    assert_allclose(ranker.score(X, Y, sample_weight=weight), expected)


@_axiom
def check_only_order_counts(estimator: Any, problem: Problem) -> None:
    """Gaps and average ranks mean the same as dense ranks: only the order in a row counts."""
    Y = problem.targets["y"]
    missing = drop_labels(np.where(Y == 4, 3, Y), 0.2, random_state=0)
    assert_same_scores(
        fitted(estimator, problem.with_only(y=missing)),
        fitted(estimator, problem.with_only(y=bucket_positions(missing))),
        problem.X_new,
        "ranks with gaps give other scores than average ranks of the same order",
    )


@_axiom
def check_ties_and_missing_labels(estimator: Any, problem: Problem) -> None:
    """Ties and missing labels are legal in any mixture, down to one label per row."""
    for rate in (0.0, 0.3, 0.6):
        ranks = drop_labels(np.ceil(problem.targets["y"] / 2), rate, random_state=0)
        ranker = fitted(estimator, problem.with_only(y=ranks))
        assert_valid_rankings(ranker.predict(problem.X_new), 5)


@_axiom
def check_bad_ranks_are_refused(estimator: Any, problem: Problem) -> None:
    """Scores given as ranks and infinite values stop with a sentence that says what to do."""
    Y = problem.targets["y"]
    assert_refused(estimator, problem.with_only(y=Y * 100), "ranks_from_scores")
    assert_refused(estimator, problem.with_only(y=np.where(Y == 1, np.inf, Y)), "infinity")
    assert_refused(estimator, problem.with_only(y=Y[:-1]), "inconsistent numbers of samples")


@_axiom
def check_degenerate_data(estimator: Any, problem: Problem) -> None:
    """One label, few samples, constant features and constant rankings do not crash."""
    Y = problem.targets["y"]
    for degenerate in (
        problem.with_only(y=Y[:, :1]),
        problem._replace(X=np.ones_like(problem.X)),
        problem.with_only(y=np.tile(Y[0], (len(Y), 1))),
        problem.with_only(y=np.ones_like(Y)),
        problem.rows(np.arange(3)),
    ):
        ranks = fitted(estimator, degenerate).predict(problem.X_new)
        assert_valid_rankings(ranks, degenerate.targets["y"].shape[1])


@_axiom
def check_pair_probabilities(estimator: Any, problem: Problem) -> None:
    """Pair probabilities are complementary, and thresholding them gives a strict relation."""
    ranks = drop_labels(problem.targets["y"], 0.2, random_state=0)
    ranker = fitted(estimator, problem.with_only(y=ranks))
    probability = ranker.predict_pairwise(problem.X_new)
    assert_complementary(probability, 5)
    for threshold in (0.5, 0.9):
        before = ranker.predict_partial(problem.X_new, threshold)
        assert not (before & before.transpose(0, 2, 1)).any()
        assert not before[:, np.eye(5, dtype=bool)].any()


@_axiom
def check_reliability(estimator: Any, problem: Problem) -> None:
    """Reliability is the tau that the pair probabilities expect of the predicted order."""
    ranker = fitted(estimator, problem)
    ranks, probability = ranker.predict(problem.X_new), ranker.predict_pairwise(problem.X_new)
    before = ranks[:, :, None] < ranks[:, None, :]
    expected = np.sum(before * (2 * probability - 1), axis=(1, 2)) / 10
    assert_allclose(ranker.predict_expected_tau(problem.X_new), expected)


@_axiom
def check_buckets(estimator: Any, problem: Problem) -> None:
    """Ranks with ties keep the predicted order; without ties in training they are that order."""
    ranker = fitted(estimator, problem)
    assert_array_equal(ranker.predict_buckets(problem.X_new), ranker.predict(problem.X_new))
    ranker = fitted(estimator, problem.with_only(y=np.ceil(problem.targets["y"] / 2)))
    ranks, buckets = ranker.predict(problem.X_new), ranker.predict_buckets(problem.X_new)
    turned = (ranks[:, :, None] < ranks[:, None, :]) & (buckets[:, :, None] > buckets[:, None, :])
    assert not turned.any(), "predict_buckets turns the predicted order round"
    tied = ranker.predict_ties(problem.X_new)
    assert_allclose(tied, tied.transpose(0, 2, 1))
    assert tied[:, 0, 1:].max() > 0, "ties in training are not learned"

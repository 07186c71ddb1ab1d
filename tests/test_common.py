"""Every public estimator against scikit-learn's checks and the axioms of its task."""

from importlib import import_module

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import prefero
from prefero.checks import LABEL_RANKER_AXIOMS, check_label_ranker, run_axiom

LABEL_RANKERS = [
    getattr(import_module("prefero.label_ranking"), name)()
    for name in import_module("prefero.label_ranking").__all__
]

# What an estimator cannot keep by its nature, and why. Each must really fail.
DRAWN_BY_ROW = "bootstrap samples are drawn by row number"
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "ConstraintLabelRanker": {
        "check_sample_order": "a perceptron learns online, from one row after another",
        "check_weight_two_is_twice": "a weight lengthens a step; a second visit is another step",
    },
    "ForestLabelRanker": {
        "check_sample_order": DRAWN_BY_ROW,
        "check_weight_two_is_twice": DRAWN_BY_ROW,
    },
}


def expected_failures(estimator):
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


@parametrize_with_checks(LABEL_RANKERS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", LABEL_RANKERS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("axiom", LABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
def test_axiom(estimator, axiom):
    run_axiom(axiom, estimator, expected_to_fail=axiom.__name__ in expected_failures(estimator))


class RanksByIndex(prefero.ConsensusLabelRanker):
    """Breaks one promise: its scores depend on the order of the label columns."""

    def _decision(self, X):
        scores = super()._decision(X)
        return scores + range(scores.shape[1])


def test_a_broken_promise_is_found():
    with pytest.raises(AssertionError, match="label columns"):
        check_label_ranker(RanksByIndex())


def test_an_expected_failure_must_happen():
    expected = {"check_sample_order": "it does hold"}
    with pytest.raises(AssertionError, match="was expected to fail"):
        check_label_ranker(prefero.ConsensusLabelRanker(), expected)

"""Measures of pair probabilities against plain loops, and the scorers of all measures."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from prefero import ConsensusLabelRanker, ConstraintLabelRanker
from prefero.metrics import (
    SCORERS,
    kendall_tau,
    pairwise_brier,
    pairwise_calibration_curve,
    pairwise_calibration_error,
    pairwise_log_loss,
)
from strategies import noisy_linear_problem, rank_matrices

MEASURES = [pairwise_brier, pairwise_calibration_error, pairwise_log_loss]


@st.composite
def predictions(draw):
    """Ranks, pair probabilities and weights."""
    Y = draw(rank_matrices(labels=(2, 5)))
    n, c = Y.shape
    upper = draw(arrays(np.float64, (n, c, c), elements=st.integers(0, 20).map(lambda k: k / 20)))
    probability = np.triu(upper, 1)
    probability += np.tril(1 - probability.transpose(0, 2, 1), -1) + 0.5 * np.eye(c)
    return Y, probability, np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))


def pairs(Y, probability, weight):
    """Row, weight, probability and outcome of every known pair."""
    for n, (row, w) in enumerate(zip(Y, weight, strict=True)):
        for i, j in combinations(range(len(row)), 2):
            if not np.isnan(row[[i, j]]).any():
                yield n, w, probability[n, i, j], (1 + (row[i] < row[j]) - (row[i] > row[j])) / 2


@given(predictions())
def test_the_calibration_error_by_its_definition(case):
    bins = {}
    for _, w, p, y in pairs(*case):
        p, y = (p, y) if p >= 0.5 else (1 - p, 1 - y)
        bins.setdefault(min(int((2 * p - 1) * 15), 14), []).append((w, p, y))
    if not bins:
        with pytest.warns(UndefinedMetricWarning, match="calibration error is undefined"):
            assert np.isnan(pairwise_calibration_error(*case[:2], sample_weight=case[2]))
        return
    total = sum(w for members in bins.values() for w, _, _ in members)
    off = sum(abs(sum(w * (p - y) for w, p, y in members)) for members in bins.values())
    found = pairwise_calibration_error(*case[:2], sample_weight=case[2])
    assert found == pytest.approx(off / total)
    curve = pairwise_calibration_curve(*case[:2], sample_weight=case[2])
    assert curve.weight.sum() == pytest.approx(total)


@given(predictions())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_losses_by_their_definitions(case):
    values = {pairwise_brier: {}, pairwise_log_loss: {}}
    for n, _, p, y in pairs(*case):
        values[pairwise_brier].setdefault(n, []).append((p - y) ** 2)
        p = np.clip(p, 2.220446049250313e-16, 1 - 2.220446049250313e-16)
        loss = -(y * np.log(p) + (1 - y) * np.log(1 - p))
        values[pairwise_log_loss].setdefault(n, []).append(loss)
    for measure, of_rows in values.items():
        means = [np.mean(of_rows.get(n, [np.nan])) for n in range(len(case[0]))]
        np.testing.assert_allclose(measure(*case[:2], average=False), means, rtol=1e-6)
        known = sorted(of_rows)
        expected = np.average(np.array(means)[known], weights=case[2][known]) if known else np.nan
        np.testing.assert_allclose(measure(*case[:2], sample_weight=case[2]), expected, rtol=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (np.full((1, 2, 3), 0.5), r"shape \(n_samples, 2, 2\), as predict_pairwise gives"),
        (np.full((1, 2, 2), 1.5), r"must lie in \[0, 1\], got 1.5 to 1.5"),
        (np.full((2, 2, 2), 0.5), "inconsistent numbers of samples"),
    ],
)
def test_bad_probabilities_are_refused_with_a_sentence(measure, probability, words):
    with pytest.raises(ValueError, match=words):
        measure([[1, 2]], probability)


def test_no_bins_are_refused():
    with pytest.raises(ValueError, match="n_bins must be at least 1, got 0"):
        pairwise_calibration_curve([[1, 2]], np.full((1, 2, 2), 0.5), n_bins=0)


@pytest.mark.parametrize("name", [name for name, one in SCORERS.items() if one.truth == "y"])
def test_scorers_serve_cross_validation_of_rankers_and_pipelines(name):
    X, Y = noisy_linear_problem(40, 3, 4)
    for ranker in (ConsensusLabelRanker(), make_pipeline(StandardScaler(), ConsensusLabelRanker())):
        scores = cross_val_score(ranker, X, Y, scoring=SCORERS[name], cv=2)
        assert np.isfinite(scores).all()
    assert repr(SCORERS[name]).startswith("<scorer: ")


def test_scores_of_losses_are_negative_and_take_weights():
    X, Y = noisy_linear_problem(60, 3, 4)
    Y = np.ceil(Y / 2)
    ranker = ConstraintLabelRanker(max_iter=20, random_state=0).fit(X, Y)
    weight = np.arange(60.0)
    expected = -pairwise_brier(Y, ranker.predict_pairwise(X), sample_weight=weight)
    assert SCORERS["brier"](ranker, X, Y, sample_weight=weight) == pytest.approx(expected)
    tau_x = kendall_tau(Y, ranker.predict_buckets(X), variant="x")
    assert SCORERS["tau-x"](ranker, X, Y) == pytest.approx(tau_x)

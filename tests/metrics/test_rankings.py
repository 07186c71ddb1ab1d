"""The measures against plain loops and against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn import config_context
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

import oracles
from prefero import ConsensusLabelRanker, _core, metrics
from prefero.metrics import (
    footrule,
    kendall_distance,
    kendall_tau,
    regret,
    spearman_rho,
    top_accuracy,
)
from strategies import rank_matrices

MEASURES = [kendall_tau, kendall_distance, spearman_rho, footrule, top_accuracy]
nan = np.nan


@st.composite
def two_matrices(draw):
    first = draw(rank_matrices())
    rows, labels = first.shape
    return first, draw(rank_matrices(rows=(rows, rows), labels=(labels, labels)))


@given(two_matrices())
def test_pair_counts_equal_a_plain_loop(matrices):
    first, second = matrices
    expected = [oracles.pair_counts(a, b) for a, b in zip(first, second, strict=True)]
    assert_array_equal(_core.count_pairs(first, second), expected)


@given(two_matrices())
def test_kendall_tau_b_and_spearman_equal_scipy(matrices):
    tau = kendall_tau(*matrices, average=False)
    rho = spearman_rho(*matrices, average=False)
    for a, b, row_tau, row_rho in zip(*matrices, tau, rho, strict=True):
        common = ~(np.isnan(a) | np.isnan(b))
        a, b = a[common], b[common]
        if len(set(a)) < 2 or len(set(b)) < 2:
            assert np.isnan(row_tau)
            assert np.isnan(row_rho)
        else:
            assert_allclose(row_tau, stats.kendalltau(a, b).statistic, atol=1e-12)
            assert_allclose(row_rho, stats.spearmanr(a, b).statistic, atol=1e-12)


@given(two_matrices())
def test_tau_variants_by_their_definitions(matrices):
    tau_a = kendall_tau(*matrices, variant="a", average=False)
    tau_x = kendall_tau(*matrices, variant="x", average=False)
    for a, b, row_a, row_x in zip(*matrices, tau_a, tau_x, strict=True):
        agree, disagree, _, _, both = counts = oracles.pair_counts(a, b)
        if sum(counts):
            assert_allclose(row_a, (agree - disagree) / sum(counts))
            assert_allclose(row_x, (agree - disagree + both) / sum(counts))
        else:
            assert np.isnan(row_a)
            assert np.isnan(row_x)


@given(two_matrices())
def test_footrule_is_the_sum_of_position_shifts(matrices):
    for a, b, value in zip(*matrices, footrule(*matrices, average=False), strict=True):
        common = ~(np.isnan(a) | np.isnan(b))
        shifts = np.subtract(
            oracles.bucket_positions(a[common]), oracles.bucket_positions(b[common])
        )
        assert_allclose(value, np.abs(shifts).sum())


@given(two_matrices())
def test_distance_axioms(matrices):
    first, second = matrices
    for distance in (kendall_distance, footrule):
        forward = distance(first, second, average=False)
        assert_array_equal(forward, distance(second, first, average=False))
        assert (forward >= 0).all()
        assert_array_equal(distance(first, first, average=False), 0)


@given(two_matrices(), st.randoms(use_true_random=False))
def test_measures_ignore_the_names_of_the_labels(matrices, random):
    order = list(range(matrices[0].shape[1]))
    random.shuffle(order)
    for measure in MEASURES:
        plain = measure(*matrices, average=False)
        renamed = measure(*(matrix[:, order] for matrix in matrices), average=False)
        if measure is not top_accuracy:  # its predicted first label may be one of several
            assert_allclose(renamed, plain, atol=1e-12)


def test_averages_skip_undefined_rows_and_follow_weights():
    true, pred = [[1, 2], [1, nan], [1, 2]], [[1, 2], [1, 2], [2, 1]]
    assert kendall_tau(true, pred) == 0
    assert kendall_tau(true, pred, sample_weight=[3, 100, 1]) == pytest.approx(0.5)
    assert_array_equal(kendall_tau(true, pred, average=False), [1, nan, -1])


@pytest.mark.parametrize("measure", [kendall_tau, spearman_rho])
def test_a_mean_of_nothing_is_nan_with_a_warning(measure):
    with pytest.warns(UndefinedMetricWarning, match="no row has two labels"):
        assert np.isnan(measure([[1, nan]], [[1, 2]]))


def test_top_accuracy_accepts_any_label_of_the_true_first_bucket():
    true = [[1, 1, 3], [1, 2, 3], [nan, 1, 2], [nan, nan, nan]]
    pred = [[2, 1, 3], [3, 1, 2], [1, 2, 3], [1, 2, 3]]
    assert_array_equal(top_accuracy(true, pred, average=False), [1, 0, 1, nan])
    assert_array_equal(top_accuracy(true, pred, k=2, average=False), [1, 1, 1, nan])


def test_regret_is_the_loss_of_the_first_choice():
    scores = [[0.9, 0.5, 0.7], [3.0, nan, 1.0], [nan, nan, nan]]
    pred = [[2, 3, 1], [3, 1, 2], [1, 2, 3]]
    assert_allclose(regret(scores, pred, average=False), [0.2, 2.0, nan])
    assert_allclose(regret(scores, pred, higher_is_better=False, average=False), [0.2, 0.0, nan])


@pytest.mark.parametrize(
    ("true", "pred", "words"),
    [
        ([[1, 2]], [[1, 2, 3]], "Y_pred has 3 labels, but 2 were expected"),
        ([[1, 2]], [[1, 2], [1, 2]], "inconsistent numbers of samples"),
        ([[0.1, 0.7]], [[1, 2]], r"Y_true\[0\]: label 0 has rank 0.1.*ranks_from_scores"),
        ([[1, 2]], [[1, np.inf]], "infinity"),
    ],
)
@pytest.mark.parametrize("measure", MEASURES)
def test_bad_input_is_refused_with_a_sentence(measure, true, pred, words):
    with pytest.raises(ValueError, match=words):
        measure(true, pred)


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="variant must be 'a', 'b' or 'x', got 'c'"):
        kendall_tau([[1, 2]], [[1, 2]], variant="c")


@pytest.mark.parametrize("name", [n for n in metrics.__all__ if n.endswith("_scorer")])
def test_scorers_serve_cross_validation_and_search(name):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 2)), rng.permuted(np.tile([1, 2, 3], (60, 1)), axis=1)
    scorer = getattr(metrics, name)
    scored = scorer.truth == "scores"
    given = {"scores": -Y.astype(float)} if scored else {}
    with config_context(enable_metadata_routing=scored):
        scores = cross_val_score(ConsensusLabelRanker(), X, Y, scoring=scorer, params=given)
        search = GridSearchCV(ConsensusLabelRanker(), {}, scoring=scorer).fit(X, Y, **given)
    assert scores.shape == (5,)
    assert np.isfinite(scores).all()
    assert search.best_score_ == pytest.approx(scores.mean())

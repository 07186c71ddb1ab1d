"""Multilabel measures: scikit-learn's where nothing is missing, plain sums where something is."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.exceptions import UndefinedMetricWarning

from oracles import multilabel_errors
from prefero.metrics import multilabel as metrics

OF_SETS = {"hamming_loss": "hamming_loss", "subset_loss": "zero_one_loss"}
OF_ORDERS = {
    "ranking_loss": "label_ranking_loss",
    "coverage": "coverage_error",
    "average_precision": "label_ranking_average_precision_score",
}


@st.composite
def judged(draw, labels=(1, 5), missing=True):
    """Relevance with something known in every row, scores with ties, and weights."""
    n, c = draw(st.integers(1, 6)), draw(st.integers(*labels))
    relevance = draw(arrays(np.float64, (n, c), elements=st.sampled_from([0.0, 1.0])))
    scores = draw(arrays(np.float64, (n, c), elements=st.integers(-3, 3).map(float)))
    weight = draw(arrays(np.float64, n, elements=st.integers(1, 3).map(float)))
    if missing:
        relevance[draw(arrays(np.bool_, (n, c)))] = np.nan
        relevance[:, 0] = np.nan_to_num(relevance[:, 0])
    return relevance, scores, weight


@given(judged(labels=(2, 5), missing=False))
def test_complete_relevance_gives_scikit_learns_values(data):
    relevance, scores, weight = data
    for ours, theirs in (OF_SETS | OF_ORDERS).items():
        predicted = (scores > 0).astype(int) if ours in OF_SETS else scores
        expected = getattr(sklearn.metrics, theirs)(
            relevance.astype(int), predicted, sample_weight=weight
        )
        assert_allclose(
            getattr(metrics, ours)(relevance, predicted, sample_weight=weight), expected
        )


@given(judged())
def test_missing_entries_are_skipped(data):
    relevance, scores, weight = data
    rows = [
        multilabel_errors(truth[~np.isnan(truth)], score[~np.isnan(truth)])
        for truth, score in zip(relevance, scores, strict=True)
    ]
    for name in [*OF_SETS, *OF_ORDERS, "one_error"]:
        predicted = (scores > 0).astype(int) if name in OF_SETS else scores
        expected = np.average([row[name] for row in rows], weights=weight)
        found = getattr(metrics, name)(relevance, predicted, sample_weight=weight)
        assert_allclose(found, expected, err_msg=name)


@given(judged(labels=(2, 5)), st.sampled_from(["micro", "macro"]))
def test_f1_is_scikit_learns_on_the_known_entries(data, average):
    relevance, scores, weight = data
    predicted = (scores > 0).astype(int)
    known = ~np.isnan(relevance)
    mass = np.broadcast_to(weight[:, None], known.shape)
    labels = (
        [known]
        if average == "micro"
        else [known & (np.arange(known.shape[1]) == label) for label in range(known.shape[1])]
    )
    expected = np.mean(
        [
            sklearn.metrics.f1_score(
                relevance[part], predicted[part], sample_weight=mass[part], zero_division=0
            )
            if part.any()
            else 0.0
            for part in labels
        ]
    )
    found = metrics.f1_score(relevance, predicted, average=average, sample_weight=weight)
    assert_allclose(found, expected)


@given(judged(labels=(2, 5), missing=False), st.sampled_from(["micro", "macro"]))
def test_complete_relevance_gives_scikit_learns_f1(data, average):
    relevance, scores, weight = data
    predicted = (scores > 0).astype(int)
    expected = sklearn.metrics.f1_score(
        relevance, predicted, average=average, sample_weight=weight, zero_division=0
    )
    found = metrics.f1_score(relevance, predicted, average=average, sample_weight=weight)
    assert_allclose(found, expected)


def test_f1_refuses_other_averages():
    with pytest.raises(ValueError, match="'micro' or 'macro', got 'samples'"):
        metrics.f1_score([[1, 0]], [[1, 0]], average="samples")


def test_rows_without_anything_known_do_not_count():
    nan = float("nan")
    assert metrics.hamming_loss([[nan, nan], [1, 0]], [[1, 1], [1, 1]]) == 0.5
    with pytest.warns(UndefinedMetricWarning, match="no row of relevance"):
        assert np.isnan(metrics.hamming_loss([[nan, nan]], [[1, 1]]))


def test_the_virtual_label_is_one_more_label():
    assert_allclose(metrics.calibrated_rho([[1, 2, 3, 4]], [[1, 2, 4, 3]]), 0.8)
    with pytest.raises(ValueError, match=r"C_pred\[0\]: label 0 is tied"):
        metrics.calibrated_rho([[1, 2, 3]], [[2, 1, 2]])


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"predicted\[0\]: label 1 is 0.5"):
        metrics.hamming_loss([[1, 0]], [[1, 0.5]])
    with pytest.raises(ValueError, match="3 labels, but the prediction has 2"):
        metrics.ranking_loss([[1, 0, 0]], [[1, 0.5]])

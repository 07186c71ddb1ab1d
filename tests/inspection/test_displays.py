"""Displays: they hold the right numbers, and they draw them."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from prefero import (
    ConsensusLabelRanker,
    PairwiseLabelRanker,
    TreeLabelRanker,
)
from prefero.evaluation import ResultTable, compare
from prefero.inspection import (
    AbstentionDisplay,
    CalibrationDisplay,
    CriticalDifferenceDisplay,
    GainDisplay,
    MissingLabelsDisplay,
    PairMatrixDisplay,
    RankHeatmapDisplay,
    TreeDisplay,
)
from prefero.inspection.ranking_displays import pair_shares, rank_shares
from prefero.rankings import strict_ranks
from strategies import rank_matrices


@pytest.fixture(autouse=True)
def _draw_and_close_figures():
    plt.switch_backend("agg")
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


def results(names=("forest", "tree", "consensus"), n_sets=8):
    rng = np.random.default_rng(0)
    return ResultTable(
        {"dataset": f"d{i}", "ranker": name, "missing": rate, "repetition": 0, "fold": 0}
        | {"tau": float(0.9 - 0.2 * j - rate / 2 + rng.normal(0, 0.01))}
        for i in range(n_sets)
        for rate in (0.0, 0.3, 0.6)
        for j, name in enumerate(names)
    )


def problem(n=60, c=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, strict_ranks(X @ rng.normal(size=(3, c)))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_critical_difference_shows_every_ranker_and_one_bar_a_group():
    found = compare(results(), missing=0.0)
    display = CriticalDifferenceDisplay.from_comparison(found)
    written = " ".join(texts(display.ax_))
    for name, rank in zip(found.rankers, found.average_ranks, strict=True):
        assert name in written
        assert f"{rank:.2f}" in written
    assert f"critical difference {found.critical_difference:.2f}" in written
    bars = [line for line in display.ax_.lines if line.get_linewidth() == 4]
    assert len(bars) == len(found.groups()) > 0


@pytest.mark.parametrize("names", ["a", "ab", "abcdefghijkl", "$%"])
def test_critical_difference_of_few_and_of_many(names):
    found = compare(results(names), missing=0.0)
    display = CriticalDifferenceDisplay.from_comparison(found)
    assert sum(any(name in text for text in texts(display.ax_)) for name in names) == len(names)


def test_missing_labels_draws_means_over_data_sets_or_one_of_them():
    table = results()
    display = MissingLabelsDisplay.from_results(table)
    np.testing.assert_array_equal(display.rates, [0, 0.3, 0.6])
    expected = [table.where(ranker="tree", missing=r)["tau"].mean() for r in (0, 0.3, 0.6)]
    np.testing.assert_allclose(display.curves["tree"], expected)
    assert [line.get_label() for line in display.ax_.lines] == ["forest", "tree", "consensus"]
    single = MissingLabelsDisplay.from_results(table, dataset="d3")
    np.testing.assert_allclose(
        single.curves["forest"], table.where(dataset="d3", ranker="forest")["tau"]
    )
    with pytest.raises(ValueError, match="no data set 'x'"):
        MissingLabelsDisplay.from_results(table, dataset="x")


def test_lines_differ_by_more_than_colour():
    lines = MissingLabelsDisplay.from_results(results()).ax_.lines
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines)


def test_gain_is_the_difference_on_each_data_set():
    table = results()
    display = GainDisplay.from_results(table, [("forest", "tree")], missing=0.3)
    expected = (
        table.where(ranker="forest", missing=0.3)["tau"]
        - table.where(ranker="tree", missing=0.3)["tau"]
    )
    np.testing.assert_allclose(display.gains["forest over tree"], expected)
    heights = [patch.get_height() for patch in display.ax_.patches]
    np.testing.assert_allclose(heights, expected)
    with pytest.raises(ValueError, match="no ranker svm"):
        GainDisplay.from_results(table, [("svm", "tree")], missing=0.3)


@settings(deadline=None)
@given(rank_matrices())
def test_rank_shares_count_places_with_ties_spread_over_their_bucket(Y):
    shares = rank_shares(Y)
    c = Y.shape[1]
    taken = np.zeros((c, c))
    for row in Y:
        for j in np.flatnonzero(~np.isnan(row)):
            above, level = sum(row < row[j]), sum(row == row[j])
            taken[j, above : above + level] += 1 / level
    for j in range(c):
        if np.isnan(Y[:, j]).all():
            assert np.isnan(shares[j]).all()
        else:
            np.testing.assert_allclose(shares[j], taken[j] / taken[j].sum())


@settings(deadline=None)
@given(rank_matrices())
def test_pair_shares_count_the_rankings_that_order_the_pair(Y):
    shares = pair_shares(Y)
    for i in range(Y.shape[1]):
        for j in range(Y.shape[1]):
            before, after = sum(Y[:, i] < Y[:, j]), sum(Y[:, i] > Y[:, j])
            if i == j or before + after == 0:
                assert np.isnan(shares[i, j])
            else:
                assert shares[i, j] == pytest.approx(before / (before + after))


def test_heat_maps_show_true_and_predicted_rankings_with_names():
    X, Y = problem()
    names = ["a", "b", "<c>", "d $\\x$"]
    frame = pd.DataFrame(Y, columns=names)
    ranker = PairwiseLabelRanker().fit(X, frame)
    display = RankHeatmapDisplay.from_estimator(ranker, X, frame)
    assert list(display.shares) == ["true", "predicted"]
    assert sorted(display.labels) == sorted(names)
    order = [names.index(name) for name in display.labels]
    np.testing.assert_allclose(display.shares["predicted"], rank_shares(ranker.predict(X))[order])
    assert (np.diff(display.shares["true"] @ np.arange(4)) >= 0).all()
    assert len(display.axes_) == 2


def test_a_heat_map_of_one_matrix_fits_on_given_axes():
    _, Y = problem()
    figure, ax = plt.subplots()
    display = RankHeatmapDisplay.from_ranks(Y, axes=ax)
    assert display.figure_ is figure
    assert len(texts(ax)) == 16


def test_large_matrices_are_not_written_out():
    _, Y = problem(c=20)
    assert texts(PairMatrixDisplay.from_ranks(Y).ax_) == []


@pytest.mark.parametrize("ranker", [PairwiseLabelRanker(), ConsensusLabelRanker()])
def test_pair_matrix_of_a_ranker_with_and_without_probabilities(ranker):
    X, Y = problem()
    display = PairMatrixDisplay.from_estimator(ranker.fit(X, Y), X)
    assert np.isnan(np.diag(display.shares)).all()
    off_diagonal = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose((display.shares + display.shares.T)[off_diagonal], 1)
    wins = np.nansum(display.shares, axis=1)
    assert (np.diff(wins) <= 1e-12).all()


def test_reliability_is_the_mean_tau_of_the_most_reliable():
    reliability = [3.0, np.inf, 1.0, 2.0]
    tau = [0.5, 1.0, -1.0, 0.1]
    display = AbstentionDisplay.from_predictions(reliability, tau)
    np.testing.assert_allclose(display.answered, [0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(display.tau, np.cumsum([1.0, 0.5, 0.1, -1.0]) / [1, 2, 3, 4])
    assert display.correlation == pytest.approx(1)


def test_equally_reliable_instances_count_the_same_in_any_order():
    reliability = np.array([1.0, 1.0, 1.0, 2.0])
    tau = np.array([0.9, 0.0, -0.9, 0.5])
    one = AbstentionDisplay.from_predictions(reliability, tau)
    other = AbstentionDisplay.from_predictions(reliability[[2, 0, 3, 1]], tau[[2, 0, 3, 1]])
    np.testing.assert_allclose(one.tau, other.tau)


def test_reliability_without_variation_or_values():
    assert np.isnan(AbstentionDisplay.from_predictions([1, 1], [0.1, 0.9]).correlation)
    with pytest.raises(ValueError, match="undefined for every"):
        AbstentionDisplay.from_predictions([1.0], [np.nan])


class Sure(ConsensusLabelRanker):
    def predict_expected_tau(self, X):
        return np.abs(X[:, 0])


def test_reliability_of_an_estimator():
    X, Y = problem()
    display = AbstentionDisplay.from_estimator(Sure().fit(X, Y), X, Y)
    assert display.tau[-1] == pytest.approx(Sure().fit(X, Y).score(X, Y))


def test_calibration_shows_promises_what_came_true_and_how_many():
    Y = [[1, 2], [1, 2], [1, 2], [2, 1], [2, 1]]
    before = np.array([0.75, 0.75, 0.75, 0.75, 0.1])
    probability = np.full((5, 2, 2), 0.5)
    probability[:, 0, 1], probability[:, 1, 0] = before, 1 - before
    display = CalibrationDisplay.from_predictions(Y, probability, n_bins=5)
    np.testing.assert_allclose(display.predicted, [0.75, 0.9])
    np.testing.assert_allclose(display.observed, [0.75, 1])
    np.testing.assert_allclose(display.weight, [4, 1])
    assert display.error == pytest.approx(0.02)
    bars = display.figure_.axes[1].patches
    assert [bar.get_height() for bar in bars] == [4, 1]
    np.testing.assert_allclose([bar.get_center()[0] for bar in bars], [0.75, 0.95])


def test_calibration_of_an_estimator_and_of_nothing():
    X, Y = problem()
    ranker = ConsensusLabelRanker().fit(X, Y)
    display = CalibrationDisplay.from_estimator(ranker, X, Y, n_bins=40)
    pairs = Y.shape[1] * (Y.shape[1] - 1) / 2
    assert display.weight.sum() == len(Y) * pairs
    with pytest.raises(ValueError, match="no pair to draw"):
        CalibrationDisplay.from_predictions([[1, np.nan]], np.full((1, 2, 2), 0.5))


def small_tree(**parameters):
    X = pd.DataFrame({"rain": [0.0, 1, 2, 3, 4, 5], "sun": [0.0] * 6})
    Y = pd.DataFrame([[1, 2, 3]] * 3 + [[3, 2, 1]] * 3, columns=["oats", "rye", "wheat"])
    return TreeLabelRanker(min_samples_split=2, **parameters).fit(X, Y)


def test_a_tree_shows_its_test_and_the_orders_of_its_leaves():
    root = TreeDisplay.from_estimator(small_tree()).root
    assert root.text.startswith("rain ≤ 2")
    assert [box.text for box in root.children] == ["oats > rye > wheat", "wheat > rye > oats"]
    assert [box.share for box in root.children] == [0.5, 0.5]


def test_a_tree_is_drawn_to_the_depth_asked_for_and_says_so():
    X, Y = problem(n=200)
    tree = TreeLabelRanker(min_samples_split=2).fit(X, Y)
    whole = TreeDisplay.from_estimator(tree, max_depth=None, top=2)
    assert whole.root.leaves == tree.get_n_leaves()
    assert whole.root.depth == tree.get_depth()
    cut = TreeDisplay.from_estimator(tree, max_depth=2)
    assert cut.root.depth == 2
    assert any(box.collapsed for box in cut.root.boxes())
    assert any("more below" in text for text in texts(cut.ax_))
    assert len(texts(cut.ax_)) == 2 * sum(1 for _ in cut.root.boxes()) - 1
    for box in cut.root.boxes():
        if box.children:
            assert sum(child.share for child in box.children) == pytest.approx(box.share)


def test_a_tree_without_a_test_is_one_box():
    display = TreeDisplay.from_estimator(TreeLabelRanker().fit([[0.0], [1.0]], [[1, 2], [1, 2]]))
    assert display.root.text == "0 > 1"
    assert display.root.leaves == 1


def test_displays_draw_on_given_axes_beside_others():
    figure, axes = plt.subplots(ncols=2)
    display = MissingLabelsDisplay.from_results(results(), ax=axes[1])
    assert display.ax_ is axes[1]
    assert axes[1].get_legend() is not None
    assert not figure.legends


def test_importing_the_displays_does_not_import_matplotlib():
    code = "import sys, prefero.inspection; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Displays with few and many labels, and the gallery: nothing is covered, nothing is cut."""

import runpy
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from prefero import ForestLabelRanker, TreeLabelRanker
from prefero.evaluation import ResultTable, compare
from prefero.inspection import (
    CostCurveDisplay,
    CriticalDifferenceDisplay,
    MissingLabelsDisplay,
    PairMatrixDisplay,
    RankHeatmapDisplay,
    TreeDisplay,
    explain,
)
from prefero.rankings import ranks_from_scores

GALLERY = sorted((Path(__file__).parents[2] / "examples" / "gallery").glob("plot_*.py"))
WORDS = "rye oats winter-wheat cherry_tomatoes_of_the_south maize peas".split()


def names(count, start="mean_yield_of_"):
    return [f"{start}{WORDS[i % len(WORDS)]}_{i}" if count > 3 else "abc"[i] for i in range(count)]


def problem(count):
    rng = np.random.default_rng(count)
    X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["rain_in_spring_months", "soil_ph"])
    scores = X.to_numpy() @ rng.normal(size=(2, count)) + rng.normal(size=(120, count))
    ranks = ranks_from_scores(scores, higher_is_better=True)
    return X, pd.DataFrame(ranks, columns=names(count))


def results(count):
    return ResultTable(
        {"dataset": f"d{i}", "ranker": name, "missing": rate, "repetition": 0, "fold": 0}
        | {"tau": 0.9 - 0.02 * j - rate / 2 + 0.01 * ((i * j) % 3)}
        for i in range(6)
        for rate in (0.0, 0.3)
        for j, name in enumerate(names(count, "a ranker of some length "))
    )


def tree(count):
    return TreeDisplay.from_estimator(TreeLabelRanker(max_depth=3).fit(*problem(count)), top=6)


def heatmap(count):
    return RankHeatmapDisplay.from_ranks(problem(count)[1], problem(count)[1])


def pairs(count):
    return PairMatrixDisplay.from_ranks(problem(count)[1], title="true")


def costs(count):
    rng = np.random.default_rng(count)
    curve = ResultTable({"weight": w, "score": 40.0 + w, "cost": w + 0.1} for w in range(4))
    values = rng.normal(38, 1, count), rng.lognormal(size=count)
    singles = [
        {"label": name, "score": float(score), "cost": float(cost)}
        for name, score, cost in zip(names(count), *values, strict=True)
    ]
    return CostCurveDisplay.from_curve(curve, ResultTable(singles))


def explanation(count):
    X, Y = problem(count)
    return explain(ForestLabelRanker(n_estimators=3, random_state=0).fit(X, Y), X, 3).plot()


def critical_difference(count):
    return CriticalDifferenceDisplay.from_comparison(compare(results(count), missing=0.0))


def missing_labels(count):
    return MissingLabelsDisplay.from_results(results(count))


def boxes(figure):
    """Where each written text is, with the box around it, and what it says."""
    figure.draw_without_rendering()
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    # Beyond the ends of an axis there are ticks that nobody draws.
    undrawn = {
        id(label)
        for axis in axes
        for tick in axis.get_major_ticks()
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in undrawn:
            around = text.get_bbox_patch()
            extents = (text if around is None else around).get_window_extent().extents
            if (extents[2:] > extents[:2]).all():
                yield extents, text.get_text()


def meet(one, other):
    """Whether two boxes share more than the line between them."""
    width, height = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    return width > 1 and height > 1


def look_at(figure):
    """Check that no words of a picture are cut, nor cover each other; then close it."""
    placed = list(boxes(figure))
    assert len(placed) >= 3
    width, height = figure.bbox.size
    cut = [
        text
        for box, text in placed
        if box[0] < -1 or box[1] < -1 or box[2] > width + 1 or box[3] > height + 1
    ]
    covered = [(a, b) for (one, a), (other, b) in combinations(placed, 2) if meet(one, other)]
    plt.close(figure)
    assert cut == []
    assert covered == []


@pytest.mark.parametrize("count", [3, 10, 30])
@pytest.mark.parametrize(
    "draw", [tree, heatmap, pairs, costs, explanation, critical_difference, missing_labels]
)
def test_words_cover_nothing_and_are_not_cut(draw, count):
    plt.switch_backend("agg")
    look_at(draw(count).figure_)


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_the_gallery_runs_and_its_pictures_can_be_read(script):
    plt.switch_backend("agg")
    plt.close("all")
    runpy.run_path(str(script))
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    for figure in figures:
        assert any(ax.get_title() or ax.texts for ax in figure.axes)
        look_at(figure)


def test_the_cheapest_and_the_best_labels_are_named_first():
    plt.switch_backend("agg")
    singles = [{"label": f"label_{i}", "score": 1.0, "cost": 1 + 1e-6 * i} for i in range(30)]
    singles.append({"label": "label_bargain", "score": 2.0, "cost": 0.5})
    curve = ResultTable([{"weight": 0.0, "score": 3.0, "cost": 2.0}])
    display = CostCurveDisplay.from_curve(curve, ResultTable(singles))
    written = [text.get_text() for text in display.ax_.texts]
    assert written[0] == "bargain"
    assert len(written) < len(singles)
    plt.close("all")


def test_a_tree_never_breaks_a_name():
    plt.switch_backend("agg")
    display = tree(10)
    lines = {line for text in display.ax_.texts for line in text.get_text().split("\n")}
    words = {word for line in lines for word in line.split(" > ")}
    assert any(word.rstrip(" >") == "cherry_tomatoes_of_the_south_3" for word in words)
    assert display.start == "mean_yield_of_"
    plt.close("all")

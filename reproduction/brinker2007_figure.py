"""Figure 1 of Brinker & Hüllermeier (2007): the gap at the virtual label, on functional yeast."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from kebi import cached
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from prefero import NeighborsMultilabelRanker
from prefero.datasets import benchmark_path
from prefero.evaluation import ResultTable
from prefero.inspection._display import MARKERS, legend, open_frame
from prefero.metrics import multilabel as metrics

Values = NDArray[np.float64]

# The printed axis.
AXIS = (0.19, 0.28)
GAPS = (1, 2, 4, 8, 16, 32, 64, 128)
FIGURE_SIZES = tuple(range(1, 50, 4))


def read_multilabel(name: str) -> tuple[Values, Values]:
    """Return features and relevance of a multilabel set."""
    X, relevance = (
        np.loadtxt(benchmark_path(f"multilabel/{name}/{name}_{part}.csv"), delimiter=",")
        for part in "XY"
    )
    return X, relevance


def folds(n: int) -> Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split into ten folds, the same for every method."""
    return KFold(10, shuffle=True, random_state=0).split(np.zeros(n))


def gap_losses(
    sizes: Sequence[int] = FIGURE_SIZES,
    gaps: Sequence[int] = GAPS,
    features: tuple[int, int] = (0, 103),
) -> Values:
    """Hamming loss of ten folds, a row a size of the neighbourhood, a column a gap."""
    X, relevance = read_multilabel("yeast")
    X = X[:, slice(*features)]
    losses = np.zeros((len(sizes), len(gaps)))
    for train, test in folds(len(X)):
        ranker = NeighborsMultilabelRanker(algorithm="brute", threshold=None).fit(
            X[train], relevance[train]
        )
        for i, k in enumerate(sizes):
            for j, gap in enumerate(gaps):
                ranker.n_neighbors_, ranker.gap_amplification_ = k, gap
                losses[i, j] += metrics.hamming_loss(relevance[test], ranker.predict(X[test])) / 10
    return losses


def gap_table(options: Any) -> ResultTable:
    """Return what Figure 1 shows."""
    losses = cached(gap_losses, options.folder)()
    return ResultTable(
        {"k": k} | {f"p={gap}": float(loss) for gap, loss in zip(GAPS, row, strict=True)}
        for k, row in zip(FIGURE_SIZES, losses, strict=True)
    )


def level_table(options: Any) -> ResultTable:
    """Return some of Figure 1 on all features and on each of the two kinds alone."""
    run = cached(gap_losses, options.folder)
    kinds = {"all 103": (0, 103), "79 of expression": (0, 79), "24 of the profile": (79, 103)}
    sizes, gaps = (1, 9, 25, 49), (1, 128)
    rows = []
    for kind, features in kinds.items():
        losses = run(sizes, gaps, features)
        rows += [
            {"features": kind, "p": gap}
            | {f"k={k}": float(losses[i, j]) for i, k in enumerate(sizes)}
            for j, gap in enumerate(gaps)
        ]
    return ResultTable(rows)


def level(gaps: ResultTable, kinds: ResultTable) -> str:
    """Say how the level of Figure 1 is beside the printed axis, and what moves it."""
    losses = np.array([[row[f"p={gap}"] for gap in GAPS] for row in gaps])
    single = {row["features"]: row["k=1"] for row in kinds}
    near = min(single, key=lambda kind: abs(single[kind] - AXIS[1]))
    words = ", ".join(f"with {kind} {loss:.2f}" for kind, loss in single.items())
    return (
        f"Ours reach from {losses.min():.2f} to {losses.max():.2f}. The loss of one neighbour, "
        "where the gap plays no part, is one that no reading of the method can lift. What can is "
        f"the features: {words} (the table of the level); nearest to the upper end are {near}."
    )


def falls(gaps: ResultTable) -> tuple[str, str]:
    """Say whether the loss falls with the gap, as the paper concludes from its Figure 1."""
    losses = np.array([[row[f"p={gap}"] for gap in GAPS] for row in gaps if row["k"] > 1])
    steps = np.diff(losses, axis=1)
    lower = int(np.sum(losses[:, -1] < losses[:, 0]))
    words = (
        f"p=128 below p=1 at {lower} of {len(losses)} sizes above one, each doubling of p lower "
        f"or level to 0.0005 in {np.sum(steps <= 0.0005)} of {steps.size} steps, up by "
        f"{max(steps.max(), 0):.3f} at most"
    )
    return "yes" if lower == len(losses) else "no", words


def draw_gaps(table: ResultTable) -> Any:
    """Draw Figure 1: the larger the gap, the darker the curve."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.subplots()
    shades = colormaps["viridis_r"](np.linspace(0.1, 1, len(GAPS)))
    for gap, shade, marker in zip(GAPS, shades, MARKERS + MARKERS, strict=False):
        axes.plot(table["k"], table[f"p={gap}"], label=f"p={gap}", color=shade, marker=marker)
    axes.set(xlabel="k, the size of the neighbourhood", ylabel="Hamming loss", xticks=FIGURE_SIZES)
    axes.set_title("Gap amplification on functional yeast")
    open_frame(axes)
    legend(axes)
    return figure

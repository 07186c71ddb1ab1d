"""Draws docs/images/ranking.svg: a predicted order of reaction conditions, and how sure it is.

::

    python examples/make_picture.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from prefero import AutoLabelRanker
from prefero.tables import read_rankings

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Learn from the invented yields but the last substrate, and show that one."""
    plt.rcParams.update({"font.size": 12, "svg.hashsalt": "prefero"})
    told = read_rankings(
        ROOT / "examples" / "yields.csv", "yield *", format="scores", higher_is_better=True
    )
    X = told.X.drop(columns="substrate")
    ranker = AutoLabelRanker(preset="quick", random_state=0).fit(X[:-1], told.y[:-1])
    new = X[-1:]
    places, intervals = ranker.predict(new)[0], ranker.predict_rank_intervals(new, error=0.2)[0]
    first = ranker.predict_pairwise(new)[0]
    names = [str(name).removeprefix("yield ") for name in ranker.labels_]
    figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for place, (low, high), row in zip(places, intervals, first, strict=True):
        ax.plot([low, high], [place, place], color="#8fb9d6", linewidth=11, solid_capstyle="round")
        ax.plot(place, place, "o", color="#1b5e8a", markersize=8)
        wins = np.delete(row, np.argmax(places == place)).mean()
        ax.text(5.7, place, f"{wins:.0%}", va="center")
    ax.text(5.7, 0.2, "chance to beat\nanother one", va="center", fontsize=10)
    ax.set_yticks(places, names)
    ax.set(xlim=(0.5, 7.2), ylim=(5.6, -0.2))
    ax.set_xlabel("predicted place (dot), and its range in four of five cases", loc="left")
    ax.set_xticks(range(1, 6))
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(ROOT / "docs" / "images" / "ranking.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

"""
Reaction conditions, and a ligand never tried
=============================================

Thirty substrates, eight ligands, and many reactions that were never run. Ligands have features
too, so that a new one can be placed among the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import LabelFeatureRanker
from prefero.datasets import make_dyad_ranking
from prefero.rankings import drop_labels, ranks_from_scores

X, Y, Z = make_dyad_ranking(30, 4, 8, 3, random_state=3)
Y = drop_labels(Y, 0.3, random_state=0)

# %%
# Each ligand in turn is kept out of training and then ranked by its features alone.
right = []
for left in range(8):
    known = np.delete(np.arange(8), left)
    others = ranks_from_scores(Y[:, known], higher_is_better=False)
    ranker = LabelFeatureRanker(label_features=Z[known]).fit(X, others)
    scores = ranker.decision_function(X, labels=Z)
    beats = scores[:, [left]] > scores[:, known]
    truth = Y[:, [left]] < Y[:, known]
    seen = ~np.isnan(Y[:, [left]]) & ~np.isnan(Y[:, known])
    right.append((beats == truth)[seen].mean())

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
bars = ax.bar([f"ligand {k + 1}" for k in range(8)], right, color="#1b5e8a")
ax.bar_label(bars, fmt="%.2f")
ax.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
ax.text(7.5, 0.51, "chance", va="bottom")
ax.set(xlim=(-0.6, 8.3), ylim=(0, 1), ylabel="share of pairs")
ax.set_title("A ligand never tried, put in its place: pairs ordered right")

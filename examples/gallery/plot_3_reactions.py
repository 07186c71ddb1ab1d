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
errors = []
for left in range(8):
    known = np.delete(np.arange(8), left)
    others = ranks_from_scores(Y[:, known], higher_is_better=False)
    ranker = LabelFeatureRanker(label_features=Z[known]).fit(X, others)
    scores = ranker.decision_function(X, labels=Z)
    beats = scores[:, [left]] > scores[:, known]
    truth = Y[:, [left]] < Y[:, known]
    seen = ~np.isnan(Y[:, [left]]) & ~np.isnan(Y[:, known])
    errors.append((beats == truth)[seen].mean())

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar([f"ligand {k + 1}" for k in range(8)], errors, color="#1b5e8a")
ax.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
ax.set_ylabel("pairs ordered right")
ax.set_title("Ligands that training did not hold")
ax.tick_params(axis="x", rotation=45)

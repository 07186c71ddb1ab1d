"""
A farm trial: the best and the worst of three
=============================================

Each farmer tries three of ten varieties and says which was best and which worst. From such
scraps a ranker learns which variety suits which field.
"""

import numpy as np

from prefero import ConsensusLabelRanker, LogLinearLabelRanker
from prefero.rankings import ranks_from_best_worst
from prefero.study.plotting import RankHeatmapDisplay

rng = np.random.default_rng(4)
fields = rng.normal(size=(400, 2))  # dryness, height
names = [f"V{k + 1}" for k in range(10)]
worth = fields @ rng.normal(size=(2, 10)) + rng.normal(size=10)
shown, best, worst = [], [], []
for yields in worth + rng.normal(size=worth.shape):
    tried = rng.choice(10, 3, replace=False)
    order = tried[np.argsort(-yields[tried])]
    shown.append([names[k] for k in tried])
    best.append(names[order[0]])
    worst.append(names[order[-1]])

# %%
# What the farmers said becomes ranks of three varieties each; the other seven are unknown.
Y, _ = ranks_from_best_worst(best, worst, shown, labels=names)
print(Y[:3])

# %%
# Does the field say anything? Fields left out, beside the same order for everyone.
train, test = slice(0, 300), slice(300, None)
ranker = LogLinearLabelRanker("edges").fit(fields[train], Y[train])
constant = ConsensusLabelRanker().fit(fields[train], Y[train])
print(f"log-linear: tau {ranker.score(fields[test], Y[test]):.2f}")
print(f"the same order for everyone: {constant.score(fields[test], Y[test]):.2f}")

# %%
# The places of the varieties from the wettest field to the driest.
grid = np.column_stack([np.linspace(-2, 2, 60), np.zeros(60)])
display = RankHeatmapDisplay.from_ranks(ranker.predict(grid), labels=names)
display.axes_[0].set_title("predicted, over fields from wet to dry")

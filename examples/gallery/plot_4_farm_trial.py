"""
A farm trial: the best and the worst of three
=============================================

Each farmer tries three of ten varieties and says which was best and which worst. From such
scraps a ranker learns which variety suits which field.
"""

import numpy as np

from prefero import LogLinearLabelRanker
from prefero.study.plotting import RankHeatmapDisplay

rng = np.random.default_rng(4)
fields = rng.normal(size=(400, 2))  # dryness, height
names = [f"V{k + 1}" for k in range(10)]
worth = fields @ rng.normal(size=(2, 10)) + rng.normal(size=10)
Y = np.full((400, 10), np.nan)
for farm, yields in enumerate(worth + rng.normal(size=worth.shape)):
    tried = rng.choice(10, 3, replace=False)
    Y[farm, tried] = (-yields[tried]).argsort().argsort() + 1

# %%
# The varieties of dry and of wet fields, from three of ten in each.
ranker = LogLinearLabelRanker("edges").fit(fields, Y)
grid = np.column_stack([np.linspace(-2, 2, 60), np.zeros(60)])
display = RankHeatmapDisplay.from_ranks(ranker.predict(grid), labels=names)
display.axes_[0].set_title("predicted, from the driest field to the wettest")

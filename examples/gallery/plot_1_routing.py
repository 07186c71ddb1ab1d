"""
Routing prompts to language models
==================================

Six models answer prompts of different kinds. Large ones are better and dearer. Which one should
get the next prompt, and what does a saving cost in quality?
"""

import numpy as np

from prefero import ForestLabelRanker
from prefero.study import cost_curve, single_choices
from prefero.study.plotting import CostCurveDisplay

# %%
# Prompts have a length, a difficulty and a kind; the quality of an answer depends on both sides.
rng = np.random.default_rng(0)
prompts = rng.uniform(size=(500, 3))
size = np.array([1.0, 3, 7, 13, 34, 70])
skill = np.log(size) / np.log(70)
taste = rng.normal(size=(3, 6))
quality = skill - np.outer(prompts[:, 1], 1.2 - skill) + 0.4 * (prompts - 0.5) @ taste
quality += 0.1 * rng.normal(size=quality.shape)
cost = size * (0.5 + prompts[:, [0]])

# %%
# For each trade-off a forest learns to order the models by quality minus weight times cost. Its
# first choices for prompts left out stand beside each model for everyone.
forest = ForestLabelRanker(100, random_state=0)
curve = cost_curve(forest, prompts, quality, cost)
names = [f"{s:.0f}B" for s in size]
CostCurveDisplay.from_curve(curve, single_choices(names, quality, cost))

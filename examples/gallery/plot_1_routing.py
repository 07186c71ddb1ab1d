"""
Routing prompts to language models
==================================

Six models answer prompts. Large ones are better and dearer, but an easy prompt needs no large one.
Which model should get the next prompt, and what does a saving cost in quality?
"""

import numpy as np

from prefero import ForestLabelRanker
from prefero.evaluation import cost_curve, single_choices
from prefero.inspection import CostCurveDisplay

# %%
# Prompts have a length, a difficulty and a kind, of which each model likes some more than others.
# The quality of an answer is between 0 and 1; what it costs grows with the model and the prompt.
rng = np.random.default_rng(0)
prompts = rng.uniform(size=(500, 3))
size = np.array([1.0, 3, 7, 13, 34, 70])
skill = np.log(size) / np.log(70)
taste = rng.normal(size=(3, 6))
margin = 2 + 6 * (skill - 1.2 * prompts[:, [1]]) + 2 * (prompts - 0.5) @ taste
quality = 1 / (1 + np.exp(-margin - 0.5 * rng.normal(size=margin.shape)))
cost = size * (0.5 + prompts[:, [0]])

# %%
# For each trade-off a forest learns to order the models by quality minus weight times cost. Its
# first choices for prompts left out stand beside each model for everyone.
forest = ForestLabelRanker(100, random_state=0)
curve = cost_curve(forest, prompts, quality, cost)
names = [f"{s:.0f}B" for s in size]
display = CostCurveDisplay.from_curve(curve, single_choices(names, quality, cost))
display.ax_.set(
    title="Up and to the left is better: routing against one model for all",
    xlabel="mean cost of a prompt",
    ylabel="mean quality of the answers",
)

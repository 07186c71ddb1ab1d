"""
A survey with ties and top-3 lists
==================================

Some people rank all seven issues, some only their first three, and many find several equally
important. Unranked is not last, and a tie is an answer.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import ForestLabelRanker
from prefero.rankings import ranks_from_scores

rng = np.random.default_rng(5)
people = np.column_stack([rng.integers(18, 90, 400), rng.integers(0, 2, 400)]).astype(float)
issues = ["health", "schools", "jobs", "climate", "safety", "housing", "taxes"]
lean = np.outer((people[:, 0] - 50) / 20, rng.normal(size=7)) + people[:, [1]] * rng.normal(size=7)
opinion = np.round(lean + rng.normal(size=lean.shape))
Y = ranks_from_scores(opinion, higher_is_better=True)
top3 = rng.uniform(size=400) < 0.4
Y[top3] = np.where(Y[top3] <= 3.5, Y[top3], np.nan)

# %%
# Predictions with ties: buckets in which no order is likely enough.
forest = ForestLabelRanker(random_state=0).fit(people, Y)
ages = np.arange(20, 90, 10.0)
buckets = forest.predict_buckets(np.column_stack([ages, np.zeros(len(ages))]))
figure, ax = plt.subplots(figsize=(7.5, 3.5), layout="constrained")
ax.imshow(buckets.T, cmap="Blues_r", vmin=1, vmax=9, aspect="auto")
for (age, issue), place in np.ndenumerate(buckets):
    ax.text(age, issue, place, ha="center", va="center", color="white" if place < 4 else "black")
ax.set_xticks(range(len(ages)), ages.astype(int))
ax.set_yticks(range(len(issues)), issues)
ax.set(
    xlabel="age", title="Predicted places by age, dark is first; equal numbers in a column are ties"
)

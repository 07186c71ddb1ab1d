"""
A farm trial: the best and the worst of three
=============================================

Each farmer tries three of ten varieties and says which was best and which worst. From such
scraps a ranker learns which variety suits which field.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import ConsensusLabelRanker, LogLinearLabelRanker
from prefero.rankings import ranks_from_best_worst

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
# The places of the varieties from the wettest field to the driest; those that come first
# somewhere are drawn in colour.
dryness = np.linspace(-2, 2, 81)
places = ranker.predict(np.column_stack([dryness, np.zeros(81)]))
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, place in zip(names, places.T, strict=True):
    first = (place == 1).any()
    style = {"linewidth": 3} if first else {"linewidth": 1, "color": "#a0a0a0"}
    (line,) = ax.plot(dryness, place, **style)
    ax.text(2.05, place[-1], name, va="center", color=line.get_color() if first else "#606060")
ax.set(xlabel="field", ylabel="predicted place", xlim=(-2.05, 2.35), ylim=(10.5, 0.5))
ax.set_xticks([-2, 2], ["wet", "dry"])
ax.set_yticks(range(1, 11))
ax.set_title("Which variety for which field?")

"""
Choosing a solver with time-outs
================================

Run times beyond the cut-off are only known to be long: they tie among themselves, and count ten
times the cut-off (PAR10) when a solver is judged. How much of the way from the best single solver
to the best solver of every problem does a ranker go?

The run times here are drawn, so that the page needs no download; a folder of ASlib is read by
``prefero.tables.read_rankings("QBF-2011")``, with its cut-off and its official folds.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import ConsensusLabelRanker, ForestLabelRanker
from prefero.metrics import gap_closed, penalized_run_times
from prefero.rankings import ranks_from_scores

rng = np.random.default_rng(1)
problems = rng.normal(size=(600, 5))
log_time = 5 + problems @ rng.normal(size=(5, 4)) * 1.5 + rng.normal(size=(600, 4))
cutoff = 1000.0
time = np.minimum(np.exp(log_time), cutoff)
par10 = penalized_run_times(time, cutoff)
Y = ranks_from_scores(time, higher_is_better=False)
train, test = slice(0, 400), slice(400, None)

# %%
# One forest knows the order only, one also what is at stake. The same order for everyone starts
# with the solver that is often ahead; one that seldom runs into the cut-off would be better.
stake = -np.log(par10)
rankers = {
    "same for all": ConsensusLabelRanker().fit(problems[train], Y[train]),
    "orders": ForestLabelRanker(random_state=0).fit(problems[train], Y[train]),
    "orders and times": ForestLabelRanker(random_state=0).fit(
        problems[train], Y[train], scores=stake[train]
    ),
}
best = int(par10[train].mean(axis=0).argmin())
closed = {
    name: gap_closed(
        par10[test], ranker.predict(problems[test]), single_best=best, higher_is_better=False
    )
    for name, ranker in rankers.items()
}
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
bars = ax.barh(list(closed), list(closed.values()), color="#1b5e8a")
ax.bar_label(bars, fmt="%.2f", label_type="center", color="white")
for place, name in ((0, "the best\nsingle solver"), (1, "the best solver\nof each problem")):
    ax.axvline(place, color="black", linewidth=0.8)
    ax.text(place, 1.02, name, transform=ax.get_xaxis_transform(), ha="center")
ax.set(xlim=(-1.1, 1.2), xlabel="share of the gap closed (PAR10)")

"""
How sure is it: abstain, tie, or name several
=============================================

Three ways to be careful: leave out the orders of pairs that are not likely enough, predict ties,
or name a set of labels that holds the best one with a stated probability.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import AutoLabelRanker
from prefero.datasets import make_label_ranking
from prefero.metrics import completeness, correctness, kendall_tau
from prefero.rankings import ranks_from_scores


def jury(draw):
    """Six things in 400 and 2000 cases, by a jury that gives three grades."""
    X, Y = make_label_ranking(2400, 5, 6, theta=1.0, random_state=draw)
    Y = ranks_from_scores(np.ceil(Y / 2), higher_is_better=False)
    ranker = AutoLabelRanker(preset="quick", random_state=0).fit(X[:400], Y[:400])
    return ranker, X[400:], Y[400:]


ranker, new, truth = jury(0)

# %%
# **Abstain.** Only pairs above a threshold are stated. The fewer, the more of them are right.
thresholds = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
stated = [ranker.predict_partial(new, threshold) for threshold in thresholds]
figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot([completeness(s) for s in stated], [correctness(truth, s) for s in stated], marker="o")
for threshold, s in zip(thresholds, stated, strict=True):
    place = (completeness(s), correctness(truth, s))
    ax.annotate(f"{threshold:g}", place, xytext=(5, 5), textcoords="offset points")
ax.margins(0.12)
ax.set(xlabel="share of pairs that are stated", ylabel="tau of these pairs")
ax.set_title("The surer a pair must be, the fewer are stated, and the better they are")

# %%
# **Tie.** Where a tie is likelier than either order is over the other, it is predicted. tau-x
# expects ties where there are some.
print(f"strict orders: tau-x {kendall_tau(truth, ranker.predict(new), variant='x'):.2f}")
print(f"with ties:     tau-x {kendall_tau(truth, ranker.predict_buckets(new), variant='x'):.2f}")

# %%
# **Name several.** Sets of labels for several allowed errors: how often they were to hold the best
# labels, and how often they did. All that are tied for the first place must be in the set. What
# 400 training rows say of errors to come differs from one jury to the next, so here are ten of
# them. The promise is about the mean of many: forty others (draws 100 to 139) hold 0.90 of 0.9 and
# 0.80 of 0.8.
errors = np.array([0.05, 0.1, 0.2, 0.3, 0.4])
held, size = [], []
for draw in range(10):
    ranker, new, truth = jury(draw)
    sets = [ranker.predict_top_set(new, error) for error in errors]
    held.append([(chosen | (truth != 1)).all(axis=1).mean() for chosen in sets])
    size.append([chosen.sum(axis=1).mean() for chosen in sets])
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.plot([0.55, 1], [0.55, 1], color="black", linewidth=0.8, linestyle=":", label="as promised")
for ax, shares in ((left, held), (right, size)):
    ax.plot(1 - errors, np.transpose(shares), color="tab:blue", linewidth=0.6, alpha=0.5)
    ax.plot(1 - errors, np.mean(shares, axis=0), color="tab:blue", marker="o", label="mean of ten")
left.set(xlabel="share promised", ylabel="share held", title="Sets hold the best labels ...")
left.legend(frameon=False)
right.set(
    xlabel="share promised",
    ylabel="labels in a set",
    ylim=(0, 6),
    title="... and how large they are",
)
for error, own in zip(errors, np.transpose(held), strict=True):
    share = f"{own.mean():.2f}, single juries {own.min():.2f} to {own.max():.2f}"
    print(f"promised {1 - error:.2f}: held {share}")

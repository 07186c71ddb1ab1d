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

X, Y = make_label_ranking(700, 5, 6, theta=1.0, random_state=8)
ranker = AutoLabelRanker(effort="quick", random_state=0).fit(X[:400], Y[:400])
new, truth = X[400:], Y[400:]

# %%
# Sets of labels that hold the first one, for several allowed errors: what was asked and what came.
errors = np.array([0.05, 0.1, 0.2, 0.3, 0.4])
first = truth == 1
sets = [ranker.predict_first_set(new, error) for error in errors]
held = [float((chosen & first).any(axis=1).mean()) for chosen in sets]
size = [float(chosen.sum(axis=1).mean()) for chosen in sets]
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(1 - errors, held, marker="o")
left.plot([0.6, 1], [0.6, 1], color="black", linewidth=0.8, linestyle=":")
left.set(xlabel="asked", ylabel="sets that hold the first label")
right.plot(1 - errors, size, marker="o")
right.set(xlabel="asked", ylabel="labels in a set")

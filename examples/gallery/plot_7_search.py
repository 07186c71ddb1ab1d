"""
Ordering search results
=======================

Documents with features, graded in some queries. New queries bring new documents: what is learned
is an order of objects, not of labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import BoostingOrderer, ExpectedRankOrderer
from prefero.metrics.ordering import ndcg
from prefero.rankings import ranks_from_scores

rng = np.random.default_rng(7)
queries = np.repeat(np.arange(80), 12)
documents = rng.normal(size=(len(queries), 6))
lean = documents[:, 0] - np.abs(documents[:, 1]) + 0.5 * documents[:, 2]
grades = np.digitize(lean + 0.5 * rng.normal(size=len(lean)), [-0.5, 0.7, 1.8]).astype(float)
ranks = ranks_from_scores(grades.reshape(80, 12), higher_is_better=True).ravel()
train = queries < 60

# %%
# Orderers beside the order in which the documents came.
orderers = {"linear": ExpectedRankOrderer(), "boosted trees": BoostingOrderer(random_state=0)}
found = {"as they came": -np.arange((~train).sum(), dtype=float)}
for name, orderer in orderers.items():
    orderer.fit(documents[train], ranks[train], qid=queries[train])
    found[name] = orderer.decision_function(documents[~train])
depths = range(1, 11)
figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for name, scores in found.items():
    values = [ndcg(grades[~train], scores, queries[~train], k=k) for k in depths]
    ax.plot(depths, values, marker="o", label=name)
ax.set(ylim=(0, 1.02), xlabel="documents looked at", ylabel="NDCG (1: no better order)")
ax.set_title("Twenty queries that training did not hold")
ax.legend(frameon=False, loc="lower right")

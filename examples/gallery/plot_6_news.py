"""
News with topics: a zero point in the order
===========================================

A text has several topics, some more than others. The order of all topics and the line between
relevant and irrelevant come from one model, so that they cannot contradict each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import CalibratedMultilabelRanker

rng = np.random.default_rng(6)
topics = ["politics", "economy", "education", "sports", "culture"]
words = rng.poisson(1.0, size=(500, 12)).astype(float)
weight = rng.normal(size=(12, 5))
relevance = (words @ weight + rng.normal(size=(500, 5)) > np.median(words @ weight)).astype(int)
ranker = CalibratedMultilabelRanker().fit(words[:400], relevance[:400])

# %%
# Five texts: topics above the line are relevant.
scores = ranker.decision_function(words[400:405])
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for text, own in enumerate(scores):
    for topic, score in zip(topics, own, strict=True):
        ax.text(text, score, topic, ha="center", va="center", fontsize=9)
ax.axhline(0, color="#1b5e8a")
ax.set(xlim=(-0.6, 4.6), ylim=(scores.min() - 0.2, scores.max() + 0.2), ylabel="score")
ax.set_xticks(range(5), [f"text {k + 1}" for k in range(5)])

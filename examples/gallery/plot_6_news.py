"""
News with topics: a virtual label in the order
===========================================

A text has several topics, some more than others. The order of all topics and the line between
relevant and irrelevant come from one model, so that they cannot contradict each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from prefero import (
    CalibratedMultilabelRanker,
    ConsensusMultilabelRanker,
    LogLinearLabelRanker,
)
from prefero.metrics.multilabel import hamming_loss

rng = np.random.default_rng(6)
topics = ["politics", "economy", "education", "sports", "culture"]
words = rng.poisson(1.0, size=(500, 12)).astype(float)
weight = rng.normal(size=(12, 5))
relevance = ((words - 1) @ weight + rng.normal(size=(500, 5)) > 0).astype(int)
train, test = slice(0, 400), slice(400, None)
ranker = CalibratedMultilabelRanker(LogLinearLabelRanker()).fit(words[train], relevance[train])
constant = ConsensusMultilabelRanker().fit(words[train], relevance[train])
for name, model in (("log-linear", ranker), ("the same answer for everyone", constant)):
    print(f"{name}: Hamming loss {hamming_loss(relevance[test], model.predict(words[test])):.2f}")

# %%
# Five texts: the order of the topics, and the line between relevant and irrelevant ones.
new = words[400:405]
scores, relevant = ranker.decision_function(new), ranker.predict(new)
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for text, (own, chosen) in enumerate(zip(scores, relevant, strict=True)):
    for place, topic in enumerate(np.argsort(-own)):
        name = topics[topic]
        ax.text(
            text,
            place,
            name,
            ha="center",
            va="center",
            weight="bold" if chosen[topic] else "normal",
        )
    line = chosen.sum() - 0.5
    ax.plot([text - 0.4, text + 0.4], [line, line], color="#1b5e8a")
ax.set(xlim=(-0.6, 4.6), ylim=(4.7, -0.7), ylabel="place")
ax.set_title("Bold, above the line: the relevant topics of each text")
ax.set_yticks(range(5), range(1, 6))
ax.set_xticks(range(5), [f"text {k + 1}" for k in range(5)])

"""Speed as ratios to peers measured in the same run, so that machines can be compared."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from prefero import ForestLabelRanker, PairwiseLabelRanker
from prefero.datasets import make_label_ranking


def seconds(function: Callable[[], Any]) -> float:
    """Return the least CPU time of three calls."""

    def once() -> float:
        begin = time.process_time()
        function()
        return time.process_time() - begin

    return min(once() for _ in range(3))


class Forests:
    """A forest beside scikit-learn's on the same numbers."""

    params = (["kendall", "spearman", "entropy"], [5, 15])
    param_names = ("criterion", "labels")

    def setup(self, criterion: str, labels: int) -> None:
        """Make data and fit both."""
        self.X, self.Y = make_label_ranking(5000, 10, labels, random_state=0)
        self.ours = ForestLabelRanker(30, criterion=criterion, shrinkage=0, random_state=0)
        self.peer = RandomForestRegressor(30, max_features="sqrt", random_state=0)

    def track_fit(self, criterion: str, labels: int) -> float:
        """How many times faster than the peer."""
        ours = seconds(lambda: self.ours.fit(self.X, self.Y))
        return seconds(lambda: self.peer.fit(self.X, self.Y)) / ours

    def track_predict(self, criterion: str, labels: int) -> float:
        """How many times faster than the peer."""
        self.ours.fit(self.X, self.Y)
        self.peer.fit(self.X, self.Y)
        ours = seconds(lambda: self.ours.decision_function(self.X))
        return seconds(lambda: self.peer.predict(self.X)) / ours


class Pairs:
    """All pairs of labels together beside a loop over scikit-learn's models."""

    def setup(self) -> None:
        """Make data."""
        self.X, self.Y = make_label_ranking(3000, 10, 8, random_state=0)

    def track_fit(self) -> float:
        """How many times faster than the loop."""

        def loop() -> None:
            for first, second in np.column_stack(np.triu_indices(self.Y.shape[1], 1)):
                LogisticRegression().fit(self.X, self.Y[:, first] < self.Y[:, second])

        ours = seconds(lambda: PairwiseLabelRanker(C=1.0, calibrate=False).fit(self.X, self.Y))
        return seconds(loop) / ours

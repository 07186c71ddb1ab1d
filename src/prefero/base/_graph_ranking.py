"""What label rankers share that learn from preference graphs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from prefero._docs import documented
from prefero._sklearn import check_sample_weight
from prefero.base._label_ranking import LabelRankerMixin
from prefero.base._targets import unseen_labels, used_rows
from prefero.metrics import ranking_error
from prefero.preferences import PreferenceGraphs


@documented()
class GraphRankerMixin(LabelRankerMixin):
    """Mixin of label rankers whose target may be ranks or preference graphs.

    A ranker writes ``_fit(X, graphs, weight)``; the rest is as for any label ranker.

    Examples
    --------
    >>> from prefero import LogLinearLabelRanker
    >>> graphs = PreferenceGraphs.from_pairs([[(0, 1)], [(1, 0)]], labels=[0, 1])
    >>> ranker = LogLinearLabelRanker(calibrate=False).fit([[0.0], [1.0]], graphs)
    >>> isinstance(ranker, GraphRankerMixin)
    True
    """

    def _validate_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        *,
        reset: bool = True,
    ) -> tuple[Any, Any, NDArray[np.float64]]:
        """Validate training data and set the label attributes, as for ranks.

        A graph without edges is an empty row, a label without edges in any graph unseen.
        """
        if not isinstance(y, PreferenceGraphs):
            return super()._validate_fit(X, y, sample_weight, scores, reset=reset)
        if scores is not None:
            raise ValueError(
                "scores go with ranks, but y holds preference graphs: give its edges weights, "
                "PreferenceGraphs(..., weights=W)."
            )
        X = self._validate_X(X, reset=reset)
        check_consistent_length(X, y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if reset:
            self.classes_ = np.arange(y.n_labels)
            self.labels_ = self.classes_ if y.labels is None else y.labels
        elif y.n_labels != len(self.labels_):
            raise ValueError(
                f"y has {y.n_labels} labels, but the fit before it had {len(self.labels_)}."
            )
        known = np.where(y.touched(), 1.0, np.nan)
        used = used_rows(known, weight, says="rank")
        self.unseen_labels_ = unseen_labels(known[used], self.labels_, says="ranked")
        self._note_ranges(X[used], reset)
        return (X, y, weight) if used.all() else (X[used], y[used], weight[used])

    def _target(self, truth: Any) -> PreferenceGraphs:
        is_graphs = isinstance(truth, PreferenceGraphs)
        return truth if is_graphs else PreferenceGraphs.from_ranks(truth)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean Kendall tau of the predicted and the given rankings.

        Parameters
        ----------
        %(X)s
        y : array-like of shape (n_samples, n_labels) or PreferenceGraphs
            Their ranks, or graphs: then the correlation is the share of edges that the
            prediction respects less the share that it violates.
        %(weights_of_rows)s

        Returns
        -------
        float
            In [-1, 1].
        """
        if not isinstance(y, PreferenceGraphs):
            return super().score(X, y, sample_weight)
        scores = -self.predict(X)
        return 1 - 2 * float(ranking_error(y, scores, "edges", sample_weight=sample_weight))

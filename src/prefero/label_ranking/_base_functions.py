"""Base ranking functions h_j(x, y) of a log-linear model, and their sums over edges.

A model is f(x, y) = sum over j of lambda_j h_j(x, y). Two kinds of base functions answer the
same questions: what are the scores, what is the gradient, what are W+ and W- of Figure 3 in
Dekel, Manning & Singer (2003).
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from prefero._products import FeatureProducts
from prefero._typing import Values
from prefero.preferences import (
    Decomposition,
    PreferenceGraphs,
    SignedFeatures,
    Subgraphs,
    WeightedEdges,
    decompose,
)

# Edges times functions that one step of the search for rho holds.
_BATCH_ENTRIES = 2**21


class LinearFunctions:
    """One linear utility a label: h_(y', d)(x, y) is x_d if y = y', else 0.

    The parameters are a matrix of shape (n_features, n_labels), with one more row for the
    intercepts if there are any: the weights of a constant feature. The larger the constant, the
    less a penalty on the weights holds the intercepts back.
    """

    def __init__(
        self, X: Any, graphs: PreferenceGraphs, fit_intercept: bool, constant: float = 1.0
    ) -> None:
        self._X, self._fit_intercept = X, fit_intercept
        self.n_features, self.constant = X.shape[1], constant if fit_intercept else 0.0
        self._products = FeatureProducts(X)
        self._graphs = graphs
        self.shape = (X.shape[1] + fit_intercept, graphs.n_labels)
        # A constant 1 beside features as small as those of text bends the loss far more than
        # they do; in units of their size it costs L-BFGS fewer iterations.
        self.unit = np.ones((self.shape[0], 1))
        self.set_size(*sum_of_squares(X))

    def set_size(self, squares: float, entries: int) -> None:
        """Take the size of features that have this sum of squares."""
        size = np.sqrt(squares / max(1, entries))
        self.unit[self.n_features :] = (size if size > 0 else 1.0) / (self.constant or 1.0)

    def decompose(self, decomposition: Decomposition) -> Any:
        """Cut the graphs; layers need no edge to be written out."""
        return decompose(self._graphs, decomposition)

    @property
    def has_rough(self) -> bool:
        """Whether rough scores and gradients, in single precision, are faster."""
        return self._products.has_rough

    def scores(self, parameters: Values, *, rough: bool = False) -> Values:
        """f(x, y) for all instances and labels."""
        n_features = self._X.shape[1]
        scores = self._products.times(parameters[:n_features], rough=rough)
        if self._fit_intercept:
            scores += self.constant * parameters[n_features]
        return scores

    def gradient(self, by_scores: Values, *, rough: bool = False) -> Values:
        """The gradient by the parameters, from the one by the scores."""
        slopes = self._products.transposed_times(by_scores, rough=rough)
        if not self._fit_intercept:
            return slopes
        return np.vstack([slopes, self.constant * by_scores.sum(axis=0)])

    @cached_property
    def _signed(self) -> SignedFeatures:
        return SignedFeatures(self._X)

    def boosting_sums(
        self, cut: Any, scores: Values, weight: Values
    ) -> tuple[Values, Values, Values]:
        """Losses of the instances, and W+ and W- of Figure 3."""
        sums = cut.loss(scores)
        incoming, outgoing = sums.incoming * weight[:, None], sums.outgoing * weight[:, None]
        plus, minus = self._signed.boosting_sums(incoming, outgoing)
        if not self._fit_intercept:
            return sums.loss, plus, minus
        plus = np.vstack([plus, self.constant * incoming.sum(axis=0)])
        return sums.loss, plus, np.vstack([minus, self.constant * outgoing.sum(axis=0)])

    def rho(self, cut: Any) -> float:
        """The largest sum over j of |h_j(x, other) - h_j(x, preferred)| of any edge."""
        some = self._graphs.edge_counts() > 0
        size = np.asarray(abs(self._X).sum(axis=1)).ravel()[some] + self.constant
        return 2 * float(size.max(initial=0))


class GivenFunctions:
    """Any base functions, by their values for all instances and labels.

    The parameters are a vector of shape (n_functions,).
    """

    has_rough = False

    def __init__(self, values: Values, graphs: PreferenceGraphs) -> None:
        self._values, self._graphs = values, graphs
        self.shape: tuple[int, ...] = (values.shape[2],)
        self.unit = np.ones(1)

    def decompose(self, decomposition: Decomposition) -> Subgraphs:
        """Cut the graphs edge by edge: h_j may change in its own way along each."""
        if self._graphs.weights is not None:
            return WeightedEdges(self._graphs)
        return Subgraphs(self._graphs, decomposition)

    def scores(self, parameters: Values, *, rough: bool = False) -> Values:
        """f(x, y) for all instances and labels."""
        return np.ascontiguousarray(self._values @ parameters)

    def gradient(self, by_scores: Values, *, rough: bool = False) -> Values:
        """The gradient by the parameters, from the one by the scores."""
        return np.tensordot(by_scores, self._values, axes=2)

    def boosting_sums(
        self, cut: Subgraphs, scores: Values, weight: Values
    ) -> tuple[Values, Values, Values]:
        """Losses of the instances, and W+ and W-, edge by edge."""
        loss, of_edges = cut.edge_weights(scores)
        of_edges = of_edges * weight[self._instance_of_edges(cut)]
        return loss, *cut.boosting_sums(self._values, of_edges)

    def rho(self, cut: Subgraphs) -> float:
        """The largest sum over j of |h_j(x, other) - h_j(x, preferred)| of any edge."""
        instance, largest = self._instance_of_edges(cut), 0.0
        size = max(1, _BATCH_ENTRIES // max(1, self.shape[0]))
        for begin in range(0, len(instance), size):
            part = slice(begin, begin + size)
            other = self._values[instance[part], cut.other[part]]
            preferred = self._values[instance[part], cut.preferred[part]]
            largest = max(largest, float(np.abs(other - preferred).sum(axis=1).max()))
        return largest

    @staticmethod
    def _instance_of_edges(cut: Subgraphs) -> NDArray[np.intp]:
        counts = np.diff(cut.subgraph_begin[cut.row_begin])
        return np.repeat(np.arange(len(counts)), counts)


def sum_of_squares(X: Any) -> tuple[float, int]:
    """The sum of the squared features, and how many there are."""
    values = X.data if issparse(X) else X
    return float(np.vdot(values, values)), X.shape[0] * X.shape[1]

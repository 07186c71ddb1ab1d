"""Graphs cut into subgraphs: the losses and errors of Dekel, Manning & Singer (2003)."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from prefero import _core
from prefero._typing import Values
from prefero.preferences._graphs import PreferenceGraphs

# The order is that of the core's enumeration.
DECOMPOSITIONS = ("graph", "edges", "domination", "dominated")

# A name above, or a function from the edges of a graph, shape (n_edges, 2), to its subgraphs,
# each given by the indices of its edges.
Decomposition = str | Callable[[NDArray[np.int32]], Sequence[Any]]


class EdgeSums(NamedTuple):
    """Losses of the rows, and their edge weights added up by label."""

    loss: Values
    incoming: Values
    outgoing: Values


def by_layer(layers: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Labels of each row from the best layer on, absent ones last, and their layers.

    Examples
    --------
    >>> order, layers = by_layer(np.array([[1, -1, 0]], dtype=np.int32))
    >>> order, layers
    (array([[2, 0, 1]]), array([[ 0,  1, -1]], dtype=int32))
    """
    absent_last = np.where(layers < 0, np.iinfo(np.int32).max, layers)
    order = np.argsort(absent_last, axis=1, kind="stable")
    return order, np.ascontiguousarray(np.take_along_axis(layers, order, axis=1))


class Layered:
    """Graphs of layers under one of the named decompositions; no edge is written out."""

    def __init__(self, layers: NDArray[np.int32], decomposition: str) -> None:
        self._code = DECOMPOSITIONS.index(decomposition)
        order, self._layer = by_layer(layers)
        self._order = order.astype(np.int32)

    def loss(self, scores: Values) -> EdgeSums:
        """Mean loss of the subgraphs of each row, and its edge weights by label."""
        return EdgeSums(*_core.layered_loss(scores, self._order, self._layer, self._code))

    def gradient(self, scores: Values, weight: Values) -> tuple[float, Values]:
        """Weighted sum of the rows' losses; scores become its derivatives."""
        loss = _core.layered_gradient(scores, self._order, self._layer, self._code, weight)
        return loss, scores

    def violations(self, scores: Values) -> NDArray[np.int64]:
        """Violated subgraphs and all subgraphs of each row."""
        counts = _core.layered_violations(scores, self._order, self._layer, self._code)
        return counts.view(np.int64)


class Subgraphs:
    """Any graphs under any decomposition, every edge written out.

    Attributes
    ----------
    row_begin, subgraph_begin : ndarray
        Row i owns subgraphs ``row_begin[i]`` to ``row_begin[i + 1]``; subgraph k owns edges
        ``subgraph_begin[k]`` to ``subgraph_begin[k + 1]``.
    preferred, other : ndarray of shape (n_edges,)
        The two labels of each edge.

    Examples
    --------
    >>> from prefero import PreferenceGraphs
    >>> graphs = PreferenceGraphs.from_pairs([[(0, 1), (0, 2)]], labels=[0, 1, 2])
    >>> Subgraphs(graphs, "edges").violations(np.array([[2.0, 1.0, 3.0]]))
    array([[1, 2]])
    """

    def __init__(self, graphs: PreferenceGraphs, decomposition: Decomposition) -> None:
        indptr, edges = graphs.compressed()
        if callable(decomposition):
            chosen, subgraph_sizes, counts = _cut_by_callable(indptr, edges, decomposition)
        else:
            chosen, subgraph_sizes, counts = _cut_by_name(indptr, edges, decomposition)
        self.row_begin = _offsets(counts)
        self.subgraph_begin = _offsets(subgraph_sizes)
        self.preferred = np.ascontiguousarray(edges[chosen, 0])
        self.other = np.ascontiguousarray(edges[chosen, 1])

    def _arrays(self) -> tuple[Any, Any, Any, Any]:
        return self.row_begin, self.subgraph_begin, self.preferred, self.other

    def loss(self, scores: Values) -> EdgeSums:
        """Mean loss of the subgraphs of each row, and its edge weights by label."""
        return EdgeSums(*_core.subgraph_loss(scores, *self._arrays())[:3])

    def gradient(self, scores: Values, weight: Values) -> tuple[float, Values]:
        """Weighted sum of the rows' losses, and its derivatives by the scores."""
        loss, slopes, outgoing = self.loss(scores)
        slopes -= outgoing
        slopes *= weight[:, None]
        return float(weight @ loss), slopes

    def edge_weights(self, scores: Values) -> tuple[Values, Values]:
        """Mean loss of the subgraphs of each row, and the weight of every edge in its gradient."""
        loss, _, _, weights = _core.subgraph_loss(scores, *self._arrays())
        return loss, weights

    def boosting_sums(self, values: Values, edge_weight: Values) -> tuple[Values, Values]:
        """W+ and W- of base functions whose values are given for all rows and labels."""
        return _core.boosting_sums(values, *self._arrays(), edge_weight)

    def violations(self, scores: Values) -> NDArray[np.int64]:
        """Violated subgraphs and all subgraphs of each row."""
        return _core.subgraph_violations(scores, *self._arrays()).view(np.int64)


class WeightedEdges(Subgraphs):
    """Graphs whose edges have weights, cut into edges: an error counts what its edge weighs.

    Examples
    --------
    >>> from prefero import PreferenceGraphs
    >>> graphs = PreferenceGraphs.from_ranks([[1, 2, 3]], scores=[[9.0, 8.0, 1.0]])
    >>> wrong, of_all = WeightedEdges(graphs).violations(np.array([[2.0, 3.0, 1.0]]))[0]
    >>> float((wrong / of_all).round(3))  # 1 of 1 + 7 + 8
    0.062
    """

    def __init__(self, graphs: PreferenceGraphs) -> None:
        super().__init__(graphs, "edges")  # in the order of the graphs' own edges
        assert graphs.weights is not None
        counts = np.diff(self.row_begin)
        self._row = np.repeat(np.arange(len(counts)), counts)
        self._weights, self._shares = graphs.weights, graphs.weights / counts[self._row]
        self._n_labels = graphs.n_labels

    def loss(self, scores: Values) -> EdgeSums:
        """Mean weighted loss of the edges of each row, and their weights by label."""
        loss, of_edges = self.edge_weights(scores)
        ends = (self._by_label(end, of_edges) for end in (self.other, self.preferred))
        return EdgeSums(loss, *ends)

    def edge_weights(self, scores: Values) -> tuple[Values, Values]:
        """Mean weighted loss of the edges of each row, and the weight of each in its gradient."""
        margin = scores[self._row, self.preferred] - scores[self._row, self.other]
        losses = self._shares * np.logaddexp(0, -margin)
        return self._by_row(losses), self._shares * expit(-margin)

    def violations(self, scores: Values) -> Values:  # type: ignore[override]
        """Weights of the violated edges and of all edges of each row."""
        wrong = scores[self._row, self.preferred] <= scores[self._row, self.other]
        return np.column_stack([self._by_row(wrong * self._weights), self._by_row(self._weights)])

    def _by_row(self, of_edges: Values) -> Values:
        return _sums(self._row, of_edges, len(self.row_begin) - 1)

    def _by_label(self, labels: NDArray[np.int32], of_edges: Values) -> Values:
        shape = len(self.row_begin) - 1, self._n_labels
        place = self._row * self._n_labels + labels
        return _sums(place, of_edges, shape[0] * shape[1]).reshape(shape)


def _sums(places: NDArray[Any], values: Values, size: int) -> Values:
    # Without any value NumPy counts in whole numbers.
    return np.bincount(places, values, minlength=size).astype(np.float64, copy=False)


def decompose(graphs: PreferenceGraphs, decomposition: Decomposition) -> Layered | Subgraphs:
    """Cut graphs into subgraphs, ready for losses and errors.

    Parameters
    ----------
    graphs : PreferenceGraphs
        The graphs. Those with weights are cut into edges, whatever the decomposition: a weight
        says what the error of one edge counts.
    decomposition : {"graph", "edges", "domination", "dominated"} or callable
        One subgraph a graph (its error is the 0-1 error), an edge (disagreement error), a
        vertex with its out-edges (domination error) or with its in-edges (dominated error). A
        callable takes the edges of a graph, an array of shape (n_edges, 2), and returns its
        subgraphs as sequences of edge indices.

    Returns
    -------
    Layered or Subgraphs
        An object with the methods ``loss(scores)`` and ``violations(scores)``.

    Examples
    --------
    >>> cut = decompose(PreferenceGraphs.from_ranks([[1, 2, 3]]), "domination")
    >>> cut.violations(np.array([[3.0, 1.0, 2.0]]))
    array([[1, 2]])
    """
    if isinstance(decomposition, str) and decomposition not in DECOMPOSITIONS:
        raise ValueError(
            f"decomposition must be one of {', '.join(map(repr, DECOMPOSITIONS))} or a callable, "
            f"got {decomposition!r}."
        )
    if graphs.weights is not None:
        return WeightedEdges(graphs)
    if graphs.layers is not None and isinstance(decomposition, str):
        return Layered(graphs.layers, decomposition)
    return Subgraphs(graphs, decomposition)


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _cut_by_name(
    indptr: NDArray[np.int64], edges: NDArray[np.int32], decomposition: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Edges in the order of their subgraphs, edges a subgraph, subgraphs a graph."""
    graph = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    keys: dict[str, NDArray[Any]] = {
        "graph": np.zeros(len(edges), dtype=np.int64),
        "edges": np.arange(len(edges)),
        "domination": edges[:, 0],
        "dominated": edges[:, 1],
    }
    key = keys[decomposition]
    order = np.lexsort((key, graph))
    graph, key = graph[order], key[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (graph[1:] != graph[:-1]) | (key[1:] != key[:-1])
    sizes = np.diff(np.append(np.flatnonzero(starts), len(order)))
    return order, sizes, np.bincount(graph[starts], minlength=len(indptr) - 1)


def _cut_by_callable(
    indptr: NDArray[np.int64],
    edges: NDArray[np.int32],
    decomposition: Callable[[NDArray[np.int32]], Sequence[Any]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    chosen: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    counts = np.zeros(len(indptr) - 1, dtype=np.int64)
    for row, (begin, end) in enumerate(pairwise(indptr)):
        subgraphs = list(decomposition(edges[begin:end])) if end > begin else []
        counts[row] = len(subgraphs)
        for subgraph in subgraphs:
            chosen.append(_edge_indices(subgraph, int(end - begin), row) + begin)
    sizes = np.array([len(part) for part in chosen[1:]], dtype=np.int64)
    return np.concatenate(chosen), sizes, counts


def _edge_indices(subgraph: Any, n_edges: int, row: int) -> NDArray[np.int64]:
    indices = np.asarray(subgraph, dtype=np.int64).ravel()
    if len(indices) == 0 or indices.min() < 0 or indices.max() >= n_edges:
        raise ValueError(
            f"decomposition returned the subgraph {indices.tolist()} of graph {row}: expected one "
            f"or more of its edge indices, 0..{n_edges - 1}."
        )
    return indices

"""One preference graph an instance, in compressed arrays."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d

from prefero._typing import ArrayOrNone, Mask, Values
from prefero.preferences import _edges
from prefero.rankings import (
    ScoredRanks,
    bucket_index,
    check_label_names,
    check_ranks,
    label_names,
)

# Entries of the arrays (graphs x labels x labels) that writing out the edges of layers may hold.
_BLOCK_ENTRIES = 2**24


class PreferenceGraphs:
    """Preference graphs over a fixed set of labels, one an instance.

    Make them with one of the ``from_`` methods. Graphs whose labels fall into layers, with an
    edge from every label to every label of a lower layer, are kept as layers: their edges are
    never written out unless asked for. ``len``, indexing by integers, slices, masks and index
    arrays, and so scikit-learn's cross-validation, work as on a rank matrix.

    Parameters
    ----------
    indptr : array-like of shape (n_graphs + 1,)
        Graph i owns the edges from ``indptr[i]`` to ``indptr[i + 1]``.
    edges : array-like of shape (n_edges, 2)
        Label indices: preferred, other.
    n_labels : int
        The number of labels.
    labels : sequence, optional
        Label names.
    weights : array-like of shape (n_edges,), optional
        What each edge counts, none negative; all alike by default.

    Attributes
    ----------
    shape : tuple
        (n_graphs, n_labels).
    labels : ndarray of shape (n_labels,) or None
        Label names.
    layers : ndarray of shape (n_graphs, n_labels) or None
        The layer of each label, 0 the best, -1 for a label that takes no part; None if the
        graphs were not made of layers, or have weights.
    weights : ndarray of shape (n_edges,) or None
        What each edge counts, in the order of ``compressed``.

    References
    ----------
    Dekel, Manning & Singer (2003), Log-linear models for label ranking, NIPS 16.

    Examples
    --------
    >>> graphs = PreferenceGraphs.from_ranks([[1, 2, 2], [2, 1, float("nan")]])
    >>> graphs
    PreferenceGraphs(2 graphs, 3 labels, 3 edges)
    >>> graphs.edges(0)
    array([[0, 1],
           [0, 2]], dtype=int32)
    >>> graphs[1:].edges(0)
    array([[1, 0]], dtype=int32)
    """

    layers: _edges.Labels | None
    weights: Values | None

    def __init__(
        self,
        indptr: ArrayLike,
        edges: ArrayLike,
        n_labels: int,
        labels: Sequence[Any] | NDArray[Any] | None = None,
        weights: ArrayOrNone = None,
    ) -> None:
        self.layers = None
        self._indptr = np.asarray(indptr, dtype=np.int64)
        self._edges = np.ascontiguousarray(np.reshape(edges, (-1, 2)), dtype=np.int32)
        self.labels = None if labels is None else check_label_names(labels)
        self.shape = (len(self._indptr) - 1, int(n_labels))
        _edges.refuse_bad_offsets(self._indptr, len(self._edges))
        _edges.refuse_bad_edges(self._indptr, self._edges, self.shape[1], self.labels)
        self.weights = (
            None if weights is None else _edges.check_edge_weights(weights, len(self._edges))
        )

    @classmethod
    def _from_layers(cls, layers: NDArray[Any], labels: NDArray[Any] | None) -> Self:
        graphs = cls.__new__(cls)
        graphs.layers = np.ascontiguousarray(layers, dtype=np.int32)
        graphs.shape, graphs.labels, graphs.weights = graphs.layers.shape, labels, None
        return graphs

    @classmethod
    def from_ranks(cls, Y: ArrayLike | ScoredRanks, scores: ArrayOrNone = None) -> Self:
        """Make an edge of every pair that a ranking orders; ties and missing labels give none.

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n_samples, n_labels)
            Ranks.
        scores : array-like of shape (n_samples, n_labels), optional
            What the labels are worth, larger is better: an edge then weighs the difference of
            its two labels, over the mean of all edges.

        Returns
        -------
        PreferenceGraphs
            One graph a row.

        Examples
        --------
        >>> PreferenceGraphs.from_ranks([[3, 1, 2]]).edges(0).tolist()
        [[1, 0], [1, 2], [2, 0]]
        """
        if scores is None and not isinstance(Y, ScoredRanks):
            return cls._from_layers(bucket_index(check_ranks(Y)), label_names(Y))
        scored = Y if isinstance(Y, ScoredRanks) else ScoredRanks.checked(check_ranks(Y), scores, Y)
        indptr, edges = cls._from_layers(bucket_index(scored.ranks), None).compressed()
        row = np.repeat(np.arange(len(scored)), np.diff(indptr))
        weights = scored.scores[row, edges[:, 0]] - scored.scores[row, edges[:, 1]]
        mean = weights.mean() if len(weights) else 1.0
        weights = weights / mean if mean > 0 else np.ones(len(weights))
        return cls(indptr, edges, scored.ranks.shape[1], label_names(Y), weights)

    @classmethod
    def from_classes(cls, y: ArrayLike, labels: Sequence[Any] | None = None) -> Self:
        """Prefer the class of each instance to all others (Figure 1a).

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Classes.
        labels : sequence, optional
            All classes, in the order of the columns; by default those that occur, sorted.

        Returns
        -------
        PreferenceGraphs
            One graph an instance.

        Examples
        --------
        >>> PreferenceGraphs.from_classes(["b", "a"], labels=["a", "b", "c"]).edges(0).tolist()
        [[1, 0], [1, 2]]
        """
        values = column_or_1d(y)
        names = check_label_names(np.unique(values).tolist() if labels is None else labels)
        right = values[:, None] == names[None, :]
        if not right.any(axis=1).all():
            row = int(np.argmin(right.any(axis=1)))
            name = values.tolist()[row]
            raise ValueError(f"y[{row}] is {name!r}, which is not among the labels.")
        return cls._from_layers(1 - right.astype(np.int32), names)

    @classmethod
    def from_relevance(cls, R: ArrayLike) -> Self:
        """Prefer the more relevant labels (Figures 1b and 1c).

        Parameters
        ----------
        R : array-like or DataFrame of shape (n_samples, n_labels)
            Grades, larger is more relevant; a multilabel indicator has the grades 0 and 1. NaN
            where a label was not judged.

        Returns
        -------
        PreferenceGraphs
            One graph a row.

        Examples
        --------
        >>> PreferenceGraphs.from_relevance([[0, 2, 1], [1, 0, 1]]).edges(1).tolist()
        [[0, 1], [2, 1]]
        """
        grades = check_array(
            R, dtype=np.float64, order="C", ensure_all_finite="allow-nan", input_name="R"
        )
        return cls._from_layers(bucket_index(-grades), label_names(R))

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[Iterable[Sequence[Any]]],
        *,
        labels: Sequence[Any] | None = None,
        n_labels: int | None = None,
    ) -> Self:
        """Take the edges of each instance as they are (Figure 1d).

        Parameters
        ----------
        pairs : iterable of iterables of (preferred, other)
            One list of pairs an instance; by name if labels are given, else by index.
        labels : sequence, optional
            Label names.
        n_labels : int, optional
            The number of labels, if there are no names.

        Returns
        -------
        PreferenceGraphs
            One graph an instance.

        Examples
        --------
        >>> pairs = [[("a", "b"), ("b", "c"), ("c", "a")], []]
        >>> PreferenceGraphs.from_pairs(pairs, labels=["a", "b", "c"])
        PreferenceGraphs(2 graphs, 3 labels, 3 edges)
        """
        if (labels is None) == (n_labels is None):
            raise ValueError("Give either labels, for pairs of names, or n_labels, for indices.")
        graphs = [list(graph) for graph in pairs]
        if labels is not None:
            graphs, n_labels = _edges.indices_of_names(graphs, labels), len(labels)
        indptr = np.concatenate([[0], np.cumsum([len(graph) for graph in graphs])])
        edges = [edge for graph in graphs for edge in graph]
        return cls(indptr, np.asarray(edges, dtype=np.int64), n_labels or 0, labels)

    @classmethod
    def from_hierarchy(cls, labels: Any, parents: Mapping[Any, Any], layers: int = 3) -> Self:
        """Prefer the labels that are near to a right one in a tree of labels (section 4).

        A path of an instance's labels may end in an inner vertex of the tree; such a vertex has
        a leaf of its own, which stands for "nothing more special". The leaves, one a label, are
        ranked: the first layer holds the right ones, the second their siblings, each further
        one the leaves a step farther from the nearest right leaf; all layers from the last on
        are one.

        Parameters
        ----------
        labels : array-like or DataFrame of shape (n_samples, n_labels)
            Indicator of the labels of each instance; ancestors may be listed or not.
        parents : mapping
            The parent of every label, by name (the columns of the table, else 0, 1, ...). A
            parent that has no parent itself is a root. Vertices that are no label are legal.
        layers : int, default=3
            The number of layers.

        Returns
        -------
        PreferenceGraphs
            One graph a row; a row without labels gives a graph without edges.

        Examples
        --------
        >>> parents = {0: "root", 1: 0, 2: 0, 3: "root"}  # 0 is an inner vertex
        >>> graphs = PreferenceGraphs.from_hierarchy([[1, 1, 0, 0], [1, 0, 0, 0]], parents)
        >>> graphs.layers
        array([[1, 0, 1, 2],
               [0, 1, 1, 2]], dtype=int32)
        """
        if layers < 2:
            raise ValueError(f"layers must be at least 2, got {layers!r}.")
        indicator = check_array(labels, input_name="labels") != 0
        names = label_names(labels)
        vertices = range(indicator.shape[1]) if names is None else names
        return cls._from_layers(
            _edges.hierarchy_layers(indicator, vertices, parents, layers), names
        )

    @classmethod
    def concatenate(cls, parts: Sequence["PreferenceGraphs"]) -> Self:
        """Put the graphs of several collections over the same labels one after another.

        Parameters
        ----------
        parts : sequence of PreferenceGraphs
            At least one.

        Returns
        -------
        PreferenceGraphs
            All graphs.

        Examples
        --------
        >>> graphs = PreferenceGraphs.from_classes([0, 1, 2])
        >>> PreferenceGraphs.concatenate([graphs, graphs[:1]])
        PreferenceGraphs(4 graphs, 3 labels, 8 edges)
        """
        first = parts[0]
        for position, part in enumerate(parts):
            if part.n_labels != first.n_labels:
                raise ValueError(
                    f"All parts must have the same labels: part 0 has {first.n_labels}, "
                    f"part {position} has {part.n_labels}."
                )
        layers = [part.layers for part in parts if part.layers is not None]
        if len(layers) == len(parts):
            return cls._from_layers(np.concatenate(layers), first.labels)
        compressed = [part.compressed() for part in parts]
        counts = np.concatenate([np.diff(indptr) for indptr, _ in compressed])
        edges = np.concatenate([edges for _, edges in compressed])
        weights = None
        if any(part.weights is not None for part in parts):
            own = [np.ones(p.n_edges) if p.weights is None else p.weights for p in parts]
            weights = np.concatenate(own)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return cls(indptr, edges, first.n_labels, first.labels, weights)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.shape[1]

    @property
    def ndim(self) -> int:
        """Two, as of a rank matrix."""
        return 2

    @property
    def n_edges(self) -> int:
        """The number of edges of all graphs."""
        return int(self.edge_counts().sum())

    def edge_counts(self) -> NDArray[np.int64]:
        """Return the number of edges of each graph.

        Returns
        -------
        ndarray of shape (n_graphs,)
            Counts.
        """
        if self.layers is None:
            return np.diff(self._indptr)
        sizes = [
            np.count_nonzero(self.layers == layer, axis=1)
            for layer in range(self.layers.max(initial=-1) + 1)
        ]
        above = np.zeros(len(self), dtype=np.int64)
        edges = np.zeros(len(self), dtype=np.int64)
        for size in sizes:
            edges += above * size
            above += size
        return edges

    def touched(self) -> Mask:
        """Return which labels have an edge in each graph.

        Returns
        -------
        ndarray of shape (n_graphs, n_labels), dtype bool
            False for a label of which nothing is known.
        """
        if self.layers is not None:
            part = self.layers >= 0
            several = self.layers.max(axis=1, initial=0) > 0
            return part & several[:, None]
        touched = np.zeros(self.shape, dtype=bool)
        graph = np.repeat(np.arange(len(self)), np.diff(self._indptr))
        touched[graph, self._edges[:, 0]] = touched[graph, self._edges[:, 1]] = True
        return touched

    def compressed(self) -> tuple[_edges.Offsets, _edges.Labels]:
        """Return all edges: offsets and (preferred, other) pairs.

        Returns
        -------
        indptr : ndarray of shape (n_graphs + 1,)
            Graph i owns the edges from ``indptr[i]`` to ``indptr[i + 1]``.
        edges : ndarray of shape (n_edges, 2)
            Label indices.
        """
        if self.layers is None:
            return self._indptr, self._edges
        indptr = np.concatenate([[0], np.cumsum(self.edge_counts())])
        edges = np.empty((int(indptr[-1]), 2), dtype=np.int32)
        rows = max(1, _BLOCK_ENTRIES // max(1, self.n_labels**2))
        for begin in range(0, len(self), rows):
            part = slice(indptr[begin], indptr[min(begin + rows, len(self))])
            edges[part] = _edges.edges_of_layers(self.layers[begin : begin + rows])
        return indptr, edges

    def edges(self, graph: int) -> _edges.Labels:
        """Return the edges of one graph.

        Parameters
        ----------
        graph : int
            Its index.

        Returns
        -------
        ndarray of shape (n_edges, 2)
            Label indices: preferred, other.
        """
        if self.layers is not None:
            return _edges.edges_of_layers(self.layers[[graph]])
        begin = range(len(self))[graph]
        return self._edges[self._indptr[begin] : self._indptr[begin + 1]]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Self:
        if isinstance(key, tuple):  # scikit-learn indexes arrays by [rows, ...]
            key = key[0]
        rows = np.atleast_1d(np.arange(len(self))[key])
        if self.layers is not None:
            return self._from_layers(self.layers[rows], self.labels)
        counts = np.diff(self._indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        starts = np.repeat(self._indptr[rows] - indptr[:-1], counts)
        chosen = starts + np.arange(indptr[-1])
        weights = None if self.weights is None else self.weights[chosen]
        return type(self)(indptr, self._edges[chosen], self.n_labels, self.labels, weights)

    def __repr__(self) -> str:
        return f"PreferenceGraphs({len(self)} graphs, {self.n_labels} labels, {self.n_edges} edges)"

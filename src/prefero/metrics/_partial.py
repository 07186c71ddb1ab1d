"""Metrics of partial orders: what is right among what is stated, and how much is stated."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length

from prefero._docs import documented
from prefero._typing import ArrayOrNone, Mask, Values
from prefero.metrics._rankings import average_rows, defined_ratio
from prefero.preferences import Decomposition, PreferenceGraphs, decompose
from prefero.rankings import check_ranks


@documented()
def correctness(
    Y_true: ArrayLike, before: ArrayLike, *, average: bool = True, sample_weight: ArrayOrNone = None
) -> float | Values:
    """How right the pairs are that a partial order states: (C - D)/(C + D), 1 without any.

    Parameters
    ----------
    Y_true : array-like of shape (n_samples, n_labels)
        Ranks.
    before : array-like of shape (n_samples, n_labels, n_labels), dtype bool
        ``[n, i, j]`` is True where label i is put before label j, as ``predict_partial`` gives.
        Pairs that the true ranking leaves open do not count.
    %(mean)s

    %(returns_mean_or_rows)s
        In [-1, 1]; Kendall's tau where every pair is stated.

    References
    ----------
    Cheng, Hüllermeier, Waegeman & Welker (2012).

    Examples
    --------
    >>> before = np.zeros((1, 3, 3), dtype=bool)
    >>> before[0, 0, [1, 2]] = True
    >>> correctness([[2, 1, 3]], before), completeness(before)
    (0.0, 0.6666666666666666)
    """
    true = check_ranks(Y_true, name="Y_true")
    stated = _relation(before, true.shape[1])
    check_consistent_length(true, stated)
    agree = np.count_nonzero(stated & (true[:, :, None] < true[:, None, :]), axis=(1, 2))
    disagree = np.count_nonzero(stated & (true[:, :, None] > true[:, None, :]), axis=(1, 2))
    values = np.nan_to_num(defined_ratio(agree - disagree, agree + disagree), nan=1.0)
    return average_rows(values, "Correctness", average, sample_weight)


@documented()
def completeness(
    before: ArrayLike, *, average: bool = True, sample_weight: ArrayOrNone = None
) -> float | Values:
    """The share of all pairs of labels that a partial order states.

    Parameters
    ----------
    before : array-like of shape (n_samples, n_labels, n_labels), dtype bool
        ``[n, i, j]`` is True where label i is put before label j.
    %(mean)s

    %(returns_mean_or_rows)s
        In [0, 1]; 1 for a single label.

    Examples
    --------
    >>> completeness(np.zeros((1, 3, 3), dtype=bool))
    0.0
    """
    stated = _relation(before)
    c = stated.shape[1]
    pairs = np.count_nonzero(stated, axis=(1, 2))
    values = pairs / (c * (c - 1) / 2) if c > 1 else np.ones(len(stated))
    return average_rows(values, "Completeness", average, sample_weight)


def _relation(before: ArrayLike, n_labels: int | None = None) -> Mask:
    stated = np.asarray(before, dtype=bool)
    c = stated.shape[-1] if n_labels is None and stated.ndim else n_labels
    if stated.ndim != 3 or stated.shape[1:] != (c, c):
        raise ValueError(
            f"before must have shape (n_samples, {c}, {c}), as predict_partial gives; "
            f"got {stated.shape}."
        )
    return stated


@documented()
def ranking_error(
    Y: ArrayLike | PreferenceGraphs,
    scores: ArrayLike,
    decomposition: Decomposition = "edges",
    *,
    average: bool = True,
    sample_weight: ArrayOrNone = None,
) -> float | Values:
    """Share of the subgraphs of a preference graph that scores violate.

    A subgraph is violated if one of its edges leads from a label to one scored equal or higher.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_labels) or PreferenceGraphs
        Ranks, or graphs.
    scores : array-like of shape (n_samples, n_labels)
        Scores, larger is better.
    decomposition : {"graph", "edges", "domination", "dominated"} or callable, default="edges"
        The subgraphs: the whole graph (0-1 error), its edges (disagreement error), each vertex
        with the labels it dominates (domination error) or is dominated by (dominated error). A
        callable takes the edges of a graph and returns subgraphs as sequences of edge indices.
    average : bool, default=True
        Whether to return the mean over the graphs that have an edge.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the graphs on average.

    %(returns_mean_or_rows)s
        In [0, 1].

    References
    ----------
    Dekel, Manning & Singer (2003), equation 1 and Figure 2.

    Examples
    --------
    >>> scores = [[3.0, 1.0, 2.0]]
    >>> [ranking_error([[1, 2, 3]], scores, name) for name in ("graph", "domination")]
    [1.0, 0.5]
    """
    graphs = Y if isinstance(Y, PreferenceGraphs) else PreferenceGraphs.from_ranks(Y)
    values = check_array(scores, dtype=np.float64, order="C", input_name="scores")
    check_consistent_length(graphs, values)
    if values.shape[1] != graphs.n_labels:
        raise ValueError(f"scores has {values.shape[1]} labels, but Y has {graphs.n_labels}.")
    violated, subgraphs = decompose(graphs, decomposition).violations(values).T.astype(np.float64)
    errors = defined_ratio(violated, subgraphs)
    return average_rows(errors, "The ranking error", average, sample_weight)

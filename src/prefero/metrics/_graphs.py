"""Errors of scores against preference graphs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from prefero.metrics._average import average_rows, defined_ratio
from prefero.preferences import Decomposition, PreferenceGraphs, decompose


def ranking_error(
    Y: ArrayLike | PreferenceGraphs,
    scores: ArrayLike,
    decomposition: Decomposition = "edges",
    *,
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | NDArray[np.float64]:
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
        Weights of the graphs in the mean.

    Returns
    -------
    float or ndarray of shape (n_samples,)
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
    return average_rows(errors, average, sample_weight, "The ranking error")

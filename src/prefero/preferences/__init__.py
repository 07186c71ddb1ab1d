"""Preference graphs: what is known about the order of the labels of each instance.

A directed edge says that one label is preferred to another. Graphs may be sparse and may hold
cycles; a graph has no self-loop and at most one edge between two labels.
"""

from prefero.preferences._choices import Choices
from prefero.preferences._decomposition import (
    DECOMPOSITIONS,
    Decomposition,
    Subgraphs,
    WeightedEdges,
    by_layer,
    decompose,
)
from prefero.preferences._graphs import PreferenceGraphs
from prefero.preferences._linear import SignedFeatures

__all__ = [
    "DECOMPOSITIONS",
    "Choices",
    "Decomposition",
    "PreferenceGraphs",
    "SignedFeatures",
    "Subgraphs",
    "WeightedEdges",
    "by_layer",
    "decompose",
]

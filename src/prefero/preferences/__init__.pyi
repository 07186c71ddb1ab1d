from ._choices import Choices
from ._decomposition import (
    DECOMPOSITIONS,
    Decomposition,
    Subgraphs,
    WeightedEdges,
    by_layer,
    decompose,
)
from ._graphs import PreferenceGraphs
from ._linear import SignedFeatures

__all__ = [
    "Choices",
    "DECOMPOSITIONS",
    "Decomposition",
    "PreferenceGraphs",
    "SignedFeatures",
    "Subgraphs",
    "WeightedEdges",
    "by_layer",
    "decompose",
]

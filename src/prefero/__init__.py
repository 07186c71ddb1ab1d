"""Prefero learns to order: label ranking, multilabel ranking and supervised ordering."""

from importlib import import_module
from typing import Any

# Public name -> its package. Packages load on first use, so that `import prefero` and the
# command line's help stay quick.
_PUBLIC = {
    "AutoLabelRanker": "automatic",
    "AutoMultilabelRanker": "automatic",
    "AutoOrderer": "automatic",
    "BinaryRelevanceRanker": "multilabel",
    "BoostingFeatureSelector": "text",
    "BoostingLabelRanker": "label_ranking",
    "BoostingOrderer": "ordering",
    "CalibratedMultilabelRanker": "multilabel",
    "CohenOrderer": "ordering",
    "ConsensusLabelRanker": "label_ranking",
    "ConsensusMultilabelRanker": "multilabel",
    "ConstraintLabelRanker": "label_ranking",
    "ExpectedRankOrderer": "ordering",
    "ForestLabelRanker": "label_ranking",
    "LabelFeatureRanker": "label_ranking",
    "LogCountTransformer": "text",
    "LogLinearLabelRanker": "label_ranking",
    "NeighborsLabelRanker": "label_ranking",
    "NeighborsMultilabelRanker": "multilabel",
    "OrderSVMOrderer": "ordering",
    "PairwiseLabelRanker": "label_ranking",
    "PairwiseMultilabelRanker": "multilabel",
    "PreferenceGraphs": "preferences",
    "RankBoostOrderer": "ordering",
    "RankCorrelationReducer": "ordering",
    "RankSVMOrderer": "ordering",
    "RankingPipeline": "pipeline",
    "RegressionLabelRanker": "label_ranking",
    "RidgeLabelRanker": "label_ranking",
    "StackingLabelRanker": "automatic",
    "TableTransformer": "automatic",
    "TextEncoder": "text",
    "TreeLabelRanker": "label_ranking",
    "load": "persistence",
    "make_ranking_pipeline": "pipeline",
    "save": "persistence",
}
_PACKAGES = (
    "automatic",
    "base",
    "checks",
    "consensus",
    "datasets",
    "distributed",
    "evaluation",
    "exceptions",
    "inspection",
    "label_ranking",
    "mallows",
    "metrics",
    "multilabel",
    "ordering",
    "pipeline",
    "plackett_luce",
    "preferences",
    "rankings",
    "report",
    "tables",
    "text",
)

__all__ = [*sorted(_PUBLIC), *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Kept: to look it up reads the folders of all installed packages.
        globals()[name] = import_module("importlib.metadata").version("prefero")
        return globals()[name]
    if name in _PUBLIC:
        return getattr(import_module(f"prefero.{_PUBLIC[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"prefero.{name}")
    raise AttributeError(f"module 'prefero' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

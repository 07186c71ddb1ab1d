"""The rankers that commands offer, by the short names that users type."""

from dataclasses import dataclass
from typing import Any

from typer import BadParameter

from prefero._names import did_you_mean


@dataclass(frozen=True)
class RankerChoice:
    """A ranker as the command line knows it."""

    name: str
    estimator: str
    title: str

    def make(self) -> Any:
        """Return an untrained ranker with its default parameters."""
        import prefero

        return getattr(prefero, self.estimator)()


BASELINE = RankerChoice("consensus", "ConsensusLabelRanker", "same order for everyone")
RANKERS = (
    BASELINE,
    RankerChoice("neighbors", "NeighborsLabelRanker", "nearest neighbours"),
    RankerChoice("tree", "TreeLabelRanker", "tree"),
    RankerChoice("forest", "ForestLabelRanker", "forest"),
    RankerChoice("boosting", "BoostingLabelRanker", "boosted trees"),
    RankerChoice("pairwise", "PairwiseLabelRanker", "pairwise comparison"),
    RankerChoice("loglinear", "LogLinearLabelRanker", "log-linear"),
    RankerChoice("constraint", "ConstraintLabelRanker", "constraint classification"),
)

# Those that also say which labels are relevant.
MULTILABEL_RANKERS = (
    RankerChoice(BASELINE.name, "ConsensusMultilabelRanker", "same answer for everyone"),
    RankerChoice("neighbors", "NeighborsMultilabelRanker", "nearest neighbours"),
    RankerChoice("pairwise", "PairwiseMultilabelRanker", "calibrated pairwise comparison"),
    RankerChoice("binary-relevance", "BinaryRelevanceRanker", "one classifier a label"),
    RankerChoice("calibrated", "CalibratedMultilabelRanker", "label ranker with a zero point"),
)

# Those that order objects, and labels that have features.
ORDERERS = {
    "svm": "RankSVMOrderer",
    "order-svm": "OrderSVMOrderer",
    "regression": "ExpectedRankOrderer",
    "rankboost": "RankBoostOrderer",
    "cohen": "CohenOrderer",
    "trees": "BoostingOrderer",
}

AUTO = "auto"
AUTOMATIC = RankerChoice(AUTO, "AutoLabelRanker", "automatic ranker")
AUTOMATIC_MULTILABEL = RankerChoice(AUTO, "AutoMultilabelRanker", "automatic ranker")
RANKER_NAMES = tuple(dict.fromkeys(choice.name for choice in (*RANKERS, *MULTILABEL_RANKERS)))


def make_orderer(name: str) -> Any:
    """Return an untrained orderer with its default parameters, or say which there are."""
    import prefero

    if name not in ORDERERS:
        near = did_you_mean(name, ORDERERS)
        raise BadParameter(f"{name!r} is none of the orderers: {', '.join(ORDERERS)}{near}.")
    return getattr(prefero, ORDERERS[name])()


def rankers_for(multilabel: bool) -> tuple[RankerChoice, ...]:
    """Return the rankers of a task."""
    return MULTILABEL_RANKERS if multilabel else RANKERS


def ranker_choice(name: str, multilabel: bool = False) -> RankerChoice:
    """Return a choice of a task by its name, or say which there are."""
    own = AUTOMATIC_MULTILABEL if multilabel else AUTOMATIC
    choices = (*rankers_for(multilabel), own)
    for choice in choices:
        if choice.name == name:
            return choice
    task = "which say what is relevant" if multilabel else "which rank labels"
    offered = [choice.name for choice in choices]
    near = did_you_mean(name, offered)
    raise BadParameter(f"{name!r} is none of the models {task}: {', '.join(offered)}{near}.")

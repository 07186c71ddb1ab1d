"""The rankers that commands offer, by the short names that users type."""

from dataclasses import dataclass
from typing import Any


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

AUTO = "auto"
AUTOMATIC = RankerChoice(AUTO, "AutoLabelRanker", "automatic ranker")
RANKER_NAMES = tuple(choice.name for choice in RANKERS)


def ranker_choice(name: str) -> RankerChoice:
    """Return a choice by its name."""
    return next(choice for choice in (*RANKERS, AUTOMATIC) if choice.name == name)

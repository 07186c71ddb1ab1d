"""Label rankers: instance in, order of a fixed label set out."""

from prefero.label_ranking.baseline import ConsensusLabelRanker

__all__ = ["ConsensusLabelRanker"]

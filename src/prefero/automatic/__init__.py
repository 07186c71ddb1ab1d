"""Rankers that choose and combine other rankers, and say within which error they are sure."""

from prefero.automatic.stacking import StackingLabelRanker

__all__ = ["StackingLabelRanker"]

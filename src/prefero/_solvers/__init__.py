"""Optimisers that the linear rankers and orderers share."""

"""Ratios over the history of the project: asv run, with asv.conf.json."""

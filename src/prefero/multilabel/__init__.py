"""Multilabel rankers: instance in, order of the labels and the relevant ones among them out."""

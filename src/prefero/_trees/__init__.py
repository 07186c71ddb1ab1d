"""Grown trees, for every estimator that has some: bins, categories, arrays, models, reading."""

"""Grown trees, for every estimator that has some: bins, categories, arrays, models, reading."""

from prefero._trees._arrays import (
    CATEGORIES,
    LEAF,
    MISSING_LEFT,
    NODE,
    Arrays,
    ScoreEffects,
    Trees,
)
from prefero._trees._bins import (
    MAX_BINS,
    MAX_ROWS_FOR_QUANTILES,
    FeatureBins,
    find_bins,
    n_features_to_try,
    numeric_edges,
)
from prefero._trees._categories import CATEGORIES_STATE, CategoryEncoder
from prefero._trees._held_out import HeldOut
from prefero._trees._keeping import TreesMixin, trees_state
from prefero._trees._models import NodeModels, node_models
from prefero._trees._pruning import candidate_alphas, pruned, pruning_path, reached_when_pruned
from prefero._trees._reading import TreeNode, TreeReader
from prefero._trees._shrinkage import (
    STRENGTH,
    STRENGTHS,
    JudgedRows,
    counts_in_samples,
    leaf_votes,
    mean_loss,
    mean_votes,
    out_of_bag_path,
    row_votes,
    shrunk,
    shrunk_means,
    shrunk_models,
    strongest_alike,
    with_rankings,
)
from prefero._trees._ties import TieShares, tie_shares

__all__ = [
    "CATEGORIES",
    "CATEGORIES_STATE",
    "LEAF",
    "MAX_BINS",
    "MAX_ROWS_FOR_QUANTILES",
    "MISSING_LEFT",
    "NODE",
    "STRENGTH",
    "STRENGTHS",
    "Arrays",
    "CategoryEncoder",
    "FeatureBins",
    "HeldOut",
    "JudgedRows",
    "NodeModels",
    "ScoreEffects",
    "TieShares",
    "TreeNode",
    "TreeReader",
    "Trees",
    "TreesMixin",
    "candidate_alphas",
    "counts_in_samples",
    "find_bins",
    "leaf_votes",
    "mean_loss",
    "mean_votes",
    "n_features_to_try",
    "node_models",
    "numeric_edges",
    "out_of_bag_path",
    "pruned",
    "pruning_path",
    "reached_when_pruned",
    "row_votes",
    "shrunk",
    "shrunk_means",
    "shrunk_models",
    "strongest_alike",
    "tie_shares",
    "trees_state",
    "with_rankings",
]

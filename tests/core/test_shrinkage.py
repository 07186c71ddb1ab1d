"""The shrinkage of the core against a plain recursion."""

from typing import Any

import numpy as np
import pytest

from prefero import ForestLabelRanker
from prefero._trees._arrays import Trees
from prefero._typing import Values
from prefero.rankings import drop_labels

STRENGTHS = np.array([0.0, 0.5, 3.0, 100.0, np.inf])
LEAF = 1


def grown(share: float, weighted: bool) -> tuple[Trees, Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    ranks = np.argsort(np.argsort(np.nan_to_num(X) @ rng.normal(size=(3, 4)), axis=1), axis=1) + 1.0
    ranks = drop_labels(ranks, share, random_state=0) if share else ranks
    forest = ForestLabelRanker(6, min_samples_leaf=2, random_state=0)
    used = ~np.isnan(ranks).all(axis=1)
    weight = rng.integers(1, 4, size=len(X)) / 2 if weighted else np.ones(len(X))
    forest.fit(X[used], ranks[used], sample_weight=weight[used])
    trees = Trees(forest.trees_, X.shape[1], ranks.shape[1])
    return trees, forest._feature_bins.apply(X[used]), forest.seeds_


def shrunk_leaves(trees: Trees, tree: int, strength: float) -> tuple[Values, Values]:
    """Return the scores and the evidence of the leaves of one tree."""
    arrays, c = trees.arrays, trees.shape[1]
    first, last = arrays["node_starts"][tree : tree + 2]
    begin, end = arrays["value_starts"][tree : tree + 2]
    nodes, weight = trees.nodes[first:last], arrays["weight"][first:last]
    scores = arrays["scores"].reshape(-1, c)[begin:end].astype(float)
    known = len(arrays["evidence"]) > 0
    evidence = arrays["evidence"].reshape(-1, c)[begin:end] if known else np.ones_like(scores)
    new_scores, new_evidence = np.empty_like(scores), np.empty_like(scores)

    def leaves_below(node: int) -> list[int]:
        if nodes["flags"][node] & LEAF:
            return [node]
        child = int(nodes["child"][node])
        return leaves_below(child) + leaves_below(child + 1)

    def mean(node: int) -> tuple[Values, Values]:
        below = leaves_below(node)
        values = nodes["child"][below]
        mass = weight[below, None] * evidence[values]
        total = mass.sum(axis=0)
        votes = (mass * scores[values]).sum(axis=0)
        return np.divide(votes, total, out=np.zeros(c), where=total > 0), total / weight[node]

    def descend(node: int, score: Values, seen: Values) -> None:
        if nodes["flags"][node] & LEAF:
            new_scores[nodes["child"][node]], new_evidence[nodes["child"][node]] = score, seen
            return
        own, own_seen = mean(node)
        mass = weight[node] * own_seen
        with np.errstate(invalid="ignore"):
            part = np.where(mass > 0, 0 if np.isinf(strength) else mass / (mass + strength), 0)
        for child in (int(nodes["child"][node]), int(nodes["child"][node]) + 1):
            theirs, theirs_seen = mean(child)
            step = np.where(theirs_seen > 0, theirs - own, 0)
            descend(child, score + part * step, seen + part * (theirs_seen - own_seen))

    descend(0, *mean(0))
    return new_scores, new_evidence


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_leaves_are_drawn_towards_the_nodes_above(share: float, weighted: bool) -> None:
    trees, _, _ = grown(share, weighted)
    arrays, c = trees.arrays, trees.shape[1]
    scores, evidence = trees.walker.shrunk(arrays["weight"], STRENGTHS)
    np.testing.assert_array_equal(scores[0], arrays["scores"])
    for k, strength in enumerate(STRENGTHS):
        for tree, (begin, end) in enumerate(
            np.lib.stride_tricks.sliding_window_view(arrays["value_starts"], 2)
        ):
            expected, seen = shrunk_leaves(trees, tree, strength)
            told = seen > 1e-9
            got = scores[k].reshape(-1, c)[begin:end]
            np.testing.assert_allclose(got[told], expected[told], atol=1e-6)
            if share:
                np.testing.assert_allclose(evidence[k].reshape(-1, c)[begin:end], seen, atol=1e-6)
    assert evidence.shape == (len(STRENGTHS), len(arrays["evidence"]))


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("together", [1, 2, 8, 9])
def test_any_number_of_strengths_is_each_alone(share: float, together: int) -> None:
    trees, bins, seeds = grown(share, weighted=True)
    weight, strengths = trees.arrays["weight"], np.geomspace(0.1, 1000, together)
    scores, evidence = trees.walker.shrunk(weight, strengths)
    said, _ = trees.walker.out_of_bag_shrunk(bins, seeds, weight, strengths)
    for k in range(together):
        alone = weight, strengths[[k]]
        np.testing.assert_array_equal(scores[[k]], trees.walker.shrunk(*alone)[0])
        np.testing.assert_array_equal(evidence[[k]], trees.walker.shrunk(*alone)[1])
        np.testing.assert_array_equal(
            said[[k]], trees.walker.out_of_bag_shrunk(bins, seeds, *alone)[0]
        )


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_one_walk_scores_left_out_rows_by_every_strength(share: float) -> None:
    trees, bins, seeds = grown(share, weighted=True)
    weight = trees.arrays["weight"]
    scores, count = trees.walker.out_of_bag_shrunk(bins, seeds, weight, STRENGTHS)
    leaves, evidence = trees.walker.shrunk(weight, STRENGTHS)
    for k in range(len(STRENGTHS)):
        arrays = {**trees.arrays, "scores": leaves[k].copy(), "evidence": evidence[k].copy()}
        expected, seen_by = Trees(arrays, *trees.shape).walker.out_of_bag(bins, seeds)
        np.testing.assert_array_equal(scores[k], expected)
        np.testing.assert_array_equal(count, seen_by)


def test_what_does_not_fit_is_refused() -> None:
    trees, _, _ = grown(0.0, weighted=False)
    weight = trees.arrays["weight"]
    with pytest.raises(ValueError, match="one entry per node"):
        trees.walker.shrunk(weight[1:], STRENGTHS)
    for strength in (-1.0, np.nan):
        with pytest.raises(ValueError, match="must not be negative"):
            trees.walker.shrunk(weight, np.array([strength]))

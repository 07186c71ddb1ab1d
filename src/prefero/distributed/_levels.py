"""Trees grown level by level: partitions add up histograms, the cuts are chosen from the totals.

A node draws its features from a number that its seed and its way down the tree make. So neither
the partitions nor the order in which nodes are looked at change a tree.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._trees import Trees
from prefero._typing import Mask, Values
from prefero.distributed._binned import (
    EXAMPLES,
    LENGTH,
    VECTOR,
    WEIGHT,
    LaneSpec,
    Request,
    Requests,
    draw_rows,
    drawn_at,
    leaf_sums,
    level_cuts,
    level_histograms,
)
from prefero.distributed._chance import STEP, mixed
from prefero.distributed._engine import Engine
from prefero.distributed._nodes import N_BINS, SET_WORDS, GrowingNodes, Splits

# Histograms that are added up at a time, and trees whose samples are held at a time.
MOST_BYTES = 2**27
TREES_TOGETHER = 16
# Histograms of fewer bytes are searched faster than divided among workers.
_WORTH_SHARING = 2**22
_NO_FEATURE = 65535


class GrowOptions(NamedTuple):
    """When and how nodes are split, as the core names it."""

    max_features: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_decrease: float
    gamma: float
    category_sets: bool


class _Level(NamedTuple):
    """The open nodes of a tree, and the best cut of each so far."""

    ids: NDArray[np.int64]
    keys: NDArray[np.uint64]
    totals: Values
    features: NDArray[np.uint16]  # in the order in which they are tried
    asked: NDArray[np.int64]  # how many of them
    tried: NDArray[np.int64]  # how many of these varied
    quality: Values
    feature: NDArray[np.uint16]
    cut: NDArray[np.uint8]
    marks: NDArray[np.uint8]
    left: Values
    sets: NDArray[np.uint64]  # of categories that go left


class GrowingTree:
    """A tree and its open nodes.

    Parameters
    ----------
    seed : int
        What features are drawn from.
    totals : ndarray of shape (1, width)
        The lanes of all rows of its sample, added up.
    spec : LaneSpec
        What they hold.
    options : GrowOptions
        When to stop.
    """

    def __init__(self, seed: int, totals: Values, spec: LaneSpec, options: GrowOptions) -> None:
        self.spec, self.options = spec, options
        self.n_features = len(spec.bins.starts) - 1
        self._nodes, self._weight = GrowingNodes(self.n_features), totals[:, WEIGHT]
        self.depth = 0
        key = mixed(np.array([~np.uint64(seed)]))
        self._open(np.zeros(1, dtype=np.int64), key, totals)

    def _open(self, ids: NDArray[np.int64], keys: NDArray[np.uint64], totals: Values) -> None:
        splittable = self._splittable(totals)
        ids, keys, totals = ids[splittable], keys[splittable], totals[splittable]
        n = len(ids)
        every = np.arange(self.n_features, dtype=np.uint16)
        features = np.tile(every, (n, 1))
        if self.options.max_features < self.n_features:
            drawn = mixed(keys[:, None] + STEP * (every.astype(np.uint64) + np.uint64(1)))
            features = np.argsort(drawn, axis=1, kind="stable").astype(np.uint16)
        none = np.zeros(n, dtype=np.int64)
        self.level = _Level(
            *(ids, keys, totals, features, none, none.copy(), np.full(n, -np.inf)),
            *(np.zeros(n, dtype=np.uint16), np.zeros(n, dtype=np.uint8)),
            *(np.zeros((n, 3), dtype=np.uint8), np.zeros_like(totals)),
            np.zeros((n, SET_WORDS), dtype=np.uint64),
        )

    def _splittable(self, totals: Values) -> Mask:
        """Which nodes have enough examples and different rankings."""
        if self.depth >= self.options.max_depth:
            return np.zeros(len(totals), dtype=bool)
        examples, length = totals[:, EXAMPLES], totals[:, LENGTH]
        vector = totals[:, VECTOR:]
        if self.spec.criterion == "kendall":
            pure = np.abs(vector).sum(axis=1) >= length * (1 - 1e-9)
        else:
            pure = (vector**2).sum(axis=1) >= length * totals[:, WEIGHT] * (1 - 1e-9)
        enough = (examples >= self.options.min_split) & (examples >= 2 * self.options.min_leaf)
        return enough & ~pure

    @property
    def done(self) -> bool:
        """Whether no node is open."""
        return len(self.level.ids) == 0

    # Asking

    def requests(self, number: int) -> Iterator[tuple[Request, NDArray[np.int64]]]:
        """Yield what the open nodes ask for next, and which of them do, some bytes at a time."""
        level, asking = self.level, np.flatnonzero(self._asking())
        if not len(asking):
            return
        wanted = np.maximum(self.options.max_features - level.tried[asking], 1)
        most = int(min(wanted.max(), self.n_features))
        size = max(1, MOST_BYTES // (most * N_BINS * self.spec.width * 8))
        tree, leaf_numbers = self.so_far(), self._nodes.leaf_numbers
        for start in range(0, len(asking), size):
            part = asking[start : start + size]
            features = np.full((len(part), most), _NO_FEATURE, dtype=np.uint16)
            for k in range(most):
                at = level.asked[part] + k
                some = (k < wanted[start : start + size]) & (at < self.n_features)
                features[some, k] = level.features[part[some], at[some]]
            places = np.full(len(tree.leaves), -1, dtype=np.int32)
            places[leaf_numbers[level.ids[part]]] = np.arange(len(part))
            yield Request(number, tree, places, features), part

    def _asking(self) -> Mask:
        """Features are tried until enough of them vary; at the root until one can be split."""
        level = self.level
        lacking = level.tried < self.options.max_features
        if self.depth == 0:
            lacking |= ~self._accepted()
        return lacking & (level.asked < self.n_features)

    def learn(
        self,
        part: NDArray[np.int64],
        features: NDArray[np.uint16],
        found: tuple[NDArray[Any], ...],
    ) -> None:
        """Keep the best cut of the nodes that asked, the first of equals."""
        level = self.level
        quality, cuts, marks, left, sets = found
        given = features != _NO_FEATURE
        varies = given & (marks[:, :, 0] > 0)
        level.asked[part] += given.sum(axis=1)
        level.tried[part] += varies.sum(axis=1)
        quality = np.where(varies, quality, -np.inf)
        row, best = np.arange(len(part)), np.argmax(quality, axis=1)
        better = quality[row, best] > level.quality[part]
        row, best, at = row[better], best[better], part[better]
        level.quality[at], level.feature[at] = quality[row, best], features[row, best]
        level.cut[at], level.marks[at] = cuts[row, best], marks[row, best]
        level.left[at] = left[row, best]
        if sets.shape[2]:  # a feature is nominal
            level.sets[at] = sets[row, best]

    # Splitting

    def _accepted(self) -> Mask:
        """Whether the best cuts so far may be made."""
        level, unit, gamma = self.level, self.spec.unit, self.options.gamma
        w, gain = level.totals[:, WEIGHT], level.quality
        accepted = gain > 1e-9 * unit * w
        accepted &= gain / unit >= self.options.min_decrease * self._weight[0]
        if gamma > 0:
            norm = (level.totals[:, VECTOR:] ** 2).sum(axis=1) / unit
            others = np.where(w > 1, w * (w - 1), 1)
            apart = np.where(w > 1, (norm - level.totals[:, LENGTH] / unit) / others, 1)
            accepted &= gamma * (1 + norm / w**2 + gain / (w * unit)) > 1 + apart
        return np.asarray(accepted)

    def split(self) -> None:
        """Split the open nodes that may be split, and open their children."""
        level = self.level
        chosen = np.flatnonzero(self._accepted())
        left = level.left[chosen]
        right = level.totals[chosen] - left
        # Values that were never missing here go with the larger child when they are.
        larger_left = left[:, EXAMPLES] >= right[:, EXAMPLES]
        marks, feature = level.marks[chosen], level.feature[chosen]
        splits = Splits(
            feature,
            level.cut[chosen],
            np.where(marks[:, 2] > 0, marks[:, 1] > 0, larger_left),
            level.quality[chosen] / self.spec.unit,
            self.spec.bins.categorical[feature],
            level.sets[chosen],
        )
        children = self._nodes.split(level.ids[chosen], splits)
        totals = np.stack([left, right], axis=1).reshape(-1, left.shape[1])
        self._weight = np.concatenate([self._weight, totals[:, WEIGHT]])
        ways = np.array([1, 2], dtype=np.uint64) * STEP
        keys = mixed(level.keys[chosen][:, None] + ways).ravel()
        self.depth += 1
        self._open(np.stack([children, children + 1], axis=1).ravel(), keys, totals)

    # What it is

    def so_far(self) -> Trees:
        """Return the tree, its open nodes as leaves without a score."""
        return self._nodes.tree(self._weight)

    def grown(self, sums: Values) -> Trees:
        """Return the tree with the mean votes of its leaves, whose lanes are added up."""
        spec, weight = self.spec, sums[:, [WEIGHT]]
        others = max(spec.n_labels - 1, 1)
        scores = sums[:, spec.votes] / weight / others
        evidence = sums[:, spec.evidence] / weight / others
        if not spec.complete:
            scores = np.divide(scores, evidence, out=np.zeros_like(scores), where=evidence > 0)
        return self._nodes.tree(
            self._weight, scores.astype(np.float32), evidence.astype(np.float32)
        )


def grow_forest(
    engine: Engine,
    parts: Sequence[Any],
    seeds: NDArray[np.uint64],
    spec: LaneSpec,
    options: GrowOptions,
    watched: NDArray[np.int64],
) -> tuple[Trees, NDArray[np.uint16]]:
    """Grow a tree a seed from the rows of all partitions.

    Parameters
    ----------
    engine : Engine
        Who adds up.
    parts : sequence of handles
        The partitions as ``BinnedRows``.
    seeds : ndarray of shape (n_trees,)
        What samples and features are drawn from.
    spec : LaneSpec
        What is added up.
    options : GrowOptions
        When to stop.
    watched : ndarray of int
        Numbers of some rows.

    Returns
    -------
    trees : Trees
        The trees, as grown.
    drawn : ndarray of shape (n_trees, n_watched)
        How often the sample of each tree holds each of the rows.
    """
    grown, drawn_watched = [], []
    for start in range(0, len(seeds), TREES_TOGETHER):
        some = seeds[start : start + TREES_TOGETHER]
        drawn = engine.each(draw_rows, parts, shared=some)
        grown += _grow_together(engine, parts, drawn, some, spec, options)
        found = engine.gather(engine.each(drawn_at, parts, drawn, shared=watched))
        drawn_watched.append(np.concatenate(found, axis=1))
    shape = grown[0].shape
    joined = Trees.joined([tree.arrays for tree in grown], *shape)
    return joined, np.concatenate(drawn_watched)


def _grow_together(
    engine: Engine,
    parts: Sequence[Any],
    drawn: Sequence[Any],
    seeds: NDArray[np.uint64],
    spec: LaneSpec,
    options: GrowOptions,
) -> list[Trees]:
    root = GrowingTree(0, np.zeros((1, spec.width)), spec, options).so_far()
    totals = engine.sum(leaf_sums, parts, drawn, shared=[root] * len(seeds))
    trees = [
        GrowingTree(int(seed), own[:, : spec.width], spec, options)
        for seed, own in zip(seeds, totals, strict=True)
    ]
    while any(not tree.done for tree in trees):
        asked = [request for number, tree in enumerate(trees) for request in tree.requests(number)]
        for some in _some_bytes(asked, spec.width, MOST_BYTES):
            share = max(_bytes_of(some, spec.width) / engine.ways, _WORTH_SHARING)
            shares = list(_some_bytes(some, spec.width, share))
            requests = [
                Requests(
                    [request for request, _ in one],
                    *(spec.width, options.min_leaf),
                    *(spec.bins.categorical, options.category_sets),
                )
                for one in shares
            ]
            found = engine.sums(level_histograms, parts, drawn, requests=requests, then=level_cuts)
            for (request, part), cuts in zip(chain(*shares), chain(*found), strict=True):
                trees[request.tree].learn(part, request.features, cuts)
        for tree in trees:
            if not tree.done and not tree._asking().any():
                tree.split()
    sums = engine.sum(leaf_sums, parts, drawn, shared=[tree.so_far() for tree in trees])
    return [tree.grown(own) for tree, own in zip(trees, sums, strict=True)]


Asked = list[tuple[Request, NDArray[np.int64]]]


def _bytes_of(asked: Asked, width: int) -> int:
    return sum(request.features.size for request, _ in asked) * N_BINS * width * 8


def _some_bytes(asked: Asked, width: int, most: float) -> Iterator[Asked]:
    """Cut requests into lists whose histograms have so many bytes, or one request each."""
    some: Asked = []
    size = 0
    for one in asked:
        more = _bytes_of([one], width)
        if some and size + more > most:
            yield some
            some, size = [], 0
        some.append(one)
        size += more
    if some:
        yield some

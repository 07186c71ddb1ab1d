"""Forests of rows in partitions: trees of all rows, or of one partition each."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from prefero import _core
from prefero._trees._arrays import Arrays, Trees
from prefero._trees._shrinkage import OutOfBagRows, row_votes
from prefero._typing import Indices, Mask, Values
from prefero.base import copy_of
from prefero.distributed._engine import Engine
from prefero.distributed._partitions import PartitionRows, Partitions, Place
from prefero.distributed._statistics import (
    BinnedRows,
    ForestStatistics,
    bin_rows,
    learn_bins,
    leaves_of,
)
from prefero.label_ranking import ForestLabelRanker

# Bytes of histograms that are added up at a time, and trees whose samples are held at a time.
MOST_BYTES = 2**27
TREES_TOGETHER = 16
# Histograms of fewer bytes are searched faster than divided among workers.
_WORTH_SHARING = 2**22

_CRITERIA = ("spearman", "kendall")
# What the core must know to decide on splits.
_TREE_OPTIONS = ("max_features", "max_depth", "min_split", "min_leaf", "min_decrease", "gamma")
# Parameters that need all rows in one place, and the value that leaves them out.
_LOCAL_ONLY = {
    "splitter": "best",
    "max_leaf_nodes": None,
    "mdl_stopping": False,
    "bootstrap": True,
    "oob_score": False,
    "warm_start": False,
}


# Samples


def _draw_rows(rows: BinnedRows, seeds: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return how often the bootstrap sample of each tree holds each row: trees x rows."""
    return np.stack([_core.bootstrap_counts(int(seed), *rows.place[:3]) for seed in seeds])


def _drawn_at(rows: BinnedRows, drawn: NDArray[np.uint16], numbers: Indices) -> NDArray[np.uint16]:
    """Return how often samples hold those of some rows that lie in this partition."""
    return drawn[:, rows.place.inside(numbers)]


# Sums over partitions


class HistogramRequest(NamedTuple):
    """What a tree asks of every partition: histograms of features in some of its leaves.

    Attributes
    ----------
    tree, number : int
        Which of the trees that are grown together, and which of its requests.
    so_far : Trees
        The tree so far.
    places : ndarray of shape (n_leaves,)
        The row of ``features`` that belongs to a leaf, or -1.
    features : ndarray of shape (n_nodes, n_asked)
        Which features.
    """

    tree: int
    number: int
    so_far: Trees
    places: NDArray[np.int32]
    features: NDArray[np.uint16]


class _Batch(NamedTuple):
    """Requests that are answered together, and what their cuts are chosen by."""

    asked: list[HistogramRequest]
    width: int
    limits: tuple[Mask, float, bool]


def _histograms(rows: BinnedRows, drawn: NDArray[np.uint16], batch: _Batch) -> list[Values]:
    """Add up what trees ask for in one partition, one array per request."""
    return [
        _core.node_histograms(
            *(rows.bins, rows.statistics, batch.width, drawn[one.tree]),
            *(leaves_of(rows.bins, one.so_far), one.places, one.features),
        )
        for one in batch.asked
    ]


def _cuts(sums: list[Values], batch: _Batch) -> list[tuple[NDArray[Any], ...]]:
    """Find the best cut of each node in the histograms of all rows."""
    return [
        _core.node_cuts(own, one.features, *batch.limits)
        for own, one in zip(sums, batch.asked, strict=True)
    ]


def _leaf_sums(
    rows: BinnedRows, drawn: NDArray[np.uint16], trees: list[Trees | None]
) -> list[Values]:
    """Add up the statistics of one partition by the leaves of trees; None is a single leaf."""
    return [
        _core.leaf_sums(rows.bins, rows.statistics, own, leaves_of(rows.bins, tree), n_leaves)
        for own, tree in zip(drawn, trees, strict=True)
        for n_leaves in [1 if tree is None else len(tree.leaves)]
    ]


# Trees of all rows


def fit_histogram_forest(ranker: ForestLabelRanker, partitions: Partitions) -> None:
    """Fit the trees that one machine would grow level by level from the same bins and seeds."""
    _refuse_local_only(ranker)
    criterion = "spearman" if ranker.criterion == "auto" else ranker.criterion
    if criterion not in _CRITERIA:
        raise ValueError(
            f"criterion={criterion!r} cannot be added up over partitions: use 'spearman', which "
            "'auto' means here, or 'kendall'; or forests of partitions, forest='partitions'."
        )
    learn_bins(ranker, partitions)
    layout = ForestStatistics.of(partitions, ranker._feature_bins, criterion)
    parts = partitions.read(bin_rows, shared=layout)
    numbers, sample = partitions.sample()
    ranker.seeds_ = ranker._draw_seeds(ranker.n_estimators)
    growing = ForestGrowing(
        *(partitions.engine, parts, layout, ranker.nominal_features_),
        ranker._grow_options(partitions.n_rows, partitions.n_labels),
    )
    grown, drawn = growing.grow(ranker.seeds_, numbers)
    _finish_forest(ranker, partitions, grown, sample, drawn)


class ForestGrowing(NamedTuple):
    """How the trees of all rows are grown.

    Attributes
    ----------
    engine : Engine
        Adds up over partitions.
    parts : sequence of handles
        The partitions as ``BinnedRows``.
    layout : ForestStatistics
        What is added up.
    nominal : ndarray of shape (n_features,), dtype bool
        Which features are nominal.
    options : dict
        Of the core's grower.
    """

    engine: Engine
    parts: Sequence[Any]
    layout: ForestStatistics
    nominal: Mask
    options: dict[str, Any]

    def grow(self, seeds: NDArray[np.uint64], watched: Indices) -> tuple[Trees, NDArray[np.uint16]]:
        """Grow one tree per seed.

        Parameters
        ----------
        seeds : ndarray of shape (n_trees,)
            Seeds of the samples and features.
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
            drawn = self.engine.each(_draw_rows, self.parts, shared=some)
            grown += self._grow_together(some, drawn)
            found = self.engine.gather(
                self.engine.each(_drawn_at, self.parts, drawn, shared=watched)
            )
            drawn_watched.append(np.concatenate(found, axis=1))
        joined = Trees.joined(grown, len(self.nominal), self.layout.n_labels)
        return joined, np.concatenate(drawn_watched)

    def _grow_together(self, seeds: NDArray[np.uint64], drawn: Sequence[Any]) -> list[Arrays]:
        layout = self.layout
        options = {name: self.options[name] for name in _TREE_OPTIONS}
        options |= {"unit": layout.unit, "signs": layout.criterion == "kendall"}
        roots: list[None] = [None] * len(seeds)
        trees = [
            _core.LevelTree(int(seed), own[0, : layout.width].copy(), self.nominal, **options)
            for seed, own in zip(seeds, self._leaf_sums(drawn, roots), strict=True)
        ]
        while not all(tree.done for tree in trees):
            for some in _batches(self._requests(trees), layout.width, MOST_BYTES):
                for request, cuts in self._answers(some, drawn):
                    trees[request.tree].learn(request.number, *cuts)
            for tree in trees:
                tree.split()
        sums = self._leaf_sums(drawn, [self._so_far(tree) for tree in trees])
        leaves = layout.n_labels, layout.votes_at, layout.known_at
        return [tree.grown(own, *leaves) for tree, own in zip(trees, sums, strict=True)]

    def _so_far(self, tree: _core.LevelTree) -> Trees:
        return Trees(tree.so_far(), len(self.nominal), 1)

    def _leaf_sums(self, drawn: Sequence[Any], trees: Sequence[Trees | None]) -> list[Values]:
        return self.engine.sum(_leaf_sums, self.parts, drawn, shared=trees)

    def _requests(self, trees: Sequence[_core.LevelTree]) -> Iterator[HistogramRequest]:
        for number, tree in enumerate(trees):
            so_far = self._so_far(tree)
            for k, (places, features) in enumerate(tree.requests(MOST_BYTES)):
                yield HistogramRequest(number, k, so_far, places, features)

    def _answers(
        self, asked: list[HistogramRequest], drawn: Sequence[Any]
    ) -> Iterator[tuple[HistogramRequest, Any]]:
        """Yield requests with their cuts; workers share the search."""
        width = self.layout.width
        share = max(_bytes_of(asked, width) / self.engine.ways, _WORTH_SHARING)
        limits = self.nominal, float(self.options["min_leaf"]), self.options["category_sets"]
        batches = [_Batch(some, width, limits) for some in _batches(asked, width, share)]
        found = self.engine.sums(_histograms, self.parts, drawn, requests=batches, then=_cuts)
        return zip(chain(*(batch.asked for batch in batches)), chain(*found), strict=True)


def _bytes_of(asked: Collection[HistogramRequest], width: int) -> int:
    return sum(request.features.size for request in asked) * 256 * width * 8


def _batches(
    asked: Iterable[HistogramRequest], width: int, most: float
) -> Iterator[list[HistogramRequest]]:
    """Cut requests into lists whose histograms have so many bytes, or one request each."""
    some: list[HistogramRequest] = []
    for one in asked:
        if some and _bytes_of([*some, one], width) > most:
            yield some
            some = []
        some.append(one)
    if some:
        yield some


# Trees of one partition each


def fit_partition_forest(ranker: ForestLabelRanker, partitions: Partitions) -> None:
    """Fit a forest of trees that partitions grow by themselves.

    Partitions are small samples already (Breiman 1999, Pasting small votes): where there are
    several, trees see all rows of theirs, and rows are held out from the trees of the others.
    """
    _refuse_local_only(ranker, but={"splitter", "max_leaf_nodes", "mdlpc"})
    n_parts = len(partitions.places)
    if ranker.n_estimators < n_parts:
        raise ValueError(
            f"n_estimators={ranker.n_estimators} is less than the {n_parts} partitions: some "
            "would have no tree. Ask for more trees, or make fewer partitions."
        )
    learn_bins(ranker, partitions)
    ranker.seeds_ = ranker._draw_seeds(ranker.n_estimators)
    numbers, sample = partitions.sample()
    ties = any(summary.ties for summary in partitions.summaries)
    shared = ranker, ties, np.array_split(ranker.seeds_, n_parts), numbers
    found = partitions.engine.gather(partitions.read(_grow_own, shared=shared))
    arrays, drawn = zip(*found, strict=True)
    grown = Trees.joined(arrays, ranker.n_features_in_, partitions.n_labels)
    # Trees x rows: no tree has seen rows of another partition.
    seen = np.asarray(block_diag(*drawn), dtype=np.uint16)
    _finish_forest(ranker, partitions, grown, sample, seen)


def _grow_own(
    rows: PartitionRows, place: Place, shared: tuple[Any, bool, list[NDArray[np.uint64]], Indices]
) -> tuple[Arrays, NDArray[np.uint16]]:
    """Grow the trees of a partition, and count how often each has drawn the watched rows."""
    ranker, ties, seeds, numbers = shared
    own, copy = seeds[place.number], copy_of(ranker, anew=False)
    if copy.criterion == "auto":  # for all partitions alike
        copy.criterion = "spearman" if ties else "kendall"
    # A node needs the share of the examples that its partition has of all rows: the leaves that a
    # row reaches in the trees of all partitions then hold as many together.
    bounds, share = copy._grow_options(place.total, rows.ranks.shape[1]), place.size / place.total
    copy.min_samples_leaf = int(np.ceil(bounds["min_leaf"] * share))
    copy.min_samples_split = max(2, int(np.ceil(bounds["min_split"] * share)))
    alone = place.size == place.total
    grown = copy._grow(
        copy._feature_bins.apply(rows.X), rows.ranks, rows.weight, own, bootstrap=alone
    )
    watched = place.inside(numbers)
    drawn = np.ones((len(own), len(watched)), dtype=np.uint16)
    if alone:
        counts = [_core.bootstrap_counts(int(seed), 0, place.size, place.size) for seed in own]
        drawn = np.stack(counts)[:, watched]
    return grown.arrays, drawn


# What all trees of partitions share


def _refuse_local_only(ranker: ForestLabelRanker, but: Collection[str] = ()) -> None:
    for name, value in _LOCAL_ONLY.items():
        if name not in but and getattr(ranker, name) != value:
            raise ValueError(
                f"{name}={getattr(ranker, name)!r} is not for rows in partitions: leave {name} at "
                f"{value!r}."
            )
    if ranker.leaf_values not in ("auto", "ranks"):
        raise ValueError(
            f"leaf_values={ranker.leaf_values!r} needs scores, which partitions do not hold."
        )


def _finish_forest(
    ranker: ForestLabelRanker,
    partitions: Partitions,
    grown: Trees,
    sample: PartitionRows,
    drawn: NDArray[np.uint16],
) -> None:
    """Shrink and calibrate by the predictions of sampled rows that trees have not seen."""
    ranker.trees_, ranker.mean_votes_ = grown.arrays, partitions.mean_votes()
    bins = ranker._feature_bins.apply(sample.X)
    drawn = np.ascontiguousarray(drawn)
    rows = OutOfBagRows(bins, sample.ranks, sample.weight, drawn, *row_votes(sample.ranks))
    ranker._choose_shrinkage(grown, rows, "ranks")
    if not hasattr(ranker, "_held_out"):
        scores, trees = ranker._trees.walker.out_of_bag(bins, drawn)
        ranker._held_out = np.where(trees[:, None] > 0, scores, np.nan)
    ranker._calibrate(None, sample.X, sample.ranks, sample.ranks, sample.weight)

"""Boosting of rows in partitions: histograms of derivatives are added up, once per split."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._sampling import SAMPLE_ROWS, evenly_spaced
from prefero._trees._arrays import Trees
from prefero._trees._bins import FeatureBins
from prefero._typing import Indices, Mask, Values
from prefero.base import copy_of
from prefero.distributed._engine import Engine
from prefero.distributed._partitions import PartitionRows, Partitions, Place
from prefero.distributed._statistics import learn_bins, leaves_of, rounded, shortest
from prefero.label_ranking import BoostingLabelRanker, _boosting_rounds

# One of so many rows, and no more than come to the driver, decides on the rounds.
_ONE_OF = 20


class BoostSpec(NamedTuple):
    """What partitions must know of all rows.

    Attributes
    ----------
    bins : FeatureBins
        The bins of all features.
    most : float
        The most that the weights of all rows may add up to.
    whole_weights : bool
        Whether a weight of 2 is two examples.
    held_out : ndarray of int
        Numbers of rows that no tree is grown from.
    """

    bins: FeatureBins
    most: float
    whole_weights: bool
    held_out: Indices


class RankedRows(NamedTuple):
    """The rows of a partition: what boosting reads of them."""

    bins: NDArray[np.uint8]
    ranks: Values
    weight: Values
    examples: Values
    learns: NDArray[np.uint16]  # 0 where a row is held out
    place: Place


class RoundRows(NamedTuple):
    """What a round knows of the rows of a partition: scores, and what is summed for its tree."""

    scores: Values
    statistics: NDArray[Any]
    drawn: NDArray[np.uint16]


def ranked_rows(rows: PartitionRows, place: Place, spec: BoostSpec) -> RankedRows:
    """Turn the rows of a partition into what boosting reads; the features are dropped."""
    learns = np.ones(len(rows.weight), dtype=np.uint16)
    learns[place.inside(spec.held_out)] = 0
    return RankedRows(
        spec.bins.apply(rows.X),
        _core.bucket_positions(rows.ranks, smallest=False),
        rounded(rows.weight, spec.most, 1),
        rows.weight if spec.whole_weights else np.ones(len(rows.weight)),
        learns,
        place,
    )


def _own_pair_counts(rows: RankedRows, _: Any) -> tuple[Values, Values]:
    return _boosting_rounds.pair_counts(
        _boosting_rounds.Cases(rows.bins, rows.ranks, rows.weight * rows.learns, None)
    )


def _first_scores(rows: RankedRows, start: Values) -> RoundRows:
    none = np.empty(0)
    return RoundRows(np.tile(start, (len(rows.ranks), 1)), none, none.astype(np.uint16))


def _next_round(
    rows: RankedRows, before: RoundRows, shared: tuple[Trees | None, tuple[int, float, float]]
) -> RoundRows:
    tree, chance = shared
    scores = before.scores if tree is None else before.scores + tree.walker.scores(rows.bins)
    return round_rows(rows, scores, *chance)


def round_rows(rows: RankedRows, scores: Values, seed: int, share: float, most: float) -> RoundRows:
    """Differentiate the loss at the scores, and draw the rows of the round."""
    weight, derivatives = rows.weight[:, None], _core.pair_logistic_derivatives(rows.ranks, scores)
    statistics = [weight, rows.examples[:, None], rounded(weight * derivatives, most, 1)]
    drawn = _core.share_counts(seed, *rows.place[:3], share)
    return RoundRows(scores, shortest(np.hstack(statistics)), drawn * rows.learns)


def _node_histograms(
    rows: RankedRows, own: RoundRows, asked: tuple[Trees, Indices, NDArray[np.uint16]]
) -> Values:
    """Add up the statistics of a partition's rows by some leaves, features and bins."""
    tree, leaves, features = asked
    places = np.full(len(tree.leaves), -1, dtype=np.int32)
    places[leaves] = np.arange(len(leaves))
    return _core.node_histograms(
        *(rows.bins, own.statistics, own.statistics.shape[1], own.drawn),
        *(leaves_of(rows.bins, tree), places, np.tile(features, (len(leaves), 1))),
    )


class Rounds(NamedTuple):
    """The rounds of boosting, each a tree that is grown when it is asked for.

    Attributes
    ----------
    engine : Engine
        Adds up over partitions.
    parts : sequence of handles
        The partitions as ``RankedRows``.
    start : ndarray of shape (n_labels,)
        The scores of all rows before the first round.
    options : dict
        Of the core's booster.
    most : float
        The most that the weights of all rows may add up to.
    nominal : ndarray of shape (n_features,), dtype bool
        Which features are nominal.
    """

    engine: Engine
    parts: Sequence[Any]
    start: Values
    options: dict[str, Any]
    most: float
    nominal: Mask

    def trees(self, seeds: NDArray[np.uint64]) -> Iterator[Trees]:
        """Grow one tree per seed, one after the other."""
        each, tree = partial(self.engine.each, brief=True), None
        own = each(_first_scores, self.parts, shared=self.start)
        for seed in map(int, seeds):
            chance = seed, self.options["row_share"], self.most
            own = each(_next_round, self.parts, own, shared=(tree, chance))
            tree = self._grow(seed, own)
            yield tree

    def _grow(self, seed: int, own: Sequence[Any]) -> Trees:
        tree = self._leaf(seed)
        while len(leaves := tree.asked):
            shared = Trees(tree.so_far(), len(self.nominal), 1), leaves, tree.features
            tree.learn(self.engine.sum(_node_histograms, self.parts, own, shared=shared))
        return Trees(tree.grown(), len(self.nominal), len(self.start))

    def _leaf(self, seed: int) -> _core.BoostedTree:
        """Begin a tree, which is a leaf that says nothing."""
        options = {name: value for name, value in self.options.items() if name != "row_share"}
        return _core.BoostedTree(seed, self.nominal, len(self.start), **options)

    def joined(self, trees: list[Trees]) -> Trees:
        """Put the trees, of which there may be none, one after the other."""
        arrays = [*(tree.arrays for tree in trees), self._leaf(0).grown()]
        return Trees.joined(arrays, len(self.nominal), len(self.start)).first(len(trees))


def fit_boosting(ranker: BoostingLabelRanker, partitions: Partitions) -> None:
    """Fit the trees that one machine would grow from the same bins, rows and features.

    If all rows may come to the driver, the rounds are chosen as on one machine. Otherwise some
    rows are held out, and their loss after every round decides.
    """
    learn_bins(ranker, partitions)
    blank = copy_of(ranker, anew=False)
    few = partitions.n_rows <= SAMPLE_ROWS
    watching = not few and ranker.validation is not None
    most = -(-partitions.n_rows // _ONE_OF) if watching else SAMPLE_ROWS
    numbers = evenly_spaced(partitions.n_rows, min(SAMPLE_ROWS, most))
    sample = partitions.rows_at(numbers)
    cases, case = _boosting_rounds.Cases.of(
        ranker._feature_bins.apply(sample.X), sample.ranks, sample.weight
    )
    spec = BoostSpec(
        ranker._feature_bins,
        partitions.most_weight,
        partitions.whole_weights,
        numbers if watching else np.empty(0, dtype=np.int64),
    )
    parts = partitions.read(ranked_rows, shared=spec)
    boosting = ranker._boosting(partitions.n_rows)
    rounds = ranker.n_estimators
    if few:
        rounds = ranker._choose_rounds(boosting, cases, case)
    else:
        ranker.start_scores_ = _boosting_rounds.scores_of_pair_counts(
            *partitions.engine.sum(_own_pair_counts, parts)
        )
        ranker.validation_path_ = np.empty(0)
    growing = Rounds(
        *(partitions.engine, parts, ranker.start_scores_),
        *(boosting.options_for(cases) if few else boosting.options, spec.most),
        ranker.nominal_features_,
    )
    if watching:
        trees, found = _watched(growing, boosting.seeds, cases, ranker)
        rounds = ranker._settle(found, cases, case)
        trees = trees[:rounds]
    else:
        trees = list(growing.trees(boosting.seeds[:rounds]))
    ranker.n_estimators_ = rounds
    ranker._keep(growing.joined(trees))
    ranker._calibrate(blank, sample.X, sample.ranks, sample.ranks, sample.weight)


def _watched(
    growing: Rounds,
    seeds: NDArray[np.uint64],
    cases: _boosting_rounds.Cases,
    ranker: BoostingLabelRanker,
) -> tuple[list[Trees], _boosting_rounds.HeldOutRounds]:
    """Grow until the loss of cases that no tree has seen has not fallen for some rounds."""
    constant = np.tile(ranker.start_scores_, (len(cases.weight), 1))
    scores, best = constant, constant
    path, trees = [float(cases.weight @ cases.losses(scores))], []
    for tree in growing.trees(seeds):
        trees.append(tree)
        scores = scores + tree.walker.scores(cases.bins)
        path.append(float(cases.weight @ cases.losses(scores)))
        if path[-1] < min(path[:-1]):
            best = scores
        if len(path) - 1 - int(np.argmin(path)) >= ranker.n_iter_no_change:
            break
    return trees, _boosting_rounds.HeldOutRounds.of(
        cases, np.array(path), best, constant, cases.weight
    )

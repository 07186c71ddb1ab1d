"""Boosting of rows in partitions: the histograms of derivatives are added up, a split a time."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._sampling import SAMPLE_ROWS, evenly_spaced
from prefero._trees import FeatureBins, Trees
from prefero._typing import Indices, Mask, Values
from prefero.base import twin_of
from prefero.distributed._binned import EXAMPLES, WEIGHT, leaves_of, rounded, shortest
from prefero.distributed._boosted_tree import (
    DERIVATIVES,
    BoostedTree,
    NewtonOptions,
    TriedFeatures,
)
from prefero.distributed._chance import features_of_tree, rows_of_tree
from prefero.distributed._engine import Engine
from prefero.distributed._forest import learn_bins
from prefero.distributed._nodes import GrowingNodes
from prefero.distributed._partitions import Partitions, Place, Rows
from prefero.label_ranking import BoostingLabelRanker
from prefero.label_ranking._boosting_rounds import Cases, HeldOutRounds, duels, scores_of_duels

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
    """What a round knows of the rows of a partition: scores, and what is added up for its tree."""

    scores: Values
    lanes: NDArray[Any]
    drawn: NDArray[np.uint16]


def ranked_rows(rows: Rows, place: Place, spec: BoostSpec) -> RankedRows:
    """Turn the rows of a partition into what boosting reads; the features are forgotten."""
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


def _own_duels(rows: RankedRows, _: Any) -> tuple[Values, Values]:
    return duels(Cases(rows.bins, rows.ranks, rows.weight * rows.learns, None))


def _first_round(rows: RankedRows, shared: tuple[Values, tuple[int, float, float]]) -> RoundRows:
    start, chance = shared
    return round_rows(rows, np.tile(start, (len(rows.ranks), 1)), *chance)


def _next_round(
    rows: RankedRows, before: RoundRows, shared: tuple[Trees, tuple[int, float, float]]
) -> RoundRows:
    tree, chance = shared
    return round_rows(rows, before.scores + tree.walker.scores(rows.bins), *chance)


def round_rows(rows: RankedRows, scores: Values, seed: int, share: float, most: float) -> RoundRows:
    """Differentiate the loss at the scores, and draw the rows of the round."""
    lanes = np.empty((len(scores), DERIVATIVES + 2 * scores.shape[1]))
    lanes[:, WEIGHT], lanes[:, EXAMPLES] = rows.weight, rows.examples
    derivatives = _core.pair_logistic_derivatives(rows.ranks, scores)
    lanes[:, DERIVATIVES:] = rounded(rows.weight[:, None] * derivatives, most, 1)
    drawn = rows_of_tree(seed, rows.place.first, rows.place.size, share)
    return RoundRows(scores, shortest(lanes), drawn * rows.learns)


def _node_histograms(
    rows: RankedRows, own: RoundRows, asked: tuple[Trees, list[int], NDArray[np.uint16]]
) -> Values:
    """Add up the lanes of a partition's rows by some leaves, features and bins."""
    tree, leaves, features = asked
    places = np.full(len(tree.leaves), -1, dtype=np.int32)
    places[leaves] = np.arange(len(leaves))
    return _core.level_histograms(
        *(rows.bins, own.lanes, own.lanes.shape[1], own.drawn, leaves_of(rows.bins, tree)),
        *(places, np.tile(features, (len(leaves), 1))),
    )


class Rounds:
    """The rounds of boosting, each a tree that is grown when it is asked for.

    Parameters
    ----------
    engine : Engine
        Who adds up.
    parts : sequence of handles
        The partitions as ``RankedRows``.
    start : ndarray of shape (n_labels,)
        The scores of all rows before the first round.
    options : dict
        Of the core's booster.
    most : float
        The most that the weights of all rows may add up to.
    nominal : ndarray of shape (n_features,), dtype bool
        Which features are.
    """

    def __init__(
        self,
        engine: Engine,
        parts: Sequence[Any],
        start: Values,
        options: dict[str, Any],
        most: float,
        nominal: Mask,
    ) -> None:
        self._engine, self._parts, self._start = engine, parts, start
        self._options, self._most, self._nominal = options, most, nominal

    def trees(self, seeds: NDArray[np.uint64]) -> Iterator[Trees]:
        """Grow a tree a seed, one after the other."""
        each = partial(self._engine.each, brief=True)
        newton = NewtonOptions(**{name: self._options[name] for name in NewtonOptions._fields})
        tree: Trees | None = None
        own: list[Any] = []
        for seed in map(int, seeds):
            chance = seed, self._options["row_share"], self._most
            if tree is None:
                own = each(_first_round, self._parts, shared=(self._start, chance))
            else:
                own = each(_next_round, self._parts, own, shared=(tree, chance))
            tree = self._grow(seed, newton, own)
            yield tree

    def _grow(self, seed: int, newton: NewtonOptions, own: Sequence[Any]) -> Trees:
        n_features, n_labels = len(self._nominal), len(self._start)
        features = features_of_tree(seed, n_features, self._options["tree_features"])
        tried = TriedFeatures(features, self._nominal[features])

        def ask(tree: Trees, leaves: list[int]) -> Values:
            shared = tree, leaves, features
            return self._engine.sum(_node_histograms, self._parts, own, shared=shared)

        return BoostedTree(tried, n_features, n_labels, newton).grow(ask)


def fit_boosting(ranker: BoostingLabelRanker, partitions: Partitions) -> None:
    """Fit the trees that one machine would grow from the same bins, rows and features.

    Up to so many rows as may come to the driver it chooses the rounds as one machine does. Of
    more rows some are held out, and their loss after every round decides.
    """
    learn_bins(ranker, partitions)
    blank = twin_of(ranker, anew=False)
    few = partitions.n_rows <= SAMPLE_ROWS
    watching = not few and ranker.validation is not None
    most = -(-partitions.n_rows // _ONE_OF) if watching else SAMPLE_ROWS
    numbers = evenly_spaced(partitions.n_rows, min(SAMPLE_ROWS, most))
    sample = partitions.rows_at(numbers)
    cases, case = Cases.of(ranker._feature_bins.apply(sample.X), sample.ranks, sample.weight)
    spec = BoostSpec(
        ranker._feature_bins,
        partitions.n_rows * max(s.most_weight for s in partitions.summaries),
        all(s.whole_weights for s in partitions.summaries),
        numbers if watching else np.empty(0, dtype=np.int64),
    )
    parts = partitions.read(ranked_rows, shared=spec)
    boosting = ranker._boosting(partitions.n_rows)
    rounds = ranker.n_estimators
    if few:
        rounds = ranker._choose_rounds(boosting, cases, case)
    else:
        ranker.start_scores_ = scores_of_duels(*partitions.engine.sum(_own_duels, parts))
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
    ranker._keep(_joined(trees, ranker.n_features_in_, partitions.n_labels))
    ranker._calibrate(blank, sample.X, sample.ranks, sample.ranks, sample.weight)


def _watched(
    growing: Rounds, seeds: NDArray[np.uint64], cases: Cases, ranker: BoostingLabelRanker
) -> tuple[list[Trees], HeldOutRounds]:
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
    return trees, HeldOutRounds.of(cases, np.array(path), best, constant, cases.weight)


def _joined(trees: list[Trees], n_features: int, n_labels: int) -> Trees:
    """The trees one after the other, of which there may be none."""
    nothing = np.zeros((1, n_labels), dtype=np.float32)
    leaf = GrowingNodes(n_features).tree(np.zeros(1), nothing)
    return Trees.joined([tree.arrays for tree in [*trees, leaf]], *leaf.shape).first(len(trees))

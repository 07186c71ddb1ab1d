"""Hierarchical shrinkage: a step from a node to its child counts less, the less the node has seen.

Agarwal, Tan, Ronen, Singh & Yu (2022): growing is left as it is, leaves are rewritten. With
strength lambda the value of a child is s*(child) = s*(parent) + (s(child) - s(parent)) m / (m +
lambda), m the weight of the parent's rows, times the evidence where labels are missing.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from prefero import _core
from prefero._state import Attribute
from prefero._trees._arrays import Trees
from prefero._trees._models import NodeModels
from prefero._typing import Mask, Values
from prefero.metrics import kendall_tau, regret
from prefero.rankings import ScoredRanks, ranks_of, strict_ranks

# Infinity is the constant order.
STRENGTHS = np.array([0.0, 1, 3, 10, 30, 100, 300, 1000, np.inf])

# Scores (strengths x rows x labels) that are held at a time, and that are looked at in one step.
_BLOCK_ENTRIES, _STEP_ENTRIES = 2**23, 2**20

# Means of votes that are equal in theory differ by their rounding, in floats.
EQUAL_DECIMALS = 5

# The fitted attribute that holds the one that was used.
STRENGTH = Attribute(
    rule=("a number from 0 to infinity", lambda value, _: isinstance(value, float) and value >= 0)
)

NodeMeans = tuple[Values, Values]


def shrunk_means(trees: Trees, means: NodeMeans, strength: float) -> NodeMeans:
    """Return the scores and the evidence of every node, drawn towards the nodes above.

    Parameters
    ----------
    trees : Trees
        Trees.
    means : scores, evidence : ndarray of shape (n_nodes, n_labels)
        What the nodes say by themselves; where there is no evidence a node says what the one
        above says.
    strength : float
        Lambda; infinity gives every node what its root says.

    Returns
    -------
    scores, evidence : ndarray of shape (n_nodes, n_labels)
        The same of roots.
    """
    scores, evidence = means
    new_scores, new_evidence = scores.copy(), evidence.copy()
    weight = trees.arrays["weight"][:, None]
    for inner in trees.inner_levels:
        mass = weight[inner] * evidence[inner]
        part = np.divide(mass, mass + strength, out=np.zeros_like(mass), where=mass > 0)
        for child in (trees.children[inner], trees.children[inner] + 1):
            step = np.where(evidence[child] > 0, scores[child] - scores[inner], 0)
            new_scores[child] = new_scores[inner] + step * part
            new_evidence[child] = new_evidence[inner] + (evidence[child] - evidence[inner]) * part
    return new_scores, new_evidence


def shrunk(trees: Trees, strength: float, constant: Values) -> Trees:
    """Return trees whose leaves are drawn towards the nodes above them.

    Parameters
    ----------
    trees : Trees
        As grown.
    strength : float
        Lambda; 0 leaves them as they are.
    constant : ndarray of shape (n_labels,)
        What all leaves say at infinity: the mean votes of all training rows.

    Returns
    -------
    Trees
        The same nodes with other scores.
    """
    if strength == 0:
        return trees
    if np.isinf(strength):
        scores = np.tile(constant.astype(np.float32), len(trees.leaves))
        evidence = np.empty(0, dtype=np.float32)
    else:
        one = np.array([strength])
        (scores,), (evidence,) = trees.walker.shrunk(trees.arrays["weight"], one)
    return Trees({**trees.arrays, "scores": scores, "evidence": evidence}, *trees.shape)


def with_rankings(trees: Trees) -> Trees:
    """Return trees whose leaves hold the votes of one ranking each: that of their scores.

    The mean of these over trees is the mean of the rankings, in which every tree counts alike.
    """
    scores = trees.arrays["scores"].reshape(-1, trees.n_labels).astype(np.float64)
    votes, _ = row_votes(-scores.round(EQUAL_DECIMALS))
    own = {"scores": votes.astype(np.float32).ravel(), "evidence": np.empty(0, dtype=np.float32)}
    return Trees({**trees.arrays, **own}, *trees.shape)


def shrunk_models(tree: Trees, models: NodeModels, strength: float) -> NodeModels:
    """Return the models of a tree's nodes, their votes and spreads drawn towards those above."""
    if strength == 0:
        return models
    own = np.column_stack([models.votes, models.theta])
    new, _ = shrunk_means(tree, (own, np.ones_like(own)), strength)
    return NodeModels(new[:, :-1].copy(), new[:, -1].copy(), models.samples)


def row_votes(ranks: Values) -> tuple[Values, Values]:
    """Return the votes and the evidence of each label in each row, over n_labels - 1.

    Votes are the labels it beats minus those that beat it, evidence those it is compared with.
    """
    known = ~np.isnan(ranks)
    present = known.sum(axis=1, keepdims=True)
    others = max(ranks.shape[1] - 1, 1)
    positions = _core.bucket_positions(ranks, smallest=False)
    votes = np.where(known, present + 1 - 2 * positions, 0) / others
    return votes, np.where(known, present - 1, 0) / others


def leaf_votes(target: Values | ScoredRanks, weight: Values, leaf: str) -> tuple[Values, Values]:
    """Return what leaves average of each row, times the evidence, and the evidence.

    Parameters
    ----------
    target : ndarray of shape (n_samples, n_labels) or ScoredRanks
        Ranks, with scores unless leaves hold ranks alone.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    leaf : {"ranks", "scores", "blend"}
        The votes of the ranks; the scores less the mean of their row, as large over all rows
        as the votes; or half of each.

    Returns
    -------
    votes, evidence : ndarray of shape (n_samples, n_labels)
        As of `row_votes`.
    """
    votes, evidence = row_votes(ranks_of(target))
    if leaf == "ranks" or not isinstance(target, ScoredRanks):
        return votes, evidence
    worth = evidence * target.relative()
    size, wanted = (np.sqrt(weight @ (part**2).sum(axis=1)) for part in (worth, votes))
    worth *= wanted / size if size > 0 else 0.0
    return worth if leaf == "scores" else (votes + worth) / 2, evidence


def mean_votes(votes: Values, evidence: Values, weight: Values) -> Values:
    """Return the mean votes of weighted rows, by their evidence."""
    return _ratio(weight @ votes, weight @ evidence)


def _ratio(votes: Values, evidence: Values) -> Values:
    return np.divide(votes, evidence, out=np.zeros_like(votes), where=evidence > 0)


class OutOfBagPath:
    """What each training row is given at each strength by trees that have not seen it.

    Rows are looked at some at a time: what is said of all of them at all strengths would be many
    times as large as they are.

    Parameters
    ----------
    trees : Trees
        As grown, on bootstrap samples.
    bins, target, weight : ndarray
        Training rows.
    samples : ndarray of shape (n_trees,) or (n_trees, n_samples)
        What the samples were drawn from, or how often they hold each row.
    leaf : {"ranks", "scores", "blend"}
        What the leaves hold.
    """

    def __init__(
        self,
        trees: Trees,
        bins: NDArray[np.uint8],
        samples: NDArray[np.uint64] | NDArray[np.uint16],
        target: Values | ScoredRanks,
        weight: Values,
        leaf: str = "ranks",
    ) -> None:
        self._trees, self._bins, self._samples = trees, bins, samples
        self._target, self._weight, self._leaf = target, weight, leaf
        self._own = leaf_votes(target, weight, leaf)
        self._totals = [(weight[:, None] * part).sum(axis=0) for part in self._own]
        self._all: tuple[Values, Mask] | None = None  # what is said, of rows in one block

    def losses(self) -> dict[str, Values]:
        """Return what rows lose: each array has a row a row and a column a strength.

        ``"squared_error"`` of the votes; unless leaves hold scores alone, ``"disorder"``, 1 - tau;
        unless they hold ranks alone, ``"regret"``. NaN where undefined.
        """
        shape = len(self._bins), len(STRENGTHS)
        found = {"squared_error": np.empty(shape)}
        if self._leaf != "scores":
            found["disorder"] = np.empty(shape[::-1]).T
        if isinstance(self._target, ScoredRanks) and self._leaf != "ranks":
            found["regret"] = np.empty(shape[::-1]).T
        for rows in self._blocks():
            scores, seen = self._said(rows, STRENGTHS)
            if len(seen) == len(self._bins):
                self._all = scores, seen
            for part in gen_batches(len(seen), max(1, _STEP_ENTRIES // scores[:, 0].size)):
                here = slice(rows.start + part.start, rows.start + part.stop)
                for name, loss in self._some_losses(found, here, scores[:, part]):
                    found[name][here] = np.where(seen[part], loss, np.nan)
        return found

    def scores(self, chosen: int) -> Values:
        """Return the votes for each row at a strength; NaN for rows that all trees have seen.

        The constant order of a row is that of all other rows.
        """
        if self._all is not None:
            scores, seen = self._all
            return np.where(seen, scores[chosen], np.nan)
        said = (self._said(rows, STRENGTHS[[chosen]]) for rows in self._blocks())
        return np.concatenate([np.where(seen, scores[0], np.nan) for scores, seen in said])

    def _blocks(self) -> Iterator[slice]:
        return gen_batches(
            len(self._bins), max(1, _BLOCK_ENTRIES // (len(STRENGTHS) * self._trees.n_labels))
        )

    def _said(self, rows: slice, strengths: Values) -> tuple[Values, Mask]:
        """Scores, strengths x rows x labels, and the rows that some tree has not seen."""
        finite = self._trees.arrays["weight"], strengths[np.isfinite(strengths)]
        bins, samples = self._bins[rows], self._counts(rows)
        scores, count = self._trees.walker.out_of_bag_shrunk(bins, samples, *finite)
        if np.isinf(strengths).any():
            own = (self._weight[rows, None] * part[rows] for part in self._own)
            others = (total - part for total, part in zip(self._totals, own, strict=True))
            scores = np.concatenate([scores, _ratio(*others)[None]])
        return scores, count[:, None] > 0

    def _counts(self, rows: slice) -> NDArray[Any]:
        """How often samples hold some rows; what they are drawn from, if these are all rows."""
        n = len(self._bins)
        if rows.stop - rows.start == n:
            return self._samples
        if self._samples.ndim == 2:
            return np.ascontiguousarray(self._samples[:, rows])
        size = rows.stop - rows.start
        drawn = (_core.bootstrap_counts(int(s), rows.start, size, n) for s in self._samples)
        return np.stack(list(drawn))

    def _some_losses(
        self, wanted: Collection[str], rows: slice, scores: Values
    ) -> Iterator[tuple[str, Values]]:
        votes, evidence = (part[rows] for part in self._own)
        squares = (scores - _ratio(votes, evidence)) ** 2
        yield "squared_error", np.einsum("rl,srl->rs", evidence, squares)
        del squares
        predicted, repeated = strict_ranks(scores.reshape(-1, scores.shape[2])), (len(scores), 1)
        if "disorder" in wanted:
            truth = np.tile(ranks_of(self._target)[rows], repeated)
            yield "disorder", 1 - _by_strength(kendall_tau(truth, predicted, average=False))
        if "regret" in wanted:
            assert isinstance(self._target, ScoredRanks)
            worth = np.tile(self._target.scores[rows], repeated)
            yield "regret", _by_strength(regret(worth, predicted, average=False))


def _by_strength(values: float | Values) -> Values:
    """One value a strength and row as a column a strength."""
    return np.asarray(values).reshape(len(STRENGTHS), -1).T


def mean_loss(loss: Values, weight: Values) -> Values:
    """Return the weighted mean of each choice over the rows where all is known."""
    used = ~np.isnan(loss).any(axis=1)
    return np.average(loss[used], axis=0, weights=weight[used]) if used.any() else loss[0] * np.nan


def strongest_alike(losses: Sequence[Values], weight: Values, errors: float = 1.0) -> int:
    """Return the last choice that is as good as the best one, within some standard errors.

    Parameters
    ----------
    losses : sequence of ndarray of shape (n_samples, n_choices)
        What each row loses by each choice, smaller is better; rows with NaN are left out. The
        first measure says which choice is best; by none of them may the last one be worse than
        it by more than the standard error of their paired difference.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    errors : float, default=1.0
        How many standard errors.

    Returns
    -------
    int
        The number of the choice; 0 if no row tells.
    """
    best, alike = None, np.ones(losses[0].shape[1], dtype=bool)
    for loss in losses:
        used = ~np.isnan(loss).any(axis=1)
        if not used.any():
            continue
        share, known = weight[used] / weight[used].sum(), loss[used]
        best = int(np.argmin(share @ known)) if best is None else best
        worse = known - known[:, [best]]
        mean = share @ worse
        worse -= mean
        worse **= 2
        alike &= mean <= errors * np.sqrt(share**2 @ worse)
    return 0 if best is None else int(np.flatnonzero(alike)[-1])

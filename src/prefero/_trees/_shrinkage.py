"""Hierarchical shrinkage: a step from a node to its child counts less, the less the node has seen.

Agarwal, Tan, Ronen, Singh & Yu (2022): growing is left as it is, leaves are rewritten. With
strength lambda the value of a child is s*(child) = s*(parent) + (s(child) - s(parent)) m / (m +
lambda), m the weight of the parent's rows, times the evidence where labels are missing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero import _core
from prefero._sampling import evenly_spaced
from prefero._state import Attribute
from prefero._trees._arrays import Trees
from prefero._trees._models import NodeModels
from prefero._trees._pruning import reached_when_pruned
from prefero._trees._values import SCORE_CRITERIA, score_values
from prefero._typing import Indices, Values
from prefero.calibration import all_pairs, pair_outcomes
from prefero.metrics import kendall_tau, regret
from prefero.rankings import ScoredRanks, ranks_of, strict_ranks

# Infinity is the consensus order.
STRENGTHS = np.array([0.0, 1, 3, 10, 30, 100, 300, 1000, np.inf])

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
    return _core.row_votes(ranks)


def leaf_votes(target: Values | ScoredRanks, weight: Values, leaf: str) -> tuple[Values, Values]:
    """Return what leaves average of each row, times the evidence, and the evidence.

    Parameters
    ----------
    target : ndarray of shape (n_samples, n_labels) or ScoredRanks
        Ranks, with scores unless leaves hold ranks alone.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    leaf : {"ranks", "scores", "blend", "raw_scores", "relative_scores", "log_regret"}
        The votes of the ranks; the scores less the mean of their row, as large over all rows
        as the votes; half of each; or what a criterion of scores sees.

    Returns
    -------
    votes, evidence : ndarray of shape (n_samples, n_labels)
        As of `row_votes`.
    """
    votes, evidence = row_votes(ranks_of(target))
    if leaf == "ranks" or not isinstance(target, ScoredRanks):
        return votes, evidence
    if leaf in SCORE_CRITERIA:
        return evidence * np.nan_to_num(score_values(target, leaf)), evidence
    worth = evidence * target.relative()
    size, wanted = (np.sqrt(weight @ (part**2).sum(axis=1)) for part in (worth, votes))
    worth *= wanted / size if size > 0 else 0.0
    return worth if leaf == "scores" else (votes + worth) / 2, evidence


def mean_votes(votes: Values, evidence: Values, weight: Values) -> Values:
    """Return the mean votes of weighted rows, by their evidence."""
    return _ratio(weight @ votes, weight @ evidence)


def _ratio(votes: Values, evidence: Values) -> Values:
    return np.divide(votes, evidence, out=np.zeros_like(votes), where=evidence > 0)


class OutOfBagRows(NamedTuple):
    """Training rows by which the strength is chosen.

    Attributes
    ----------
    bins, target, weight : ndarray
        What the trees were grown from.
    samples : ndarray of shape (n_trees,) or (n_trees, n_samples)
        What the bootstrap samples were drawn from, if these are all rows, or how often each
        holds them.
    votes, evidence : ndarray of shape (n_samples, n_labels)
        What leaves average of them, as of `leaf_votes`.
    """

    bins: NDArray[np.uint8]
    target: Values | ScoredRanks
    weight: Values
    samples: NDArray[np.uint64] | NDArray[np.uint16]
    votes: Values
    evidence: Values

    def evenly_spaced(self) -> "OutOfBagRows":
        """Return some of all rows, all if they are few."""
        some = evenly_spaced(n := len(self.weight))
        if len(some) == n:
            return self
        counts = counts_in_samples(self.samples, n, some)
        bins, target, weight, _, votes, evidence = self
        return OutOfBagRows(
            bins[some], target[some], weight[some], counts, votes[some], evidence[some]
        )


def counts_in_samples(
    seeds: NDArray[np.unsignedinteger], n_samples: int, rows: Indices
) -> NDArray[np.uint16]:
    """Return how often the bootstrap samples of seeds hold some of all rows, one row per seed."""
    drawn = (_core.bootstrap_counts(int(seed), 0, n_samples, n_samples)[rows] for seed in seeds)
    return np.stack(list(drawn))


def out_of_bag_path(
    trees: Trees, rows: OutOfBagRows, leaf: str = "ranks"
) -> tuple[Values, dict[str, Values]]:
    """Return what each row is given at each strength by trees that have not seen it.

    Parameters
    ----------
    trees : Trees
        As grown, on bootstrap samples.
    rows : OutOfBagRows
        The rows.
    leaf : str
        What the leaves hold, as in `leaf_votes`.

    Returns
    -------
    scores : ndarray of shape (n_strengths, n_samples, n_labels)
        Votes; NaN for rows that all trees have seen. The consensus order of a row is that of all
        other rows.
    losses : dict of str to ndarray of shape (n_samples, n_strengths)
        ``"squared_error"`` of the votes; where leaves hold votes of ranks, ``"disorder"``, 1 - tau;
        where they hold scores, ``"regret"``. NaN where undefined.
    """
    target, weight = rows.target, rows.weight[:, None]
    share = _ratio(rows.votes, rows.evidence)
    own = weight * rows.votes, weight * rows.evidence
    others = _ratio(*(part.sum(axis=0) - part for part in own))
    finite = trees.arrays["weight"], STRENGTHS[:-1]
    scores, count = trees.walker.out_of_bag_shrunk(rows.bins, rows.samples, *finite)
    scores = np.concatenate([scores, others[None]])
    squared = np.einsum("rl,srl->rs", rows.evidence, (scores - share) ** 2)
    predicted = [strict_ranks(part).astype(np.float64) for part in scores]
    seen, losses = count[:, None] > 0, {"squared_error": squared}
    if leaf in ("ranks", "blend"):
        truth = ranks_of(target)
        taus = [kendall_tau(truth, ranks, average=False) for ranks in predicted]
        losses["disorder"] = 1 - np.stack(taus).T
    if isinstance(target, ScoredRanks) and leaf != "ranks":
        regrets = [regret(target.scores, ranks, average=False) for ranks in predicted]
        losses["regret"] = np.stack(regrets).T
    known = {name: np.where(seen, loss, np.nan) for name, loss in losses.items()}
    return np.where(seen, scores, np.nan), known


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
        share = weight[used] / weight[used].sum()
        best = int(np.argmin(share @ loss[used])) if best is None else best
        worse = loss[used] - loss[used][:, [best]]
        mean = share @ worse
        alike &= mean <= errors * np.sqrt(share**2 @ (worse - mean) ** 2)
    return 0 if best is None else int(np.flatnonzero(alike)[-1])


class HeldOut(NamedTuple):
    """A tree grown without some rows, and these rows.

    Attributes
    ----------
    tree : Trees
        The tree.
    models : NodeModels
        Of its nodes.
    reached : ndarray of shape (n_samples,)
        The nodes in which the rows end.
    ranks : ndarray of shape (n_samples, n_labels)
        Their rankings.
    weight : ndarray of shape (n_samples,)
        Their weights.
    """

    tree: Trees
    models: NodeModels
    reached: Indices
    ranks: Values
    weight: Values

    def pruned_taus(self, alphas: Values) -> Values:
        """Return the mean tau when the tree is pruned by each alpha."""
        predicted = strict_ranks(self.models.votes)
        return np.array(
            [
                kendall_tau(self.ranks, predicted[at], sample_weight=self.weight)
                for at in reached_when_pruned(self.tree, self.reached, alphas)
            ]
        )

    def shrunk_taus(self, alpha: float) -> Values:
        """Return the tau of each row when the pruned tree is shrunk by each strength."""
        (at,) = reached_when_pruned(self.tree, self.reached, np.array([alpha]))
        votes = (shrunk_models(self.tree, self.models, strength).votes for strength in STRENGTHS)
        taus = [kendall_tau(self.ranks, strict_ranks(v)[at], average=False) for v in votes]
        return np.column_stack(taus)


# Leaves times pairs beyond which shares would be most of a model: ties then follow margins.
_MOST_SHARES = 2**24


class TieShares(NamedTuple):
    """What leaves know of ties; both arrays are (n_leaves, n_pairs)."""

    shares: NDArray[np.float32]
    known: NDArray[np.float32]

    def trees(self, like: Trees, strength: float) -> Trees:
        """Return trees whose leaves hold shares of ties, drawn towards the nodes above.

        Parameters
        ----------
        like : Trees
            The trees as they were grown.
        strength : float
            As in `shrunk`.

        Returns
        -------
        Trees
            The same nodes, with one score per pair.
        """
        known = self.known.ravel()
        evidence = known[:0] if (known == 1).all() else known
        arrays = {**like.arrays, "scores": self.shares.ravel(), "evidence": evidence}
        own = Trees(arrays, like.n_features, self.shares.shape[1])
        if not np.isinf(strength):
            return shrunk(own, strength, np.empty(0))
        # All leaves weigh what their rows do.
        mass = like.arrays["weight"][like.leaves, None] * self.known
        total = mass.sum(axis=0)
        everyone = (mass * self.shares).sum(axis=0) / np.where(total > 0, total, 1)
        return shrunk(own, strength, everyone)


def tie_shares(
    trees: Trees,
    bins: NDArray[np.uint8],
    seeds: NDArray[np.uint64] | None,
    ranks: Values,
    weight: Values,
) -> TieShares | None:
    """Return how often pairs are tied in the training rows of every leaf.

    Parameters
    ----------
    trees : Trees
        As grown.
    bins, ranks, weight : ndarray
        The training rows.
    seeds : ndarray or None
        What the bootstrap samples were drawn from; None if the trees have seen all rows.

    Returns
    -------
    TieShares or None
        None if there were too many shares to keep.
    """
    pairs = all_pairs(ranks.shape[1])
    if len(trees.leaves) * len(pairs.first) > _MOST_SHARES:
        return None
    outcomes = pair_outcomes(ranks, pairs)
    facts = np.where(np.isnan(outcomes), -1, outcomes == 0.5).astype(np.int8)
    return TieShares(*trees.walker.leaf_shares(bins, seeds, weight, facts))

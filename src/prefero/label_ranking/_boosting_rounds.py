"""What boosting is made of: cases, the constant start, and the rounds that held-out cases want."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from prefero import _core
from prefero._trees._arrays import Trees
from prefero._trees._shrinkage import strongest_alike
from prefero._typing import Indices, Mask, Values
from prefero.consensus import pair_sums
from prefero.metrics import kendall_tau, regret
from prefero.rankings import ScoredRanks, ranks_of, strict_ranks

N_FOLDS = 5
# So many examples tell rounds apart, and with so many different ones copies share a fold.
_FEWEST_EXAMPLES, _ENOUGH_CASES, _MOST_COPIES = 10, 50, 1000
# The smallest of many losses is too good by chance: the consensus order must be worse by so many
# standard errors.
_ERRORS = 2.0
_UNKNOWN = 2**16 - 1

Bins = NDArray[np.uint8]
Seeds = NDArray[np.uint64]


class Cases(NamedTuple):
    """Training rows, equal ones once with their weights added up, sorted.

    So neither the order of the rows nor whether a row is written twice or weighs twice plays a
    part.

    Attributes
    ----------
    bins : ndarray of shape (n_cases, n_features)
        Their features.
    ranks : ndarray of shape (n_cases, n_labels)
        Their ranks: average positions in their bucket.
    weight : ndarray of shape (n_cases,)
        Their weights.
    scaled_scores : ndarray of shape (n_cases, n_labels) or None
        What their labels are worth, if a pair weighs the difference: 1 on average.
    """

    bins: Bins
    ranks: Values
    weight: Values
    scaled_scores: Values | None

    @classmethod
    def of(cls, bins: Bins, target: Values | ScoredRanks, weight: Values) -> tuple[Self, Indices]:
        """Return the cases of rows, and the case of each row."""
        ranks = _core.bucket_positions(ranks_of(target), smallest=False)
        twice = np.where(np.isnan(ranks), _UNKNOWN, 2 * ranks).astype(">u2")
        parts = [bins, twice.view(np.uint8)]
        scaled_scores = _scaled_scores(target, weight) if isinstance(target, ScoredRanks) else None
        if scaled_scores is not None:
            parts.append(scaled_scores.view(np.uint8))
        keys = np.ascontiguousarray(np.hstack(parts))
        rows = keys.view(np.dtype((np.void, keys.shape[1])))[:, 0]
        _, first, case = np.unique(rows, return_index=True, return_inverse=True)
        total = np.bincount(case, weight, minlength=len(first)).astype(np.float64)
        own = None if scaled_scores is None else scaled_scores[first]
        return cls(bins[first], ranks[first], total, own), case

    def part(self, weight: Values) -> Self:
        """Return the cases that have some of these weights."""
        used = weight > 0
        scaled_scores = None if self.scaled_scores is None else self.scaled_scores[used]
        return type(self)(self.bins[used], self.ranks[used], weight[used], scaled_scores)

    def losses(self, scores: Values) -> Values:
        """Return the loss of each case by its scores."""
        return _core.pair_logistic_losses(self.ranks, scores, self.scaled_scores)

    def measures(self, scores: Values) -> list[Values]:
        """Return what each case loses by scores: in pairs, and by the order that they give.

        That is the regret where it is known what labels are worth, else how far tau is from 1.
        """
        order = strict_ranks(scores)
        if self.scaled_scores is not None:
            worths = np.where(np.isnan(self.ranks), np.nan, self.scaled_scores)
            return [self.losses(scores), np.asarray(regret(worths, order, average=False))]
        return [self.losses(scores), 1 - np.asarray(kendall_tau(self.ranks, order, average=False))]

    @property
    def few(self) -> bool:
        """Whether the examples that cases stand for are told apart, for want of cases."""
        whole = bool((self.weight == np.floor(self.weight)).all())
        return whole and len(self.weight) < _ENOUGH_CASES

    def folds(self, count: int) -> list[Values]:
        """Return what each fold holds of the weights.

        Cases are dealt out in turn; if there are few, the examples that they stand for. No folds
        if there are too few of these.
        """
        examples = self.weight if self.few else np.ones(len(self.weight))
        if examples.sum() < _FEWEST_EXAMPLES:
            return []
        if not self.few:
            fold = np.arange(len(self.weight)) % N_FOLDS
            return [np.where(fold == k, self.weight, 0) for k in range(count)]
        ends = np.cumsum(examples)
        # How many of the examples 0, 1, ... before an end have a number k + i * N_FOLDS.
        before = [np.floor((ends - 1 - k) / N_FOLDS) + 1 for k in range(count)]
        return [np.diff(np.maximum(part, 0), prepend=0) for part in before]


def _scaled_scores(target: ScoredRanks, weight: Values) -> Values | None:
    """Scores in a unit in which ordered labels are 1 apart on average; None if all are level."""
    known = ~np.isnan(target.ranks)
    worths = np.where(known, target.scores, -np.inf)
    worths = np.where(known, worths - worths.max(axis=1, keepdims=True), 0.0)
    apart = count = 0.0
    for rank, worth in zip(target.ranks.T, worths.T, strict=True):
        ahead = rank[:, None] < target.ranks
        apart += float(weight @ np.where(ahead, worth[:, None] - worths, 0.0).sum(axis=1))
        count += float(weight @ ahead.sum(axis=1))
    return worths * (count / apart) if apart > 0 else None


@dataclass(frozen=True)
class Boosting:
    """How trees are added to a constant start.

    Parameters
    ----------
    nominal : ndarray of shape (n_features,), dtype bool
        Which features are nominal.
    options : dict
        Of the core's booster.
    seeds : ndarray of shape (n_estimators,)
        What the random choices of each round are made from.
    n_jobs : int, optional
        Threads.
    """

    nominal: Mask
    options: dict[str, Any]
    seeds: Seeds
    n_jobs: int | None

    def trees(self, cases: Cases, start: Values, rounds: int) -> Trees:
        """Return the trees of so many rounds."""
        booster = self._booster(cases, cases.part(np.zeros(len(cases.weight))), start)
        self._add([booster], self.seeds[:rounds])
        return Trees(booster.trees(), cases.bins.shape[1], cases.ranks.shape[1])

    def held_out(self, cases: Cases, folds: Sequence[Values], patience: int) -> "HeldOutRounds":
        """Boost without each fold until the others' loss has not fallen for some rounds."""
        starts = [constant_scores(cases.part(cases.weight - fold)) for fold in folds]
        boosters = [
            self._booster(cases.part(cases.weight - fold), cases.part(fold), start)
            for fold, start in zip(folds, starts, strict=True)
        ]
        path = np.array([sum(map(_constant_loss, [cases] * len(folds), folds, starts))])
        while len(path) <= len(self.seeds) and len(path) - 1 - np.argmin(path) < patience:
            losses = self._add(boosters, self.seeds[len(path) - 1 :][:patience])
            path = np.concatenate([path, np.sum(losses, axis=0)])
        rounds = int(np.argmin(path))
        shape = cases.bins.shape[1], cases.ranks.shape[1]
        scores, constant = np.full((2, *cases.ranks.shape), np.nan)
        for fold, start, booster in zip(folds, starts, boosters, strict=True):
            trees = Trees(booster.trees(), *shape).first(rounds)
            constant[fold > 0] = start
            scores[fold > 0] = start + trees.sums(cases.bins[fold > 0])
        return HeldOutRounds.of(cases, path, scores, constant, np.sum(folds, axis=0))

    def options_for(self, training: Cases) -> dict[str, Any]:
        """Return the options, with all rows for every tree if there are few cases."""
        few = len(training.weight) < _ENOUGH_CASES
        return {**self.options, "row_share": 1.0} if few else self.options

    def _booster(self, training: Cases, watched: Cases, start: Values) -> _core.LabelBooster:
        return _core.LabelBooster(
            training.bins,
            self.nominal,
            training.ranks,
            training.weight,
            *watched[:3],
            start,
            training.scaled_scores,
            watched.scaled_scores,
            **self.options_for(training),
        )

    def _add(self, boosters: list[_core.LabelBooster], seeds: Seeds) -> list[Values]:
        """Add a tree a seed to each; what comes out does not depend on the number of jobs."""
        jobs = min(effective_n_jobs(self.n_jobs), len(boosters))
        if jobs <= 1:
            return [booster.add(seeds) for booster in boosters]
        try:
            return Parallel(n_jobs=jobs, require="sharedmem")(
                delayed(booster.add)(seeds) for booster in boosters
            )
        except BaseException:  # Ctrl-C reaches the main thread alone
            for booster in boosters:
                booster.stop()
            raise


class HeldOutRounds(NamedTuple):
    """What cases say of a model that had not seen them.

    Attributes
    ----------
    rounds : int
        How many have the smallest loss; none if the consensus order is as good.
    path : ndarray of shape (n_rounds + 1,)
        The mean loss after 0, 1, ... rounds.
    scores : ndarray of shape (n_cases, n_labels)
        Of the cases after these rounds; NaN for those in no fold.
    """

    rounds: int
    path: Values
    scores: Values

    @classmethod
    def of(
        cls, cases: Cases, path: Values, scores: Values, constant: Values, weight: Values
    ) -> Self:
        """Settle on the rounds of the smallest loss, or none, from what was held out.

        Parameters
        ----------
        cases : Cases
            All cases.
        path : ndarray of shape (n_rounds + 1,)
            Their loss, summed.
        scores, constant : ndarray of shape (n_cases, n_labels)
            Their scores after the best rounds, and before all.
        weight : ndarray of shape (n_cases,)
            What was held out of them.
        """
        rounds = int(np.argmin(path))
        if _alike(cases, scores, constant, weight):
            rounds, scores = 0, constant
        return cls(rounds, path / weight.sum(), scores)


def constant_scores(cases: Cases, penalty: float = 1.0) -> Values:
    """Return the scores of the smallest pairwise logistic loss that are the same for all cases.

    Those of Bradley & Terry (1952), a tie being half a win for either label. A duel counts what
    is at stake, where that is known.

    Parameters
    ----------
    cases : Cases
        The cases.
    penalty : float, default=1.0
        Of the squares of the scores, half of it.

    Returns
    -------
    ndarray of shape (n_labels,)
        Scores; they sum to 0.
    """
    return scores_of_pair_counts(*pair_counts(cases), penalty)


def scores_of_pair_counts(wins: Values, met: Values, penalty: float = 1.0) -> Values:
    """Return the constant scores, from what each label won and what was at stake in pairs."""
    n_labels = len(wins)
    share = 1 / max(n_labels - 1, 1)
    wins, met = share * wins, share * met
    scores = np.zeros(n_labels)
    for _ in range(100):
        first = 1 / (1 + np.exp(np.subtract.outer(scores, scores).T))
        slope = (met * first).sum(axis=1) - wins + penalty * scores
        bends = met * first * (1 - first)
        hessian = np.diag(bends.sum(axis=1) + penalty) - bends
        step = np.linalg.solve(hessian, slope)
        # The length that never leads away from the minimum of a convex loss of this kind.
        far = float(np.sqrt(slope @ step))
        scores -= step / (1 + far)
        if far < 1e-9:
            break
    return scores - scores.mean()


def pair_counts(cases: Cases) -> tuple[Values, Values]:
    """Return how much each label won in all, and how much was at stake between two labels."""
    if cases.scaled_scores is not None:
        won = np.array([_won(cases, label) for label in range(cases.ranks.shape[1])])
        return won.sum(axis=1), won + won.T
    known = (~np.isnan(cases.ranks)).astype(np.float64)
    won = pair_sums(cases.ranks, cases.weight)
    met = (known * cases.weight[:, None]).T @ known
    np.fill_diagonal(met, 0)
    return (won + (met - won - won.T) / 2).sum(axis=1), met


def _won(cases: Cases, label: int) -> Values:
    """What a label won of each other, where it is known what labels are worth."""
    assert cases.scaled_scores is not None
    ahead = cases.ranks[:, [label]] < cases.ranks
    return cases.weight @ np.where(
        ahead, cases.scaled_scores[:, [label]] - cases.scaled_scores, 0.0
    )


def _alike(cases: Cases, scores: Values, constant: Values, weight: Values) -> bool:
    """Tell whether constant scores are as good, within the error, by pairs and by orders."""
    used = weight > 0
    part = cases.part(weight)
    both = [part.measures(of[used]) for of in (scores, constant)]
    measures = [np.column_stack(pair) for pair in zip(*both, strict=True)]
    # Every example is a witness where there are few cases.
    copies = np.minimum(part.weight, _MOST_COPIES).astype(int) if cases.few else 1
    measures = [np.repeat(measure, copies, axis=0) for measure in measures]
    return strongest_alike(measures, np.repeat(part.weight / copies, copies), _ERRORS) == 1


def _constant_loss(cases: Cases, weight: Values, start: Values) -> float:
    part = cases.part(weight)
    return float(part.weight @ part.losses(np.tile(start, (len(part.ranks), 1))))

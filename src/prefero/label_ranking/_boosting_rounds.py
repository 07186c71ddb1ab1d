"""What boosting is made of: cases, the constant start, and the rounds that held-out cases want."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from prefero import _core
from prefero._trees import Trees, strongest_alike
from prefero._typing import Indices, Mask, Values
from prefero.consensus import pair_sums
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks

N_FOLDS = 5
# So many examples tell rounds apart, and with so many different ones copies share a fold.
_FEWEST_EXAMPLES, _ENOUGH_CASES, _MOST_COPIES = 10, 50, 1000
# The smallest of many losses is too good by chance: the constant order must be worse by so many
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
    """

    bins: Bins
    ranks: Values
    weight: Values

    @classmethod
    def of(cls, bins: Bins, ranks: Values, weight: Values) -> tuple[Self, Indices]:
        """Return the cases of rows, and the case of each row."""
        ranks = _core.bucket_positions(ranks, smallest=False)
        twice = np.where(np.isnan(ranks), _UNKNOWN, 2 * ranks).astype(">u2")
        keys = np.ascontiguousarray(np.hstack([bins, twice.view(np.uint8)]))
        rows = keys.view(np.dtype((np.void, keys.shape[1])))[:, 0]
        _, first, case = np.unique(rows, return_index=True, return_inverse=True)
        total = np.bincount(case, weight, minlength=len(first)).astype(np.float64)
        return cls(bins[first], ranks[first], total), case

    def part(self, weight: Values) -> Self:
        """Return the cases that have some of these weights."""
        used = weight > 0
        return type(self)(self.bins[used], self.ranks[used], weight[used])

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
        weight = np.sum(folds, axis=0)
        if _alike(cases, scores, constant, weight):
            rounds, scores = 0, constant
        return HeldOutRounds(rounds, path / weight.sum(), scores)

    def _booster(self, training: Cases, watched: Cases, start: Values) -> _core.LabelBooster:
        # Of a few cases none can be done without.
        whole = {"row_share": 1.0} if len(training.weight) < _ENOUGH_CASES else {}
        return _core.LabelBooster(
            training.bins,
            self.nominal,
            training.ranks,
            training.weight,
            *watched,
            start,
            **{**self.options, **whole},
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
        How many have the smallest loss; none if the constant order is as good.
    path : ndarray of shape (n_rounds + 1,)
        The mean loss after 0, 1, ... rounds.
    scores : ndarray of shape (n_cases, n_labels)
        Of the cases after these rounds; NaN for those in no fold.
    """

    rounds: int
    path: Values
    scores: Values


def constant_scores(cases: Cases, penalty: float = 1.0) -> Values:
    """Return the scores of the smallest pairwise logistic loss that are the same for all cases.

    Those of Bradley & Terry (1952), a tie being half a win for either label.

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
    known = (~np.isnan(cases.ranks)).astype(np.float64)
    won = pair_sums(cases.ranks, cases.weight)
    met = (known * cases.weight[:, None]).T @ known
    np.fill_diagonal(met, 0)
    n_labels = len(won)
    share = 1 / max(n_labels - 1, 1)
    wins = share * (won + (met - won - won.T) / 2).sum(axis=1)
    met *= share
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


def _alike(cases: Cases, scores: Values, constant: Values, weight: Values) -> bool:
    """Tell whether constant scores are as good, within the error, by loss and by tau."""
    used = np.flatnonzero(weight > 0)
    ranks, both = cases.ranks[used], [part[used] for part in (scores, constant)]
    losses = [_core.pair_logistic_losses(ranks, part) for part in both]
    taus = [kendall_tau(ranks, strict_ranks(part), average=False) for part in both]
    measures = [np.column_stack(losses), 1 - np.column_stack(taus)]
    # Every example is a witness where there are few cases.
    copies = np.minimum(weight[used], _MOST_COPIES).astype(int) if cases.few else 1
    measures = [np.repeat(measure, copies, axis=0) for measure in measures]
    return strongest_alike(measures, np.repeat(weight[used] / copies, copies), _ERRORS) == 1


def _constant_loss(cases: Cases, weight: Values, start: Values) -> float:
    used = weight > 0
    ranks = cases.ranks[used]
    losses = _core.pair_logistic_losses(ranks, np.tile(start, (len(ranks), 1)))
    return float(weight[used] @ losses)

"""Where near means alike: what a case base learns from its rankings before the first query."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from prefero._neighbors._case_base import evenly_sampled
from prefero._neighbors._neighborhoods import Neighbors, neighbor_weights
from prefero._sklearn import limit_threads
from prefero._typing import Mask, Values
from prefero.consensus import borda_votes
from prefero.metrics import kendall_tau
from prefero.rankings import pair_signs

# Learning looks at no more cases and pairs than these; kernels between all of MAX_CASES are
# built, a regression is made of the others.
MAX_CASES = 600
MAX_REGRESSION_CASES = 20_000
MAX_PAIRS = 120

# Chosen by validation inside training folds: the ridge of the regression, relative to the
# variance of a feature; the pull between the logarithms of the weights, relative to one case;
# and the share of weight that leaves a pair open.
RIDGE = 0.03
PENALTY = 0.5
SHRINKAGE = 1e-2
TINY = 1e-300


class Space(NamedTuple):
    """Where distances are taken: centred, scaled and weighed features, and directions.

    ``directions`` of shape (n_features, n_directions) are those of the scaled features.
    """

    center: Values
    scale: Values
    factors: Values
    directions: Values


def candidate_spaces(
    X: Values,
    ranks: Values,
    weight: Values,
    scale: bool,
    feature_weights: str | ArrayLike,
    n_directions: int,
) -> list[Space]:
    """Return the ways to take distances that are to be tried, the plainest last.

    Parameters
    ----------
    X : ndarray of shape (n_cases, n_features)
        The cases.
    ranks : ndarray of shape (n_cases, n_labels)
        Their rankings.
    weight : ndarray of shape (n_cases,)
        Their weights.
    scale : bool
        Whether to standardise the features.
    feature_weights : {"auto", "learned", "equal"} or array-like of shape (n_features,)
        What features count; ``"auto"`` tries learned and equal ones if they are standardised.
    n_directions : int
        The number of directions that join learned features.

    Returns
    -------
    list of Space
        One or two.
    """
    d = X.shape[1]
    center, unit = np.zeros(d), np.ones(d)
    if scale:
        scaler = StandardScaler().fit(X, sample_weight=weight)
        center, unit = scaler.mean_, scaler.scale_
    equal = Space(center, unit, np.ones(d), np.empty((d, 0)))
    if not isinstance(feature_weights, str):
        return [equal._replace(factors=np.sqrt(_given_weights(feature_weights, d)))]
    if feature_weights == "equal" or (feature_weights == "auto" and not scale):
        return [equal]
    directions, factors = learned_space((X - center) / unit, ranks, weight, n_directions)
    learned = Space(center, unit, factors[:d], directions * factors[d:])
    return [learned] if feature_weights == "learned" else [learned, equal]


def _given_weights(weights: ArrayLike, d: int) -> Values:
    given: Values = check_array(
        weights, dtype=np.float64, ensure_2d=False, input_name="feature_weights"
    )
    if given.shape != (d,) or (given < 0).any():
        raise ValueError(
            f"feature_weights must hold {d} weights that are not negative, one a feature, got an "
            f"array of shape {given.shape}."
        )
    return given


# Products so small gain nothing from threads, and would depend on their number.
@limit_threads(limits=1, user_api="blas")
def learned_space(
    points: Values, ranks: Values, weight: Values, n_directions: int
) -> tuple[Values, Values]:
    """Learn from rankings what near means: directions to add, and factors of all features.

    Parameters
    ----------
    points : ndarray of shape (n_cases, n_features)
        Centred and scaled cases.
    ranks : ndarray of shape (n_cases, n_labels)
        Their rankings.
    weight : ndarray of shape (n_cases,)
        Their weights.
    n_directions : int
        How many directions to add, at most.

    Returns
    -------
    directions : ndarray of shape (n_features, at most n_directions)
        Linear directions along which the rankings change most.
    factors : ndarray of shape (n_features + number of directions,)
        What each feature, then each direction, counts.
    """
    rows, weight = evenly_sampled(weight, MAX_REGRESSION_CASES)
    points = points[rows]
    targets = preference_targets(ranks[rows])
    directions = ranking_directions(points, targets, weight, n_directions)
    factors = learned_feature_weights(np.hstack([points, points @ directions]), targets, weight)
    return directions, factors


def preference_targets(ranks: Values) -> Values:
    """What features are asked to explain: signs of all pairs, or votes if pairs are too many.

    Unknown and tied pairs, and the votes of unknown labels, are zero.
    """
    n_labels = ranks.shape[1]
    if n_labels * (n_labels - 1) // 2 <= MAX_PAIRS:
        return pair_signs(ranks).astype(np.float64)
    return (borda_votes(ranks) - (n_labels + 1) / 2) / ((n_labels - 1) / 2)


def ranking_directions(points: Values, targets: Values, weight: Values, count: int) -> Values:
    """Return the linear directions along which the preferences change most.

    The leading principal directions of a ridge regression of the preferences, as columns; the
    first has unit variance over the points, the others less.

    Parameters
    ----------
    points : ndarray of shape (n_cases, n_features)
        Centred and scaled cases.
    targets : ndarray of shape (n_cases, n_targets)
        Preferences.
    weight : ndarray of shape (n_cases,)
        Weights.
    count : int
        How many directions, at most.

    Returns
    -------
    ndarray of shape (n_features, at most count)
        The directions.
    """
    weight = weight / weight.sum()
    covariance = (points.T * weight) @ points
    target_mean = weight @ targets
    slopes = np.linalg.solve(
        covariance + RIDGE * np.eye(len(covariance)), (points.T * weight) @ (targets - target_mean)
    )
    variance, axes = np.linalg.eigh(slopes.T @ covariance @ slopes)
    leading = [i for i in np.argsort(-variance)[:count] if variance[i] > 1e-9]
    if not leading:
        return np.empty((points.shape[1], 0))
    return slopes @ axes[:, leading] / np.sqrt(variance[leading[0]])


def learned_feature_weights(points: Values, targets: Values, weight: Values) -> Values:
    """Weigh features so that near cases have like rankings.

    Minimizes the squared leave-one-out error of a Gaussian kernel regression of the
    preferences (metric learning for kernel regression, Weinberger & Tesauro 2007) over the
    logarithms of the weights, pulled together by a quadratic penalty.

    Parameters
    ----------
    points : ndarray of shape (n_cases, n_features)
        Scaled cases.
    targets : ndarray of shape (n_cases, n_targets)
        Preferences; zero where unknown.
    weight : ndarray of shape (n_cases,)
        Weights.

    Returns
    -------
    ndarray of shape (n_features,)
        Factors of the features, of mean square 1.
    """
    rows, weight = evenly_sampled(weight, MAX_CASES)
    loss = _KernelLoss(points[rows], targets[rows], weight)
    d = points.shape[1]
    start = loss.first_log_weight()
    bounds = [(start - 8, start + 6)] * d
    found = minimize(
        loss,
        np.full(d, start),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 40, "ftol": 1e-6},
    )
    # Two digits are what the data tell; the rest depends on the order of summation.
    logs = np.round(found.x - found.x.mean(), 2)
    factors = np.exp(logs / 2)
    return factors / np.sqrt(np.mean(factors**2))


class _KernelLoss:
    """The leave-one-out error and its gradient in the logarithms of the feature weights."""

    def __init__(self, points: Values, targets: Values, weight: Values) -> None:
        self.points, self.targets, self.weight = points, targets, weight
        self.observed = (targets != 0).astype(np.float64)
        # A little of every weight says that the order is open.
        self.judging = self.observed + SHRINKAGE
        if self.observed.all():  # all targets are judged alike: one column stands for them
            self.judging = self.judging[:, :1]
        self.total = float(weight @ self.observed.sum(axis=1)) or 1.0
        # Of a case of weight w, w - 1 remain when one is left out.
        self.remaining = np.maximum(weight - 1, 0)

    def first_log_weight(self) -> float:
        """A common weight that makes the kernel about as wide as Scott's rule."""
        n, d = self.weight.sum(), self.points.shape[1]
        spread_of_points = float(self.weight @ (self.points**2).sum(axis=1)) / n
        return float(-np.log(2 * max(spread_of_points, 1e-12) * n ** (-2 / (d + 4))))

    def __call__(self, logs: Values) -> tuple[float, Values]:
        scales = np.exp(logs)
        kernel = self._kernel(scales)
        seen = np.maximum(kernel @ self.judging, TINY)
        fitted = (kernel @ self.targets) / seen
        residual = fitted * self.observed - self.targets
        error = float(self.weight @ (residual**2).sum(axis=1)) / self.total
        pull = 2 * self.weight[:, None] * residual * self.observed / seen / self.total
        judged = pull * fitted
        if judged.shape != self.judging.shape:
            judged = judged.sum(axis=1, keepdims=True)
        slope = judged @ self.judging.T
        slope -= pull @ self.targets.T
        slope *= kernel
        # The sum over i, j of slope_ij (x_i - x_j)^2, feature by feature.
        ends = slope.sum(axis=1) + slope.sum(axis=0)
        gradient = ends @ self.points**2 - 2 * (self.points * (slope @ self.points)).sum(axis=0)
        apart = logs - logs.mean()
        pull_together = PENALTY / self.weight.sum()
        return (
            error + pull_together * float(apart @ apart),
            gradient * scales + 2 * pull_together * apart,
        )

    def _kernel(self, scales: Values) -> Values:
        """What each case, in a column, counts for each other one, in a row."""
        scaled = self.points * np.sqrt(scales)
        squares = (scaled**2).sum(axis=1)
        # One array from here on: most of the time is spent to move it.
        kernel = np.add.outer(squares, squares)
        kernel -= (2 * scaled) @ scaled.T
        np.maximum(kernel, 0, out=kernel)
        itself = np.diag_indices_from(kernel)
        kernel[itself] = np.where(self.remaining > 0, kernel[itself], np.inf)
        nearest = kernel.min(axis=1, keepdims=True)
        np.subtract(np.where(np.isfinite(nearest), nearest, 0), kernel, out=kernel)
        np.exp(kernel, out=kernel)
        alone = kernel[itself] * self.remaining
        kernel *= self.weight
        kernel[itself] = alone
        return kernel


def selected_cases(near: Neighbors, ranks: Values, predicted: NDArray[np.int64], how: str) -> Mask:
    """Say which cases stay in the case base.

    Parameters
    ----------
    near : Neighbors
        The nearest other cases of every case.
    ranks : ndarray of shape (n_cases, n_labels)
        Their rankings.
    predicted : ndarray of shape (n_cases, n_labels)
        What the others predict for each.
    how : {"edit", "condense"}
        ``"edit"`` drops the cases that contradict what the others predict (tau below 0);
        ``"condense"`` those that say the same as their nearest neighbours that stay.

    Returns
    -------
    ndarray of shape (n_cases,), dtype bool
        True for the cases that stay; at least one does.
    """
    if how == "edit":
        kept = np.asarray(~(kendall_tau(ranks, predicted, average=False) < 0))
        return kept if kept.any() else np.ones_like(kept)
    others = near.places > 0
    same = np.ones(len(ranks), dtype=bool)
    for column in range(near.indices.shape[1]):
        tau = kendall_tau(ranks, ranks[near.indices[:, column]], average=False)
        same &= ~others[:, column] | (tau > 1 - 1e-9)
    kept = np.ones(len(ranks), dtype=bool)
    for case in np.flatnonzero(same & others.any(axis=1)):
        kept[case] = not kept[near.indices[case, others[case]]].all()
    return kept


def nearest_in_local_metric(
    queries: Values, points: Values, targets: Values, near: Neighbors, k: int
) -> Neighbors:
    """Choose k of more neighbours by a metric fitted around each query.

    A ridge regression of the votes on the neighbours of a query says along which directions
    the rankings change there. Distances along these are given half of the weight, in the
    spirit of the discriminant metric of Hastie & Tibshirani (1996).

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_features)
        The queries.
    points : ndarray of shape (n_cases, n_features)
        The cases.
    targets : ndarray of shape (n_cases, n_labels)
        Votes of the cases.
    near : Neighbors
        More than k neighbours of each query.
    k : int
        How many to keep.

    Returns
    -------
    Neighbors
        The chosen ones; their distances are those of the local metric.
    """
    weights = neighbor_weights(near, "dudani")
    weights = (weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12))[:, :, None]
    offsets = points[near.indices] - queries[:, None, :]
    local = targets[near.indices]
    centred = offsets - (weights * offsets).sum(axis=1, keepdims=True)
    local = local - (weights * local).sum(axis=1, keepdims=True)
    weighted = np.swapaxes(weights * centred, 1, 2)
    covariance = weighted @ centred
    size = np.trace(covariance, axis1=1, axis2=2)[:, None, None] + 1e-12
    ridge = size / queries.shape[1] * np.eye(queries.shape[1])
    slopes = np.linalg.solve(covariance + ridge, weighted @ local)
    along = offsets @ slopes
    plain = (offsets**2).mean(axis=(1, 2)) + 1e-12
    steep = (along**2).mean(axis=(1, 2)) + 1e-12
    squares = (offsets**2).sum(axis=2) / plain[:, None] + (along**2).sum(axis=2) / steep[:, None]
    chosen = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return Neighbors(
        np.sqrt(np.take_along_axis(squares, chosen, axis=1)),
        np.take_along_axis(near.indices, chosen, axis=1),
        np.take_along_axis(near.places, chosen, axis=1),
    )

"""Ridge regression of all labels at once, with the penalty of the best left-out rows."""

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefero._products import row_products
from prefero._sklearn import StrOptions
from prefero._solvers._scaling import FeatureScale
from prefero._state import Array, FittedState, Number
from prefero._trees._values import SCORE_CRITERIA, filled, score_values
from prefero._typing import Indices, Values
from prefero.base import BaseLabelRanker, ScoredRankerMixin
from prefero.consensus import borda_votes
from prefero.rankings import ScoredRanks

# Penalties to choose from, in units of the summed squared lengths of the rows.
_PENALTIES = tuple(10.0 ** np.arange(-6.0, 3.1))


class RidgeLabelRanker(ScoredRankerMixin, BaseLabelRanker):
    """Regress scores, or the votes of rankings, by ridge regression.

    The penalty is the one with the smallest squared error on rows left out one at a time, which
    costs no further fit. Behind a kernel approximation, such as scikit-learn's ``Nystroem``, this
    is kernel ridge regression.

    Parameters
    ----------
    target : {"auto", "votes", "raw_scores", "relative_scores", "log_regret"}, default="auto"
        What is regressed: generalized Borda votes of the ranks; scores as they are; less the mean
        of their row; or -log(1 + regret / q), q the 10 % quantile of the positive regrets.
        ``"auto"`` is ``"relative_scores"`` if there are scores, else ``"votes"``.
    alpha : float or array-like, optional
        The penalty, or penalties to choose from, in units of the summed squared lengths of the
        rows; by default 1e-6 to 1e3.
    scale : bool, default=True
        Whether features are centred and scaled first; coefficients are of those given.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, from the rows left out.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (n_labels,)
        What is predicted of a row of zeros.
    alpha_ : float
        The penalty that was used.

    Examples
    --------
    >>> X, S = [[0.0], [1.0], [2.0], [3.0]], [[3.0, 0.0], [2.0, 1.0], [1.0, 2.0], [0.0, 3.0]]
    >>> Y = [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> ranker = RidgeLabelRanker(target="raw_scores", alpha=1e-6).fit(X, Y, scores=S)
    >>> ranker.decision_function([[4.0]]).round(2) + 0
    array([[-1.,  4.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "target": [StrOptions({"auto", "votes", *SCORE_CRITERIA})],
        "alpha": ["array-like", Real, None],
        "scale": ["boolean"],
        "calibrate": ["boolean"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "coef_": Array("f8", "n_labels", "n_features"),
        "intercept_": Array("f8", "n_labels"),
        "alpha_": Number(0),
    }

    def __init__(
        self,
        target: str = "auto",
        *,
        alpha: ArrayLike | None = None,
        scale: bool = True,
        calibrate: bool = True,
    ) -> None:
        self.target = target
        self.alpha = alpha
        self.scale = scale
        self.calibrate = calibrate

    def _fit(self, X: NDArray[Any], target: Values | ScoredRanks, weight: Values) -> None:
        alphas = np.atleast_1d(_PENALTIES if self.alpha is None else self.alpha).astype(np.float64)
        if not (alphas >= 0).all():
            raise ValueError(f"alpha must not be negative, got {self.alpha!r}.")
        scale = FeatureScale.of(X, weight, wanted=self.scale)
        X, values = scale.apply(X), filled(self._values(target), weight)
        # Equal rows are left out together: a row of weight two is the row twice.
        both = np.hstack([X, values])
        _, first, case = np.unique(both, axis=0, return_index=True, return_inverse=True)
        case = case.ravel()
        found = ridge(X[first], values[first], np.bincount(case, weight).astype(np.float64), alphas)
        self.coef_, self.intercept_ = scale.to_users(found.coef, found.intercept)
        self.alpha_ = found.alpha
        self._held_out = found.left_out[case]

    def _values(self, target: Values | ScoredRanks) -> Values:
        kind = self.target
        if isinstance(target, ScoredRanks):
            kind = "relative_scores" if kind == "auto" else kind
            target = target.ranks if kind == "votes" else target
        if isinstance(target, ScoredRanks):
            return score_values(target, kind)
        if kind in SCORE_CRITERIA:
            raise ValueError(
                f"target={kind!r} needs scores: fit(X, y, scores=S), larger is better."
            )
        return np.where(np.isnan(target), np.nan, borda_votes(target))

    def _held_out_scores(self, X: Any, target: Any, weight: Values, rows: Indices) -> Values | None:
        return self._held_out[rows]

    def _decision(self, X: NDArray[Any]) -> Values:
        return row_products(X, self.coef_.T) + self.intercept_


class Ridge(NamedTuple):
    """A fitted ridge regression, and what it predicts of each row without that row."""

    coef: Values
    intercept: Values
    alpha: float
    left_out: Values


def ridge(X: Values, Y: Values, weight: Values, alphas: Values) -> Ridge:
    """Fit a ridge regression of several targets with the penalty of the best left-out rows.

    Examples
    --------
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> found = ridge(X, Y, np.ones(3), np.array([0.0]))
    >>> found.coef.round(6), found.intercept.round(6), found.left_out.round(6).ravel()
    (array([[2.]]), array([1.]), array([1., 3., 5.]))
    """
    share = weight / weight.sum()
    x_mean, y_mean = share @ X, share @ Y
    root = np.sqrt(weight)[:, None]
    U, s, V = np.linalg.svd(root * (X - x_mean), full_matrices=False)
    used = s > np.finfo(float).eps * max(X.shape) * s.max(initial=0.0)
    U, s, V = U[:, used], s[used], V[used]
    unit = float(s @ s) or 1.0
    seen = U.T @ (root * (Y - y_mean))
    best: tuple[float, Ridge] | None = None
    for alpha in alphas.tolist():
        kept = s**2 / (s**2 + alpha * unit)
        fitted = U @ (kept[:, None] * seen) / root + y_mean
        lever = np.minimum((U**2) @ kept + share, 1 - 1e-9)[:, None]
        left_out = Y - (Y - fitted) / (1 - lever)
        error = float(share @ ((Y - left_out) ** 2).sum(axis=1))
        if best is None or error < best[0]:
            coef = (V.T @ ((kept / s)[:, None] * seen)).T
            best = error, Ridge(coef, y_mean - coef @ x_mean, alpha, left_out)
    assert best is not None
    return best[1]

"""Ties that margins do not tell: a model per pair of labels says how likely the two are tied."""

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from prefero._pairwise import fit_together
from prefero._products import row_products
from prefero._sampling import held_out_rows
from prefero._state import Array, FittedState, State
from prefero._typing import Values


def _is_of_each_pair(coef: Any, state: State) -> bool:
    n = state.size("n_labels")
    return len(coef) == n * (n - 1) // 2


class TieModelsMixin:
    """Mixin of rankers that leave ties out when they learn, so that a tie may have any margin.

    Where training rankings hold ties, a logistic regression per pair of labels learns from the
    features whether the two are tied. What it says counts beside the margin, as much as rows tell
    that it had not seen.

    Attributes
    ----------
    tie_coef_, tie_intercept_ : ndarray of shape (n_pairs, n_features) and (n_pairs,)
        The models of ties, if training rankings held some.
    """

    tie_coef_: Values
    tie_intercept_: Values

    _fitted_state: ClassVar[FittedState] = {
        "tie_coef_": Array(
            "f8",
            "n_tie_models",
            "n_features",
            optional=True,
            rule=("a model for each pair of labels", _is_of_each_pair),
        ),
        "tie_intercept_": Array("f8", "n_tie_models", optional=True),
    }

    def _learn_tie_model(self, X: Any, outcomes: Values, weight: Values) -> Values | None:
        """Learn from all rows, and return what models say of those that they had not seen."""
        vars(self).pop("tie_coef_", None)
        if outcomes.shape[1] != len(self.labels_) * (len(self.labels_) - 1) // 2:  # type: ignore[attr-defined]
            return None
        signs = (outcomes == 0.5).astype(np.int8) - ((outcomes == 0) | (outcomes == 1))
        folds = held_out_rows(X, np.zeros((len(weight), 0)))
        if not (signs > 0).any() or not folds:
            return None
        shares = np.full(outcomes.shape, np.nan)
        for seen, left_out in folds:
            models = _tie_models(X[seen], signs[seen], weight[seen])
            shares[left_out] = _shares(X[left_out], *models)
        self.tie_coef_, self.tie_intercept_ = _tie_models(X, signs, weight)
        return shares

    def _tie_shares(self, X: Any) -> Values | None:
        known = hasattr(self, "tie_coef_")
        return _shares(X, self.tie_coef_, self.tie_intercept_) if known else None


def _shares(X: Any, coef: Values, intercept: Values) -> Values:
    return expit(row_products(X, coef.T) + intercept)


def _tie_models(X: Any, signs: Any, weight: Values) -> tuple[Values, Values]:
    """Logistic regressions on standardized features, with coefficients of those given."""
    scaler = StandardScaler(with_mean=not issparse(X)).fit(X, sample_weight=weight)
    scaled = scaler.transform(X)
    coef, intercept, _ = fit_together(LogisticRegression(), scaled, signs, weight)
    coef /= scaler.scale_
    return coef, intercept - (0 if scaler.mean_ is None or issparse(X) else coef @ scaler.mean_)

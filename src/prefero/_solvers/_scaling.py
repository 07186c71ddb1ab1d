"""Features centred and scaled inside linear rankers, whose coefficients are in the user's units."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from prefero._typing import Values

# Of a feature that varies by less than this share of its size, only rounding varies.
_ROUNDING = 1e-13
# So many decimals do not depend on the order in which rows are added up.
_DECIMALS = 6

Moments = tuple[float, Values, Values]


def moments_of(X: Any, weight: Values, *, centered: bool = True) -> Moments:
    """Return the total weight, and the weighted means and variances of features.

    Without ``centered`` the means are zero, and the variances mean squares.
    """
    total = float(weight.sum())
    share = weight / total
    mean = share @ X if centered else np.zeros(X.shape[1])
    if issparse(X):
        return total, mean, np.maximum(share @ X.power(2) - mean**2, 0)
    return total, mean, share @ (X - mean) ** 2


class FeatureScale(NamedTuple):
    """Where each feature is centred, and its unit; both None if features stay as they are.

    Attributes
    ----------
    center, unit : ndarray of shape (n_features,)
        Means, and standard deviations.

    Examples
    --------
    >>> X = np.array([[1001.0], [1003.0]])
    >>> scale = FeatureScale.of(X, np.ones(2))
    >>> scale.apply(X).ravel(), scale.to_users(np.array([[2.0]]), np.array([5.0]))
    (array([-1.,  1.]), (array([[2.]]), array([-1999.])))
    """

    center: Values | None = None
    unit: Values | None = None

    @classmethod
    def of(cls, X: Any, weight: Values, *, wanted: bool = True, centered: bool = True) -> Self:
        """Return the scale of features; sparse ones, and those of no intercept, stay at zero."""
        if not wanted:
            return cls()
        return cls.of_moments([moments_of(X, weight, centered=centered)], centered=not issparse(X))

    @classmethod
    def of_moments(cls, parts: Sequence[Moments], *, centered: bool = True) -> Self:
        """Return the scale of features by the moments of some parts of their rows."""
        totals, means, variances = (np.array(column) for column in zip(*parts, strict=True))
        share = totals / totals.sum()
        mean = share @ means
        spread = np.sqrt(share @ (variances + (means - mean) ** 2))
        varies = spread > _ROUNDING * np.abs(mean)
        unit = np.where(varies, spread, np.where(mean == 0, 1.0, np.abs(mean)))
        digits = 10.0 ** (np.floor(np.log10(unit)) - _DECIMALS)
        unit = np.round(unit / digits) * digits
        center = np.round(mean / unit, _DECIMALS) * unit
        return cls(center if centered else np.zeros_like(center), unit)

    def apply(self, X: Any) -> Any:
        """Return features in these units."""
        if self.unit is None:
            return X
        return type(X)(X / self.unit) if issparse(X) else (X - self.center) / self.unit

    def to_users(self, coef: Values, intercept: Any) -> tuple[Values, Any]:
        """Return coefficients and intercepts of the features as they were given."""
        if self.unit is None or self.center is None:
            return coef, intercept
        coef = coef / self.unit
        return coef, intercept - coef @ self.center

    def from_users(self, coef: Values, intercept: Any) -> tuple[Values, Any]:
        """Return what `to_users` takes, to go on from an earlier fit."""
        if self.unit is None or self.center is None or coef.shape[-1:] != self.unit.shape:
            return coef, intercept
        return coef * self.unit, intercept + coef @ self.center

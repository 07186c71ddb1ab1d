"""Accuracy against the number of dimensions that a reduction leaves."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import has_fit_parameter

from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero.inspection._style import (
    Display,
    draw_curves,
    legend,
    metric_name,
    open_frame,
    plain,
)

__all__ = ["DimensionsDisplay"]


@dataclass(eq=False, repr=False)
class DimensionsDisplay(Display):
    """Curves over the number of dimensions, one a reduction (Fig. 4 of Kamishima & Akaho 2006).

    Parameters
    ----------
    dimensions : sequence of int
        Numbers of dimensions, ascending.
    curves : dict of str to ndarray of shape (n_dimensions,)
        The mean metric after each reduction.
    whole : float, optional
        The mean metric without any reduction.
    scoring : str, default="rho"
        What the curves are.
    title : str, default=""
        What they were measured on.

    %(drawn_on)s

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from prefero import ExpectedRankOrderer, RankCorrelationReducer
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 4)), np.repeat(np.arange(12), 5)
    >>> y = np.concatenate([np.argsort(np.argsort(-x)) + 1 for x in X[:, 0].reshape(12, 5)])
    >>> display = DimensionsDisplay.from_estimators(
    ...     {"RCDR": RankCorrelationReducer(3), "PCA": PCA(3)},
    ...     ExpectedRankOrderer(), X, y, qid, cv=3,
    ... )
    >>> float(display.curves["RCDR"][0]) > 0.9
    True
    """

    dimensions: Sequence[int]
    curves: dict[str, Values]
    _: KW_ONLY
    whole: float | None = None
    scoring: str = "rho"
    title: str = ""

    @classmethod
    def from_estimators(
        cls,
        reducers: Mapping[str, BaseEstimator],
        orderer: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        dimensions: Sequence[int] | None = None,
        cv: int = 5,
        title: str = "",
        ax: Any = None,
    ) -> Self:
        """Cross-validate an orderer after each reduction, and without any.

        Parameters
        ----------
        reducers : mapping of str to transformer
            Such as `prefero.RankCorrelationReducer` or scikit-learn's ``PCA``, by name, whose
            components come in the order of their weight. Each is fitted once a fold; of what it
            returns the first components are used.
        orderer : estimator
            What learns from the components.
        X : array-like of shape (n_objects, n_features)
            The objects.
        y : array-like of shape (n_objects,)
            Their ranks in the orders.
        qid : array-like of shape (n_objects,)
            The order that each is part of. No order is divided between folds.
        dimensions : sequence of int, optional
            Numbers of components; by default from one to the least number that a reducer gives.
        cv : int, default=5
            The number of folds.
        title : str, default=""
            What was measured on.
        %(ax)s

        %(display)s
        """
        y, qid = np.asarray(y), np.asarray(qid)
        found: dict[str, list[list[float]]] = {name: [] for name in reducers}
        whole = []
        for train, test in GroupKFold(cv).split(y, groups=qid):
            parts = [safe_indexing(X, rows) for rows in (train, test)]
            sides = [(y[rows], qid[rows]) for rows in (train, test)]
            whole.append(_score(orderer, parts, sides))
            for name, reducer in reducers.items():
                reduced = _reduced(reducer, parts, sides[0])
                given = reduced[0].shape[1]
                numbers = range(1, given + 1) if dimensions is None else dimensions
                if max(numbers) > given:
                    raise ValueError(f"{name} gives {given} components, not {max(numbers)}.")
                found[name].append(
                    [_score(orderer, [part[:, :k] for part in reduced], sides) for k in numbers]
                )
        # Folds and reducers may differ in how many components there are.
        least = min(len(scores) for folds in found.values() for scores in folds)
        curves = {
            name: np.mean([scores[:least] for scores in folds], axis=0)
            for name, folds in found.items()
        }
        numbers = list(range(1, least + 1) if dimensions is None else dimensions)
        return cls(numbers, curves, whole=float(np.mean(whole)), title=title).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 5.5, 4)
        draw_curves(ax, self.dimensions, self.curves)
        if self.whole is not None:
            ax.axhline(self.whole, color="0.5", linestyle=":", label="all attributes")
        ax.set(
            title=plain(self.title),
            xlabel="dimensions",
            ylabel=metric_name(self.scoring),
        )
        if max(self.dimensions) > 20:
            ax.set_xscale("log")
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        open_frame(ax)
        legend(ax)


def _reduced(reducer: BaseEstimator, parts: list[Any], orders: tuple[Any, Any]) -> list[Any]:
    """Fit a reducer to the first part; return both parts reduced."""
    y, qid = orders
    extra = {"qid": qid} if has_fit_parameter(reducer, "qid") else {}
    fitted = clone(reducer).fit(parts[0], y, **extra)
    return [fitted.transform(part) for part in parts]


def _score(orderer: BaseEstimator, parts: list[Any], orders: list[tuple[Any, Any]]) -> float:
    return float(clone(orderer).fit(parts[0], *orders[0]).score(parts[1], *orders[1]))

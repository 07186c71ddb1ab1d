"""What every estimator that grows trees keeps of them, and how it is declared."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from prefero._state import Array, FittedState, Record, State
from prefero._trees._arrays import DTYPES, Arrays, Trees
from prefero._trees._bins import FeatureBins, find_bins
from prefero._typing import Indices, Mask, Values


def trees_state(n_scores: str | int) -> FittedState:
    """Declare trees with so many scores a leaf, and the bins they ask for."""

    def can_be_walked(arrays: Arrays, state: State) -> bool:
        try:
            Trees(arrays, state.size("n_features"), state.size(n_scores)).refuse_tangles()
        except ValueError:
            return False
        return True

    of_nodes = dict.fromkeys(("weight", "decrease"), "n_nodes")
    arrays = {
        name: Array(np.dtype(dtype).name, of_nodes.get(name, f"n_{name}"))
        for name, dtype in DTYPES.items()
    }
    return {
        "bin_edges_": Array("f8", "n_edges"),
        "bin_starts_": Array(
            "i8", "n_features + 1", rule=("where the edges of each feature start", _are_starts)
        ),
        "nominal_features_": Array("b", "n_features"),
        "trees_": Record(arrays, rule=("trees whose every path ends in a leaf", can_be_walked)),
    }


def _are_starts(starts: Indices, state: State) -> bool:
    rising = starts[0] == 0 and (np.diff(starts) >= 0).all()
    return bool(rising and starts[-1] == state.size("n_edges"))


class TreesMixin:
    """Mixin of estimators that grow trees.

    Attributes
    ----------
    trees_ : dict of str to ndarray
        The trees as plain arrays; ``Trees`` says what they hold.
    bin_edges_ : ndarray of shape (n_edges,)
        Where the bins of all features end, feature after feature.
    bin_starts_ : ndarray of shape (n_features + 1,)
        Where the edges of each feature start.
    nominal_features_ : ndarray of shape (n_features,), dtype bool
        Which features are nominal: each of their bins is a category.
    """

    trees_: Arrays
    bin_edges_: Values
    bin_starts_: NDArray[np.int64]
    nominal_features_: Mask
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_scores(self) -> int:
        """How many scores a leaf has."""
        return len(self.labels_)  # type: ignore[attr-defined]

    @cached_property
    def _trees(self) -> Trees:
        return Trees(self.trees_, self.n_features_in_, self._n_scores)

    @property
    def feature_importances_(self) -> Values:
        """How much the tests on each feature gain; they sum to 1.

        For importances that training cannot inflate use
        :func:`sklearn.inspection.permutation_importance`.
        """
        check_is_fitted(self)
        return self._trees.importances()

    @property
    def _feature_bins(self) -> FeatureBins:
        return FeatureBins(self.bin_edges_, self.bin_starts_, self.nominal_features_)

    def _learn_bins(self, X: Values, nominal: Mask | None = None) -> NDArray[np.uint8]:
        """Keep the bins of training rows and return them."""
        bins = find_bins(X, nominal)
        self.bin_edges_, self.bin_starts_, self.nominal_features_ = bins
        return bins.apply(X)

    def _keep(self, trees: Trees) -> None:
        self.trees_, self._trees = trees.arrays, trees

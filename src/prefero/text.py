"""Words as base functions: the text features of Dekel, Manning & Singer (2003), section 4."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from prefero._sklearn import Interval, StrOptions
from prefero._state import Array, FittedState
from prefero._text_encoder import TextEncoder
from prefero._typing import Mask, Values
from prefero.base import FittedMixin
from prefero.preferences import (
    DECOMPOSITIONS,
    Decomposition,
    PreferenceGraphs,
    SignedFeatures,
    decompose,
)

__all__ = ["BoostingFeatureSelector", "LogCountTransformer", "TextEncoder"]


class LogCountTransformer(FittedMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn word counts into log(count) + 1, and leave the words that do not occur at 0.

    References
    ----------
    Dekel, Manning & Singer (2003), equation 6.

    Examples
    --------
    >>> LogCountTransformer().fit_transform([[0, 1, 10]]).round(2)
    array([[0. , 1. , 3.3]])
    """

    _input_tags: ClassVar[dict[str, bool]] = {"sparse": True, "positive_only": True}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the counts; there is nothing to learn.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_words)
            Counts.
        y : object, optional
            Ignored.

        Returns
        -------
        self
            The transformer.
        """
        self._counts(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Take the logarithms.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_words)
            Counts.

        Returns
        -------
        {ndarray, CSR matrix} of shape (n_samples, n_words)
            log(count) + 1 where a word occurs, else 0.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        values = counts.data if issparse(counts) else counts
        occurs = values > 0
        values[occurs] = np.log(values[occurs]) + 1
        return counts

    def _counts(self, X: Any, *, reset: bool) -> Any:
        """A fresh copy of the counts, after a look at their signs."""
        counts = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=np.float64, copy=True
        )
        if (counts.min() if counts.shape[0] else 0) < 0:
            raise ValueError(
                "Negative values in data passed to LogCountTransformer: X must hold counts."
            )
        return counts


class BoostingFeatureSelector(FittedMixin, SelectorMixin, BaseEstimator):
    """Keep the features that a first round of boosting would gain most from.

    The score of a feature is the drop of the ranking loss that Theorem 1 of the paper
    guarantees for an update of this feature's weights alone, starting from a model that knows
    nothing: the sum over the labels of (sqrt(W+) - sqrt(W-))^2, divided by the feature's rho.

    Parameters
    ----------
    n_features_to_select : int, default=3200
        How many features to keep; all, if there are not more.
    decomposition : {"graph", "edges", "domination", "dominated"} or callable, \
default="domination"
        The loss, as in `LogLinearLabelRanker`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Guaranteed drops of the mean loss of an instance.

    Notes
    -----
    The paper calls its filter "a heuristic common in boosting applications" and says no more;
    this is the criterion by which boosting on single words picks its first word (Schapire &
    Singer 2000), for the loss of preference graphs.

    References
    ----------
    Dekel, Manning & Singer (2003), section 4. Schapire & Singer (2000), BoosTexter, Machine
    Learning 39.

    Examples
    --------
    >>> X = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
    >>> Y = [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> BoostingFeatureSelector(1).fit(X, Y).get_support()
    array([ True, False, False])
    """

    _input_tags: ClassVar[dict[str, bool]] = {"sparse": True}
    _needs_y: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [Interval(Integral, 1, None, closed="left")],
        "decomposition": [StrOptions(set(DECOMPOSITIONS)), callable],
    }

    _fitted_state: ClassVar[FittedState] = {"scores_": Array("f8", "n_features")}

    def __init__(
        self, n_features_to_select: int = 3200, *, decomposition: Decomposition = "domination"
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.decomposition = decomposition

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Score the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels), or PreferenceGraphs
            Classes, ranks, or preference graphs.

        Returns
        -------
        self
            The fitted selector.
        """
        self._validate_params()
        if y is None:
            raise ValueError(
                "BoostingFeatureSelector requires y to be passed, but the target y is None."
            )
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        graphs = _graphs(y)
        check_consistent_length(X, graphs)
        sums = decompose(graphs, self.decomposition).loss(np.zeros(graphs.shape))
        plus, minus = SignedFeatures(X).boosting_sums(sums.incoming, sums.outgoing)
        drops = np.sum((np.sqrt(plus) - np.sqrt(minus)) ** 2, axis=1)
        self.scores_ = drops / (2 * _largest(X) * X.shape[0])
        return self

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        mask = np.zeros(len(self.scores_), dtype=bool)
        mask[np.argsort(-self.scores_, kind="stable")[: self.n_features_to_select]] = True
        return mask


def _graphs(y: Any) -> PreferenceGraphs:
    if isinstance(y, PreferenceGraphs):
        return y
    if np.asarray(y).ndim == 1:
        return PreferenceGraphs.from_classes(y)
    return PreferenceGraphs.from_ranks(y)


def _largest(X: Any) -> Values:
    """The largest absolute value of each feature; 1 for a feature that is 0 throughout."""
    largest = abs(X).max(axis=0)
    values = np.asarray(largest.todense() if issparse(largest) else largest).ravel()
    return np.where(values > 0, values, 1.0)

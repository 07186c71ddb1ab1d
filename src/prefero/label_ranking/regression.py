"""Any regressor of scikit-learn as a label ranker: one model of a label's position."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags

from prefero._pipelines import takes_weights
from prefero._sklearn import HasMethods
from prefero._solvers._scaling import FeatureScale
from prefero._state import Array, Each, FittedState, Model
from prefero._typing import Mask, Values
from prefero.base import BaseLabelRanker
from prefero.consensus import borda_votes
from prefero.label_ranking._tie_models import TieModelsMixin


class RegressionLabelRanker(TieModelsMixin, BaseLabelRanker):
    """Learn the votes of each label by a regressor, from the rows that rank it.

    A label's vote in a ranking is its generalized Borda count. The predicted votes are the
    scores.

    Parameters
    ----------
    estimator : regressor, default=None
        Cloned for each label; a ridge regression if None.
    calibrate : bool, default=True
        Whether pair probabilities are learned too, from three more fits.
    scale : bool, default=True
        Whether the default regressor sees standardized features, so that neither their units
        nor their zero matter; sparse ones are not centred. Its coefficients are of the features
        as given.
    n_jobs : int or None, default=None
        How many labels to learn at the same time, as in joblib.

    Attributes
    ----------
    estimators_ : list of regressors
        One per label that is ranked somewhere.
    ranked_labels_ : ndarray
        The indices of those labels.
    mean_votes_ : ndarray of shape (n_labels,)
        The mean votes of the training rankings: what is predicted of labels
        without a regressor.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1, 2, 3], [1, 2, 3], [3, 2, 1], [3, 2, 1]]
    >>> RegressionLabelRanker().fit(X, Y).predict([[-1.0], [4.0]])
    array([[1, 2, 3],
           [3, 2, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_jobs": [Integral, None],
        "calibrate": ["boolean"],
        "scale": ["boolean"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "ranked_labels_": Array("i", "n_ranked", low=0, high="n_labels - 1"),
        "estimators_": Each(Model("predict"), "n_ranked"),
        "mean_votes_": Array("f8", "n_labels"),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        calibrate: bool = True,
        scale: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.calibrate = calibrate
        self.scale = scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def _base(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def _fit(self, X: Any, ranks: Values, weight: Values) -> None:
        votes, known = np.asarray(borda_votes(ranks)), ~np.isnan(ranks)
        self.ranked_labels_ = np.flatnonzero(known.any(axis=0))
        self.mean_votes_ = np.average(votes, axis=0, weights=weight)
        scale = FeatureScale.of(X, weight, wanted=self.scale and self.estimator is None)
        X = scale.apply(X)
        weighted = takes_weights(self._base(), weight)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            # The whole of X, which is sent to a worker once, not its rows with every label.
            delayed(_fitted)(
                self._base(), X, votes[:, label], weight if weighted else None, known[:, label]
            )
            for label in self.ranked_labels_.tolist()
        )
        if self.estimator is None:
            for model in self.estimators_:
                model.coef_, model.intercept_ = scale.to_users(model.coef_, model.intercept_)

    def _decision(self, X: Any) -> Values:
        scores = np.tile(self.mean_votes_, (X.shape[0], 1))
        for label, model in zip(self.ranked_labels_.tolist(), self.estimators_, strict=True):
            scores[:, label] = model.predict(X)
        return scores


def _fitted(estimator: Any, X: Any, votes: Values, weight: Values | None, known: Mask) -> Any:
    own = {} if weight is None else {"sample_weight": weight[known]}
    return clone(estimator).fit(X[known], votes[known], **own)

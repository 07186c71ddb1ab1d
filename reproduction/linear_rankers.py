"""Linear rankers that Cheng et al. (2009) do not have, and parameters chosen in training."""

from collections.abc import Iterator
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from prefero import ConstraintLabelRanker, LogLinearLabelRanker, PairwiseLabelRanker


class InnerSplits:
    """Three random splits of the training data, of at most 2000 rows a side.

    So many rows tell the candidates apart, and the large sets take no longer to choose.
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Yield the rows to train on and those to judge by."""
        n_test = min(2000, len(X) // 4)
        n_train = min(2000, len(X) - n_test)
        splits = ShuffleSplit(3, train_size=n_train, test_size=n_test, random_state=0)
        return splits.split(X)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return three."""
        return 3


def linear_rankers() -> dict[str, BaseEstimator]:
    """Return the linear rankers that the paper does not have."""
    log_linear = make_pipeline(
        StandardScaler(), LogLinearLabelRanker("edges", alpha=1e-4, calibrate=False, scale=False)
    )
    squares = make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2, include_bias=False),
        LogLinearLabelRanker("edges", alpha=1e-4, calibrate=False, scale=False),
    )
    pairwise = make_pipeline(StandardScaler(), PairwiseLabelRanker(C=1.0, calibrate=False))
    powers = {
        "polynomialfeatures__degree": [1, 2],
        "loglinearlabelranker__alpha": [1e-2, 1e-3, 1e-4, 1e-5],
    }
    penalties = {"pairwiselabelranker__C": [0.1, 1.0, 10.0, 100.0]}
    return {
        "log-linear": log_linear,
        "log-linear-squares": clone(squares).set_params(loglinearlabelranker__alpha=1e-3),
        "log-linear-chosen": GridSearchCV(squares, powers, cv=InnerSplits()),
        "RPC": pairwise,
        "RPC-chosen": GridSearchCV(pairwise, penalties, cv=InnerSplits()),
    }


def chosen_constraint() -> GridSearchCV:
    """Return constraint classification with what the paper leaves open chosen in training."""
    few = {"max_iter": [30], "margin": [0.0, 0.1]}
    many = {"max_iter": [1000], "alpha_per": ["pair", "example"]}
    ranker = ConstraintLabelRanker(calibrate=False, scale=False, random_state=0)
    return GridSearchCV(ranker, [few, many], cv=InnerSplits())

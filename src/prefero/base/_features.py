"""The questions every estimator asks of its features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data


def check_features(estimator: Any, X: Any, *, reset: bool) -> NDArray[Any]:
    """Validate features as the tags of an estimator say, naming the place of a NaN it refuses.

    Parameters
    ----------
    estimator : estimator
        Its tags say whether sparse X and NaN are legal.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    reset : bool
        True in fit, where the names and number of features are learned.

    Returns
    -------
    ndarray or csr_matrix of shape (n_samples, n_features)
        The features as float64.
    """
    input_tags = estimator.__sklearn_tags__().input_tags
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=np.float64,
        accept_sparse="csr" if input_tags.sparse else False,
        ensure_all_finite="allow-nan",
    )
    if not input_tags.allow_nan:
        _refuse_nan(estimator, checked)
    return checked


def _refuse_nan(estimator: Any, X: Any) -> None:
    entries = X.tocoo() if issparse(X) else X
    missing = np.isnan(entries.data if issparse(X) else entries)
    if not missing.any():
        return
    if issparse(X):
        row, column = (int(index[missing][0]) for index in (entries.row, entries.col))
    else:
        row, column = (int(index) for index in np.argwhere(missing)[0])
    name = getattr(estimator, "feature_names_in_", range(X.shape[1]))[column]
    raise ValueError(
        f"X contains NaN in column {name!r}, first in row {row}, and "
        f"{type(estimator).__name__} does not accept missing features: impute them, for "
        "instance with sklearn.impute.SimpleImputer, or use a tree or a forest."
    )

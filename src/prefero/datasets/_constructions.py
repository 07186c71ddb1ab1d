"""Label-ranking data from classification and from regression data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale
from sklearn.utils import Bunch, check_array

from prefero._optional import require
from prefero.rankings import strict_ranks


def ranks_from_classes(
    X: ArrayLike, y: ArrayLike, classifier: ClassifierMixin | None = None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Rank the classes of each instance by how probable a classifier finds them.

    This is construction (A) of Cheng et al.: a naive Bayes classifier is trained on all of
    the data, then the classes of each instance are ordered by their predicted probability;
    ties go to the lower index.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numeric features.
    y : array-like of shape (n_samples,)
        Classes.
    classifier : classifier with ``predict_log_proba``, optional
        Used in place of Gaussian naive Bayes. Logarithms tell apart probabilities that are too
        small for a floating-point number.

    Returns
    -------
    ranks : ndarray of shape (n_samples, n_classes)
        Strict ranks.
    labels : ndarray of shape (n_classes,)
        The classes, in the order of the columns.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), section 6.1.

    Examples
    --------
    >>> ranks, labels = ranks_from_classes([[0.0], [0.2], [1.0], [1.2], [5.0], [5.2]],
    ...                                    ["a", "a", "b", "b", "c", "c"])
    >>> ranks[0], labels
    (array([1, 2, 3]), array(['a', 'b', 'c'], dtype='<U1'))
    """
    model = GaussianNB() if classifier is None else clone(classifier)
    model.fit(X, y)
    # A probability of exactly zero has the logarithm -inf: it ranks last like a very small one.
    scores = np.nan_to_num(model.predict_log_proba(X), neginf=np.finfo(np.float64).min)
    return strict_ranks(scores), model.classes_


def ranks_from_columns(
    X: Any, columns: Sequence[int] | Sequence[str]
) -> tuple[Any, NDArray[np.int64]]:
    """Take columns out of a table and rank them against each other in each row.

    This is construction (B) of Cheng et al.: the chosen columns are standardized, ordered by
    size, the largest first, and removed from the features.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Numeric features.
    columns : sequence of int, or of column names of a DataFrame
        The features that become labels.

    Returns
    -------
    X : ndarray or DataFrame of shape (n_samples, n_features - n_columns)
        The features that remain.
    ranks : ndarray of shape (n_samples, n_columns)
        Strict ranks; ties go to the column named first.

    References
    ----------
    Cheng, Hühn & Hüllermeier (2009), section 6.1.

    Examples
    --------
    >>> X, ranks = ranks_from_columns([[1, 0, 9], [2, 5, 8], [3, 1, 7]], [0, 2])
    >>> X.ravel(), ranks
    (array([0., 5., 1.]), array([[2, 1], [1, 2], [1, 2]]))
    """
    if hasattr(X, "columns"):
        missing = [name for name in columns if name not in X.columns]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}; its columns are {list(X.columns)}.")
        chosen, rest = X[list(columns)], X[[c for c in X.columns if c not in set(columns)]]
    else:
        X = check_array(X, dtype=np.float64, input_name="X")
        indices = np.asarray(columns, dtype=np.intp)
        chosen, rest = X[:, indices], np.delete(X, indices, axis=1)
    return rest, strict_ranks(scale(check_array(chosen, dtype=np.float64, input_name="X")))


def ranking_bunch(
    data: Any,
    target: Any,
    *,
    feature_names: Sequence[str],
    label_names: Sequence[str],
    description: str,
    as_frame: bool = False,
) -> Bunch:
    """Return instances and ranks as scikit-learn's loaders do.

    Parameters
    ----------
    data : array-like of shape (n_samples, n_features)
        Instances.
    target : array-like of shape (n_samples, n_labels)
        Their ranks.
    feature_names, label_names : sequence of str
        The names of the columns.
    description : str
        Where the data comes from.
    as_frame : bool, default=False
        Whether data and target become pandas tables with those names.

    Returns
    -------
    Bunch
        With ``data``, ``target``, ``feature_names``, ``label_names`` and ``DESCR``.
    """
    if as_frame:
        pandas = require("pandas", extra="cli", purpose="as_frame=True")
        data = pandas.DataFrame(data, columns=list(feature_names))
        target = pandas.DataFrame(target, columns=list(label_names))
    return Bunch(
        data=data,
        target=target,
        feature_names=list(feature_names),
        label_names=list(label_names),
        DESCR=description,
    )

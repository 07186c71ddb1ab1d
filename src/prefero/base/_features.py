"""The questions every estimator asks of its features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from prefero._sklearn import in_one_sentence
from prefero._typing import Mask, Values
from prefero._warnings import warn_user
from prefero.rankings import label_names

# Squares of larger features or weights, and sums of them, could leave the range of float64.
LARGEST = 1e100


def check_features(estimator: Any, X: Any, *, reset: bool) -> NDArray[Any]:
    """Validate features as the tags of an estimator say, naming the place of what it refuses.

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
        The features as float64; of an estimator that puts them into bins, which takes no more
        than it is given, float32 ones as they are.

    Examples
    --------
    >>> from prefero import PairwiseLabelRanker
    >>> check_features(PairwiseLabelRanker(), [[1, 2]], reset=True)
    array([[1., 2.]])
    >>> check_features(PairwiseLabelRanker(), [[1, float("nan")]], reset=True)
    Traceback (most recent call last):
        ...
    ValueError: ...
    """
    if _is_plain(estimator, X, reset=reset):
        if reset:
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)
        return X
    input_tags = estimator.__sklearn_tags__().input_tags
    binned = getattr(estimator, "_bins_features", False)
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=(np.float64, np.float32) if binned else np.float64,
            accept_sparse="csr" if input_tags.sparse else False,
            ensure_all_finite="allow-nan",
        )
    except (ValueError, OverflowError) as error:
        _refuse_words(estimator, X, error)
        with in_one_sentence("X"):
            raise
    if not input_tags.allow_nan:
        _refuse_unusable(estimator, checked)
    return checked


def _is_plain(estimator: Any, X: Any, *, reset: bool = False) -> bool:
    """Whether validation would return X as it is: asking costs less, which counts for few rows."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and (reset or X.shape[1] == estimator.n_features_in_)
        and (reset or not hasattr(estimator, "feature_names_in_"))
        and bool(np.abs(X).max() <= LARGEST)  # NaN is not
    )


def feature_ranges(X: Any, earlier: Values | None = None) -> Values:
    """Return the smallest and the largest value of each feature; NaN where all are missing.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Features.
    earlier : ndarray of shape (n_features, 2), optional
        The ranges of rows that these join.

    Returns
    -------
    ndarray of shape (n_features, 2)
        The ranges.

    Examples
    --------
    >>> feature_ranges(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([[ 1.,  3.],
           [nan, nan]])
    """
    if issparse(X):
        ends = [np.ravel(end.toarray()) for end in (X.min(axis=0), X.max(axis=0))]
    else:
        ends = [reduce(X, axis=0, initial=np.nan) for reduce in (np.fmin.reduce, np.fmax.reduce)]
    if earlier is not None:
        ends = [np.fmin(ends[0], earlier[:, 0]), np.fmax(ends[1], earlier[:, 1])]
    return np.column_stack(ends).astype(np.float64)


def _refuse_words(estimator: Any, X: Any, cause: Exception) -> None:
    """Raise with the place of the first word, if that is what could not be validated."""
    values = None if issparse(X) else np.asarray(X, dtype=object)
    if values is None or values.ndim != 2:
        return
    for column, row in np.ndindex(values.shape[::-1]):
        if isinstance(word := values[row, column], str) and not _is_number(word):
            name = getattr(X, "columns", range(values.shape[1]))[column]
            raise ValueError(
                f"X holds the word {word!r} in column {name!r}, row {row}, and "
                f"{type(estimator).__name__} takes numbers alone here: encode words, for instance "
                "with sklearn.preprocessing.OneHotEncoder, or use what takes categories: trees, "
                "by their categorical_features, or an automatic ranker."
            ) from cause


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _refuse_unusable(estimator: Any, X: Any) -> None:
    """Raise for NaN, and for numbers whose products would leave the range of float64."""
    values = X.data if issparse(X) else X
    if np.abs(values).max(initial=0) <= LARGEST:  # NaN is not
        return
    missing = np.isnan(values)
    unusable = missing if missing.any() else np.abs(values) > LARGEST
    if issparse(X):
        entries = X.tocoo()
        row, column = (int(index[unusable][0]) for index in (entries.row, entries.col))
    else:
        row, column = (int(index) for index in np.argwhere(unusable)[0])
    name = getattr(estimator, "feature_names_in_", range(X.shape[1]))[column]
    ranker = type(estimator).__name__
    if missing.any():
        raise ValueError(
            f"X contains NaN in column {name!r}, first in row {row}, and {ranker} does not accept "
            "missing features: impute them, for instance with sklearn.impute.SimpleImputer, or "
            "use a tree or a forest."
        )
    raise ValueError(
        f"X holds {values[unusable].flat[0]:g} in column {name!r}, row {row}: {ranker} multiplies "
        f"features, and takes none beyond {LARGEST:g} in size. Scale them, or use a tree or a "
        "forest."
    )


def used_rows(target: Values, weight: Values, *, says: str) -> Mask:
    """Return which rows teach something, with one warning for all that are empty.

    Parameters
    ----------
    target : ndarray of shape (n_samples, n_labels)
        The target; NaN is unknown.
    weight : ndarray of shape (n_samples,)
        Sample weights; a row of weight zero is as good as absent.
    says : str
        What a row does to a label that it holds: "rank", "judge".

    Returns
    -------
    ndarray of shape (n_samples,), dtype bool
        True for rows that are neither empty nor of weight zero.
    """
    if weight.max(initial=0) > LARGEST:
        raise ValueError(
            f"sample_weight[{np.argmax(weight)}] is {weight.max():g}, but weights are added up and "
            f"may not exceed {LARGEST:g}: divide them all by one number."
        )
    empty = all_unknown(target, axis=1)
    if empty.all():
        raise ValueError(f"y {says}s no label in any row: there is nothing to learn from.")
    if empty.any():
        warn_user(
            f"{empty.sum()} of {len(empty)} rows of y {says} no label and are ignored "
            f"(the first is row {np.argmax(empty)}).",
        )
    used = ~empty & (weight > 0)
    if not used.any():
        raise ValueError(f"sample_weight is zero in every row that {says}s a label.")
    return used


def unseen_labels(target: Values, names: NDArray[Any], *, says: str) -> Mask:
    """Return which labels no row holds, with one warning for all.

    Parameters
    ----------
    target : ndarray of shape (n_samples, n_labels)
        The target; NaN is unknown.
    names : ndarray of shape (n_labels,)
        Label names.
    says : str
        What no row did to such a label: "ranked", "judged".

    Returns
    -------
    ndarray of shape (n_labels,), dtype bool
        True for labels that are unknown everywhere.

    Examples
    --------
    >>> unseen_labels(np.array([[1.0, 2.0]]), np.array(["a", "b"]), says="ranked")
    array([False, False])
    """
    unseen = all_unknown(target, axis=0)
    if unseen.any():
        listed = ", ".join(repr(name) for name in names[unseen][:5].tolist())
        warn_user(
            f"{unseen.sum()} of {len(names)} labels are {says} in no row of y and will be "
            f"predicted last: {listed}.",
        )
    return unseen


def all_unknown(target: Values, axis: int) -> Mask:
    """Which rows or columns hold nothing; to ask whether anything is unknown takes far less."""
    unknown = np.isnan(target)
    if target.size and not unknown.any():
        return np.zeros(target.shape[1 - axis], dtype=bool)
    return np.asarray(unknown.all(axis=axis))


def refuse_other_labels(target: Any, labels: NDArray[Any]) -> None:
    """Raise if the target is a table whose columns are not the labels in their order.

    Parameters
    ----------
    target : array-like or DataFrame of shape (n_samples, n_labels)
        The target. An array has no names: its columns are taken as they come.
    labels : ndarray of shape (n_labels,)
        The labels of an earlier fit; 0, 1, ... if that target had no names.
    """
    names = label_names(target)
    if names is None or np.array_equal(labels, np.arange(len(labels))):
        return
    if list(names) != list(labels):
        raise ValueError(
            f"The columns of y are {list(names)}, but the labels are {list(labels)}: give the "
            "same columns in the same order."
        )


def place_unseen_last(scores: Values, unseen: Mask) -> Values:
    """Score labels below all others.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_scores)
        Scores, larger is better.
    unseen : ndarray of shape (n_scores,), dtype bool
        The labels to put last.

    Returns
    -------
    ndarray of shape (n_samples, n_scores)
        The scores, those of unseen labels replaced.

    Examples
    --------
    >>> place_unseen_last(np.array([[3.0, 1.0, 2.0]]), np.array([True, False, False]))
    array([[0., 1., 2.]])
    """
    if not unseen.any():
        return scores
    worst = scores[:, ~unseen].min(axis=1, keepdims=True)
    return np.where(unseen, worst - 1, scores)

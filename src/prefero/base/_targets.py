"""The questions every estimator of a fixed label set asks of its targets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero._typing import Mask, Values
from prefero._warnings import warn_user
from prefero.base._features import LARGEST
from prefero.rankings import label_names


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
    empty = _all_unknown(target, axis=1)
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
    unseen = _all_unknown(target, axis=0)
    if unseen.any():
        listed = ", ".join(repr(name) for name in names[unseen][:5].tolist())
        warn_user(
            f"{unseen.sum()} of {len(names)} labels are {says} in no row of y and will be "
            f"predicted last: {listed}.",
        )
    return unseen


def _all_unknown(target: Values, axis: int) -> Mask:
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


def put_last(scores: Values, unseen: Mask) -> Values:
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
    >>> put_last(np.array([[3.0, 1.0, 2.0]]), np.array([True, False, False]))
    array([[0., 1., 2.]])
    """
    if not unseen.any():
        return scores
    worst = scores[:, ~unseen].min(axis=1, keepdims=True)
    return np.where(unseen, worst - 1, scores)

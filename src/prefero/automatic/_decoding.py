"""From how likely each label comes before each other to one order."""

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from prefero import _core
from prefero._products import row_products
from prefero._typing import Values
from prefero.calibration import all_pairs

DECODINGS = ("kemeny", "sums", "first")
# Entries of the arrays (instances x pairs) that one step may hold.
BLOCK_ENTRIES = 2**22
# Labels level in their sums still have an order: the next one is behind by so much.
_STEP = 1e-9


def decoded(margins: Values, n_labels: int, how: str = "kemeny") -> Values:
    """Return scores whose descending order suits pair margins best.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first.
    n_labels : int
        The number of labels.
    how : {"kemeny", "sums", "first"}, default="kemeny"
        ``"kemeny"`` is the order of the greatest expected tau that moves of single labels reach
        from ``"sums"``, the order by the expected number of labels behind; ``"first"`` orders
        by how likely labels are the first of all.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The expected numbers of labels behind, dealt out along the order.

    Examples
    --------
    >>> (-decoded(np.array([[2.0, 2.0, 0.5]]), 3)).argsort()
    array([[0, 1, 2]])
    """
    size = max(1, BLOCK_ENTRIES // max(1, margins.shape[1]))
    parts = [_decoded(margins[rows], n_labels, how) for rows in gen_batches(len(margins), size)]
    return np.concatenate(parts) if parts else np.zeros((0, n_labels))


def _decoded(margins: Values, n_labels: int, how: str) -> Values:
    before = expit(np.nan_to_num(margins))
    sums = pair_sums(before, 1 - before, n_labels)
    order = np.argsort(-sums, axis=1, kind="stable")
    if how == "kemeny":
        order = _core.improve_orders(before, order)
    elif how == "first":
        order = np.argsort(-first_shares(margins, n_labels), axis=1, kind="stable")
    steps = -np.sort(-sums, axis=1) - _STEP * np.arange(n_labels)
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, steps, axis=1)
    return scores


def pair_sums(values: Values, other_way: Values, n_labels: int) -> Values:
    """Add up, for each label, what it is to all others.

    Parameters
    ----------
    values, other_way : ndarray of shape (n_samples, n_pairs)
        What the first label of each pair is to the second, and the second to the first.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The sums.
    """
    first, second = all_pairs(n_labels)
    own = np.zeros((len(first), n_labels))
    own[np.arange(len(first)), first] = 1.0
    other = np.zeros((len(first), n_labels))
    other[np.arange(len(first)), second] = 1.0
    return row_products(values, own) + row_products(other_way, other)


def first_shares(margins: Values, n_labels: int) -> Values:
    """Return how likely each label is the first, if labels had worths (Plackett-Luce).

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        They add up to 1.
    """
    worth = log_worths(margins, n_labels)
    worth = np.exp(worth - worth.max(axis=1, keepdims=True))
    return worth / worth.sum(axis=1, keepdims=True)


def log_worths(margins: Values, n_labels: int) -> Values:
    """Return the logarithms of worths that explain pair margins best: their means.

    Parameters
    ----------
    margins : ndarray of shape (n_samples, n_pairs)
        Log-odds that the first label of each pair comes first.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        They add up to 0.
    """
    return pair_sums(margins, -margins, n_labels) / n_labels

"""Edge weights carried over to the features of linear utilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

Values = NDArray[np.float64]


def linear_boosting_sums(X: Any, incoming: Values, outgoing: Values) -> tuple[Values, Values]:
    """W+ and W- of the base functions h_(y', d)(x, y) = x_d if y = y', else 0.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Features.
    incoming, outgoing : ndarray of shape (n_samples, n_labels)
        Weights of the edges, added up by the label they enter and by the one they leave.

    Returns
    -------
    plus, minus : ndarray of shape (n_features, n_labels)
        An edge raises h for the label it enters and lowers it for the one it leaves; a negative
        feature turns the two round.

    References
    ----------
    Dekel, Manning & Singer (2003), Figure 3.

    Examples
    --------
    >>> one, half = np.array([[1.0, 0.0]]), np.array([[0.0, 0.5]])
    >>> linear_boosting_sums(np.array([[2.0]]), one, half)
    (array([[2., 0.]]), array([[0., 1.]]))
    """
    if X.min() >= 0:
        return _dot(X, incoming), _dot(X, outgoing)
    positive, negative = (abs(X) + X) / 2, (abs(X) - X) / 2
    return (
        _dot(positive, incoming) + _dot(negative, outgoing),
        _dot(positive, outgoing) + _dot(negative, incoming),
    )


def _dot(X: Any, weights: Values) -> Values:
    return safe_sparse_dot(X.T, weights, dense_output=True)

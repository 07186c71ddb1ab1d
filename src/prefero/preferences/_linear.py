"""Edge weights carried over to the features of linear utilities."""

from typing import Any

from prefero._products import FeatureProducts
from prefero._typing import Values


class SignedFeatures:
    """Features apart by their sign, for W+ and W- of linear utilities.

    The base functions are h_(y', d)(x, y) = x_d if y = y', else 0.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Features.

    References
    ----------
    Dekel, Manning & Singer (2003), Figure 3.

    Examples
    --------
    >>> import numpy as np
    >>> one, half = np.array([[1.0, 0.0]]), np.array([[0.0, 0.5]])
    >>> SignedFeatures(np.array([[2.0]])).boosting_sums(one, half)
    (array([[2., 0.]]), array([[0., 1.]]))
    """

    def __init__(self, X: Any) -> None:
        self._negative = None
        if X.min() >= 0:
            self._positive = FeatureProducts(X)
            return
        self._positive = FeatureProducts((abs(X) + X) / 2)
        self._negative = FeatureProducts((abs(X) - X) / 2)

    def boosting_sums(self, incoming: Values, outgoing: Values) -> tuple[Values, Values]:
        """W+ and W- of every feature and label.

        Parameters
        ----------
        incoming, outgoing : ndarray of shape (n_samples, n_labels)
            Weights of the edges, added up by the label they enter and by the one they leave.

        Returns
        -------
        plus, minus : ndarray of shape (n_features, n_labels)
            An edge raises h for the label it enters and lowers it for the one it leaves; a
            negative feature turns the two round.
        """
        plus = self._positive.transposed_times(incoming)
        minus = self._positive.transposed_times(outgoing)
        if self._negative is not None:
            plus += self._negative.transposed_times(outgoing)
            minus += self._negative.transposed_times(incoming)
        return plus, minus

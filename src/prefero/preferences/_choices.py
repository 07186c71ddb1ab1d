"""Rankings as choices, the best label first: what a Plackett-Luce model says of them."""

import numpy as np
from numpy.typing import NDArray

from prefero._typing import Values
from prefero.preferences._decomposition import EdgeSums, by_layer


class Choices:
    """Rankings as a Plackett-Luce model sees them, of layers with ties and absent labels.

    Each label but those of the last layer was chosen among all labels of its own layer and of
    those below. A choice of u is thus a subgraph with an edge from u to every other label that
    was left, and its loss is -log P(choice), so a strict ranking has the losses of its
    domination. The loss of a row is their sum over ``n_labels - 1``, the number of choices that
    a complete strict ranking holds: a short ranking counts less, as its likelihood says.

    Parameters
    ----------
    layers : ndarray of shape (n_rows, n_labels)
        The layer of each label, 0 the best, -1 for an absent label.

    Examples
    --------
    >>> choices = Choices(np.array([[0, 1, 1]], dtype=np.int32))  # the first label, then a tie
    >>> choices.loss(np.zeros((1, 3))).loss.round(3)  # log(3) over two choices
    array([0.549])
    """

    def __init__(self, layers: NDArray[np.int32]) -> None:
        self._order, layer = by_layer(layers)
        n_labels = layers.shape[1]
        place = np.arange(n_labels)
        differs = layer[:, 1:] != layer[:, :-1]
        edge = np.ones((len(layers), 1), dtype=bool)
        first, last = np.hstack([edge, differs]), np.hstack([differs, edge])
        self._begin = np.maximum.accumulate(np.where(first, place, 0), axis=1)
        until_end = np.where(last, place, n_labels - 1)
        self._end = np.minimum.accumulate(until_end[:, ::-1], axis=1)[:, ::-1]
        self._present = layer >= 0
        self._chosen = self._present & (layer < layers.max(axis=1, initial=-1)[:, None])
        self._share = 1 / max(1, n_labels - 1)

    def loss(self, scores: Values) -> EdgeSums:
        """Loss of each row, and the weights of its edges by label."""
        own = np.where(self._present, np.take_along_axis(scores, self._order, axis=1), -np.inf)
        left = np.logaddexp.accumulate(own[:, ::-1], axis=1)[:, ::-1]
        left = np.take_along_axis(left, self._begin, axis=1)
        with np.errstate(invalid="ignore"):  # of absent labels, of which nothing is asked
            log_chance = np.where(self._chosen, own - left, 0.0)
        chance = np.where(self._chosen, np.exp(log_chance), 0.0)
        # A label may have lost all choices down to those of its own layer.
        against = np.logaddexp.accumulate(np.where(self._chosen, -left, -np.inf), axis=1)
        lost = np.exp(own + np.take_along_axis(against, self._end, axis=1)) - chance
        won = np.where(self._chosen, 1 - chance, 0.0)
        loss = self._share * -log_chance.sum(axis=1)
        return EdgeSums(loss, self._by_label(lost), self._by_label(won))

    def gradient(self, scores: Values, weight: Values) -> tuple[float, Values]:
        """Weighted sum of the rows' losses, and its derivatives by the scores."""
        loss, slopes, outgoing = self.loss(scores)
        slopes -= outgoing
        slopes *= weight[:, None]
        return float(weight @ loss), slopes

    def _by_label(self, arranged: Values) -> Values:
        values = np.empty_like(arranged)
        np.put_along_axis(values, self._order, self._share * arranged, axis=1)
        return values

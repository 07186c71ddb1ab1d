"""What neighbours are worth: the places they take, and their weights by distance."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prefero._typing import Indices, Mask, Values

WeightFunction = Callable[[Values], Values]


class Neighbors(NamedTuple):
    """Near cases of some queries, nearest first; each array is (n_queries, n_found).

    ``places`` says how many places of a neighbourhood each case may take: its weight, less one
    if the case is the query itself.
    """

    distances: Values
    indices: Indices
    places: Values

    def first(self, k: int) -> "Neighbors":
        """Return the neighbours that share the first k places.

        Parameters
        ----------
        k : int
            The places.

        Returns
        -------
        Neighbors
            With places that sum to k at most.

        Examples
        --------
        >>> near = Neighbors(
        ...     np.array([[0.0, 1, 2]]), np.array([[5, 3, 4]]), np.array([[1.0, 2, 1]])
        ... )
        >>> near.first(2).places
        array([[1., 1.]])
        """
        return Neighbors(
            self.distances[:, :k], self.indices[:, :k], occupied_places(self.places[:, :k], k)
        )


def place_sizes(weight: Values) -> Values:
    """Return how many places cases take: a weight below 1 takes one, and votes with its weight."""
    return np.where(weight > 0, np.maximum(weight, 1), 0)


def occupied_places(weight: Values, k: int) -> Values:
    """Fill the k places of a neighbourhood, nearest case first.

    A case of weight w stands for w equal cases and takes as many places, so weight 2 is the
    case twice. A case of a weight below 1 takes one place and votes with its weight.

    Parameters
    ----------
    weight : ndarray of shape (n_queries, m)
        Weights of the cases, nearest first; zero for absent.
    k : int
        The places.

    Returns
    -------
    ndarray of shape (n_queries, m)
        The weight with which each case takes part: zero where the places are taken.

    Examples
    --------
    >>> occupied_places(np.array([[1.0, 2.0, 0.5, 3.0, 1.0]]), 5)
    array([[1. , 2. , 0.5, 1. , 0. ]])
    """
    size = place_sizes(weight)
    free = k - (np.cumsum(size, axis=1) - size)
    return weight * np.clip(free, 0, size) / np.where(size > 0, size, 1)


def neighbor_weights(near: Neighbors, kind: str | WeightFunction) -> Values:
    """Weigh neighbours by their distance.

    Parameters
    ----------
    near : Neighbors
        The neighbours.
    kind : {"dudani", "uniform", "distance", "squared_distance"} or callable
        ``"dudani"``: (d_k - d_i)/(d_k - d_1), 1 where all are equally far (Dudani 1976);
        ``"uniform"``: 1; ``"distance"``: 1/d and ``"squared_distance"``: 1/d², where neighbours
        at distance 0 leave none of the weight to others; a callable takes the distances and
        returns as many weights.

    Returns
    -------
    ndarray of shape (n_queries, k)
        Weights, times the places each neighbour takes.

    Examples
    --------
    >>> near = Neighbors(np.array([[1.0, 2.0, 5.0]]), np.array([[4, 0, 7]]), np.ones((1, 3)))
    >>> neighbor_weights(near, "dudani")
    array([[1.  , 0.75, 0.  ]])
    """
    distances, places = near.distances, near.places
    if callable(kind):
        return _called_weights(kind, distances, taken=places > 0) * places
    if kind == "uniform":
        return places
    if kind in ("distance", "squared_distance"):
        exact = (distances == 0) & (places > 0)
        inverse = 1 / np.where(distances > 0, distances, 1) ** (1 if kind == "distance" else 2)
        return np.where(exact.any(axis=1, keepdims=True), exact, inverse) * places
    nearest = np.min(distances, axis=1, where=places > 0, initial=np.inf, keepdims=True)
    farthest = np.max(distances, axis=1, where=places > 0, initial=-np.inf, keepdims=True)
    width = farthest - nearest
    rise = (farthest - distances) / np.where(width > 0, width, 1)
    return np.where(width > 0, rise, 1) * places


def _called_weights(function: WeightFunction, distances: Values, taken: Mask) -> Values:
    """What a function makes of distances; zero for neighbours that take no place."""
    with np.errstate(divide="ignore"):
        weights = np.asarray(function(distances), dtype=np.float64)
    if weights.shape != distances.shape:
        raise ValueError(
            f"weights must return an array of shape {distances.shape}, one weight a "
            f"distance, got shape {weights.shape}."
        )
    weights = np.where(taken, weights, 0)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise ValueError(
            f"weights must return finite numbers that are not negative, got {weights[bad][0]:g} "
            f"for the distance {distances[bad][0]:g}; weights='distance' is a 1/d that knows zero."
        )
    return weights

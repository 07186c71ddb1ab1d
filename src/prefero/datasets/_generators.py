"""Label-ranking data drawn at random."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from prefero._typing import Values
from prefero.mallows import Mallows
from prefero.rankings import drop_labels, strict_ranks

_DEPTH = 4


def make_label_ranking(
    n_samples: int = 100,
    n_features: int = 10,
    n_labels: int = 5,
    *,
    model: Literal["linear", "tree"] = "linear",
    theta: float = np.inf,
    missing: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Values, Values]:
    """Draw instances whose rankings are Mallows noise around a model of their features.

    Parameters
    ----------
    n_samples, n_features, n_labels : int, default=100, 10, 5
        The sizes. Features are independent standard normal numbers.
    model : {"linear", "tree"}, default="linear"
        How features give the center: labels are scored by random linear functions, or a random
        binary tree of depth 4 holds a random ranking in each leaf.
    theta : float, default=inf
        The spread of the Mallows distribution around the center: infinity is no noise, 0 is
        nothing but noise.
    missing : float, default=0
        The probability that a label is missing, by an independent coin for each.
    random_state : int, RandomState or None, default=None
        The seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Instances.
    Y : ndarray of shape (n_samples, n_labels)
        Their ranks, NaN where missing.

    Examples
    --------
    >>> X, Y = make_label_ranking(3, 2, 4, random_state=0)
    >>> Y
    array([[1., 3., 4., 2.],
           [3., 1., 2., 4.],
           [1., 4., 3., 2.]])
    """
    if model not in ("linear", "tree"):
        raise ValueError(f"model must be 'linear' or 'tree', got {model!r}.")
    random = check_random_state(random_state)
    X = random.standard_normal((n_samples, n_features))
    make_centers = _linear_centers if model == "linear" else _tree_centers
    ranks = _perturb(make_centers(X, n_labels, random), theta, random)
    return X, drop_labels(ranks, missing, random)


def make_dyad_ranking(
    n_samples: int = 100,
    n_features: int = 5,
    n_labels: int = 8,
    n_label_features: int = 4,
    *,
    personal: float = 1.0,
    noise: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Values, Values, Values]:
    """Draw instances and labels with features whose products decide who likes what.

    Parameters
    ----------
    n_samples, n_features, n_labels, n_label_features : int, default=100, 5, 8, 4
        The sizes. Features are independent standard normal numbers.
    personal : float, default=1
        How much the products of features count against the features of the labels alone, which
        are the same for everyone.
    noise : float, default=0.5
        The size of normal noise, where what features say has size 1.
    random_state : int, RandomState or None, default=None
        The seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Instances.
    Y : ndarray of shape (n_samples, n_labels)
        Their ranks.
    Z : ndarray of shape (n_labels, n_label_features)
        Features of the labels.

    Examples
    --------
    >>> X, Y, Z = make_dyad_ranking(3, 2, 4, 2, random_state=0)
    >>> X.shape, Y.shape, Z.shape
    ((3, 2), (3, 4), (4, 2))
    """
    random = check_random_state(random_state)
    X = random.standard_normal((n_samples, n_features))
    Z = random.standard_normal((n_labels, n_label_features))
    shared = Z @ random.standard_normal(n_label_features) / np.sqrt(n_label_features)
    mixing = random.standard_normal((n_features, n_label_features))
    own = X @ mixing @ Z.T / np.sqrt(n_features * n_label_features)
    utility = (shared + personal * own) / np.sqrt(1 + personal**2)
    utility = utility + noise * random.standard_normal(utility.shape)
    return X, strict_ranks(utility).astype(np.float64), Z


def _linear_centers(X: Values, n_labels: int, random: np.random.RandomState) -> NDArray[np.int64]:
    return strict_ranks(X @ random.standard_normal((X.shape[1], n_labels)))


def _tree_centers(X: Values, n_labels: int, random: np.random.RandomState) -> NDArray[np.int64]:
    """Walk a complete tree whose node k has the children 2k + 1 and 2k + 2."""
    n_inner = 2**_DEPTH - 1
    features = random.randint(X.shape[1], size=n_inner)
    thresholds = random.standard_normal(n_inner) / 2
    node = np.zeros(len(X), dtype=np.intp)
    for _ in range(_DEPTH):
        right = X[np.arange(len(X)), features[node]] > thresholds[node]
        node = 2 * node + 1 + right
    leaves = strict_ranks(random.random_sample((n_inner + 1, n_labels)))
    return leaves[node - n_inner]


def _perturb(
    centers: NDArray[np.int64], theta: float, random: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw one ranking around each center.

    Noise around a center is noise around 1..c with the labels renamed, so one sample serves
    all centers.
    """
    n, c = centers.shape
    noise = Mallows(np.arange(1, c + 1), theta).sample(n, random)
    return np.take_along_axis(noise, centers - 1, axis=1)

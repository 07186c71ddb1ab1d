"""What tests of rows in partitions share: problems, collections, and trees side by side."""

import numpy as np
import pytest

from prefero.datasets import make_label_ranking

da = pytest.importorskip("dask.array", reason="Dask is not installed")


def cut(array, *sizes):
    """A Dask array whose first dimension is cut into parts of these sizes; None of None."""
    if array is None:
        return None
    rest = len(array) - sum(sizes)
    chunks = (*sizes, rest) if rest else sizes
    return da.from_array(array, chunks=(chunks, *array.shape[1:]))


def problem(
    n=150, n_features=4, n_labels=4, *, missing=0.0, ties=False, gaps=False, seed=0, theta=2.0
):
    """Instances and rankings of them."""
    chance = {"theta": theta, "missing": missing, "random_state": seed}
    X, Y = make_label_ranking(n, n_features, n_labels, **chance)
    if gaps:
        X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    return X, np.ceil(Y / 2) if ties else Y


def orders(n=240, size=6):
    """Objects, their ranks and their orders."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4)).round(1)
    worth = X @ [2, 1, 0, 0] + random.normal(size=n)
    groups = np.repeat(np.arange(n // size), size)
    y = np.concatenate([(-w).argsort().argsort() + 1.0 for w in np.split(worth, n // size)])
    y[::17] = np.nan
    return X, y, groups


def same_trees(one, other):
    """All arrays are equal."""
    assert one.trees_.keys() == other.trees_.keys()
    for name, array in one.trees_.items():
        assert np.array_equal(array, other.trees_[name]), name


def nested(model, *, sides=False, swapped=False):
    """The tests and weights of trees inside each other, however nodes are numbered.

    With ``swapped``, whichever child of a test on categories is the first.

    Where none is missing, missing values go with the child of more rows on one machine, of more
    examples here: ``sides`` says whether to compare that.
    """
    trees = model._grown
    starts = np.repeat(trees.arrays["set_starts"][:-1], np.diff(trees.arrays["node_starts"]))

    def below(node):
        weight = trees.arrays["weight"][node]
        if trees.is_leaf[node]:
            return weight
        child, own = trees.children[node], trees.nodes[node]
        side = int(own["flags"]) if sides else None
        sets = trees.arrays["sets"]
        words = trees.arrays["categories"].reshape(-1, 4)
        bits = words[starts[node] + sets[node]].tolist() if len(sets) and sets[node] >= 0 else None
        test = int(own["feature"]), int(own["cut"]), side, bits
        children = below(child), below(child + 1)
        if swapped and bits is not None:
            test, children = test[0], tuple(sorted(children, key=str))
        return weight, test, *children

    return [below(root) for root in trees.roots]

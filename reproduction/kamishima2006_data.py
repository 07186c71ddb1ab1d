"""The data of Kamishima & Akaho (2006): SUSHI, and a text set in the place of NEWS."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import KFold

from prefero.datasets import benchmark_path
from prefero.ordering import OrderedObjects, objects_from_orders

Orders = NDArray[np.int64]
Size = tuple[int, int]
FILES = (
    *("sushi/sushi3.idata", "sushi/sushi3b.5000.10.order"),
    *("rcv1/readable/rcv1_counts.svm", "rcv1/readable/rcv1_Y.csv"),
)
FISH = ("blue-skinned fish", "red fish", "white fish", "eel", "shellfish", "squid or octopus")
REST = ("shrimp or crab", "roe", "other seafood", "egg", "meat", "vegetables")
ATTRIBUTES = (*FISH, *REST, "lightness", "how often eaten", "price", "how widely sold")


class Fold(NamedTuple):
    """Shortened orders to learn from, and others to predict, shortened likewise and in full."""

    train: OrderedObjects
    short: OrderedObjects
    full: OrderedObjects


@cache
def read_sushi() -> tuple[NDArray[np.float64], Orders]:
    """Read the 16 attributes of the 100 objects, and 5000 orders of ten of them."""
    with benchmark_path("sushi/sushi3.idata").open(encoding="utf-8") as lines:
        items = [line.split("\t") for line in lines]
    kinds = np.eye(12)[[int(item[4]) for item in items]]
    numbers = np.array([[float(value) for value in item[5:9]] for item in items])
    order_file = benchmark_path("sushi/sushi3b.5000.10.order")
    orders = np.loadtxt(order_file, dtype=np.int64, skiprows=1)[:, 2:]
    return np.hstack([kinds, numbers]), orders


@cache
def read_text(n_orders: int = 4000, n_words: int = 595) -> tuple[csr_array, Orders]:
    """Make orders of articles: a reader's interest in each topic is drawn once.

    An article is worth the mean interest of its topics, plus noise, of a size that makes all 4000
    orders about as hard as NEWS; its attributes are the words that occur in most articles, as
    many as the paper's, and its four main categories.
    """
    counts, _ = load_svmlight_file(
        str(benchmark_path("rcv1/readable/rcv1_counts.svm")), zero_based=True
    )
    topics = np.loadtxt(benchmark_path("rcv1/readable/rcv1_Y.csv"), delimiter=",")
    words = csr_array(counts > 0, dtype=np.float64)
    frequent = np.sort(np.argsort(-words.sum(axis=0), kind="stable")[:n_words])
    rng = np.random.default_rng(2006)
    interest = rng.normal(size=topics.shape[1])
    worth = topics @ interest / np.maximum(topics.sum(axis=1), 1)
    chosen = np.array([rng.choice(len(worth), 7, replace=False) for _ in range(n_orders)])
    noisy = worth[chosen] + rng.normal(size=chosen.shape)
    orders = np.take_along_axis(chosen, np.argsort(-noisy, axis=1), axis=1)
    return csr_array(hstack([words[:, frequent], csr_array(topics[:, :4])])), orders


class Draw:
    """N orders drawn from all, L objects kept of each, and orders that were not drawn."""

    def __init__(self, data: tuple[Any, Orders], size: Size, seed: int) -> None:
        self.objects, orders = data
        self.seed = seed
        rng = np.random.default_rng([seed, *size])
        shuffled = orders[rng.permutation(len(orders))]
        self.full, self.others = shuffled[: size[0]], shuffled[size[0] :]
        keep = np.sort(np.argsort(rng.random(self.full.shape), axis=1)[:, : size[1]], axis=1)
        self.shortened = np.take_along_axis(self.full, keep, axis=1)

    def folds(self, n_splits: int) -> Iterator[Fold]:
        """Yield the orders to learn from and to predict of each fold."""
        splits = KFold(n_splits, shuffle=True, random_state=self.seed).split(self.full)
        for train, test in splits:
            parts = self.shortened[train], self.shortened[test], self.full[test]
            yield Fold(*map(self.rows, parts))

    def rows(self, orders: Orders) -> OrderedObjects:
        """Rows, ranks and groups of some orders."""
        return objects_from_orders(self.objects, orders)

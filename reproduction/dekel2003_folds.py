"""One fold of Dekel, Manning & Singer (2003): the data, the losses, and the choice of parameters.

What a page says of the figures stands in `dekel2003`, so that its words change none of them.
"""

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import normalize

from prefero import LogLinearLabelRanker, PreferenceGraphs
from prefero.datasets import benchmark_path
from prefero.metrics import ranking_error
from prefero.preferences import DECOMPOSITIONS
from prefero.text import BoostingFeatureSelector, LogCountTransformer

N_FOLDS = 5
# Each path is followed until the error has stood above its least for so many steps running, but so
# many steps at least.
PATIENCE, LEAST_STEPS = 2, 6
PENALTIES = tuple(float(f"{first}e{power}") for power in range(-2, -9, -1) for first in (3, 1))
ROUNDS = (1, *(3 * 2**k for k in range(12)))
NAMES = dict(zip(DECOMPOSITIONS, ("0-1", "dis", "Dom", "dom"), strict=True))
FILES = {
    "counts": tuple(
        f"rcv1/readable/{name}"
        for name in ("rcv1_counts.svm", "rcv1_Y.csv", "labels.txt", "hierarchy.csv")
    ),
    "tfidf": tuple(
        f"rcv1/{name}" for name in ("rcv1subset1_X.svm", "rcv1subset1_Y.csv", "hierarchy.csv")
    ),
}
CONSTANT, LIKELIHOOD, KERNEL = "same order for everyone", "Plackett-Luce", "Dom, kernel"


class Method(NamedTuple):
    """A loss with its solver, what is chosen along a path, and the error that chooses it."""

    ranker: LogLinearLabelRanker
    parameter: str
    path: tuple[float, ...]
    error: str
    kernel: bool = False

    def models(self) -> Iterator[tuple[float, LogLinearLabelRanker]]:
        """Yield rankers, each of which goes on from the one before."""
        ranker = self.ranker.set_params(warm_start=True)
        done = 0
        for value in self.path:
            step = value - done if self.parameter == "max_iter" else value
            yield value, ranker.set_params(**{self.parameter: step})
            done = value

    def best(self, value: float) -> LogLinearLabelRanker:
        """Return a blank ranker with a value of the parameter."""
        return self.ranker.set_params(warm_start=False, **{self.parameter: value})


def methods(solver: str) -> dict[str, Method]:
    """Return what is compared, by name."""
    plain: dict[str, Any] = {"fit_intercept": False, "calibrate": False, "scale": False}
    if solver == "none":
        constant = LogLinearLabelRanker(calibrate=False, scale=False)
        return {CONSTANT: Method(constant, "alpha", (np.inf,), "domination")}
    if solver == "boosting":
        return {
            NAMES[name]: Method(
                LogLinearLabelRanker(name, solver="boosting", alpha=0.0, **plain),
                *("max_iter", ROUNDS, name),
            )
            for name in DECOMPOSITIONS
        }
    plain["tol"] = 1e-3
    found = {
        NAMES[name]: Method(LogLinearLabelRanker(name, **plain), "alpha", PENALTIES, name)
        for name in DECOMPOSITIONS
    }
    if solver == "beyond":
        domination = LogLinearLabelRanker(**plain)
        likelihood = LogLinearLabelRanker(loss="plackett_luce", **plain)
        found = {
            LIKELIHOOD: Method(likelihood, "alpha", PENALTIES, "domination"),
            KERNEL: Method(domination, "alpha", PENALTIES, "domination", kernel=True),
        }
    return found


@cache
def load(name: str) -> tuple[csr_array, PreferenceGraphs]:
    """Read the features of the articles and make their graphs."""
    features, topics, *_, hierarchy = map(benchmark_path, FILES[name])
    if name == "counts":
        labels = benchmark_path(FILES[name][2]).read_text(encoding="utf-8").split()
        table = pd.DataFrame(np.loadtxt(topics, delimiter=","), columns=labels)
        counts, _ = load_svmlight_file(str(features), zero_based=True)
        X = LogCountTransformer().fit_transform(counts)
    else:
        X, _ = load_svmlight_file(str(features), n_features=47236, zero_based=True)
        table = pd.read_csv(topics).rename(columns={"MCAT_derived": "MCAT"})
    tree = pd.read_csv(hierarchy)
    parents = dict(zip(tree["topic"], tree["parent"], strict=True))
    return csr_array(X), PreferenceGraphs.from_hierarchy(table, parents)


def features_of(X: csr_array, graphs: PreferenceGraphs, rows: Any, words: int, way: str) -> Any:
    """Return the words that the filter keeps judging by some rows, and what is made of them."""
    selector = BoostingFeatureSelector(words).fit(X[rows], graphs[rows])
    chosen = csr_array(selector.transform(X))
    if way == "as they are":
        return chosen
    chosen = csr_array(normalize(chosen))
    if way == "of length 1":
        return chosen
    kernel = Nystroem(gamma=1.0, n_components=500, random_state=0)
    return kernel.fit(chosen[rows]).transform(chosen)


def choose(X: Any, graphs: PreferenceGraphs, method: Method, held_out: Any, fit: Any) -> float:
    """Return the value of the parameter with the least error on rows held out of training."""
    best, least, waited = method.path[0], np.inf, 0
    for step, (value, ranker) in enumerate(method.models() if len(method.path) > 1 else (), 1):
        scores = ranker.fit(X[fit], graphs[fit]).decision_function(X[held_out])
        error = float(ranking_error(graphs[held_out], scores, method.error))
        waited = waited + 1 if error > least else 0
        if error < least:
            best, least = value, error
        if waited >= PATIENCE and step >= LEAST_STEPS:
            break
    return best


def run_fold(name: str, fold: int, solver: str, trained_on: str, words: int) -> dict[str, Any]:
    """Train on one fold with parameters chosen inside it; the four errors on its test part."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # boosting stops early on purpose
    X, graphs = load(name)
    train, test = splits(len(graphs))[fold]
    method = methods(solver)[trained_on]
    way = "kernel" if method.kernel else "as they are" if name == "counts" else "of length 1"
    fit, held_out = train_test_split(train, test_size=0.2, random_state=fold)
    inner = features_of(X, graphs, fit, words, way)
    value = choose(inner, graphs, method, held_out, fit)
    features = features_of(X, graphs, train, words, way)
    ranker = method.best(value).fit(features[train], graphs[train])
    scores = ranker.decision_function(features[test])
    errors = {NAMES[e]: float(ranking_error(graphs[test], scores, e)) for e in DECOMPOSITIONS}
    rows = {"train_rows": len(train), "test_rows": len(test)}
    return {"ranker": trained_on, "repetition": 0, "fold": fold, "chosen": value} | rows | errors


def splits(n_rows: int) -> list[tuple[Any, Any]]:
    """Return the five folds."""
    return list(KFold(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(n_rows)))

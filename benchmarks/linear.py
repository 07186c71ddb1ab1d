"""Speed of the linear rankers, as ratios to plain peers measured in the same run.

    OMP_NUM_THREADS=1 python benchmarks/linear.py [--full] [--rcv1 DECOMPOSITION ...]

Seconds are CPU seconds of this process, so that a busy machine does not count. ``--full`` adds
all 47,236 words of RCV1. The data are read from the folder that PREFERO_DATA names.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from prefero import LogLinearLabelRanker, PairwiseLabelRanker, PreferenceGraphs
from prefero.evaluation import ResultTable
from prefero.preferences import DECOMPOSITIONS, decompose

sys.path.insert(0, str(Path(__file__).parent.parent / "reproduction"))
from dekel2003_folds import load
from kebi import read_set

ALPHA = 1e-5


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    begin = time.process_time()
    result = function()
    return time.process_time() - begin, result


def row(what: str, ours: float, peer: str, theirs: float, note: str = "") -> dict[str, Any]:
    """One line of the table."""
    return {
        "what": what,
        "ours (s)": ours,
        "peer": peer,
        "peer (s)": theirs,
        "times faster": theirs / ours,
        "note": note,
    }


def numpy_loss(scores: np.ndarray, layers: np.ndarray, decomposition: str) -> tuple:
    """Losses of layered graphs and their gradient by the scores, in plain NumPy."""
    up = np.exp(scores - scores.mean(axis=1, keepdims=True))
    down, gradient = 1 / up, np.zeros_like(scores)
    below = np.stack([np.where(layers > layer, up, 0).sum(axis=1) for layer in range(3)], axis=1)
    above = np.stack([np.where(layers < layer, down, 0).sum(axis=1) for layer in range(3)], axis=1)
    S, T = (np.take_along_axis(sums, layers, axis=1) for sums in (below, above))
    if decomposition == "graph":
        total = 1 + (down * S).sum(axis=1, keepdims=True)
        return np.log(total[:, 0]), (up * T - down * S) / total
    if decomposition == "edges":
        loss = np.zeros(len(scores))
        for label in range(scores.shape[1]):
            lower = layers > layers[:, [label]]
            ratio = np.where(lower, up * down[:, [label]], 0)
            loss += np.log1p(ratio).sum(axis=1)
            weight = ratio / (1 + ratio)
            gradient += weight
            gradient[:, label] -= weight.sum(axis=1)
        count = (layers[:, :, None] < layers[:, None, :]).sum(axis=(1, 2))
        return loss / count, gradient / count[:, None]
    outward = decomposition == "domination"
    ratio = down * S if outward else up * T
    some = layers < 2 if outward else layers > 0
    share = np.where(some, (down if outward else up) / (1 + ratio), 0)
    order = range(3)
    inside = [np.where(layers < k if outward else layers > k, share, 0).sum(axis=1) for k in order]
    spread = np.take_along_axis(np.stack(inside, axis=1), layers, axis=1)
    other = (up if outward else down) * spread
    sign = 1 if outward else -1
    count = some.sum(axis=1)
    loss = np.where(some, np.log1p(ratio), 0).sum(axis=1) / count
    return loss, sign * (other - ratio / (1 + ratio)) / count[:, None]


def numpy_fit(X: csr_array, layers: np.ndarray, decomposition: str, goal: float) -> tuple:
    """L-BFGS on the NumPy loss down to a goal: the loss reached, seconds in sparse products."""
    shape = X.shape[1], layers.shape[1]
    best, in_products = np.inf, 0.0

    class ReachedError(Exception):
        """The loss is low enough."""

    def timed(product: Callable[[], np.ndarray]) -> np.ndarray:
        nonlocal in_products
        took, result = seconds(product)
        in_products += took
        return result

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        weights = flat.reshape(shape)
        scores = timed(lambda: X @ weights)
        loss, slopes = numpy_loss(scores, layers, decomposition)
        value = loss.mean() + ALPHA / 2 * flat @ flat
        best = min(best, value)
        if value <= goal:
            raise ReachedError
        gradient = timed(lambda: X.T @ slopes)
        return value, (gradient / X.shape[0] + ALPHA * weights).ravel()

    try:
        minimize(objective, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B")
    except ReachedError:
        pass
    return best, in_products


def our_fit(X: csr_array, graphs: PreferenceGraphs, decomposition: str) -> tuple[float, float]:
    """Seconds to within 1e-5 of the loss at tol=1e-3, best of three, and that loss."""
    ranker = LogLinearLabelRanker(
        decomposition, alpha=ALPHA, fit_intercept=False, tol=1e-3, calibrate=False
    )
    curve = ranker.fit(X, graphs).loss_curve_
    near = int(np.flatnonzero(curve <= (1 + 1e-5) * curve[-1])[0])
    ranker.set_params(max_iter=near)
    took = min(seconds(lambda: ranker.fit(X, graphs))[0] for _ in range(3))
    return took, curve[near]


def rcv1_rows(
    X: csr_array, graphs: PreferenceGraphs, decompositions: Sequence[str]
) -> list[dict[str, Any]]:
    """Decompositions on the 3200 most frequent words, both to the same loss."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # stopped on purpose
    frequent = np.argsort(-np.asarray((X > 0).sum(axis=0)).ravel(), kind="stable")[:3200]
    X = csr_array(X[:, np.sort(frequent)])
    rows = []
    for name in decompositions:
        ours, goal = our_fit(X, graphs, name)
        runs = [
            seconds(lambda name=name, goal=goal: numpy_fit(X, graphs.layers, name, goal))
            for _ in range(2)
        ]
        theirs, (loss, in_products) = min(runs)
        note = (
            f"loss {goal:.5f} and {loss:.5f}; scipy.sparse is {in_products / theirs:.0%} of theirs"
        )
        rows.append(row(f"RCV1, {name}", ours, "NumPy by layers", theirs, note))
    return rows


def loss_rows(graphs: PreferenceGraphs, decompositions: Sequence[str]) -> list[dict[str, Any]]:
    """Losses and their derivatives by the scores alone, best of five each."""
    scores = np.random.default_rng(0).normal(size=graphs.shape)
    weight = np.ones(len(graphs))
    rows = []
    for name in decompositions:
        cut = decompose(graphs, name)
        tasks = (
            lambda cut=cut: cut.gradient(scores.copy(), weight),
            lambda name=name: numpy_loss(scores, graphs.layers, name),
        )
        ours, theirs = (min(seconds(task)[0] for _ in range(5)) for task in tasks)
        rows.append(row(f"{name}, loss alone", ours, "NumPy by layers", theirs))
    return rows


def edge_by_edge(scores: np.ndarray, indptr: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The domination loss of general graphs, one edge after another."""
    losses = np.zeros(len(scores))
    for i in range(len(scores)):
        totals: dict[int, float] = {}
        for u, v in edges[indptr[i] : indptr[i + 1]]:
            totals[u] = totals.get(u, 1.0) + np.exp(scores[i, v] - scores[i, u])
        losses[i] = np.mean(np.log(list(totals.values())))
    return losses


def general_row(graphs: PreferenceGraphs) -> dict[str, Any]:
    """Loss and gradient of graphs without layers in the core, the loss alone in NumPy."""
    graphs = graphs[:200]
    indptr, edges = graphs.compressed()
    cut = decompose(PreferenceGraphs(indptr, edges, graphs.n_labels), "domination")
    scores = np.random.default_rng(0).normal(size=graphs.shape)
    repeats = 20
    ours, found = seconds(lambda: [cut.loss(scores) for _ in range(repeats)])
    theirs, expected = seconds(lambda: edge_by_edge(scores, indptr, edges))
    np.testing.assert_allclose(found[0].loss, expected)
    return row(f"{graphs.n_edges:,} edges", ours / repeats, "NumPy edge by edge", theirs)


def fried_row() -> dict[str, Any]:
    """Log-linear against a logistic regression of the top label, times the labels."""
    X, Y = read_set("fried")
    top = np.argmin(Y, axis=1)
    theirs, _ = seconds(lambda: LogisticRegression().fit(X, top))
    ours, ranker = seconds(
        lambda: LogLinearLabelRanker("edges", alpha=1e-4, calibrate=False).fit(X, Y)
    )
    n_labels = Y.shape[1]
    note = f"tau {ranker.score(X, Y):.4f}"
    return row("fried", ours, f"{n_labels} x LogisticRegression", n_labels * theirs, note)


def pairwise_row() -> dict[str, Any]:
    """All pairs together against a loop."""
    X, Y = read_set("pendigits")

    def loop() -> None:
        for i in range(Y.shape[1]):
            for j in range(i + 1, Y.shape[1]):
                LogisticRegression().fit(X, Y[:, i] < Y[:, j])

    ours, _ = seconds(lambda: PairwiseLabelRanker(C=1.0, calibrate=False).fit(X, Y))
    theirs, _ = seconds(loop)
    return row("pendigits, RPC", ours, "45 x LogisticRegression", theirs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all words of RCV1 too")
    parser.add_argument(
        "--rcv1", nargs="+", choices=DECOMPOSITIONS, help="only these decompositions of RCV1"
    )
    options = parser.parse_args()
    X, graphs = load("tfidf")
    X, graphs = csr_array(X[:4800]), graphs[:4800]
    rows = rcv1_rows(X, graphs, options.rcv1 or DECOMPOSITIONS)
    if not options.rcv1:
        alone = loss_rows(graphs, DECOMPOSITIONS)
        rows = [general_row(graphs), fried_row(), pairwise_row(), *alone, *rows]
    print(ResultTable(rows).to_text())
    if options.full:
        ranker = LogLinearLabelRanker(alpha=ALPHA, fit_intercept=False, tol=1e-3, calibrate=False)
        ours, ranker = seconds(lambda: ranker.fit(X, graphs))
        print(f"RCV1, domination, all {X.shape[1]:,} words: {ours:.1f} s, {ranker.n_iter_} rounds")


if __name__ == "__main__":
    main()

"""Table 1 of Kamishima & Akaho (2006): how the cost of learning grows, as measured."""

from collections.abc import Callable, Mapping
from time import process_time
from typing import Any

import numpy as np
from kamishima2006_curves import ticks_at
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

import prefero
from prefero.evaluation import ResultTable
from prefero.inspection._display import draw_curves, open_frame

BASE = {"N": 200, "L": 16, "K": 32}
SIZES = {
    "N": (200, 400, 800, 1600, 3200),
    "L": (16, 32, 64, 128, 256),
    "K": (32, 64, 128, 256, 512),
}
MEANING = {"N": "orders", "L": "objects an order", "K": "attributes"}
LEARNERS: dict[str, Any] = {
    "Cohen": prefero.CohenOrderer(),
    "RankBoost, 30 rounds": prefero.RankBoostOrderer(30),
    "SVOR": prefero.RankSVMOrderer(),
    "Order SVM": prefero.OrderSVMOrderer(),
    "ERR": prefero.ExpectedRankOrderer(LinearRegression()),
    "KRCDR, 1 component": prefero.RankCorrelationReducer(1, correlation="kendall"),
    "SRCDR, 1 component": prefero.RankCorrelationReducer(1, correlation="spearman"),
}
# The exponents of N, L and K in the printed table, and in the text of section 3 for RCDR.
PRINTED = {
    "Cohen": (1, 2, 1),
    "RankBoost, 30 rounds": (1, 2, 1),
    "SVOR": (2, 4, 1),
    "Order SVM": (2, 4, 1),
    "ERR": (1, 1, 2),
    "KRCDR, 1 component": (1, 2, 1),
    "SRCDR, 1 component": (1, 1, 1),
}
Seconds = dict[tuple[str, str], list[float]]


def measure(run: Callable[..., float]) -> Seconds:
    """CPU seconds to learn for every learner and quantity, one number per size."""
    return {
        (name, quantity): [run(name, **(BASE | {quantity: size})) for size in sizes]
        for quantity, sizes in SIZES.items()
        for name in LEARNERS
    }


def seconds_to_learn(name: str, N: int, L: int, K: int) -> float:
    """The lesser CPU time of two fits to noisy linear orders."""
    X, ranks, qid = linear_orders(N, L, K)
    found = []
    for _ in range(2):
        learner = clone(LEARNERS[name])
        start = process_time()
        learner.fit(X, ranks, qid)
        found.append(process_time() - start)
    return min(found)


def linear_orders(N: int, L: int, K: int) -> tuple[NDArray[Any], ...]:
    """N orders of L objects with K attributes, by a noisy linear worth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N * L, K))
    worth = (X @ rng.normal(size=K) + np.sqrt(K) * rng.normal(size=N * L)).reshape(N, L)
    ranks = 1 + np.argsort(np.argsort(-worth, axis=1), axis=1)
    return X, ranks.ravel(), np.repeat(np.arange(N), L)


def growth_table(seconds: Mapping[tuple[str, str], list[float]]) -> ResultTable:
    """Exponents of the growth between the third and the last size, beside the printed ones."""
    rows = []
    for name, printed in PRINTED.items():
        row: dict[str, Any] = {"learner": name}
        for quantity, theirs in zip(SIZES, printed, strict=True):
            sizes, spent = SIZES[quantity][2:], seconds[name, quantity][2:]
            slope = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
            row |= {quantity: f"{slope:.1f}", f"{quantity} (printed)": theirs}
        row["seconds at the base"] = seconds[name, "N"][SIZES["N"].index(BASE["N"])]
        rows.append(row)
    return ResultTable(rows)


def draw_growth(seconds: Mapping[tuple[str, str], list[float]]) -> Any:
    """Draw CPU seconds against N, L and K on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for ax, (quantity, sizes) in zip(axes, SIZES.items(), strict=True):
        ax.set(xscale="log", yscale="log", xlabel=f"{quantity}: {MEANING[quantity]}")
        draw_curves(ax, sizes, {name: np.array(seconds[name, quantity]) for name in LEARNERS})
        ticks_at(ax, sizes)
        open_frame(ax)
    axes[0].set(ylabel="CPU seconds to learn")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    return figure

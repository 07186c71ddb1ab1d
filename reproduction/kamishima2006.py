"""The experiments of Kamishima & Akaho (2006): ours beside theirs.

::

    python reproduction/kamishima2006.py --quick

Sample orders of SUSHI are drawn anew for every draw: N of the 5000 orders, of each L of its ten
objects. Orderers learn from nine folds of the shortened orders and predict the tenth fold's
orders in full length; and, as a second measure with less noise, learn from all N and predict
1000 orders that were not drawn. NEWS is not public; a text set of its shape takes its place.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed
from kebi import arguments, cached, parse, publish
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from prefero import (
    CohenOrderer,
    ExpectedRankOrderer,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankCorrelationReducer,
    RankSVMOrderer,
)
from prefero.datasets import benchmark_path
from prefero.ordering import BoostingOrderer, OrderedObjects, objects_from_orders
from prefero.study import Table
from prefero.study.plotting import DimensionsDisplay

Orders = NDArray[np.int64]
Size = tuple[int, int]
SUSHI_SIZES = ((500, 10), (100, 5), (100, 2))
TEXT_SIZES = ((4000, 7), (1000, 5), (1000, 2))
DIMENSIONS = {"sushi": tuple(range(1, 17)), "text": (1, 2, 5, 10, 20, 50)}
N_HELD_OUT = 1000
FISH = ("blue-skinned fish", "red fish", "white fish", "eel", "shellfish", "squid or octopus")
REST = ("shrimp or crab", "roe", "other seafood", "egg", "meat", "vegetables")
ATTRIBUTES = (*FISH, *REST, "lightness", "how often eaten", "price", "how widely sold")
READING = """
    Methods run at their defaults. In Table 3 the number after ± is the standard deviation over
    the draws. "RCDR (1) + ERR" is Kendall RCDR to one component before expected rank regression,
    "auto" takes the components that exceed shuffled orders, "scaled" standardizes the attributes
    first, by the training orders. A fold of ten orders is a noisy test, and nine folds of 100
    pairs a small training set; the second table trains on all N orders of the same draws and
    tests on 1000 others. The figures show least squares on the raw attributes, as the paper; on
    SUSHI the third principal component of these is the first to hold how often a sushi is eaten
    and how widely it is sold. The text set orders newswire articles by the interest of one made-up
    reader in their topics, with noise that makes it about as hard as NEWS.

    The size of that noise was set after a first run with half of it, by the rho of ORIG at 4000:7
    (0.62 then; NEWS has 0.39). It decides who wins in the middle: in that first run ORIG was above
    RCDR at 1000:5 too (0.56 against 0.48 to 0.53), and below it at 1000:2 only.

    Correlations make up for ties, as tau-b does. The paper does not say how it treats the ties of
    its twelve binary attributes; this way the first component is the printed one in order and
    size, while tied pairs that merely count zero leave red fish (a tenth of the objects) at half
    of its printed weight. In the public file the price grows with cost and lightness falls with
    oiliness: what is eaten often, sold widely, red, dear and oily is preferred. The norms
    printed in Table 2 are about a fifth of the norm over N that the text defines: there are
    five attributes.

    The defaults of the orderers were chosen on other draws from the same 5000 orders, and so were
    one component and the scaling, out of some forty settings; only "auto" is chosen inside the
    training orders.
"""


def reduced(number: int | str, *, scaled: bool) -> Any:
    """Kendall RCDR before expected rank regression, on standardized attributes or as they are."""
    reducer = RankCorrelationReducer(number, correlation="kendall")  # type: ignore[arg-type]
    steps = [reducer, ExpectedRankOrderer()]
    return make_pipeline(StandardScaler(), *steps) if scaled else make_pipeline(*steps)


ORDERERS: dict[str, Any] = {
    "ERR": ExpectedRankOrderer(),
    "SVOR": RankSVMOrderer(),
    "OrderSVM": OrderSVMOrderer(),
    "RankBoost": RankBoostOrderer(),
    "Cohen": CohenOrderer(),
    "boosted trees": BoostingOrderer(random_state=0),
    "RCDR (1) + ERR": reduced(1, scaled=False),
    "scaled RCDR (1) + ERR": reduced(1, scaled=True),
    "scaled RCDR (auto) + ERR": reduced("auto", scaled=True),
}


def main() -> None:
    """Make every table and figure."""
    options = parse(arguments("Repeat the experiments of Kamishima & Akaho (2006)."))
    draws = 2 if options.quick else 10
    folds_of_text = 1 if options.quick else 5
    scores = draw_scores(draws, options.jobs, options.folder)
    run = cached(curve_cell, options.folder)
    sushi = curves(run, "sushi", SUSHI_SIZES, range(draws), options.jobs)
    text = curves(run, "text", TEXT_SIZES, range(folds_of_text), options.jobs)
    tables = {
        f"Table 2: artificial data, means over {draws} draws": artificial(draws),
        f"Table 3: SUSHI, mean rho of ten folds, {draws} draws": table_3(scores, "folds"),
        f"SUSHI, mean rho on {N_HELD_OUT} held-out orders, {draws} draws": table_3(
            scores, "held out"
        ),
        f"The first component on SUSHI, 500:10, mean of {draws} draws": reading(draws),
        f"Figure 4, left: SUSHI, mean rho by dimensions, {draws} draws": sushi,
        f"Figure 4, right: the text set, mean rho by dimensions, {folds_of_text} of 5 folds": text,
    }
    figures = {"SUSHI": draw_curves(sushi), "text": draw_curves(text)}
    publish("Kamishima & Akaho 2006", tables, options.output, figures=figures, reading=READING)


def artificial(draws: int) -> Table:
    """Section 4.1: weights (1, 1, 0.5, 0, 0), the fifth attribute a copy of the fourth."""
    found: dict[str, list[NDArray[Any]]] = {"kendall": [], "spearman": []}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        objects = rng.normal(size=(1000, 5))
        objects[:, 4] = objects[:, 3]
        worth = objects @ [1, 1, 0.5, 0, 0]
        chosen = np.array([rng.choice(1000, 5, replace=False) for _ in range(300)])
        orders = np.take_along_axis(chosen, np.argsort(-worth[chosen], axis=1), axis=1)
        for correlation, vectors in found.items():
            reducer = RankCorrelationReducer(2, correlation=correlation)  # type: ignore[arg-type]
            reducer.fit(*objects_from_orders(objects, orders))
            vectors.append(np.column_stack([reducer.components_, reducer.concordance_]))
    rows = []
    with published("kamishima2006_table2.csv").open(newline="", encoding="utf-8") as lines:
        theirs = {(row["vector"], row["method"]): row for row in csv.DictReader(lines)}
    for which, vector in enumerate(("first", "second")):
        for correlation, vectors in found.items():
            mean = np.mean(vectors, axis=0)[which]
            names = [f"w{k}" for k in range(1, 6)]
            ours = dict(zip([*names, "||R||/N"], map(float, mean), strict=True))
            rows.append({"vector": vector, "method": f"{correlation} RCDR"} | ours)
            printed = theirs[vector, f"{correlation[0].upper()}RCDR"]
            values = {name: float(printed[name]) for name in names}
            values["||R||/N"] = float(printed["last_column"])
            rows.append({"vector": vector, "method": "  published"} | values)
    return Table(rows)


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

    def folds(self, n_splits: int) -> Iterator[tuple[OrderedObjects, OrderedObjects]]:
        """Yield shortened training orders and full test orders of each fold."""
        splits = KFold(n_splits, shuffle=True, random_state=self.seed).split(self.full)
        for train, test in splits:
            yield self.rows(self.shortened[train]), self.rows(self.full[test])

    def rows(self, orders: Orders) -> OrderedObjects:
        """Rows, ranks and groups of some orders."""
        return objects_from_orders(self.objects, orders)


def draw_scores(draws: int, jobs: int | None, folder: Path | None) -> dict[str, Any]:
    """Mean rho of every method, size and draw, by folds and on held-out orders."""
    run = cached(score_draw, folder)
    cells = [(name, size) for name in ORDERERS for size in SUSHI_SIZES]
    found = Parallel(n_jobs=jobs)(
        delayed(run)(ORDERERS[name], size, seed) for name, size in cells for seed in range(draws)
    )
    by_cell = np.reshape(found, (len(cells), draws, 2))
    return {
        "folds": dict(zip(cells, by_cell[:, :, 0], strict=True)),
        "held out": dict(zip(cells, by_cell[:, :, 1], strict=True)),
    }


def score_draw(orderer: Any, size: Size, seed: int) -> tuple[float, float]:
    """Return the mean rho over the folds of one draw, and on orders that were not drawn."""
    drawn = Draw(read_sushi(), size, seed)
    held_out = drawn.rows(drawn.others[:N_HELD_OUT])
    by_fold = [score(orderer, train, test) for train, test in drawn.folds(10)]
    return float(np.mean(by_fold)), score(orderer, drawn.rows(drawn.shortened), held_out)


def score(orderer: Any, train: OrderedObjects, test: OrderedObjects) -> float:
    """Learn from some orders and return the mean rho on others."""
    with sklearn.config_context(enable_metadata_routing=True):
        fitted = clone(orderer).fit(train.X, train.y, groups=train.groups)
        return float(fitted.score(test.X, test.y, groups=test.groups))


def table_3(scores: Mapping[str, Any], measure: str) -> Table:
    """Mean and deviation of rho of every method, beside the published one."""
    with published("kamishima2006_table3.csv").open(newline="", encoding="utf-8") as lines:
        theirs = {
            (row["method"], int(row["N"]), int(row["L"])): float(row["mean_spearman_rho"])
            for row in csv.DictReader(lines)
            if row["dataset"] == "SUSHI"
        }
    rows = []
    for name in ORDERERS:
        row: dict[str, Any] = {"method": name}
        for size in SUSHI_SIZES:
            found = scores[measure][name, size]
            head = f"{size[0]}:{size[1]}"
            row[head] = f"{np.mean(found):.3f} ± {np.std(found):.3f}"
            row[f"published {head}"] = theirs.get((name, *size), np.nan)
        rows.append(row)
    return Table(rows)


def reading(draws: int) -> Table:
    """The largest weights of Kendall RCDR's first component, in the paper's attributes."""
    theirs = {13: 0.5951, 15: 0.4278, 1: 0.4237, 14: 0.2822, 12: -0.2317}
    vectors = []
    for seed in range(draws):
        drawn = Draw(read_sushi(), (500, 10), seed)
        reducer = RankCorrelationReducer(1, correlation="kendall")
        vectors.append(reducer.fit(*drawn.rows(drawn.full)).components_[0])
    mean, spread = np.mean(vectors, axis=0), np.std(vectors, axis=0)
    return Table(
        [
            {
                "attribute": ATTRIBUTES[k],
                "weight": float(mean[k]),
                "deviation": float(spread[k]),
                "published": theirs.get(int(k), np.nan),
            }
            for k in np.argsort(-np.abs(mean))[:8]
        ]
    )


def curves(
    run: Callable[..., Any], data: str, sizes: Sequence[Size], parts: range, jobs: int | None
) -> Table:
    """Mean rho of linear ERR on the first components of each reduction, one row a number."""
    rows = []
    for size in sizes[::-1]:
        found = Parallel(n_jobs=jobs)(delayed(run)(data, size, part) for part in parts)
        for number in DIMENSIONS[data]:
            row: dict[str, Any] = {"orders": f"{size[0]}:{size[1]}", "dimensions": number}
            for method in ("KRCDR", "SRCDR", "PCA", "ORIG"):
                key = method, 0 if method == "ORIG" else number
                row[method] = float(np.mean([scores[key] for scores in found]))
            rows.append(row)
    return Table(rows)


def curve_cell(data: str, size: Size, part: int) -> dict[tuple[str, int], float]:
    """Scores of one draw of SUSHI, means over ten folds, or of one of five folds of the text."""
    if data == "text":
        train, test = list(Draw(read_text(), size, 0).folds(5))[part]
        return dict(fold_scores(train, test, DIMENSIONS[data]))
    folds = [
        dict(fold_scores(train, test, DIMENSIONS[data]))
        for train, test in Draw(read_sushi(), size, part).folds(10)
    ]
    return {key: float(np.mean([scores[key] for scores in folds])) for key in folds[0]}


def fold_scores(
    train: OrderedObjects, test: OrderedObjects, dimensions: Sequence[int]
) -> Iterator[tuple[tuple[str, int], float]]:
    """Scores of linear ERR after every reduction, and on the original attributes."""
    most = min(max(dimensions), train.X.shape[1])
    dense = [part.X.toarray() if issparse(part.X) else part.X for part in (train, test)]
    reductions: Mapping[str, Any] = {
        "KRCDR": RankCorrelationReducer(most, correlation="kendall").fit(*train),
        "SRCDR": RankCorrelationReducer(most, correlation="spearman").fit(*train),
        "PCA": PCA(min(most, len(train.y))).fit(dense[0]),
    }

    def linear_score(features: list[Any]) -> float:
        parts = (part._replace(X=X) for part, X in zip((train, test), features, strict=True))
        return score(ExpectedRankOrderer(LinearRegression()), *parts)

    yield ("ORIG", 0), linear_score(dense)
    for name, reduction in reductions.items():
        reduced = [reduction.transform(part) for part in dense]
        for number in dimensions:
            yield (name, number), linear_score([part[:, :number] for part in reduced])


def draw_curves(table: Table) -> Any:
    """Draw the curves of each size side by side."""
    from matplotlib import pyplot

    sizes = list(dict.fromkeys(row["orders"] for row in table))
    figure, axes = pyplot.subplots(1, len(sizes), figsize=(9, 2.8), layout="constrained")
    for ax, size in zip(axes, sizes, strict=True):
        rows = [row for row in table if row["orders"] == size]
        curves = {name: [row[name] for row in rows] for name in ("KRCDR", "SRCDR", "PCA")}
        dimensions = [row["dimensions"] for row in rows]
        DimensionsDisplay(dimensions, curves, whole=rows[0]["ORIG"], title=size).plot(ax)
    return figure


def published(file: str) -> Path:
    """Return the path of a published table."""
    return benchmark_path(".").parent / "published" / file


if __name__ == "__main__":
    main()

"""The experiments of Kamishima & Akaho (2006): ours beside theirs.

::

    python reproduction/kamishima2006.py --quick

Sample orders of SUSHI are drawn anew for every draw: N of the 5000 orders, of each L of its ten
objects. Orderers learn from nine folds of the shortened orders and predict the tenth fold's
orders in full length. NEWS is not public; a text set of its shape takes its place.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from kebi import arguments, parse, publish
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.datasets import load_svmlight_file
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from prefero import (
    CohenOrderer,
    ExpectedRankOrderer,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankCorrelationReducer,
    RankSVMOrderer,
)
from prefero.base import BaseOrderer
from prefero.datasets import benchmark_path
from prefero.ordering import BoostingOrderer, OrderedObjects, objects_from_orders
from prefero.study import Table

Orders = NDArray[np.int64]
SUSHI_SIZES = ((500, 10), (100, 5), (100, 2))
TEXT_SIZES = ((4000, 7), (1000, 5), (1000, 2))
TEXT_DIMENSIONS = (1, 2, 5, 10, 20, 50, 100)
FISH = ("blue-skinned fish", "red fish", "white fish", "eel", "shellfish", "squid or octopus")
REST = ("shrimp or crab", "roe", "other seafood", "egg", "meat", "vegetables")
ATTRIBUTES = (*FISH, *REST, "lightness", "how often eaten", "price", "how widely sold")
ORDERERS: dict[str, BaseOrderer] = {
    "ERR": ExpectedRankOrderer(),
    "SVOR": RankSVMOrderer(),
    "OrderSVM": OrderSVMOrderer(),
    "RankBoost": RankBoostOrderer(),
    "Cohen": CohenOrderer(),
    "boosted trees": BoostingOrderer(random_state=0),
}


def main() -> None:
    """Make every table and figure."""
    parser = arguments("Repeat the experiments of Kamishima & Akaho (2006).")
    parser.add_argument("--figures", type=Path, help="write the curves to this folder, as SVG")
    options = parse(parser)
    draws = 2 if options.quick else 10
    sushi, text = read_sushi(), read_text()
    sushi_curves = curves(sushi, SUSHI_SIZES, range(1, 17), draws=draws, n_splits=10)
    text_curves = curves(text, TEXT_SIZES, TEXT_DIMENSIONS, draws=1, n_splits=5)
    tables = {
        "Table 2: artificial data, means over draws": artificial(draws),
        "Table 3: SUSHI, mean rho and its deviation over draws": table_3(sushi, draws),
        "The first component of Kendall RCDR on SUSHI, 500:10": reading(sushi),
        "Figure 4, left: SUSHI, mean rho by number of dimensions": sushi_curves,
        "Figure 4, right: the text set in place of NEWS": text_curves,
    }
    publish("Kamishima & Akaho 2006", tables, options.output)
    if options.figures is not None:
        draw(sushi_curves, options.figures / "kamishima2006-sushi.svg")
        draw(text_curves, options.figures / "kamishima2006-text.svg")


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


def read_sushi() -> tuple[NDArray[np.float64], Orders]:
    """Read the 16 attributes of the 100 objects, and 5000 orders of ten of them."""
    with benchmark_path("sushi/sushi3.idata").open(encoding="utf-8") as lines:
        items = [line.split("\t") for line in lines]
    kinds = np.eye(12)[[int(item[4]) for item in items]]
    numbers = np.array([[float(value) for value in item[5:9]] for item in items])
    order_file = benchmark_path("sushi/sushi3b.5000.10.order")
    orders = np.loadtxt(order_file, dtype=np.int64, skiprows=1)[:, 2:]
    return np.hstack([kinds, numbers]), orders


def read_text(n_orders: int = 4000) -> tuple[csr_array, Orders]:
    """Make orders of articles: a reader's interest in each topic is drawn once.

    An article is worth the mean interest of its topics, plus noise; its attributes are the
    words that occur in at least thirty articles, and its four main categories.
    """
    counts, _ = load_svmlight_file(
        str(benchmark_path("rcv1/readable/rcv1_counts.svm")), zero_based=True
    )
    topics = np.loadtxt(benchmark_path("rcv1/readable/rcv1_Y.csv"), delimiter=",")
    words = csr_array(counts > 0, dtype=np.float64)
    words = words[:, np.flatnonzero(words.sum(axis=0) >= 30)]
    rng = np.random.default_rng(2006)
    interest = rng.normal(size=topics.shape[1])
    worth = topics @ interest / np.maximum(topics.sum(axis=1), 1)
    chosen = np.array([rng.choice(len(worth), 7, replace=False) for _ in range(n_orders)])
    noisy = worth[chosen] + 0.5 * rng.normal(size=chosen.shape)
    orders = np.take_along_axis(chosen, np.argsort(-noisy, axis=1), axis=1)
    return csr_array(hstack([words, csr_array(topics[:, :4])])), orders


def folds(
    data: tuple[Any, Orders], size: tuple[int, int], draw: int, n_splits: int
) -> Iterator[tuple[OrderedObjects, OrderedObjects]]:
    """Draw N orders and L objects of each; yield training and full test orders of each fold."""
    objects, orders = data
    rng = np.random.default_rng([draw, *size])
    drawn = orders[rng.permutation(len(orders))[: size[0]]]
    keep = np.sort(np.argsort(rng.random(drawn.shape), axis=1)[:, : size[1]], axis=1)
    shortened = np.take_along_axis(drawn, keep, axis=1)
    for train, test in KFold(n_splits, shuffle=True, random_state=draw).split(drawn):
        yield (
            objects_from_orders(objects, shortened[train]),
            objects_from_orders(objects, drawn[test]),
        )


def table_3(data: tuple[Any, Orders], draws: int) -> Table:
    """Mean rho of every method at its defaults, and after RCDR, beside the published one."""
    with published("kamishima2006_table3.csv").open(newline="", encoding="utf-8") as lines:
        theirs = {
            (row["method"], int(row["N"]), int(row["L"])): float(row["mean_spearman_rho"])
            for row in csv.DictReader(lines)
            if row["dataset"] == "SUSHI"
        }
    rows = []
    for name in [*ORDERERS, "RCDR (1) + ERR", "RCDR (auto) + ERR"]:
        row: dict[str, Any] = {"method": name}
        for size in SUSHI_SIZES:
            scores = [score_draw(name, data, size, draw) for draw in range(draws)]
            head = f"{size[0]}:{size[1]}"
            row[head] = f"{np.mean(scores):.3f} ± {np.std(scores):.3f}"
            row[f"published {head}"] = theirs.get((name, *size), np.nan)
        rows.append(row)
    return Table(rows)


def score_draw(name: str, data: tuple[Any, Orders], size: tuple[int, int], draw: int) -> float:
    """Return the mean rho over the folds of one draw."""
    scores = []
    for train, test in folds(data, size, draw, 10):
        orderer = ORDERERS.get(name, ORDERERS["ERR"])
        if name not in ORDERERS:
            number: Any = 1 if "(1)" in name else "auto"
            reducer = RankCorrelationReducer(number, correlation="kendall").fit(*train)
            train, test = (part._replace(X=reducer.transform(part.X)) for part in (train, test))
        scores.append(orderer.fit(*train).score(*test))
    return float(np.mean(scores))


def reading(data: tuple[Any, Orders]) -> Table:
    """The largest components on SUSHI 500:10, in the paper's attributes."""
    theirs = {13: 0.5951, 15: 0.4278, 1: 0.4237, 14: 0.2822, 12: -0.2317}
    vectors = []
    for draw in range(10):
        rng = np.random.default_rng(draw)
        drawn = data[1][rng.permutation(len(data[1]))[:500]]
        reducer = RankCorrelationReducer(1, correlation="kendall")
        vectors.append(reducer.fit(*objects_from_orders(data[0], drawn)).components_[0])
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
    data: tuple[Any, Orders],
    sizes: tuple[tuple[int, int], ...],
    dimensions: Any,
    *,
    draws: int,
    n_splits: int,
) -> Table:
    """Mean rho of linear ERR on the first components of each reduction, one row a size."""
    rows = []
    for size in sizes[::-1]:
        found: dict[tuple[str, int], list[float]] = {}
        for draw in range(draws):
            for train, test in folds(data, size, draw, n_splits):
                for key, score in fold_scores(train, test, dimensions):
                    found.setdefault(key, []).append(score)
        for number in dimensions:
            row: dict[str, Any] = {"orders": f"{size[0]}:{size[1]}", "dimensions": number}
            for method in ("KRCDR", "SRCDR", "PCA", "ORIG"):
                row[method] = float(np.mean(found[method, 0 if method == "ORIG" else number]))
            rows.append(row)
    return Table(rows)


def fold_scores(
    train: OrderedObjects, test: OrderedObjects, dimensions: Any
) -> Iterator[tuple[tuple[str, int], float]]:
    """Scores of linear ERR after every reduction, and on the original attributes."""
    most = min(max(dimensions), train.X.shape[1])
    dense = [part.X.toarray() if issparse(part.X) else part.X for part in (train, test)]
    reductions: Mapping[str, Any] = {
        "KRCDR": RankCorrelationReducer(most, correlation="kendall").fit(*train),
        "SRCDR": RankCorrelationReducer(most, correlation="spearman").fit(*train),
        "PCA": PCA(min(most, len(train.y))).fit(dense[0]),
    }

    def score(features: list[Any]) -> float:
        orderer = ExpectedRankOrderer(LinearRegression())
        orderer.fit(features[0], train.y, train.groups)
        return orderer.score(features[1], test.y, test.groups)

    yield ("ORIG", 0), score(dense)
    for name, reduction in reductions.items():
        reduced = [reduction.transform(part) for part in dense]
        for number in dimensions:
            yield (name, number), score([part[:, :number] for part in reduced])


def draw(table: Table, path: Path) -> None:
    """Draw the curves of each size side by side."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "prefero"})
    from matplotlib import pyplot

    sizes = list(dict.fromkeys(row["orders"] for row in table))
    figure, axes = pyplot.subplots(1, len(sizes), figsize=(9, 2.8), layout="constrained")
    for ax, size in zip(axes, sizes, strict=True):
        rows = [row for row in table if row["orders"] == size]
        for method, style in (("KRCDR", "-o"), ("SRCDR", "--s"), ("PCA", "-^"), ("ORIG", ":")):
            ax.plot(
                [row["dimensions"] for row in rows],
                [row[method] for row in rows],
                style,
                markersize=3,
                linewidth=1,
                label=method,
            )
        ax.set(title=size, xlabel="dimensions")
        if max(row["dimensions"] for row in rows) > 20:
            ax.set_xscale("log")
    axes[0].set_ylabel("mean rho")
    axes[0].legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def published(file: str) -> Path:
    """Return the path of a published table."""
    return benchmark_path(".").parent / "published" / file


if __name__ == "__main__":
    main()

"""The components that Kamishima & Akaho (2006) print: their Table 2, and the first of SUSHI."""

from typing import Any, Literal

import numpy as np
from kamishima2006_data import ATTRIBUTES, Draw, read_sushi
from kebi import published_rows
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from prefero import RankCorrelationReducer
from prefero.evaluation import ResultTable
from prefero.ordering import objects_from_orders

Vectors = NDArray[np.float64]
NAMES = ("w1", "w2", "w3", "w4", "w5")
# The five largest weights of the first component, by the number of the attribute.
PRINTED = {13: 0.5951, 15: 0.4278, 1: 0.4237, 14: 0.2822, 12: -0.2317}


def artificial(draws: int) -> ResultTable:
    """Section 4.1: weights (1, 1, 0.5, 0, 0), the fifth attribute a copy of the fourth.

    A row has the mean over the draws, after the vectors were turned to one side, with the standard
    deviation, and how many of them had to be turned.
    """
    found: dict[str, list[Vectors]] = {"KRCDR": [], "SRCDR": [], "PCA": []}
    for seed in range(draws):
        objects, orders = artificial_orders(seed)
        for correlation in ("kendall", "spearman"):
            reducer = RankCorrelationReducer(2, correlation=correlation)  # type: ignore[arg-type]
            reducer.fit(*objects_from_orders(objects, orders))
            name = f"{correlation[0].upper()}RCDR"
            found[name].append(np.column_stack([reducer.components_, reducer.concordance_]))
        pca = PCA(2).fit(objects)
        found["PCA"].append(np.column_stack([pca.components_, pca.explained_variance_ratio_]))
    theirs = {
        (row["vector"], row["method"]): row for row in published_rows("kamishima2006_table2.csv")
    }
    rows: list[dict[str, Any]] = []
    for which, vector in enumerate(("first", "second")):
        for method, of_draws in found.items():
            printed = theirs[vector, method]
            values = [float(printed[name]) for name in (*NAMES, "last_column")]
            ours = np.array(of_draws)[:, which]
            turned = against(ours[:, :5], np.array(values[:5]))
            ours[turned, :5] *= -1
            rows.append({"vector": vector, "method": method} | with_spread(ours, int(turned.sum())))
            rows.append({"vector": vector, "method": "  published"} | with_names(values, "{:.2f}"))
    return ResultTable(rows)


def artificial_orders(seed: int) -> tuple[Vectors, NDArray[np.int64]]:
    """Draw 1000 objects and 300 orders of five of them."""
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(1000, 5))
    objects[:, 4] = objects[:, 3]
    worth = objects @ [1, 1, 0.5, 0, 0]
    chosen = np.array([rng.choice(1000, 5, replace=False) for _ in range(300)])
    return objects, np.take_along_axis(chosen, np.argsort(-worth[chosen], axis=1), axis=1)


def against(vectors: Vectors, printed: Vectors) -> NDArray[np.bool_]:
    """Return which vectors point away from the direction that they share, signed as printed."""
    direction = np.linalg.svd(vectors, full_matrices=False)[2][0]
    if direction @ printed < 0:
        direction = -direction
    return vectors @ direction < 0


def with_spread(values: Vectors, turned: int) -> dict[str, Any]:
    """Write means and standard deviations over the draws."""
    cells = [f"{m:.2f} ± {s:.2f}" for m, s in zip(values.mean(0), values.std(0), strict=True)][:5]
    last = f"{values[:, 5].mean():.3f} ± {values[:, 5].std():.3f}"
    return dict(zip(NAMES, cells, strict=True)) | {"||R||/N or share": last, "turned": turned}


def with_names(values: list[float], form: str) -> dict[str, Any]:
    """Write printed figures under the same heads."""
    cells = dict(zip(NAMES, map(form.format, values[:5]), strict=True))
    return cells | {"||R||/N or share": f"{values[5]:.3f}", "turned": ""}


def first_component(draws: int) -> ResultTable:
    """The largest weights of Kendall RCDR's first component, for both ways to count ties."""
    found = {ties: sushi_vectors(draws, ties) for ties in ("b", "a")}
    means = {ties: vectors.mean(axis=0) for ties, vectors in found.items()}
    printed, places = np.array([*PRINTED.values()]), [*PRINTED]
    rows: list[dict[str, Any]] = [
        {
            "attribute": ATTRIBUTES[k],
            'ties="b"': f"{means['b'][k]:.3f} ± {found['b'][:, k].std():.3f}",
            'ties="a"': f"{means['a'][k]:.3f} ± {found['a'][:, k].std():.3f}",
            "published": f"{PRINTED[k]:.3f}" if k in PRINTED else "",
        }
        for k in np.argsort(-np.abs(means["b"]))[:8].tolist()
    ]
    apart = {ties: np.abs(mean[places] - printed).max() for ties, mean in means.items()}
    largest = {f'ties="{ties}"': f"{value:.3f}" for ties, value in apart.items()}
    rows.append({"attribute": "largest difference to the printed"} | largest | {"published": ""})
    return ResultTable(rows)


def sushi_vectors(draws: int, ties: Literal["a", "b"] | str) -> Vectors:
    """First components of Kendall RCDR on draws of 500 orders of ten."""
    reducer = RankCorrelationReducer(1, correlation="kendall", ties=ties)  # type: ignore[arg-type]
    vectors = []
    for seed in range(draws):
        drawn = Draw(read_sushi(), (500, 10), seed)
        vectors.append(reducer.fit(*drawn.rows(drawn.full)).components_[0])
    return np.array(vectors)

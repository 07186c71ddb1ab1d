"""Figure 4 of Kamishima & Akaho (2006): accuracy against the number of dimensions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from kamishima2006_data import Draw, Fold, Size, read_sushi, read_text
from kebi import cached
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from prefero import ExpectedRankOrderer, RankCorrelationReducer
from prefero.evaluation import ResultTable

RCDR_SIZES: dict[str, tuple[Size, ...]] = {
    "sushi": ((500, 10), (100, 5), (100, 2)),
    "text": ((4000, 7), (1000, 5), (1000, 2)),
}
DIMENSIONS = {"sushi": tuple(range(1, 17)), "text": (1, 2, 5, 10, 20, 50)}
ABOVE_PCA = "SRCDR above PCA at dimensions"
REDUCTIONS = ("KRCDR", "SRCDR", "SRCDR, deflated", "PCA")
# Two curves are alike up to so much, and one is level with the original attributes.
ALIKE, LEVEL = 0.02, 0.005
# Orders to predict: in full length, or shortened as those to learn from.
Scores = dict[tuple[str, int], tuple[float, float]]


def curves(data: str, parts: range, jobs: int | None, folder: Path | None) -> ResultTable:
    """Mean rho of linear ERR on the first components of each reduction, one row a number."""
    run = cached(curve_cell, folder)
    rows = []
    for size in RCDR_SIZES[data][::-1]:
        found: list[Scores] = Parallel(n_jobs=jobs)(
            delayed(run)(data, size, part) for part in parts
        )
        for number in DIMENSIONS[data]:
            row: dict[str, Any] = {"orders": f"{size[0]}:{size[1]}", "dimensions": number}
            for method in (*REDUCTIONS, "ORIG"):
                key = method, 0 if method == "ORIG" else number
                row[method], short = np.mean([scores[key] for scores in found], axis=0).tolist()
                if method == "KRCDR":
                    row["KRCDR, shortened tests"] = short
            rows.append(row)
    return ResultTable(rows)


def curve_cell(data: str, size: Size, part: int) -> Scores:
    """Scores of one draw of SUSHI, means over ten folds, or of one of five folds of the text."""
    if data == "text":
        fold = list(Draw(read_text(), size, 0).folds(5))[part]
        return dict(fold_scores(fold, DIMENSIONS[data]))
    folds = [
        dict(fold_scores(fold, DIMENSIONS[data]))
        for fold in Draw(read_sushi(), size, part).folds(10)
    ]
    return {key: tuple(np.mean([scores[key] for scores in folds], axis=0)) for key in folds[0]}


def fold_scores(fold: Fold, dimensions: Sequence[int]) -> Iterator[tuple[tuple[str, int], Any]]:
    """Scores of linear ERR after every reduction, and on the original attributes."""
    train, tests = fold.train, (fold.full, fold.short)
    most = min(max(dimensions), train.X.shape[1])
    dense = [part.X.toarray() if issparse(part.X) else part.X for part in (train, *tests)]
    deflated = RankCorrelationReducer(most, deflate_orders=True)
    reductions: Mapping[str, Any] = {
        "KRCDR": RankCorrelationReducer(most, correlation="kendall").fit(*train),
        "SRCDR": RankCorrelationReducer(most, correlation="spearman").fit(*train),
        "SRCDR, deflated": deflated.fit(*train),
        "PCA": PCA(min(most, len(train.y)), random_state=0).fit(dense[0]),
    }

    def linear_scores(features: list[Any]) -> tuple[float, ...]:
        orderer = ExpectedRankOrderer(LinearRegression()).fit(features[0], train.y, train.qid)
        return tuple(
            float(orderer.score(X, test.y, test.qid))
            for X, test in zip(features[1:], tests, strict=True)
        )

    yield ("ORIG", 0), linear_scores(dense)
    for name in REDUCTIONS:
        reduced = [reductions[name].transform(part) for part in dense]
        for number in dimensions:
            yield (name, number), linear_scores([part[:, :number] for part in reduced])


def claims(*tables: ResultTable) -> ResultTable:
    """What the paper concludes from its Figure 4, by data and size."""
    rows = []
    for data, table in zip(("SUSHI", "text"), tables, strict=True):
        for size in dict.fromkeys(row["orders"] for row in table):
            rows.append({"data": data, "orders": size} | conclusions(table.where(orders=size)))
    return ResultTable(rows)


def conclusions(table: ResultTable) -> dict[str, Any]:
    """At which dimensions each conclusion holds on one size."""
    alike = max(abs(row["KRCDR"] - row["SRCDR"]) for row in table)
    best, original = max(row["SRCDR"] for row in table), table["ORIG"][0]
    lead = np.array([row["SRCDR, deflated"] - row["SRCDR"] for row in table])
    return {
        "KRCDR and SRCDR differ by at most": float(alike),
        ABOVE_PCA: dimensions_where(table, "SRCDR", "PCA"),
        "SRCDR above ORIG at dimensions": dimensions_where(table, "SRCDR", "ORIG"),
        "best SRCDR less ORIG": f"{best - original:+.3f}",
        "deflated less plain, mean": f"{lead.mean():+.3f}",
        "at most": f"{lead[np.argmax(np.abs(lead))]:+.3f}",
    }


def verdicts(*tables: ResultTable) -> list[tuple[str, str, str, str]]:
    """What the paper concludes from its Figure 4, whether it holds, and where."""
    found = claims(*tables)
    place = "What the paper concludes from Figure 4"
    apart = max(found["KRCDR and SRCDR differ by at most"])
    rows = [
        ("'the two RCDRs are alike'", place, _met(apart <= ALIKE), f"at most {apart:.3f} apart")
    ]
    always = [row[ABOVE_PCA] == "all" for row in found]
    words = "; ".join(
        _above_pca(name, table) for name, table in zip(("SUSHI", "text"), tables, strict=True)
    )
    rows.append(("'RCDRs predict better than PCA'", place, _met(all(always)), words))
    gains = {f"{row['data']} {row['orders']}": float(row["best SRCDR less ORIG"]) for row in found}
    parts = {
        "above": [f"{at} ({gain:+.3f})" for at, gain in gains.items() if gain > LEVEL],
        f"level to {LEVEL}": [at for at, gain in gains.items() if abs(gain) <= LEVEL],
        "below": [f"{at} ({gain:+.3f})" for at, gain in gains.items() if gain < -LEVEL],
    }
    words = "; ".join(f"{how}: {', '.join(names)}" for how, names in parts.items() if names)
    met = "yes" if not parts["below"] and len(parts["above"]) == len(gains) else "partly"
    met = met if parts["above"] else "no"
    words = f"with as many dimensions as are best for the tests, {words}"
    return [*rows, ("'RCDR better than ORIG'", place, met, words)]


def failed(found: Sequence[tuple[str, str, str, str]]) -> str:
    """Name the conclusions that do not hold, or not everywhere, with where."""
    lines = [
        f"**{claim} does not hold everywhere:** {why}."
        for claim, _, met, why in found
        if met != "yes"
    ]
    return " ".join(lines) or "All of it holds."


def _met(holds: bool) -> str:
    return "yes" if holds else "no"


def _above_pca(name: str, table: ResultTable) -> str:
    """Say at which dimensions RCDR is above PCA at every size, and at which at none."""
    sizes = [part for _, part in table.groups("orders").items()]
    ahead = np.array([[row["SRCDR"] > row["PCA"] for row in part] for part in sizes])
    dimensions = np.array([row["dimensions"] for row in sizes[0]])
    always, never = (
        ", ".join(map(str, dimensions[places]))
        for places in (ahead.all(axis=0), ~ahead.any(axis=0))
    )
    parts = {"at every size": always, "at no size": never}
    return f"{name}: " + ", ".join(f"{at} with {some}" for at, some in parts.items() if some)


def deflation(*tables: ResultTable) -> str:
    """Say what the deflation of the orders brings, size by size."""
    mean = "deflated less plain, mean"
    return ", ".join(
        f"{row['data']} {row['orders']} {row[mean]} (farthest {row['at most']})"
        for row in claims(*tables)
    )


def places_met(found: ResultTable) -> tuple[str, str, str, str]:
    """Say whether RCDR and linear ERR have the printed places beside Table 3."""
    same = [row["place"] == row["place (paper)"] for row in found]
    words = ", ".join(
        f"{row['orders']}: place {row['place']}, printed {row['place (paper)']}" for row in found
    )
    met = "yes" if all(same) else "partly" if any(same) else "no"
    head = "RCDR and linear ERR against Table 3"
    return f"{head}, SUSHI", f"{head}, like for like", met, words


def places(curve: ResultTable, rivals: Mapping[tuple[str, Size], float]) -> ResultTable:
    """Where linear ERR after Kendall RCDR, its dimensions the best, stands in Table 3."""
    printed = {"500:10": 3, "100:5": 1, "100:2": 2}
    rows = []
    for size in RCDR_SIZES["sushi"]:
        head = f"{size[0]}:{size[1]}"
        reached = max(curve.where(orders=head)["KRCDR, shortened tests"])
        others = {name: value for (name, at), value in rivals.items() if at == size}
        place = 1 + sum(value > reached for value in others.values())
        best = max(others, key=lambda name: others[name])
        row = {"orders": head, "RCDR + linear ERR": float(reached), "best of Table 3": best}
        row |= {"its rho": others[best], "place": place, "place (paper)": printed[head]}
        rows.append(row)
    return ResultTable(rows)


def dimensions_where(table: ResultTable, first: str, second: str) -> str:
    """Write the numbers of dimensions at which the first column exceeds the second."""
    found = [row["dimensions"] for row in table if row[first] > row[second]]
    if len(found) == len(table):
        return "all"
    return ", ".join(map(str, found)) or "none"


def draw_curves(table: ResultTable) -> Any:
    """Draw the curves of each size side by side, with one legend for all."""
    from matplotlib import pyplot

    sizes = list(dict.fromkeys(row["orders"] for row in table))
    figure, axes = pyplot.subplots(1, len(sizes), figsize=(9, 3.4), layout="constrained")
    for ax, size in zip(axes, sizes, strict=True):
        rows = [row for row in table if row["orders"] == size]
        dimensions = [row["dimensions"] for row in rows]
        for name, marker, line in zip(REDUCTIONS, "os^D", ("-", "--", "-.", ":"), strict=True):
            scores = [row[name] for row in rows]
            ax.plot(dimensions, scores, marker=marker, markersize=5, linestyle=line, label=name)
        ax.axhline(rows[0]["ORIG"], color="0.5", linestyle=":", label="all attributes")
        ax.set(title=size, xlabel="dimensions", ylabel="mean Spearman rho")
        ax.grid(axis="y", alpha=0.3)
        if max(dimensions) > 20:
            ax.set_xscale("log")
            ticks_at(ax, dimensions)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False
    )
    return figure


def ticks_at(ax: Any, places: Sequence[int]) -> None:
    """Write the places that were measured on a logarithmic axis, and no others."""
    ax.set_xticks(places, [str(place) for place in places])
    ax.set_xticks([], minor=True)

"""How large label ranking trees are beside C4.5 for the top label (Table 2 of Cheng et al. 2009).

The paper leaves open when a node is too small to be split, "the number of labels in a node" below
twice the number of labels. Two readings are tried: labels count examples, or label occurrences, so
that two complete rankings are enough. Both are divided by the leaves of C4.5 for the top label: of
the labels that are left, or of the whole ranking; and without pruning.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from c45 import C45
from joblib import Parallel, delayed
from kebi import LARGE_SETS, published, read_set
from sklearn.model_selection import KFold

from prefero import TreeLabelRanker
from prefero.evaluation import ResultTable, relative_sizes
from prefero.rankings import drop_labels

RULES: dict[str, dict[str, Any]] = {
    "LRT, 2n examples": {},
    "LRT, 2 examples": {"min_samples_split": 2},
}
REFERENCES = ("C4.5", "C4.5 of whole rankings", "unpruned C4.5")
# Of ten folds.
FOLDS, FOLDS_OF_LARGE = 3, 1
FITS = "How far relative tree sizes are from the published ones"


def size_head(rate: float) -> str:
    """Return the heading of the sizes at a rate."""
    return f"Table 2: relative tree size, {rate:.0%} of the labels missing"


def leaves(name: str, rate: float, fold: int) -> dict[str, int]:
    """Return the leaves of every tree on the training rows of a fold."""
    X, Y = read_set(name)
    train = list(KFold(10, shuffle=True, random_state=0).split(X))[fold][0]
    ranks = drop_labels(Y[train], rate, random_state=fold) if rate else Y[train]
    some = ~np.isnan(ranks).all(axis=1)
    X, ranks, whole = X[train][some], ranks[some], Y[train][some]
    found = {
        rule: TreeLabelRanker.lrt(**rules).fit(X, ranks).get_n_leaves()
        for rule, rules in RULES.items()
    }
    top, n_labels = np.nanargmin(ranks, axis=1), Y.shape[1]
    trees = C45(), C45(), C45(prune=False)
    for reference, tree, classes in zip(
        REFERENCES, trees, (top, np.argmin(whole, axis=1), top), strict=True
    ):
        found[reference] = tree.fit(X, classes, n_labels).n_leaves()
    return found


def size_tables(
    sets: Sequence[str],
    rates: Sequence[float],
    n_jobs: int | None,
    run: Callable[..., dict[str, int]],
) -> dict[str, ResultTable]:
    """Return the relative sizes at each rate beside the published ones, and how far they are."""
    cells = [
        (name, rate, fold)
        for name, rate in product(sets, rates)
        for fold in range(FOLDS_OF_LARGE if name in LARGE_SETS else FOLDS)
    ]
    found = Parallel(n_jobs)(delayed(run)(*cell) for cell in cells)
    sizes = ResultTable(
        {"dataset": name, "missing": rate, "ranker": tree, "leaves": number}
        for (name, rate, _), trees in zip(cells, found, strict=True)
        for tree, number in trees.items()
    )
    printed = published("cheng2009_table2.csv", column="rel_tree_size", method="LRT")
    tables = {size_head(rate): _at(sizes, rate, printed) for rate in rates}
    return tables | {FITS: _fits(tables)}


def _at(sizes: ResultTable, rate: float, printed: dict[tuple[str, float], float]) -> ResultTable:
    rows: dict[str, dict[str, Any]] = {}
    for reference in REFERENCES:
        for row in relative_sizes(sizes, reference, missing=rate):
            name = row["dataset"]
            rows.setdefault(name, {"dataset": name, "published": printed[name, rate]})
            rows[name] |= {f"{rule} / {reference}": row[rule] for rule in RULES}
    return ResultTable(rows.values())


def _fits(tables: dict[str, ResultTable]) -> ResultTable:
    """Return the typical factor between each variant and the published figures."""
    rows = []
    for head, table in tables.items():
        row: dict[str, Any] = {"labels missing": head.split(", ")[1].split()[0]}
        for variant in table.columns[2:]:
            ratios = np.log(table[variant].astype(float) / table["published"].astype(float))
            row[variant] = float(np.exp(np.mean(np.abs(ratios))))
        rows.append(row)
    return ResultTable(rows)

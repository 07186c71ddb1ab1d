"""Table 2 and Figure 1 of Cheng, Hühn & Hüllermeier (2009), ours beside theirs.

Kendall's tau of instance-based label ranking (IBLR), label ranking trees (LRT) and constraint
classification (CC) on the sixteen KEBI sets with 0, 30 and 60 % of the training labels
missing; how well the reliability of IBLR predicts its tau; and tau on housing against the
missing rate::

    python reproduction/cheng2009.py --quick --jobs 2
    python reproduction/cheng2009.py --output docs/results/cheng2009.md
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from kebi import (
    ALL_SETS,
    SMALL_SETS,
    arguments,
    beside,
    parse,
    publish,
    published,
    read_set,
    run_kebi,
)
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from prefero import label_ranking
from prefero.metrics import kendall_tau
from prefero.rankings import drop_labels
from prefero.study import Table, run_experiment, summarize

RATES = (0.0, 0.3, 0.6)
CURVE_RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
COLUMNS = {
    "IBLR": "NeighborsLabelRanker",
    "LRT": "TreeLabelRanker",
    "CC": "ConstraintLabelRanker",
}


def rankers(columns: Sequence[str]) -> dict[str, BaseEstimator]:
    """Return the paper's methods, with the default parameters of Prefero."""
    return {
        column: getattr(label_ranking, COLUMNS[column])()
        for column in columns
        if hasattr(label_ranking, COLUMNS[column])
    }


def reliability_row(name: str) -> dict[str, object]:
    """Return the mean rank correlation of reliability and tau over the tests of some folds.

    Some are all ten for the smallest sets, three below 3000 rows, else one.
    """
    problem = read_set(name)
    X, Y = problem.data, problem.target
    n_folds = 10 if len(X) <= 300 else 3 if len(X) <= 3000 else 1
    folds = list(KFold(10, shuffle=True, random_state=0).split(X))[:n_folds]
    row: dict[str, object] = {"dataset": name}
    for rate in RATES:
        correlations = []
        for fold, (train, test) in enumerate(folds):
            ranks = drop_labels(Y[train], rate, random_state=fold)
            some = ~np.isnan(ranks).all(axis=1)
            ranker = label_ranking.NeighborsLabelRanker().fit(X[train][some], ranks[some])
            tau = kendall_tau(Y[test], ranker.predict(X[test]), average=False)
            if np.ptp(tau) > 0:
                correlations.append(spearmanr(ranker.predict_reliability(X[test]), tau).statistic)
        row[f"{rate:.0%} missing"] = float(np.mean(correlations))
    return row


def learning_curve(
    methods: dict[str, BaseEstimator], n_jobs: int | None, folder: Path | None
) -> Table:
    """Return tau on housing by the rate of missing labels: one row a rate."""
    results = run_experiment(
        methods,
        {"housing": lambda: read_set("housing")},
        missing=CURVE_RATES,
        n_jobs=n_jobs,
        folder=folder,
    )
    tau = {(row["ranker"], row["missing"]): row["tau"] for row in summarize(results)}
    return Table(
        [
            {"missing": f"{rate:.0%}"} | {method: tau[method, rate] for method in methods}
            for rate in CURVE_RATES
        ]
    )


def draw(curve: Table, methods: dict[str, BaseEstimator], path: Path) -> None:
    """Draw Figure 1."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.5), layout="constrained")
    for method, marker in zip(methods, "osD", strict=False):
        axes.plot([100 * rate for rate in CURVE_RATES], curve[method], marker=marker, label=method)
    axes.set(xlabel="missing labels, %", ylabel="Kendall's tau", title="housing")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    """Run the experiments and print the tables."""
    parser = arguments("Table 2 and Figure 1 of Cheng et al. 2009, ours beside theirs.")
    parser.add_argument("--figure", type=Path, help="draw Figure 1 into this file (SVG, PNG, PDF)")
    parser.add_argument("--methods", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    options = parse(parser)
    methods = rankers(options.methods)
    results = run_kebi(
        methods,
        missing=RATES,
        quick=options.quick,
        n_repeats=options.repetitions,
        n_jobs=options.jobs,
        folder=options.folder,
    )
    theirs = {method: published("cheng2009_table2.csv", method=method) for method in methods}
    tables = {
        f"Kendall's tau, {rate:.0%} of the labels missing": beside(results, theirs, missing=rate)
        for rate in RATES
    }
    sets = SMALL_SETS if options.quick else ALL_SETS
    if "IBLR" in methods:
        head = "Spearman correlation of the reliability and tau of IBLR over test instances"
        tables[head] = Table([reliability_row(name) for name in sets])
    curve = learning_curve(methods, options.jobs, options.folder)
    tables["Kendall's tau on housing against the missing rate (Figure 1)"] = curve
    if options.figure is not None:
        draw(curve, methods, options.figure)
    publish("Cheng, Hühn & Hüllermeier (2009)", tables, options.output)


if __name__ == "__main__":
    main()

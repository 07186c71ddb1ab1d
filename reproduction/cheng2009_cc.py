"""The column CC of Cheng, Hühn & Hüllermeier (2009), Table 2, and other linear rankers.

Constraint classification is run as in the paper (alpha = 500); the log-linear ranker learns the
edges of the preference graphs, once with the features as base functions, once with their squares
and products too; ranking by pairwise comparison trains a logistic regression a pair. All but CC
see standardised features::

    python reproduction/cheng2009_cc.py --jobs 2

``--single`` runs one repetition on all sets.
"""

from functools import partial

from kebi import LARGE_SETS, SMALL_SETS, arguments, beside, parse, publish, published, run_kebi
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from prefero import ConstraintLabelRanker, LogLinearLabelRanker, PairwiseLabelRanker
from prefero.study import Table, summarize

RATES = (0.0, 0.3, 0.6)


def rankers() -> dict[str, BaseEstimator]:
    """Return the linear rankers by the names of their columns."""
    squares = PolynomialFeatures(2, include_bias=False)
    return {
        "CC": ConstraintLabelRanker(alpha=500),
        "log-linear": make_pipeline(StandardScaler(), LogLinearLabelRanker("edges")),
        "log-linear, squares": make_pipeline(
            StandardScaler(), squares, LogLinearLabelRanker("edges", alpha=1e-3)
        ),
        "RPC": make_pipeline(StandardScaler(), PairwiseLabelRanker(LogisticRegression())),
    }


def losses_by_missing(results: Table) -> Table:
    """How much tau each ranker loses at 60 % missing labels, beside the paper's CC."""
    tau = {
        (row["dataset"], row["ranker"], row["missing"]): row["tau"] for row in summarize(results)
    }
    theirs = published("cheng2009_table2.csv", method="CC")
    return Table(
        {"dataset": name}
        | {ranker: tau[name, ranker, 0.0] - tau[name, ranker, 0.6] for ranker in rankers()}
        | {"CC (published)": theirs[name, 0.0] - theirs[name, 0.6]}
        for name in sorted({name for name, _, _ in tau})
    )


def main() -> None:
    """Run the three rankers at the three missing rates."""
    parser = arguments("Constraint classification and its kin on the KEBI sets.")
    parser.add_argument("--single", action="store_true", help="one repetition on all sets")
    options = parse(parser)
    run = partial(run_kebi, rankers(), missing=RATES, n_jobs=options.jobs, folder=options.folder)
    if options.single:
        results = run(sets=SMALL_SETS, quick=True) + run(sets=LARGE_SETS)
    else:
        results = run(quick=options.quick)
    theirs = {"CC": published("cheng2009_table2.csv", method="CC")}
    tables = {
        f"Kendall's tau, {rate:.0%} of the labels missing": beside(results, theirs, missing=rate)
        for rate in RATES
    }
    tables["tau lost from 0 to 60 % missing labels"] = losses_by_missing(results)
    publish("Linear rankers on the KEBI sets", tables, options.output)


if __name__ == "__main__":
    main()

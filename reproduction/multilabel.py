"""Label rankers as multilabel rankers, beside those of the task and scikit-learn's.

::

    python reproduction/multilabel.py

Emotions (three folds), functional yeast and the eight expression problems of Brinker &
Hüllermeier (2007), a split of 70/30 each, out of the folder that PREFERO_DATA names.
"""

import warnings
from typing import Any

import numpy as np
from brinker2007 import EXPRESSION_SETS, read_expression, read_multilabel, scores_of
from joblib import Parallel, delayed
from kebi import arguments, cached, need, parse, publish
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, train_test_split
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from prefero import (
    BinaryRelevanceRanker,
    BoostingLabelRanker,
    CalibratedMultilabelRanker,
    ConsensusLabelRanker,
    LogLinearLabelRanker,
    NeighborsMultilabelRanker,
    PairwiseMultilabelRanker,
)
from prefero._typing import Indices, Values
from prefero.evaluation import ResultTable
from prefero.metrics import multilabel as metrics

FOLDS = {"emotions": 3}
# Rows of a set that are looked at, unless --rows asks for others.
ROWS = 1200
QUICK = ["emotions", "diau"]
MEASURES = {
    "Hamming loss": lambda truth, scores: metrics.hamming_loss(truth, scores > 0),
    "subset loss": lambda truth, scores: metrics.subset_loss(truth, scores > 0),
    "ranking loss": metrics.ranking_loss,
    "average precision": metrics.average_precision,
}

READING = """
Of sets with more than 1200 rows so many are drawn, unless `--rows` asks for others. Emotions (593
rows) is divided into three folds, every other set into 70 % to train and 30 % to test on, once: a
difference of one in the second digit on one set means little.

"Calibrated" is `CalibratedMultilabelRanker` around a label ranker with its defaults, at the
default gap. CRPC and binary relevance have their defaults, k-NN chooses the neighbourhood and the
gap by the Hamming loss of cases left out. The constant is one calibrated ranking for everyone. The
features are standardised. scikit-learn's chain is of logistic regressions, its forest has 100
trees; neither knows missing relevance, which in the expression problems is taken for irrelevant
in their training, nor ranks inside the relevant labels, which the others are given there. Missing
entries count in no measure. Nothing was chosen by the test
parts, but for one thing: how wide the virtual label is by default was changed when the figures of
emotions had been seen.
"""


def methods() -> dict[str, Any]:
    """Return the methods by name; the constant first."""
    calibrated = {
        "constant": ConsensusLabelRanker("borda"),
        "calibrated forest": None,
        "calibrated boosting": BoostingLabelRanker(),
        "calibrated log-linear": LogLinearLabelRanker(calibrate=False, scale=False),
    }
    found: dict[str, Any] = {
        name: CalibratedMultilabelRanker(ranker, random_state=0)
        for name, ranker in calibrated.items()
    }
    return found | {
        "CRPC": PairwiseMultilabelRanker(scale=False),
        "binary relevance": BinaryRelevanceRanker(),
        "k-NN": NeighborsMultilabelRanker(
            "auto", gap_amplification="auto", weights="distance", loss="hamming"
        ),
        "chain (scikit-learn)": ClassifierChain(LogisticRegression(max_iter=2000)),
        "forest (scikit-learn)": RandomForestClassifier(random_state=0),
    }


def main() -> None:
    """Run every method on every set and print one table per measure."""
    everything = ["emotions", "yeast", *EXPRESSION_SETS]
    parser = arguments("Compare label rankers as multilabel rankers.")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of a set to take; 0: all")
    parser.add_argument("--sets", nargs="+", choices=everything, help="some of the sets alone")
    options = parse(parser)
    run = cached(run_cell, options.folder)
    names = options.sets or (QUICK if options.quick else everything)
    need(file_of(name) for name in names)
    cells = [(name, method, options.rows) for name in names for method in methods()]
    found = Parallel(options.jobs)(delayed(run)(*cell) for cell in cells)
    values = dict(zip(cells, found, strict=True))
    tables = {}
    for measure in MEASURES:
        rows = [
            {"set": name} | {m: values[name, m, options.rows][measure] for m in methods()}
            for name in names
        ]
        means = {m: float(np.mean([row[m] for row in rows])) for m in methods()}
        tables[measure] = ResultTable([*rows, {"set": f"mean of {len(rows)}"} | means])
    publish("Label rankers on label sets", tables, options.output, reading=READING)


def file_of(name: str) -> str:
    """Return what holds a set in the folder of the data."""
    expression = name in EXPRESSION_SETS
    return f"yeast_expression/{name}_real.csv" if expression else f"multilabel/{name}/{name}_X.csv"


def run_cell(name: str, method: str, most: int) -> dict[str, float]:
    """Return the measures of a method on a set, or some rows of it, mean over its splits."""
    if name in EXPRESSION_SETS:
        X, relevance, ranks = read_expression(name)
    else:
        (X, relevance), ranks = read_multilabel(name), None
    rows = np.random.default_rng(0).permutation(len(X))[: most or None]
    X, relevance = X[rows], relevance[rows]
    ranks = None if ranks is None else ranks[rows]
    if name in FOLDS:
        splits = list(KFold(FOLDS[name], shuffle=True, random_state=0).split(X))
    else:
        splits = [train_test_split(np.arange(len(X)), test_size=0.3, random_state=0)]
    found = [run_split(methods()[method], X, relevance, ranks, *split) for split in splits]
    return {measure: float(np.mean([one[measure] for one in found])) for measure in MEASURES}


def run_split(
    estimator: Any, X: Values, relevance: Values, ranks: Any, train: Indices, test: Indices
) -> dict[str, float]:
    """Fit a method to some rows and measure it on others."""
    model = make_pipeline(StandardScaler(), clone(estimator))
    ours = type(estimator).__module__.startswith("prefero")
    given = {} if ranks is None or not ours else {f"{model.steps[-1][0]}__ranks": ranks[train]}
    truth = relevance[train] if ours else np.nan_to_num(relevance[train])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that no training row holds
        scores = scores_of(model.fit(X[train], truth, **given), X[test])
    return {name: float(measure(relevance[test], scores)) for name, measure in MEASURES.items()}


if __name__ == "__main__":
    main()

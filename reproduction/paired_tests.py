"""How often the tests of paired differences err, and what they find: a simulation.

::

    python reproduction/paired_tests.py --jobs 2 --output docs/results/paired_tests.md
"""

from itertools import product

import numpy as np
from joblib import Parallel, delayed
from kebi import arguments, cached, parse, publish
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeRegressor

from prefero._typing import Indices, Values
from prefero.evaluation import ResultTable, compare_folds, compare_rows
from prefero.evaluation.results import RUN_COLUMNS, RunPredictions
from prefero.metrics import kendall_tau
from prefero.rankings import ranks_from_scores, strict_ranks

LEVEL, DRAWS, FEW_DRAWS = 0.05, 1000, 100
# By the draws before it the correction for training rows was chosen.
FIRST_SEED = 1000
N_LABELS, N_FEATURES, N_GROUPS = 5, 3, 20
LEARNERS = {"linear": Ridge(), "tree": DecisionTreeRegressor(min_samples_leaf=5, random_state=0)}
HALVES = {"first": slice(0, N_FEATURES), "second": slice(N_FEATURES, 2 * N_FEATURES)}
# By how much less the second half of the features tells than the first.
WEAKER = {"none": 0.0, "some": 0.3}

READING = """
Each draw is a new data set: two rankers, regressions of the scores of five labels, see one half of
the features each and are cross-validated. Where both halves tell
equally much, neither ranker is better, and a test at level 0.05 should reject in one draw of twenty
(`Wrong`); where the second half tells less, rejections are what is wanted (`Found`). `rows` is
`compare_rows`, of paired differences of single rows, or of groups where rows come in 20 groups that
share an effect on the labels; `folds` is `compare_folds`, the corrected resampled t-test. Both see
the same predictions. That the variance of `rows` is corrected by two thirds of what `folds` adds
was chosen on other draws of these kinds. A share p of n draws has the standard error
sqrt(p (1 - p) / n).
"""


def main() -> None:
    """Simulate, and print how often each test rejects."""
    options = parse(arguments("How often tests of paired differences err."))
    run = cached(rejections, options.folder)
    draws = FEW_DRAWS if options.quick else DRAWS
    wrong, found = [], []
    for learner, rows, folds, grouped in product(LEARNERS, (60, 240), (3, 10), (False, True)):
        where = {"learner": learner, "rows": rows, "folds": folds}
        where |= {"groups": N_GROUPS if grouped else "none"}
        for table, weaker, n in ((wrong, "none", draws), (found, "some", draws // 2)):
            each = Parallel(options.jobs)(
                delayed(run)(learner, rows, folds, grouped, weaker, FIRST_SEED + k)
                for k in range(n)
            )
            shares = np.mean(each, axis=0)
            table.append(where | {"by rows": shares[0], "by folds": shares[1], "draws": n})
    tables = {"Wrong": ResultTable(wrong), "Found": ResultTable(found)}
    publish("Tests of paired differences", tables, options.output, reading=READING)


def rejections(
    learner: str, rows: int, folds: int, grouped: bool, weaker: str, seed: int
) -> tuple[bool, bool]:
    """Draw a data set, and return whether each test tells the two rankers apart."""
    random = np.random.default_rng(seed)
    groups = np.arange(rows) % N_GROUPS if grouped else np.arange(rows)
    X, scores = draw(random, groups, WEAKER[weaker])
    ranks = ranks_from_scores(scores, higher_is_better=True)
    splits = list(GroupKFold(folds, shuffle=True, random_state=seed).split(X, groups=groups))
    table, kept = [], {}
    for half, columns in HALVES.items():
        for fold, (train, test) in enumerate(splits):
            model = clone(LEARNERS[learner]).fit(X[train, columns], scores[train])
            predicted = strict_ranks(model.predict(X[test, columns]))
            tau = np.asarray(kendall_tau(ranks[test], predicted, average=False))
            key = ("drawn", half, 0.0, 0, fold)
            counts = {"train_rows": float(len(train)), "test_rows": float(len(test))}
            table.append(dict(zip(RUN_COLUMNS, key, strict=True)) | {"tau": tau.mean()} | counts)
            kept[key] = RunPredictions(
                train, test, predicted, {"tau": tau}, test, groups[test], seed, False
            )
    results = ResultTable(table, predictions=kept)
    tests = compare_rows(results, "first"), compare_folds(results, "first")
    return tuple(bool(test["p_value"][0] < LEVEL) for test in tests)


def draw(random: np.random.Generator, groups: Indices, weaker: float) -> tuple[Values, Values]:
    """Draw features, of which both halves tell of the labels, and scores of the labels."""
    X = random.normal(size=(len(groups), 2 * N_FEATURES))
    weights = random.normal(size=(N_FEATURES, N_LABELS))
    scores = X[:, :N_FEATURES] @ weights + (1 - weaker) * X[:, N_FEATURES:] @ weights
    # Rows of one group share an effect; without groups it is noise of each row.
    scores += 2 * random.normal(size=(groups.max() + 1, N_LABELS))[groups]
    return X, scores + random.normal(size=scores.shape)


if __name__ == "__main__":
    main()

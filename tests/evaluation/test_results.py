import numpy as np
import pytest

from prefero import ConsensusLabelRanker, TreeLabelRanker
from prefero.evaluation import ResultTable, run_experiment, summarize
from prefero.evaluation._data import load_data
from prefero.evaluation.baselines import reference_choices
from prefero.metrics import regret
from prefero.rankings import ranks_from_scores


@pytest.fixture(scope="module")
def results():
    """Two labels, told apart by the feature; in one row of forty much is lost by the wrong one."""
    rng = np.random.default_rng(0)
    X, scores = rng.normal(size=(40, 1)), rng.normal(size=(40, 2))
    scores[:, 0] += 3 * X[:, 0]
    scores[7] = [100.0, 0.0]
    Y = ranks_from_scores(scores, higher_is_better=True)
    rankers = {"consensus": ConsensusLabelRanker(), "tree": TreeLabelRanker(max_depth=2)}
    return run_experiment(rankers, {"d": (X, Y, scores)}, n_splits=4, use_scores=True)


def test_the_closed_gap_is_one_ratio_of_all_rows(results):
    for row in summarize(results):
        runs = results.where(ranker=row["ranker"])
        lost, single = runs["regret"].sum(), runs["single_best_regret"].sum()
        assert row["gap_closed"] == pytest.approx(1 - lost / single)
    tree = results.where(ranker="tree")
    assert abs(np.mean(tree["gap_closed"]) - summarize(tree)[0]["gap_closed"]) > 0.01


def test_the_closed_gap_agrees_with_the_regret(results):
    by_ranker = {row["ranker"]: row for row in summarize(results)}
    consensus, tree = by_ranker["consensus"], by_ranker["tree"]
    assert consensus["gap_closed"] == pytest.approx(0, abs=1e-12)
    assert (tree["gap_closed"] > 0) == (tree["regret"] < consensus["regret"])


def test_ratios_of_several_data_sets_are_not_pooled():
    """Their regrets are in different units."""
    rows = [
        {"dataset": d, "ranker": "r", "test_rows": 10.0, "regret": unit * lost}
        | {"single_best_regret": unit, "gap_closed": 1 - lost}
        for d, unit, lost in (("a", 1.0, 0.2), ("b", 1000.0, 0.6))
    ]
    assert summarize(ResultTable(rows), by=("ranker",))[0]["gap_closed"] == pytest.approx(0.6)


def test_the_single_best_label_is_that_of_the_training_rows():
    scores = np.array([[1.0, 0.0]] * 9 + [[0.0, 30.0]])
    X, Y = np.zeros((10, 1)), ranks_from_scores(scores, higher_is_better=True)
    cv = [(np.arange(9), np.array([9]))]
    found = run_experiment({"tree": TreeLabelRanker()}, {"d": (X, Y, scores)}, cv=cv)
    assert found["single_best_regret"].tolist() == [regret(scores[9:], [[1, 2]])] == [30.0]


def test_reference_choices_are_the_best_constant_and_the_best_of_each_row():
    random = np.random.default_rng(0)
    scores = random.normal([0.5, 0.0, 0.2], size=(30, 3))
    scores[random.random(scores.shape) < 0.2] = np.nan
    scores[0] = [1.0, 2.0, np.nan]
    ranks = ranks_from_scores(scores, higher_is_better=True)
    data = {"d": (np.zeros((30, 1)), ranks, scores, {"cost": np.abs(scores)})}
    results = run_experiment({"tree": TreeLabelRanker()}, data, n_splits=3, use_scores=True)
    single, virtual = reference_choices(results, "d", load_data("d", data["d"]))
    best = int(np.argmax(np.nanmean(scores, axis=0)))
    assert (single["ranker"], single["label"]) == (f"single best: {best}", str(best))
    assert single["regret"] == pytest.approx(
        np.average(results["single_best_regret"], weights=results["test_rows"])
    )
    assert (single["gap_closed"], virtual["gap_closed"], virtual["regret"]) == (0, 1, 0)
    known = scores[~np.isnan(scores).all(axis=1)]
    assert virtual["utility"] == pytest.approx(np.nanmax(known, axis=1).mean())
    first = np.nanargmax(known, axis=1)
    assert virtual["cost"] == pytest.approx(np.abs(known[np.arange(len(known)), first]).mean())
    # Without scores there is no best label.
    ranked = {"d": (np.zeros((30, 1)), ranks)}
    results = run_experiment({"tree": TreeLabelRanker()}, ranked, n_splits=3)
    assert not len(reference_choices(results, "d", load_data("d", ranked["d"])))

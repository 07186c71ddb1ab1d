"""Boosted label rankers: rounds, starts, cases, and what is made of them."""

import numpy as np
import pytest

from prefero import BoostingLabelRanker, ConsensusLabelRanker, load, save
from prefero.inspection import explain
from prefero.label_ranking._boosting_rounds import Cases, constant_scores
from prefero.metrics import kendall_tau, pairwise_calibration_error
from prefero.rankings import drop_labels, ranks_from_scores
from strategies import noisy_linear_problem

QUICK = {"n_estimators": 40, "learning_rate": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    X, Y = noisy_linear_problem(400, 5, 4)
    return X[:250], Y[:250], X[250:], Y[250:]


@pytest.fixture(scope="module")
def fitted(problem):
    return BoostingLabelRanker(**QUICK).fit(*problem[:2])


def test_it_learns(problem, fitted):
    X, Y, X_new, Y_new = problem
    constant = ConsensusLabelRanker().fit(X, Y).score(X_new, Y_new)
    assert fitted.score(X_new, Y_new) > max(constant, 0) + 0.3
    assert 0 < fitted.n_estimators_ <= 40
    assert fitted.validation_path_.argmin() == fitted.n_estimators_
    assert pairwise_calibration_error(Y_new, fitted.predict_pairwise(X_new)) < 0.06


@pytest.mark.parametrize("missing", [0.3, 0.6])
def test_it_learns_from_some_of_the_labels(problem, fitted, missing):
    X, Y, X_new, Y_new = problem
    ranks = drop_labels(Y, missing, random_state=0)
    known = (~np.isnan(ranks)).sum(axis=1) > 0
    ranker = BoostingLabelRanker(**QUICK).fit(X[known], ranks[known])
    assert ranker.score(X_new, Y_new) > 0.7 * fitted.score(X_new, Y_new)


def test_noise_leaves_the_constant_order():
    rng = np.random.default_rng(0)
    Y = ranks_from_scores(np.arange(4) + rng.normal(size=(300, 4)), higher_is_better=True)
    ranker = BoostingLabelRanker(random_state=0).fit(rng.normal(size=(300, 3)), Y)
    assert ranker.n_estimators_ == 0
    assert not ranker.feature_importances_.any()
    X_new = rng.normal(size=(5, 3))
    np.testing.assert_array_equal(ranker.predict(X_new), np.tile([4, 3, 2, 1], (5, 1)))
    np.testing.assert_array_equal(
        ranker.decision_function(X_new), np.tile(ranker.start_scores_, (5, 1))
    )
    why = explain(ranker, X_new)
    assert why.pair == (3, 2)
    assert not why.effects


def test_kemenys_order_is_taken_where_it_is_better():
    """Majorities that sums of votes do not follow, and features that say nothing."""
    rng = np.random.default_rng(0)
    kinds = np.array([[1, 2, 3], [2, 3, 1]])
    Y = kinds[(rng.random(600) < 0.42).astype(int)]
    X = rng.normal(size=(600, 2))
    ranker = BoostingLabelRanker(random_state=0).fit(X, Y)
    kemeny = ConsensusLabelRanker("kemeny").fit(X, Y).predict(X)
    assert kendall_tau(Y, kemeny) > kendall_tau(
        Y, ConsensusLabelRanker("borda").fit(X, Y).predict(X)
    )
    np.testing.assert_array_equal(ranker.predict(X), kemeny)
    assert ranker.n_estimators_ == 0
    assert pairwise_calibration_error(Y, ranker.predict_pairwise(X)) < 0.05


def test_the_start_has_the_smallest_loss_of_all_constants():
    rng = np.random.default_rng(3)
    ranks = np.ceil((np.argsort(rng.random((50, 5)), axis=1) + 1) / 2)
    ranks[rng.random(ranks.shape) < 0.3] = np.nan
    weight = rng.uniform(0.5, 2, size=50)
    cases, _ = Cases.of(np.zeros((50, 1), np.uint8), ranks, weight)
    start = constant_scores(cases)

    def loss(scores):
        from prefero._core import pair_logistic_losses

        losses = pair_logistic_losses(cases.ranks, np.tile(scores, (len(cases.ranks), 1)))
        return cases.weight @ losses + scores @ scores / 2

    for label in range(5):
        for step in (-0.01, 0.01):
            assert loss(start + step * np.eye(5)[label]) > loss(start)


def test_equal_rows_are_one_case():
    bins = np.array([[1, 2], [0, 255], [1, 2], [1, 2]], dtype=np.uint8)
    ranks = np.array([[1, np.nan, 4], [1, 2, 3], [1, np.nan, 2], [2, 1, 3.0]])
    cases, case = Cases.of(bins, ranks, np.array([1.0, 2, 3, 4]))
    np.testing.assert_array_equal(cases.weight, [2, 4, 4])
    np.testing.assert_array_equal(case[[0, 1, 2]], [case[0], 0, case[0]])
    np.testing.assert_array_equal(cases.bins[case], bins)
    np.testing.assert_array_equal(cases.ranks[case[0]], [1, np.nan, 2])


@pytest.mark.parametrize("n", [3, 60])
def test_folds_hold_every_example_once(n):
    rng = np.random.default_rng(0)
    bins = np.arange(n, dtype=np.uint8)[:, None]
    weight = rng.integers(1, 30, size=n).astype(float)
    ranks = np.tile([1.0, 2.0], (n, 1))
    cases, _ = Cases.of(bins, ranks, weight)
    folds = cases.folds(5)
    np.testing.assert_array_equal(np.sum(folds, axis=0), cases.weight)
    if n == 60:
        assert (np.count_nonzero(folds, axis=0) == 1).all()
    else:
        sizes = np.sum(folds, axis=1)
        assert sizes.max() - sizes.min() <= 1
    assert not cases.part(np.where(np.arange(n) == 0, 1, 0)).folds(5)


def test_few_cases_with_many_examples_are_learned():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    Y = np.repeat([[1, 2, 3], [3, 2, 1]], 50, axis=0)
    ranker = BoostingLabelRanker(**QUICK).fit(X, Y)
    np.testing.assert_array_equal(ranker.predict([[0], [1]]), [[1, 2, 3], [3, 2, 1]])


@pytest.mark.parametrize("validation", ["folds", "part", None])
def test_how_rounds_are_found(problem, validation):
    X, Y, X_new, Y_new = problem
    ranker = BoostingLabelRanker(20, learning_rate=0.3, validation=validation, random_state=0)
    ranker.fit(X, Y)
    assert ranker.score(X_new, Y_new) > 0.4
    assert len(ranker.validation_path_) == (21 if validation else 0)
    assert pairwise_calibration_error(Y_new, ranker.predict_pairwise(X_new)) < 0.1
    assert "_held_out" not in vars(ranker)


def test_without_validation_there_are_as_many_rounds_as_asked_for(problem):
    ranker = BoostingLabelRanker(7, validation=None).fit(*problem[:2])
    assert ranker.n_estimators_ == ranker._trees.n_trees == 7


def test_missing_values_and_categories(problem):
    pandas = pytest.importorskip("pandas")
    X, Y, X_new, Y_new = problem
    holes, holes_new = X.copy(), X_new.copy()
    for table in (holes, holes_new):
        table[np.random.default_rng(0).random(table.shape) < 0.1] = np.nan
    ranker = BoostingLabelRanker(**QUICK).fit(holes, Y)
    assert ranker.score(holes_new, Y_new) > 0.4
    words = np.array(["low", "middle", "high"])

    def table(X):
        frame = pandas.DataFrame(X, columns=list("abcde"))
        cut = np.digitize(X[:, 0], [-0.5, 0.5])
        frame["a"] = pandas.Categorical(words[cut], categories=words)
        return frame

    named = BoostingLabelRanker(**QUICK).fit(table(X), Y)
    assert named.score(table(X_new), Y_new) > 0.4
    assert named.categories_ == {0: ["high", "low", "middle"]}
    unseen = table(X_new).assign(a=pandas.Categorical(["other"] * len(X_new)))
    assert np.isfinite(named.decision_function(unseen)).all()


def test_threads_do_not_matter(problem):
    one, two = (BoostingLabelRanker(**QUICK, n_jobs=jobs).fit(*problem[:2]) for jobs in (1, 2))
    for name, array in one.trees_.items():
        np.testing.assert_array_equal(array, two.trees_[name])
    np.testing.assert_array_equal(one.validation_path_, two.validation_path_)
    np.testing.assert_array_equal(one.calibration_, two.calibration_)


def test_other_seeds_grow_other_trees(problem):
    other = BoostingLabelRanker(**QUICK | {"random_state": 1}).fit(*problem[:2])
    first = BoostingLabelRanker(**QUICK).fit(*problem[:2])
    X_new = problem[2]
    assert not np.array_equal(other.decision_function(X_new), first.decision_function(X_new))


def test_effects_add_up_to_the_scores(problem, fitted):
    X_new = problem[2][:20]
    base, effects = fitted.explain_scores(X_new)
    np.testing.assert_allclose(
        base + effects.sum(axis=1), fitted.decision_function(X_new), atol=1e-5
    )
    why = explain(fitted, X_new, 3)
    first, second = fitted.predict_order(X_new)[3, :2]
    assert why.pair == (first, second)
    scores = fitted.decision_function(X_new)[3]
    assert why.margin == pytest.approx(scores[first] - scores[second], abs=1e-5)
    assert why.unit == "log-odds"


def test_importances_find_the_feature_that_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    Y = np.where(X[:, [2]] > 0, [[1, 2, 3]], [[2, 3, 1]])
    ranker = BoostingLabelRanker(20, validation=None, max_features=None, random_state=0).fit(X, Y)
    assert ranker.feature_importances_[2] > 0.9
    assert ranker.feature_importances_.sum() == pytest.approx(1)


def test_saved_models_predict_the_same(problem, fitted, tmp_path):
    save(fitted, tmp_path / "model.prefero")
    again = load(tmp_path / "model.prefero")
    X_new = problem[2]
    np.testing.assert_array_equal(again.decision_function(X_new), fitted.decision_function(X_new))
    np.testing.assert_array_equal(again.predict_pairwise(X_new), fitted.predict_pairwise(X_new))


def test_ties_in_training_are_ties_in_prediction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = np.where(X[:, [0]] > 0, [[1, 2, 2]], [[2, 2, 1]])
    ranker = BoostingLabelRanker(**QUICK).fit(X, Y)
    buckets = ranker.predict_buckets([[2.0, 0], [-2.0, 0]])
    np.testing.assert_array_equal(buckets, [[1, 2, 2], [2, 2, 1]])
    assert kendall_tau(Y, ranker.predict(X)) > 0.6


def test_pairs_count_what_is_at_stake():
    """Half of the rows lose much by the wrong first label, the other half hardly anything."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 1))
    much = rng.random(400) < 0.3
    scores = np.where(much[:, None], [[0.0, 10.0]], [[1.0, 0.0]])
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1
    plain = BoostingLabelRanker(random_state=0).fit(X, ranks)
    weighed = BoostingLabelRanker(random_state=0).fit(X, ranks, scores=scores)
    assert plain.predict(X[:1]).tolist() == [[1, 2]]
    assert weighed.predict(X[:1]).tolist() == [[2, 1]]
    ignoring = BoostingLabelRanker(pair_weight=None, random_state=0).fit(X, ranks, scores=scores)
    np.testing.assert_array_equal(ignoring.decision_function(X), plain.decision_function(X))


def test_the_unit_of_scores_plays_no_part():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(200, 2))
    scores = X @ rng.normal(size=(2, 3)) + rng.normal(size=(200, 3)) / 9
    ranks = np.argsort(np.argsort(-scores, axis=1), axis=1) + 1
    one, other = (
        BoostingLabelRanker(random_state=0).fit(X, ranks, scores=factor * scores + 5)
        for factor in (1, 1024)
    )
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


def test_stakes_need_scores(problem):
    with pytest.raises(ValueError, match="needs scores"):
        BoostingLabelRanker(pair_weight="score_difference").fit(*problem[:2])

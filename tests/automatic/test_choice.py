"""Automatic multilabel rankers and orderers, and stacks that know what is at stake."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from prefero import (
    AutoLabelRanker,
    AutoMultilabelRanker,
    AutoOrderer,
    BoostingLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    StackingLabelRanker,
    load,
    save,
)
from prefero.automatic._conformal import completed
from prefero.automatic._members import Member, OutOfFoldMargins, TrainingRows
from prefero.automatic._pair_margins import PairwiseLogLoss, log_worths
from prefero.automatic._stack_evaluation import StackEvaluation
from prefero.checks import MULTILABEL_RANKER_AXIOMS, run_axiom
from prefero.metrics import regret
from prefero.rankings import ranks_from_scores

MULTILABEL = AutoMultilabelRanker(preset="quick", random_state=0)
ORDERER = AutoOrderer(preset="quick", random_state=0)
EXPECTED: dict[str, dict[str, str]] = {
    "AutoMultilabelRanker": {},
    "AutoOrderer": {
        "check_methods_subset_invariance": "a rank is a place in the set that is ordered",
        "check_sample_weight_equivalence_on_dense_data": "folds of a single order divide its rows",
    },
}


def expected_failures(estimator):
    return EXPECTED[type(estimator).__name__]


@parametrize_with_checks([MULTILABEL, ORDERER], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("axiom", MULTILABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
def test_axiom(axiom):
    expected = axiom.__name__ in expected_failures(MULTILABEL)
    run_axiom(axiom, MULTILABEL, expected_to_fail=expected)


def relevance_problem(n=90):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 0] < 0]).astype(float)


def order_problem(n_groups=12, size=6):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(n_groups * size, 3)), np.repeat(np.arange(n_groups), size)
    scores = X[:, 0] - X[:, 1]
    ranks = np.empty(len(X))
    for g in range(n_groups):
        ranks[groups == g] = np.argsort(np.argsort(-scores[groups == g])) + 1
    return X, ranks, groups


def test_the_multilabel_ranker_learns_and_is_saved(tmp_path):
    X, relevance = relevance_problem()
    ranker = AutoMultilabelRanker(preset="quick", random_state=0).fit(X, relevance)
    assert np.mean(ranker.predict(X) == relevance) > 0.9
    assert ranker.chosen_name_ in {line["ranker"] for line in ranker.leaderboard_}
    assert ranker.improvement_ > 2 * ranker.improvement_error_
    save(ranker, tmp_path / "model.prefero")
    np.testing.assert_array_equal(load(tmp_path / "model.prefero").predict(X), ranker.predict(X))


def test_what_is_measured_decides():
    X, relevance = relevance_problem()
    ranker = AutoMultilabelRanker("hamming-loss", preset="quick", random_state=0).fit(X, relevance)
    best = ranker.leaderboard_[1]
    assert best["ranker"] == ranker.chosen_name_
    assert -1 <= best["held_out"] <= 0


def test_noise_gets_the_same_answer_for_everyone():
    rng = np.random.default_rng(0)
    X, relevance = rng.normal(size=(80, 2)), rng.integers(0, 2, size=(80, 3))
    ranker = AutoMultilabelRanker(preset="quick", random_state=0).fit(X, relevance)
    assert ranker.chosen_name_ == "consensus baseline"
    assert len(np.unique(ranker.predict(X), axis=0)) == 1


def test_ranks_inside_both_parts_are_learned():
    X = np.random.default_rng(0).normal(size=(100, 1))
    relevance = np.tile([1.0, 1.0, 0.0], (100, 1))
    ranks = np.where(X > 0, [[1, 2, 3]], [[2, 1, 3]])
    ranker = AutoMultilabelRanker(preset="quick", random_state=0).fit(X, relevance, ranks)
    assert ranker.predict_ranks([[2.0], [-2.0]]).tolist() == [[1, 2, 3], [2, 1, 3]]


def test_groups_of_rows_are_not_torn_apart():
    """TrainingRows of a group are alike, and nothing is known of other groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(15), 6)
    X = rng.normal(size=(15, 2))[groups] + rng.normal(size=(90, 2)) / 1000
    relevance = rng.integers(0, 2, size=(15, 3))[groups]
    ranker = AutoMultilabelRanker(preset="quick", random_state=0)
    assert ranker.fit(X, relevance).chosen_name_ != "consensus baseline"
    ranker.fit(X, relevance, groups=groups)
    assert ranker.chosen_name_ == "consensus baseline"


def test_words_and_few_rows():
    X = np.array([["a", 1.0], ["b", None], ["a", 0.5]], dtype=object)
    with pytest.warns(UserWarning, match="3 different rows are too few"):
        ranker = AutoMultilabelRanker().fit(X, [[1, 0], [0, 1], [1, 0]])
    assert "at least 10" in ranker.skipped_[-1]["why"]
    assert ranker.chosen_name_ == "consensus baseline"
    assert np.isnan(ranker.improvement_)


def test_the_orderer_learns_and_is_saved(tmp_path):
    X, ranks, groups = order_problem()
    orderer = AutoOrderer(random_state=0).fit(X, ranks, groups)
    assert orderer.score(X, ranks, groups) > 0.95
    assert orderer.leaderboard_[0]["ranker"] == "all tied"
    save(orderer, tmp_path / "model.prefero")
    again = load(tmp_path / "model.prefero")
    np.testing.assert_array_equal(again.predict(X, groups), orderer.predict(X, groups))


@pytest.mark.parametrize(("n_groups", "size"), [(1, 30), (1, 5), (2, 6)])
def test_single_and_short_orders(n_groups, size):
    X, ranks, groups = order_problem(n_groups, size)
    orderer = AutoOrderer(preset="quick", random_state=0)
    too_few = n_groups == 1 and size < 10
    with pytest.warns(UserWarning, match="5 objects are too few") if too_few else nullcontext():
        orderer.fit(X, ranks, groups)
    assert orderer.predict(X, groups).shape == ranks.shape
    assert np.isnan(orderer.improvement_) == too_few


def test_orderers_take_missing_features():
    X, ranks, groups = order_problem()
    X[::7, 2] = np.nan
    assert (
        AutoOrderer(preset="quick", random_state=0).fit(X, ranks, groups).score(X, ranks, groups)
        > 0.9
    )


def test_a_time_limit_reports_what_was_skipped():
    X, ranks, groups = order_problem()
    with pytest.warns(UserWarning, match="time_limit=0.001 was too short"):
        orderer = AutoOrderer(time_limit=1e-3, random_state=0).fit(X, ranks, groups)
    assert any("no time" in line["why"] for line in orderer.skipped_)


def uneven_problem(n=300):
    """The first label is mostly a little better, and sometimes, unseen by X, far worse."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    scores = np.where(rng.random((n, 1)) < 0.3, [[0.0, 10.0, 1.0]], [[1.0, 0.0, 0.5]])
    scores[:, 2] += 0.1 * (X[:, 0] > 0)
    return X, ranks_from_scores(scores, higher_is_better=True), scores


def test_members_learn_what_is_at_stake():
    X, ranks, scores = uneven_problem()
    members = [("trees", BoostingLabelRanker(random_state=0)), ("linear", LogLinearLabelRanker())]
    plain = StackingLabelRanker(members, baseline_guard=0).fit(X, ranks)
    staked = StackingLabelRanker(members, baseline_guard=0).fit(X, ranks, scores=scores)
    assert regret(scores, staked.predict(X)) < regret(scores, plain.predict(X))


def test_regret_is_chosen_by_scores():
    X, ranks, scores = uneven_problem()
    tau, worth = (
        AutoLabelRanker(scoring, preset="quick", random_state=0).fit(X, ranks, scores=scores)
        for scoring in ("tau", "regret")
    )
    plain = AutoLabelRanker(preset="quick", random_state=0).fit(X, ranks)
    np.testing.assert_array_equal(tau.predict(X), plain.predict(X))
    assert regret(scores, worth.predict(X)) <= regret(scores, tau.predict(X))
    tried = {one["ranker"] for one in worth.leaderboard_}
    assert {"forest", "forest of raw scores", "kernel ridge", "boosting by ranks"} <= tried
    assert not any("scores" in one["ranker"] for one in tau.leaderboard_)
    # Nothing said: what is given decides.
    assert AutoLabelRanker().scoring == "auto"
    auto = AutoLabelRanker(preset="quick", random_state=0).fit(X, ranks, scores=scores)
    np.testing.assert_array_equal(auto.decision_function(X), worth.decision_function(X))


@pytest.mark.parametrize("scoring", ["utility", "gap_closed"])
def test_metrics_of_scores_choose_alike(scoring):
    X, ranks, scores = uneven_problem()
    regretful, other = (
        AutoLabelRanker(one, preset="quick", random_state=0).fit(X, ranks, scores=scores)
        for one in ("regret", scoring)
    )
    np.testing.assert_array_equal(regretful.predict(X), other.predict(X))
    of_board = [
        {one["ranker"]: one["held_out"] for one in r.leaderboard_} for r in (regretful, other)
    ]
    if scoring == "utility":
        best = np.nanmax(scores, axis=1).mean()
        assert of_board[1]["stack"] == pytest.approx(best + of_board[0]["stack"])
    else:
        base = of_board[0]["consensus baseline"]
        assert of_board[1]["stack"] == pytest.approx(1 - of_board[0]["stack"] / base)


def test_a_stack_by_value_falls_back_to_the_single_best_label():
    rng = np.random.default_rng(0)
    X, scores = rng.normal(size=(60, 3)), rng.normal(size=(60, 4))
    scores[:, 1] += 0.3
    scores[:, 2] = np.where(rng.random(60) < 0.05, -40.0, scores[:, 2] + 1)
    ranks = ranks_from_scores(scores, higher_is_better=True)
    with pytest.warns(UserWarning, match="too few"):
        few = AutoLabelRanker(preset="quick", random_state=0).fit(
            X[:6], ranks[:6], scores=scores[:6]
        )
    assert few.is_baseline_
    single = scores[:6].mean(axis=0).argmax()
    assert (few.predict(X).argmin(axis=1) == single).all()
    fitted = AutoLabelRanker(preset="quick", random_state=0).fit(X, ranks, scores=scores)
    lost = {one["ranker"]: one["held_out"] for one in fitted.leaderboard_}
    error = {one["ranker"]: one["standard_error"] for one in fitted.leaderboard_}
    if not fitted.is_baseline_:
        assert lost["stack"] >= lost["consensus baseline"] - 3 * error["consensus baseline"]


def test_few_rows_that_decide_a_regret_do_not_hide_what_all_say():
    """The order hangs on X; nearly all that can be lost, on three rows of a hundred."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    scores = np.where(X[:, [0]] > 0, [[3.0, 2.0, 1.0]], [[1.0, 2.0, 3.0]])
    scores[:3] *= 10_000
    ranks = ranks_from_scores(scores, higher_is_better=True)
    ranker = AutoLabelRanker("regret", preset="quick", random_state=0)
    ranker.fit(X, ranks, scores=scores)
    assert ranker.improvement_ < 2 * ranker.improvement_error_
    assert not ranker.is_baseline_
    assert regret(scores[3:], ranker.predict(X[3:])) < 0.2


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_score_differences_count_rows_as_often_as_they_tell(seed, equal):
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, (7, 3)).astype(float)
    score_differences = np.full((7, 3), 2.0) if equal else rng.uniform(0.1, 1, (7, 3))
    rows = score_differences.mean(axis=1)
    found = PairwiseLogLoss(outcomes, np.ones(7), score_differences).effective_rows()
    np.testing.assert_allclose(found, rows.sum() ** 2 / (rows @ rows))
    assert found <= 7 + 1e-9


def test_members_that_learn_from_scores_share_some_weight():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 2))
    ranks = ranks_from_scores(scores, higher_is_better=True)
    rows = TrainingRows(scores, ranks, np.ones(200), scores)
    ahead = np.sign(scores[:, [0]] - scores[:, [1]])
    right = np.where(rng.random((200, 1)) < 0.3, -ahead, ahead)
    rankers = ForestLabelRanker(leaf_values="ranks"), ForestLabelRanker(), ForestLabelRanker()
    members = [
        Member(f"member {k}", "forest", ranker, OutOfFoldMargins(margins, 0.0))
        for k, (ranker, margins) in enumerate(zip(rankers, (ahead, right, -ahead), strict=True))
    ]
    margins = [one.held_out.margins for one in members]
    found = StackEvaluation(rows, None, 5, "regret").combine(margins, members)
    # The first is always right, the second mostly; the third never, and counts for nothing.
    assert found.weights[0] > found.weights[1] > 0
    assert found.weights[2] * found.scales[2] == 0
    by_tau = StackEvaluation(rows, None, 5, "tau").combine(margins, members)
    assert by_tau.weights[0] > found.weights[0]


def test_regret_needs_scores():
    X, ranks, _ = uneven_problem(40)
    with pytest.raises(ValueError, match="give scores"):
        AutoLabelRanker("regret").fit(X, ranks)


def test_pair_losses_weigh_what_is_at_stake():
    rng = np.random.default_rng(0)
    outcomes, weight = rng.integers(0, 2, size=(6, 3)).astype(float), rng.uniform(1, 2, size=6)
    outcomes[0, 0] = np.nan
    score_differences, margins = rng.uniform(size=(6, 3)), rng.normal(size=(6, 3))
    loss = PairwiseLogLoss(outcomes, weight, score_differences)
    total = whole = 0.0
    for row in range(6):
        known = np.flatnonzero(~np.isnan(outcomes[row]))
        for k in known:
            part = weight[row] * score_differences[row, k] / len(known)
            m = margins[row, k]
            total += part * (np.logaddexp(0, m) - outcomes[row, k] * m)
            whole += part
    assert loss.mean(loss.entries(margins)) == pytest.approx(total / whole)


def plain_completed(margins, truth):
    """One row at a time."""
    n_labels = truth.shape[1]
    drawn = log_worths(margins, n_labels) + np.random.default_rng(0).gumbel(size=truth.shape)
    ranks = np.empty(truth.shape)
    for row, (worth, true) in enumerate(zip(drawn, truth, strict=True)):
        own = ~np.isnan(true)
        levels, bucket = np.unique(true[own], return_inverse=True)
        values = -np.sort(-worth[own])
        starts = np.searchsorted(np.sort(bucket), np.arange(len(levels)))
        worth[own] = values[starts][bucket]
        ranks[row] = np.unique(-worth, return_inverse=True)[1] + 1
    return ranks


def test_missing_labels_are_placed_row_by_row():
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, size=(200, 5)).astype(float)
    truth[rng.random(truth.shape) < 0.4] = np.nan
    margins = rng.normal(size=(200, 10))
    np.testing.assert_array_equal(completed(margins, truth), plain_completed(margins, truth))


@pytest.mark.parametrize("n_groups", [5, 8])
def test_few_groups_are_left_out_one_by_one(n_groups):
    X = np.random.default_rng(0).normal(size=(120, 3))
    Y = np.where(X[:, [0]] > 0, [[1, 2, 3]], [[3, 1, 2]])
    groups = np.arange(120) % n_groups
    ranker = AutoLabelRanker(preset="quick", random_state=0).fit(X, Y, groups=groups)
    assert not ranker.is_baseline_
    assert ranker.score(X, Y) > 0.9
    relevance = (Y <= 2).astype(int)
    multilabel = AutoMultilabelRanker(preset="quick", random_state=0)
    assert multilabel.fit(X, relevance, groups=groups).chosen_name_ != "consensus baseline"


def test_noise_in_few_groups_does_not_beat_the_baseline():
    rng = np.random.default_rng(1)
    for seed in range(5):
        X = rng.normal(size=(60, 3))
        Y = rng.permuted(np.tile([1, 2, 3, 4], (60, 1)), axis=1)
        ranker = AutoLabelRanker(preset="quick", random_state=seed)
        assert ranker.fit(X, Y, groups=np.arange(60) % 6).is_baseline_


@pytest.mark.parametrize("n_groups", [1, 4])
def test_too_few_groups_are_reported(n_groups):
    X = np.random.default_rng(0).normal(size=(120, 3))
    Y = np.where(X[:, [0]] > 0, [[1, 2, 3]], [[3, 1, 2]])
    ranker = AutoLabelRanker(preset="quick", random_state=0)
    with pytest.warns(UserWarning, match=f"^{n_groups} groups are too few to compare rankers"):
        ranker.fit(X, Y, groups=np.arange(120) % n_groups)
    assert ranker.is_baseline_
    assert "at least 5 are needed" in ranker.skipped_[-1]["why"]

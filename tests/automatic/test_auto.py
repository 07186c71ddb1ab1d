"""Stacks and automatic rankers: weights, the baseline_guard, time, tables, groups, files."""

import time
import warnings
from itertools import count
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from prefero import (
    AutoLabelRanker,
    BoostingLabelRanker,
    ConsensusLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    StackingLabelRanker,
    TableTransformer,
    _core,
    load,
    save,
)
from prefero.automatic._pair_margins import combine, decoded
from prefero.automatic._stack_evaluation import sample
from prefero.checks import LABEL_RANKER_AXIOMS, run_axiom
from prefero.datasets import make_label_ranking
from prefero.inspection import explain
from prefero.metrics import kendall_tau, pairwise_calibration_error
from prefero.rankings import drop_labels, ranks_from_scores

MEMBERS = [("linear", LogLinearLabelRanker()), ("forest", ForestLabelRanker(10, random_state=0))]
STACK = StackingLabelRanker(MEMBERS)
AUTO = AutoLabelRanker(preset="quick", random_state=0)

BY_ROWS = "how sure a gain is depends on the number of rows, whatever they weigh"
DRAWN = "bootstrap samples of the forests are drawn by row number"
EXPECTED = {
    "AutoLabelRanker": {"check_weight_two_is_twice": f"{DRAWN}; {BY_ROWS}"},
    "StackingLabelRanker": {
        "check_sample_order": DRAWN,
        "check_weight_two_is_twice": f"{DRAWN}; {BY_ROWS}",
        "check_sample_weight_equivalence_on_dense_data": BY_ROWS,
    },
}


def expected_failures(estimator):
    return EXPECTED[type(estimator).__name__]


def problem(n=200, c=4, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    utility = np.column_stack([X[:, k % 4] + (k > 1) * X[:, 0] for k in range(c)])
    utility += 0.2 * np.arange(c)
    return X, ranks_from_scores(utility + noise * rng.normal(size=(n, c)), higher_is_better=True)


@parametrize_with_checks([AUTO, STACK], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [STACK, AUTO], ids=["stack", "auto"])
@pytest.mark.parametrize("axiom", LABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
def test_axiom(estimator, axiom):
    run_axiom(axiom, estimator, expected_to_fail=axiom.__name__ in expected_failures(estimator))


def expected_tau(before, order):
    n = len(order)
    first, second = np.triu_indices(n, 1)
    p = np.full((n, n), 0.5)
    p[first, second], p[second, first] = before, 1 - before
    return sum(p[order[i], order[j]] for i in range(n) for j in range(i + 1, n))


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6), st.permutations(range(4)))
def test_improved_orders_cannot_be_improved_by_moving_one_label(before, start):
    before = np.array(before)
    order = _core.improve_orders(before[None], np.array(start)[None])[0]
    found = expected_tau(before, order)
    assert sorted(order) == [0, 1, 2, 3]
    assert found >= expected_tau(before, start) - 1e-9
    for label in range(4):
        rest = [other for other in order if other != label]
        for place in range(4):
            moved = [*rest[:place], label, *rest[place:]]
            assert expected_tau(before, moved) <= found + 1e-9


def test_a_probability_that_is_no_number_counts_as_a_half():
    found = _core.improve_orders(np.array([[np.nan, 0.1, 0.2]]), np.array([[0, 1, 2]]))
    assert found[0, 0] == 2


@pytest.mark.parametrize("orders", [[[0, 1, 3]], [[0, 1, -1]], [[0, 1]]])
def test_orders_outside_the_labels_are_refused(orders):
    with pytest.raises(ValueError, match="must hold every"):
        _core.improve_orders(np.full((1, 3), 0.5), np.array(orders))


def test_decoding_follows_majorities_against_the_sums():
    # a is beaten narrowly by b, but beats c and d by far: the sums put a first.
    margins = np.log([[0.45 / 0.55, 99, 99, 1.2, 1.2, 1.2]])
    first = {how: decoded(margins, 4, how).argmax() for how in ("sums", "kemeny")}
    assert first == {"sums": 0, "kemeny": 1}


def test_weights_are_those_of_the_least_loss():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(400, 3))
    outcomes = (rng.random((400, 3)) < expit(2 * signal)).astype(float)
    noise = rng.normal(size=(400, 3))
    found = combine([5 * signal, noise, -signal], ["a", "b", "c"], outcomes, np.ones(400))
    np.testing.assert_allclose(found.scales[0] * found.weights[0], 0.4, atol=0.08)
    assert found.weights[2] == found.scales[2] == 0
    assert found.weights[1] < 0.1


def test_a_member_that_knows_nothing_of_a_row_says_nothing():
    outcomes = np.tile([[1.0, 0.0]], (30, 1))
    margins = np.where(np.arange(30)[:, None] < 5, np.nan, outcomes - 0.5)
    assert combine([margins], ["a"], outcomes, np.ones(30)).weights[0] > 0


@pytest.mark.parametrize("cv", [5, "own"])
def test_the_stack_takes_what_is_right_where_members_differ(cv):
    X, Y = problem(400)
    worse = LogLinearLabelRanker(alpha=np.inf)
    stack = StackingLabelRanker([("constant", worse), *MEMBERS], cv=cv).fit(X[:300], Y[:300])
    alone = [ranker.fit(X[:300], Y[:300]).score(X[300:], Y[300:]) for _, ranker in MEMBERS]
    assert stack.score(X[300:], Y[300:]) > max(alone) - 0.02
    assert not stack.is_baseline_
    assert stack.leaderboard_[0]["ranker"] == "consensus baseline"


def test_members_that_count_nothing_are_not_kept():
    X, Y = problem(300)
    stack = StackingLabelRanker([("constant", LogLinearLabelRanker(alpha=np.inf)), *MEMBERS])
    assert "constant" not in stack.fit(X, Y).member_names_


def test_noise_gets_the_constant_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = ranks_from_scores(np.arange(4) / 2 + rng.normal(size=(120, 4)), higher_is_better=True)
    for ranker in (STACK, AUTO):
        fitted = ranker.fit(X, Y)
        assert fitted.is_baseline_
        assert not fitted.members_
        expected = ConsensusLabelRanker().fit(X, Y).predict(X[:3])
        np.testing.assert_array_equal(fitted.predict(X[:3]), expected)


def test_rows_that_a_member_has_not_held_out_do_not_count_against_it():
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    Y = np.where(np.abs(X[:, [0]]) > 0.5, [[1, 2, 3]], [[3, 1, 2]])
    boosting = BoostingLabelRanker(validation="part", random_state=0)
    members = [("linear", LogLinearLabelRanker(alpha=1e-3)), ("boosting", boosting)]
    stack = StackingLabelRanker(members, cv="own").fit(X, Y)
    held_out = {line["ranker"]: line["held_out"] for line in stack.leaderboard_}
    assert held_out["boosting"] > 0.8
    assert stack.score(X, Y) > 0.8


def test_a_stack_that_knows_how_sure_it_is_need_not_change_many_orders():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    ahead = rng.random(300) < expit(1.5 + X[:, 0])
    Y = np.where(ahead[:, None], [[1, 2]], [[2, 1]])
    stack = StackingLabelRanker([("linear", LogLinearLabelRanker(alpha=1e-3))]).fit(X, Y)
    assert 0 < stack.improvement_ < stack.baseline_guard * stack.improvement_error_
    assert not stack.is_baseline_


def test_probabilities_are_calibrated_and_sure():
    X, Y = problem(1500, noise=1.0)
    ranker = StackingLabelRanker(MEMBERS).fit(X[:700], Y[:700])
    probability = ranker.predict_pairwise(X[700:])
    assert pairwise_calibration_error(Y[700:], probability) < 0.03


def test_classifiers_a_pair_join():
    X, Y = problem(80)
    forest = PairwiseLabelRanker(RandomForestClassifier(10, random_state=0))
    stack = StackingLabelRanker([("pairs", forest)]).fit(X, Y)
    assert stack.score(X, Y) > 0.7


def test_groups_are_not_torn_apart():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 10)
    X = rng.normal(size=(30, 4))[group] + 1e-6 * rng.normal(size=(300, 4))
    Y = ranks_from_scores(rng.normal(size=(30, 4))[group], higher_is_better=True)
    members = [("neighbors", NeighborsLabelRanker(3)), ("forest", ForestLabelRanker(10))]
    for cv in (5, "own"):
        torn = StackingLabelRanker(members, cv=cv).fit(X, Y)
        whole = StackingLabelRanker(members, cv=cv).fit(X, Y, groups=group)
        assert torn.improvement_ > 0.5
        assert whole.improvement_ < 0.3


def test_groups_of_another_length_are_refused():
    X, Y = problem(40)
    with pytest.raises(ValueError, match="inconsistent"):
        STACK.fit(X, Y, groups=np.zeros(39))


def test_a_sample_holds_whole_groups():
    groups = np.repeat(np.arange(50), 4)
    chosen = sample(200, groups, 41)
    assert len(chosen) == 40
    assert (np.bincount(groups[chosen], minlength=50) % 4 == 0).all()


def mixed(n=150):
    X, Y = problem(n)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[::7, "a"] = np.nan
    frame["word"] = np.where(X[:, 1] > 0, "hot", "cold")
    frame["kind"] = pd.Categorical(rng.integers(3, size=n).astype(str))
    frame["day"] = pd.date_range("2026-01-01", periods=n)
    frame["id"] = [f"row {k}" for k in range(n)]
    moods = np.where(X[:, 0] > 0, "sunny warm and bright", "rainy cold and dark")
    frame["report"] = [f"day {k} was {mood}" for k, mood in enumerate(moods)]
    frame.loc[5, "report"] = None
    return frame, pd.DataFrame(Y, columns=["w", "x", "y", "z"])


def test_a_table_of_words_dates_and_holes(tmp_path):
    frame, Y = mixed()
    with pytest.warns(UserWarning, match="'day' \\(dates\\)"):
        ranker = AUTO.fit(frame, drop_labels(Y, 0.2, random_state=0))
    assert [line["ranker"] for line in ranker.skipped_] == ["day", "id"]
    assert ranker.preparation_.kinds_.tolist()[4:] == [
        *("nominal", "nominal", "skipped", "skipped", "text"),
    ]
    assert ranker.score(frame, Y) > 0.5
    save(ranker, tmp_path / "auto.prefero")
    again = load(tmp_path / "auto.prefero")
    np.testing.assert_array_equal(again.predict(frame), ranker.predict(frame))
    np.testing.assert_array_equal(again.predict_top_set(frame), ranker.predict_top_set(frame))
    why = explain(ranker, frame.iloc[:20], 3)
    assert why.effects[0].feature in frame.columns
    new = frame.assign(word="lukewarm", a=np.nan)
    assert ranker.predict(new).shape == (150, 4)


def test_numbers_that_became_words_are_refused():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "u"]})
    table = TableTransformer().fit(X)
    with pytest.raises(ValueError, match="'a' held numbers"):
        table.transform(X.assign(a=["one", "two"]))


@pytest.mark.filterwarnings("ignore:1 of 1 features")
def test_a_table_of_dates_alone_is_refused():
    days = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=3)})
    with pytest.raises(ValueError, match="No feature is left"):
        TableTransformer().fit(days)


def test_sparse_features():
    X, Y = problem(120)
    X[np.abs(X) < 0.3] = 0
    ranker = AUTO.fit(csr_matrix(X), Y)
    assert kendall_tau(Y, ranker.predict(csr_matrix(X))) > 0.6


def test_many_rows_are_screened_on_few(monkeypatch):
    monkeypatch.setattr("prefero.automatic._screening._FIRST_ROUND", 60)
    monkeypatch.setitem(
        __import__("prefero.automatic._screening", fromlist=["x"])._SECOND_ROUND, "quick", 150
    )
    X, Y = problem(400)
    ranker = AutoLabelRanker(preset="quick", random_state=0).fit(X, Y)
    assert ranker.score(X, Y) > 0.7
    forests = [m for m in ranker.members_ if isinstance(m, ForestLabelRanker)]
    assert all(m.trees_ is not None for m in forests)


def test_a_time_limit_says_what_it_left_out():
    X, Y = problem(300)
    with pytest.warns(UserWarning, match="no time was left"):
        ranker = AutoLabelRanker(preset="best", time_limit=1e-3, random_state=0).fit(X, Y)
    assert any("no time" in line["why"] for line in ranker.skipped_)
    assert ranker.predict(X[:2]).shape == (2, 4)


@pytest.mark.parametrize("scoring", ["tau", "tau-x", "top1"])
def test_metrics(scoring):
    X, Y = problem(120)
    ranker = AutoLabelRanker(scoring, preset="quick", random_state=0).fit(X, np.ceil(Y / 2))
    assert ranker.improvement_ > 0


class SlowRanker(ConsensusLabelRanker):
    """A ranker whose fits end in the order in which they began, if they run side by side."""

    begun: ClassVar[count] = count()

    def _fit(self, X, ranks, weight):
        time.sleep(0.1 + 0.05 * (next(self.begun) % 5))
        super()._fit(X, ranks, weight)


def test_folds_in_threads_leave_the_warning_filters_as_they_were():
    X, Y = make_label_ranking(60, 4, 4, theta=1.0, random_state=0)
    before = list(warnings.filters)
    StackingLabelRanker([("slow", SlowRanker())], n_jobs=4).fit(X, Y)
    assert warnings.filters == before


@pytest.mark.parametrize("dtype", [object, "string"])
def test_an_empty_cell_in_a_column_of_words_or_texts_is_missing(dtype):
    words = pd.Series(["red", pd.NA, "blue", "red"] * 5, dtype=dtype)
    texts = pd.Series([f"a long review with number {i}" for i in range(19)] + [pd.NA], dtype=dtype)
    table = pd.DataFrame({"word": words, "text": texts})
    found = TableTransformer().fit(table)
    assert found.kinds_.tolist() == ["nominal", "text"]
    columns = found.transform(table)
    assert np.isnan(columns[1, 0])
    assert not np.isnan(columns[0]).any()

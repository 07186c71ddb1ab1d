"""What rankers choose by rows that a model has not seen."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from prefero import (
    ConsensusLabelRanker,
    LogLinearLabelRanker,
    PairwiseLabelRanker,
    PreferenceGraphs,
)
from prefero._solvers._held_out import HeldOutModels
from prefero.label_ranking import loglinear, pairwise
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks

RANKERS = {"C": PairwiseLabelRanker, "alpha": LogLinearLabelRanker}


def noisy_data(n=60, features=3, labels=4, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    utility = X @ rng.normal(size=(features, labels)) + noise * rng.normal(size=(n, labels))
    return X, strict_ranks(utility).astype(float)


def chosen(ranker, name):
    return getattr(ranker, f"{name}_")


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("noise", [0.1, 4.0])
def test_the_choice_orders_the_most_held_out_pairs_right(name, noise):
    X, Y = noisy_data(noise=noise)
    found = chosen(RANKERS[name]().fit(X, Y), name)
    case = np.empty(len(X), dtype=int)
    layers = PreferenceGraphs.from_ranks(Y).layers
    case[np.lexsort(np.column_stack([X, layers]).T[::-1])] = np.arange(len(X))
    path = {"C": pairwise, "alpha": loglinear}[name]._PATH
    taus = []
    for value in path:
        predicted = np.empty_like(Y)
        for fold in range(3):
            held_out = case % 3 == fold
            model = RANKERS[name](**{name: value}).fit(X[~held_out], Y[~held_out])
            predicted[held_out] = model.predict(X[held_out])
        taus.append(kendall_tau(Y, predicted))
    assert taus[path.index(found)] > max(taus) - 0.03


@pytest.mark.parametrize("name", RANKERS)
def test_the_ranker_is_the_one_with_the_chosen_value(name):
    X, Y = noisy_data()
    auto = RANKERS[name]().fit(X, Y)
    fixed = RANKERS[name](**{name: chosen(auto, name)}).fit(X, Y)
    np.testing.assert_array_equal(auto.coef_, fixed.coef_)
    np.testing.assert_array_equal(auto.intercept_, fixed.intercept_)


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("seed", range(4))
def test_neither_the_order_of_rows_nor_repetition_plays_a_part(name, seed):
    X, Y = noisy_data(noise=3.0, seed=seed)
    rng = np.random.default_rng(seed)
    weight, order = rng.integers(1, 4, len(X)), rng.permutation(len(X))
    expected = chosen(RANKERS[name]().fit(X, Y, weight), name)
    for rows in (order, np.repeat(np.arange(len(X)), weight)):
        weights = weight[rows] if len(rows) == len(X) else None
        assert chosen(RANKERS[name]().fit(X[rows], Y[rows], weights), name) == expected


def test_sparse_features_choose_too():
    X, Y = noisy_data(noise=0.1)
    ranker = PairwiseLabelRanker().fit(csr_array(X), Y)
    assert ranker.C_ >= 1
    assert ranker.score(csr_array(X), Y) > 0.8


@pytest.mark.parametrize(("name", "constant"), [("C", 0.0), ("alpha", np.inf)])
def test_where_features_do_not_help_the_order_is_the_same_for_everyone(name, constant):
    X, _ = noisy_data()
    Y = np.tile([1.0, 2.0, 3.0], (len(X), 1))
    ranker = RANKERS[name]().fit(X, Y)
    assert chosen(ranker, name) == constant
    assert not ranker.coef_.any()
    assert len(np.unique(ranker.decision_function(X), axis=0)) == 1


@pytest.mark.parametrize(("name", "usual"), [("C", 1.0), ("alpha", 1e-4)])
def test_few_rows_are_nothing_to_choose_by(name, usual):
    X, Y = noisy_data(n=9)
    assert chosen(RANKERS[name]().fit(np.tile(X, (4, 1)), np.tile(Y, (4, 1))), name) == usual


def test_a_large_set_is_judged_by_some_of_its_cases(monkeypatch):
    monkeypatch.setattr("prefero._solvers._held_out._MOST_CASES", 20)
    X, Y = noisy_data(n=90)
    models = HeldOutModels(PairwiseLabelRanker(C=1.0), "C", X, Y, np.ones(len(X)))
    seen = [len(X) for X, *_ in models._training]
    assert max(seen) <= 20 * 2 / 3 + 1
    assert PairwiseLabelRanker().fit(X, Y).score(X, Y) > 0.3


def test_graphs_with_cycles_choose_too():
    X, Y = noisy_data(n=30, labels=3, noise=0.1)
    pairs = [[(u, v) for u in range(3) for v in range(3) if row[u] < row[v]] for row in Y]
    pairs[0] = [(0, 1), (1, 2), (2, 0)]
    ranker = LogLinearLabelRanker().fit(X, PreferenceGraphs.from_pairs(pairs, n_labels=3))
    assert ranker.alpha_ < 1
    assert ranker.score(X, Y) > 0.7


@pytest.mark.parametrize(
    "options", [{"fit_intercept": False}, {"base_functions": lambda X: X[:, :, None] ** [1, 2]}]
)
def test_without_intercepts_no_constant_order_is_on_offer(options):
    X = np.random.default_rng(0).normal(size=(30, 3))
    ranker = LogLinearLabelRanker(**options).fit(X, np.tile([1.0, 2.0, 3.0], (30, 1)))
    assert ranker.alpha_ <= 1.0


def test_boosting_takes_the_penalty_that_its_loss_chooses():
    X, Y = noisy_data(n=30)
    boosted = LogLinearLabelRanker(solver="boosting", max_iter=20000, tol=1e-2).fit(X, Y)
    smooth = LogLinearLabelRanker(penalty="smooth_l1").fit(X, Y)
    assert boosted.alpha_ == smooth.alpha_


def test_the_consensus_is_kemenys_where_a_strong_minority_misleads_borda():
    rng = np.random.default_rng(0)
    Y = np.array([[1, 2, 3, 4]] * 33 + [[4, 1, 2, 3]] * 27, dtype=float)
    X = rng.normal(size=(len(Y), 1))
    assert ConsensusLabelRanker().fit(X, Y).aggregation_ == "kemeny"
    np.testing.assert_array_equal(ConsensusLabelRanker().fit(X, Y).predict(X[:1]), [[1, 2, 3, 4]])
    assert ConsensusLabelRanker().fit(X[:9], Y[:9]).aggregation_ == "borda"

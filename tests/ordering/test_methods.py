"""What each orderer does that the others do not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from oracles import object_pairs, pair_hinge, rank_boost, rank_correlation
from prefero import (
    CohenOrderer,
    ExpectedRankOrderer,
    OrderSVMOrderer,
    RankBoostOrderer,
    RankSVMOrderer,
)
from prefero.base import SampleOrders, check_sample_orders
from prefero.ordering import BoostingOrderer, order_svm, rank_svm, ranks_in_queries
from prefero.ordering.expected_rank import expected_ranks
from prefero.rankings import Queries
from strategies import sample_orders


@pytest.fixture
def orders():
    """Sample orders with ties, group after group."""
    X, y, qid = sample_orders(n_groups=12, size=5, noise=1.0)
    by_group = np.argsort(qid, kind="stable")
    found = Queries.of(qid[by_group], len(X))
    positions = found.positions(np.ceil(y[by_group] / 2))
    return SampleOrders(X[by_group], positions, found, np.ones(len(X)))


def test_the_target_of_expected_rank_regression_is_the_share_of_the_order():
    X = np.arange(6.0)[:, None]
    orderer = ExpectedRankOrderer(DecisionTreeRegressor())
    orderer.fit(X, [1, 2, 2, 2, 1, np.nan], qid=[0, 0, 0, 1, 1, 1])
    assert_allclose(-orderer.decision_function(X[:5]), [1 / 4, 2.5 / 4, 2.5 / 4, 2 / 3, 1 / 3])


def test_second_order_expected_rank_regression_sees_products():
    X, _, qid = sample_orders(size=8)
    worth = X[:, 0] * X[:, 1]
    y = ranks_in_queries(worth, qid, higher_is_better=True)
    linear, second = (
        ExpectedRankOrderer(LinearRegression(), degree=degree).fit(X, y, qid).score(X, y, qid)
        for degree in (1, 2)
    )
    assert second > 0.9 > 0.5 > linear


def test_rank_svm_derivatives(orders):
    objective = rank_svm._PrimalObjective(rank_svm.PairLoss(orders), C=0.7)
    w = np.array([0.3, -0.2, 0.1, 0.4])
    assert check_grad(lambda v: objective(v)[0], lambda v: objective(v)[1], w) < 1e-3
    step = np.array([1.0, -1.0, 2.0, 0.5])
    change = (objective(w + 1e-7 * step)[1] - objective(w - 1e-7 * step)[1]) / 2e-7
    assert_allclose(objective.hessian_product(w, step), change, rtol=1e-5)


def test_rank_svm_finds_what_a_linear_svm_finds_on_explicit_pairs(orders):
    better, worse = np.array(object_pairs(orders.positions, orders.queries.starts)).T
    differences = orders.X[better] - orders.X[worse]
    signs = np.where(np.arange(len(better)) % 2, 1, -1)
    svm = LinearSVC(C=0.5, fit_intercept=False, dual=True, tol=1e-8, max_iter=100000)
    svm.fit(differences * signs[:, None], signs)
    orderer = RankSVMOrderer(C=0.5, tol=1e-8)
    orderer.fit(orders.X, orders.positions, orders.queries.codes)
    assert_allclose(orderer.coef_, svm.coef_[0], rtol=1e-4)
    sparse = RankSVMOrderer(C=0.5, tol=1e-8)
    sparse.fit(csr_array(orders.X), orders.positions, orders.queries.codes)
    assert_allclose(sparse.coef_, svm.coef_[0], rtol=1e-4)


@pytest.mark.parametrize("orderer", [RankSVMOrderer(max_iter=1), OrderSVMOrderer(max_iter=1)])
def test_too_few_steps_are_told(orderer):
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1 iterations"):
        orderer.fit(*sample_orders())


@pytest.mark.parametrize("orderer", [RankSVMOrderer(), OrderSVMOrderer()])
def test_convergence_in_the_last_step_allowed_is_convergence(orderer):
    needed = orderer.fit(*sample_orders()).n_iter_
    orderer.set_params(max_iter=needed).fit(*sample_orders())
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        orderer.set_params(max_iter=needed - 1).fit(*sample_orders())


def test_a_kernel_orders_what_no_line_can():
    X, _, qid = sample_orders(size=8)
    distance = np.linalg.norm(X, axis=1)
    y = np.array([1 + sum(distance[qid == g] < d) for g, d in zip(qid, distance, strict=True)])
    linear = RankSVMOrderer().fit(X, y, qid).score(X, y, qid)
    kernel = RankSVMOrderer(C=1.0, kernel="rbf", random_state=0).fit(X, y, qid).score(X, y, qid)
    assert kernel > 0.9 > 0.5 > linear


def test_order_svm_gradient(orders):
    sides = order_svm._sides(orders, max_cuts=20)
    objective = order_svm._CutObjective(orders, sides, C=0.7, deviation=0.3)
    point = np.random.default_rng(0).normal(size=objective.size) / 3
    assert check_grad(lambda v: objective(v)[0], lambda v: objective(v)[1], point) < 1e-3


def test_order_svm_cuts_after_every_place_and_aligns_shorter_orders():
    qid = Queries.of(np.repeat([0, 1, 2], [4, 2, 1]), 7)
    positions = np.array([1.0, 2, 3, 4, 2, 1, 1])
    sides = order_svm._sides(
        SampleOrders(np.zeros((7, 1)), positions, qid, np.ones(7)), max_cuts=20
    )
    assert_array_equal(
        sides,
        [[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [-1, -1, -1], [0, -1, 0], [0, 1, 0], [0, 0, 0]],
    )


def test_a_dear_deviation_makes_the_hyperplanes_parallel(orders):
    free, parallel = (
        OrderSVMOrderer(deviation=price, max_iter=5000).fit(
            orders.X, orders.positions, orders.queries.codes
        )
        for price in (0.1, 1e4)
    )
    assert np.linalg.norm(parallel.deviations_) < 1e-3 * np.linalg.norm(free.deviations_)


@pytest.mark.parametrize("max_bins", [None, 255])
def test_rank_boost_is_the_published_algorithm(orders, max_bins):
    pairs = object_pairs(orders.positions, orders.queries.starts)
    orderer = RankBoostOrderer(25, learning_rate=1.0, max_bins=max_bins)
    orderer.fit(orders.X, orders.positions, orders.queries.codes)
    weak = (orderer.attributes_, orderer.thresholds_, orderer.missing_, orderer.weights_)
    rounds = list(zip(*weak, strict=True))
    assert len(rounds) == orderer.n_iter_ == 25
    separations, best, weights = np.transpose(list(rank_boost(orders.X, pairs, rounds)))
    assert_allclose(np.abs(separations), best)
    assert_allclose(orderer.weights_, weights)
    expected = sum(weight * (orders.X[:, k] > threshold) for k, threshold, _, weight in rounds)
    assert_allclose(orderer.decision_function(orders.X), expected, atol=1e-12)


def test_rank_boost_goes_on_when_scores_leave_the_range_of_exponentials():
    X = np.array([[4.0, 0.0], [3.0, 1.0], [2.0, 0.0], [1.0, 1.0]])
    orderer = RankBoostOrderer(300, learning_rate=10.0).fit(X, [1, 2, 3, 4])
    assert orderer.n_iter_ == 300
    assert_array_equal(orderer.predict(X), [1, 2, 3, 4])


def test_binned_thresholds_are_quantiles():
    X, y, qid = sample_orders(n_groups=60)
    coarse = RankBoostOrderer(50, max_bins=4).fit(X, y, qid)
    for attribute in np.unique(coarse.attributes_):
        used = np.unique(coarse.thresholds_[coarse.attributes_ == attribute])
        assert {np.mean(X[:, attribute] <= threshold) for threshold in used} <= {0.25, 0.5, 0.75}
    assert coarse.score(X, y, qid) > 0.6


def test_rank_boost_learns_where_undefined_attributes_belong():
    X, y, qid = sample_orders()
    best = y <= 2
    X = np.column_stack([X[:, 3], np.where(best, np.nan, 1.0)])
    orderer = RankBoostOrderer(20).fit(X, y, qid)
    assert orderer.decision_function([[0.0, np.nan]]) > orderer.decision_function([[0.0, 1.0]])


def test_early_stopping_keeps_fewer_rounds_and_needs_groups():
    X, y, qid = sample_orders(noise=3.0)
    stopped = RankBoostOrderer(500, learning_rate=1.0, early_stopping=True, random_state=0).fit(
        X, y, qid
    )
    assert stopped.n_iter_ < 100
    with pytest.raises(ValueError, match="pass qid"):
        RankBoostOrderer(early_stopping=True).fit(X, y)


def test_cohen_weighs_attributes_by_hedge(orders):
    orderer = CohenOrderer(beta=0.8).fit(orders.X, orders.positions, orders.queries.codes)
    weights = np.ones((2, orders.X.shape[1]))
    for begin, end in zip(orders.queries.starts[:-1], orders.queries.starts[1:], strict=True):
        for k, column in enumerate(orders.X[begin:end].T):
            agreement = rank_correlation(orders.positions[begin:end], column, "tau-a")
            weights[0, k] *= 0.8 ** ((1 - agreement) / 2)
            weights[1, k] *= 0.8 ** ((1 + agreement) / 2)
    weights /= weights.sum()
    assert_allclose(orderer.weights_, weights[0] - weights[1])
    assert not hasattr(orderer, "decision_function")


def test_boosted_trees_order_what_no_line_can():
    X, _, qid = sample_orders(n_groups=100, size=8)
    worth = np.sin(2 * X[:, 0]) + (X[:, 1] > 0) * X[:, 2]
    y = ranks_in_queries(worth, qid, higher_is_better=True)
    train = qid < 70
    trees, line = (
        orderer.fit(X[train], y[train], qid[train]).score(X[~train], y[~train], qid[~train])
        for orderer in (BoostingOrderer(100, random_state=0), ExpectedRankOrderer())
    )
    assert trees > line + 0.1


def test_a_boosted_tree_is_the_newton_step_of_its_leaves(orders):
    X, y, qid = orders.X, orders.positions, orders.queries.codes
    pairs = object_pairs(orders.positions, orders.queries.starts)
    scores = np.zeros(len(X))
    for n_trees in (1, 2, 3):
        _, gradient, hessian = pair_hinge(scores, pairs)
        orderer = BoostingOrderer(
            n_trees, learning_rate=0.5, max_leaf_nodes=4, max_features=None, min_samples_leaf=3
        )
        found = orderer.fit(X, y, qid).decision_function(X)
        active = np.diag(hessian) / 2
        step = np.divide(-gradient, 4 * active, out=np.zeros(len(X)), where=active > 0)
        # scikit-learn's tree, on features whose values are as few as the bins, splits the same way.
        tree = DecisionTreeRegressor(max_leaf_nodes=4, min_samples_leaf=3, random_state=0)
        tree.fit(X[active > 0], step[active > 0], sample_weight=active[active > 0])
        assert_allclose(found, scores + 0.5 * tree.predict(X), atol=1e-5)
        scores = found
    assert orderer.feature_importances_.sum() == pytest.approx(1)


def test_boosting_ends_when_every_pair_is_told_apart():
    X, y, qid = np.array([[1.0], [0.0]] * 8), [1, 2] * 8, np.repeat(np.arange(8), 2)
    orderer = BoostingOrderer(50, learning_rate=1.0, min_samples_leaf=1).fit(X, y, qid)
    assert orderer.n_estimators_ == 1
    assert_allclose(orderer.decision_function([[1.0], [0.0]]), [0.5, -0.5])


def test_boosted_trees_send_missing_values_where_they_learned_to():
    X, y, qid = sample_orders()
    X = np.column_stack([X[:, 3], np.where(y <= 2, np.nan, X[:, 0])])
    orderer = BoostingOrderer(20, max_features=None, random_state=0).fit(X, y, qid)
    assert orderer.decision_function([[0.0, np.nan]]) > orderer.decision_function([[0.0, 0.0]])


@pytest.mark.parametrize(
    ("orderer", "message"),
    [
        (ExpectedRankOrderer(degree=0), "'degree' parameter"),
        (RankSVMOrderer(C=0), "'C' parameter"),
        (OrderSVMOrderer(deviation=-1), "'deviation' parameter"),
        (RankBoostOrderer(0), "'n_estimators' parameter"),
        (RankBoostOrderer(max_bins=1000), "'max_bins' parameter"),
        (RankBoostOrderer(learning_rate=-1), "'learning_rate' parameter"),
        (RankBoostOrderer(n_iter_no_change=0), "'n_iter_no_change' parameter"),
        (CohenOrderer(beta=1.5), "'beta' parameter"),
        (BoostingOrderer(0), "'n_estimators' parameter"),
        (BoostingOrderer(max_leaf_nodes=1), "'max_leaf_nodes' parameter"),
        (BoostingOrderer(max_features=1.5), "'max_features' parameter"),
        (BoostingOrderer(learning_rate=0), "'learning_rate' parameter"),
    ],
)
def test_bad_parameters_are_refused(orderer, message):
    with pytest.raises(ValueError, match=message):
        orderer.fit(*sample_orders())


def test_predictions_do_not_follow_a_parameter_that_is_set_later():
    X, y, qid = sample_orders()
    orderer = BoostingOrderer(5, random_state=0).fit(X, y, qid)
    expected = orderer.decision_function(X)
    assert_array_equal(orderer.set_params(learning_rate=0.5).decision_function(X), expected)


@pytest.mark.parametrize(
    "orderer",
    [
        RankSVMOrderer(tol=1e-10),
        RankBoostOrderer(20),
        BoostingOrderer(10, max_features=None, min_samples_leaf=1, random_state=0),
        ExpectedRankOrderer(Ridge()),
        OrderSVMOrderer(tol=1e-10),
    ],
    ids=lambda orderer: type(orderer).__name__,
)
def test_weights_mean_repeated_objects(orderer):
    X, y, qid = sample_orders(n_groups=12)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = clone(orderer).fit(X, y, qid, sample_weight=weight).decision_function(X)
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = clone(orderer).fit(X[rows], y[rows], qid[rows]).decision_function(X)
    assert_allclose(weighted[rows], repeated[rows], rtol=1e-4, atol=1e-6)


def test_weights_reach_regressors_and_planes_and_are_refused_elsewhere():
    X, y, qid = sample_orders(n_groups=12)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    for orderer in (ExpectedRankOrderer(), ExpectedRankOrderer(degree=2), OrderSVMOrderer()):
        plain = clone(orderer).fit(X, y, qid).decision_function(X)
        assert (orderer.fit(X, y, qid, weight).decision_function(X) != plain).any()
    orders = check_sample_orders(ExpectedRankOrderer(), X, y, sample_weight=weight)
    ridge = Ridge().fit(X, expected_ranks(orders), sample_weight=weight)
    found = ExpectedRankOrderer(Ridge()).fit(X, y, sample_weight=weight)
    assert_allclose(found.decision_function(X), -ridge.predict(X))
    for orderer in (CohenOrderer(), ExpectedRankOrderer(KNeighborsRegressor())):
        with pytest.raises(ValueError, match="no sample_weight"):
            orderer.fit(X, y, qid, sample_weight=weight)

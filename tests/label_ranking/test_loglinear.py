import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from oracles import ranking_loss, subgraphs
from prefero import LogLinearLabelRanker
from prefero.label_ranking._loglinear import (
    GivenFunctions,
    LinearFunctions,
    Objective,
    boosting_rho,
    boosting_step,
    boosting_sums,
    l2,
    smooth_l1,
)
from prefero.preferences import DECOMPOSITIONS, PreferenceGraphs
from prefero.rankings import drop_labels
from strategies import edge_lists, linear_data, linear_values

decompositions = st.sampled_from(DECOMPOSITIONS)


def problem(drawn, seed, kind):
    """Random features or base functions for graphs, and weights of the instances."""
    edges, c = drawn
    rng = np.random.default_rng(seed)
    graphs = PreferenceGraphs.from_pairs(edges, n_labels=c)
    X = rng.integers(-2, 3, (len(edges), 2)) / 1.0
    if kind == "linear":
        functions = LinearFunctions(X, graphs, fit_intercept=True)
    elif kind == "sparse":
        functions = LinearFunctions(csr_array(np.abs(X)), graphs, fit_intercept=True)
    else:
        functions = GivenFunctions(rng.normal(size=(len(edges), c, 3)), graphs)
    return functions, graphs, rng.uniform(0.5, 2, len(edges)), rng


kinds = st.sampled_from(["linear", "sparse", "given"])


@given(edge_lists(), decompositions, kinds, st.integers(0, 99))
def test_the_objective_is_the_weighted_mean_loss(drawn, decomposition, kind, seed):
    functions, _, weight, rng = problem(drawn, seed, kind)
    objective = Objective(functions, decomposition, weight, l2(0.0))
    parameters = rng.normal(size=functions.shape)
    scores = functions.scores(parameters)
    losses = [ranking_loss(e, f, decomposition) for e, f in zip(drawn[0], scores, strict=True)]
    assert objective.value(parameters) == pytest.approx(np.average(losses, weights=weight))


@given(edge_lists(), decompositions, kinds, st.sampled_from([l2, smooth_l1]), st.integers(0, 99))
def test_gradients_are_finite_differences(drawn, decomposition, kind, penalty, seed):
    functions, _, weight, rng = problem(drawn, seed, kind)
    objective = Objective(functions, decomposition, weight, penalty(0.1))
    parameters = rng.normal(size=functions.shape)
    gradient = objective.value_and_gradient(parameters)[1]
    for index in np.ndindex(functions.shape):
        step = np.zeros(functions.shape)
        step[index] = 1e-5
        slope = (objective.value(parameters + step) - objective.value(parameters - step)) / 2e-5
        assert gradient[index] == pytest.approx(slope, abs=1e-8)


@given(edge_lists(), decompositions, kinds, st.integers(0, 99), st.sampled_from([0.0, 0.05]))
def test_boosting_falls_by_at_least_theorem_1(drawn, decomposition, kind, seed, alpha):
    functions, _, weight, rng = problem(drawn, seed, kind)
    objective = Objective(functions, decomposition, weight, smooth_l1(alpha))
    rho = boosting_rho(objective, alpha)
    parameters = rng.normal(size=functions.shape) / 4
    loss = objective.value(parameters)
    for _ in range(5):
        _, plus, minus = boosting_sums(objective, alpha, parameters)
        parameters = parameters - boosting_step(plus, minus, alpha) / rho
        bound = np.sum((np.sqrt(plus) - np.sqrt(minus)) ** 2) / rho
        # Without a penalty the step is smoothed where W+ or W- vanishes.
        slack = 1e-12 if alpha else 1e-4
        before, loss = loss, objective.value(parameters)
        assert loss <= before + 1e-12
        assert before - loss >= bound - slack


@given(edge_lists(), decompositions, st.integers(0, 99))
def test_boosting_sums_are_those_of_figure_3(drawn, decomposition, seed):
    edges, _ = drawn
    functions, _, weight, rng = problem(drawn, seed, "given")
    objective = Objective(functions, decomposition, weight, smooth_l1(0.0))
    parameters = rng.normal(size=functions.shape)
    values, scores = functions._values, functions.scores(parameters)
    plus, minus, rho = np.zeros(3), np.zeros(3), 0.0
    for i, graph in enumerate(edges):
        parts = subgraphs(graph, decomposition)
        for part in parts:
            total = 1 + sum(np.exp(scores[i, v] - scores[i, u]) for u, v in part)
            for u, v in part:
                pi = values[i, v] - values[i, u]
                rho = max(rho, np.abs(pi).sum())
                q = np.exp(scores[i, v] - scores[i, u]) / total / len(parts)
                plus += weight[i] / weight.sum() * q * np.maximum(pi, 0)
                minus += weight[i] / weight.sum() * q * np.maximum(-pi, 0)
    found = boosting_sums(objective, 0.0, parameters)[1:]
    np.testing.assert_allclose(found, [plus, minus], atol=1e-14)
    if rho:
        assert boosting_rho(objective, 0.0) == pytest.approx(rho)


@settings(deadline=None)
@given(edge_lists(), decompositions, st.integers(0, 99))
def test_linear_utilities_are_base_functions_like_any_other(drawn, decomposition, seed):
    _, c = drawn
    linear, graphs, weight, rng = problem(drawn, seed, "linear")
    given_ = GivenFunctions(linear_values(linear._X, c), graphs)
    parameters = rng.normal(size=linear.shape)
    for function in (
        lambda o, p: o.value_and_gradient(p)[1].ravel(),
        lambda o, p: np.ravel(boosting_sums(o, 0.1, p)[1:]),
        lambda o, p: boosting_rho(o, 0.0),
    ):
        one = function(Objective(linear, decomposition, weight, l2(0.1)), parameters)
        other = function(Objective(given_, decomposition, weight, l2(0.1)), parameters.ravel())
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_both_solvers_reach_the_same_loss(decomposition):
    X, Y = linear_data(n=40)
    Y = drop_labels(Y, 0.2, random_state=1)
    options = {"decomposition": decomposition, "penalty": "smooth_l1", "alpha": 0.02}
    fast = LogLinearLabelRanker(**options, tol=1e-7).fit(X, Y)
    slow = LogLinearLabelRanker(**options, solver="boosting", tol=1e-5, max_iter=20000).fit(X, Y)
    assert slow.loss_curve_[-1] == pytest.approx(fast.loss_curve_[-1], abs=1e-7)
    np.testing.assert_allclose(slow.coef_, fast.coef_, atol=5e-3)
    assert slow.n_iter_ > fast.n_iter_


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_the_loss_curve_never_rises(solver):
    X, Y = linear_data()
    with pytest.warns(ConvergenceWarning, match=f"{solver} solver did not converge in max_iter=20"):
        ranker = LogLinearLabelRanker(solver=solver, alpha=0.0, max_iter=20, tol=0).fit(X, Y)
    assert len(ranker.loss_curve_) == ranker.n_iter_ + 1 == 21
    assert np.all(np.diff(ranker.loss_curve_) <= 0)
    assert ranker.score(X, Y) > 0.7


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_weights_stay_finite_where_a_label_always_leads(decomposition, solver):
    X, Y = np.array([[0.0], [1.0]]), np.array([[1, 2, 3], [1, 3, 2]])
    ranker = LogLinearLabelRanker(decomposition, solver=solver, alpha=0.01, max_iter=5000)
    ranker.fit(X, Y)
    assert np.isfinite(ranker.coef_).all()
    np.testing.assert_array_equal(ranker.predict(X), Y)


def test_sparse_features_give_the_same_model():
    X, Y = linear_data()
    X[np.abs(X) < 0.5] = 0
    dense = LogLinearLabelRanker(tol=1e-8, scale=False).fit(X, Y)
    sparse = LogLinearLabelRanker(tol=1e-8, scale=False).fit(csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
    np.testing.assert_allclose(
        sparse.decision_function(csr_array(X)), dense.decision_function(X), atol=1e-5
    )


def test_a_weight_is_a_repetition():
    X, Y = linear_data(n=20)
    weight = np.arange(20) % 3
    weighted = LogLinearLabelRanker(tol=1e-9).fit(X, Y, weight)
    repeated = LogLinearLabelRanker(tol=1e-9).fit(np.repeat(X, weight, 0), np.repeat(Y, weight, 0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_a_warm_start_goes_on_where_the_last_fit_ended():
    X, Y = linear_data()
    cold = LogLinearLabelRanker(warm_start=True).fit(X, Y)
    end, iterations = cold.loss_curve_[-1], cold.n_iter_
    warm = cold.fit(X, Y)
    assert warm.loss_curve_[0] == pytest.approx(end)
    assert warm.n_iter_ < iterations
    with pytest.raises(ValueError, match="X has 2 features"):
        warm.fit(X[:, :2], Y)
    with pytest.raises(ValueError, match=r"warm_start needs weights of the shape \(16,\)"):
        warm.set_params(base_functions=lambda X: linear_values(X, 4)).fit(X, Y)


def test_given_base_functions_replace_the_linear_ones():
    X, Y = linear_data()
    plain = LogLinearLabelRanker("edges", tol=1e-8, alpha=1e-4, scale=False).fit(X, Y)
    given_ = LogLinearLabelRanker(
        "edges", tol=1e-8, alpha=1e-4, base_functions=lambda X: linear_values(X, 4)
    ).fit(X, Y)
    assert given_.coef_.shape == (16,)
    np.testing.assert_allclose(given_.decision_function(X), plain.decision_function(X), atol=1e-4)
    with pytest.raises(ValueError, match=r"must have the shape \(80, 4, 'n_functions'\)"):
        LogLinearLabelRanker(alpha=1, base_functions=lambda X: np.ones((len(X), 3, 2))).fit(X, Y)


def test_the_loss_of_edges_is_that_of_logistic_pair_probabilities():
    X, Y = linear_data()
    ranker = LogLinearLabelRanker("edges", alpha=1e-4, scale=False).fit(X, Y)
    scores = ranker.decision_function(X)
    losses = [
        np.log1p(np.exp(scores[i, v] - scores[i, u]))
        for i in range(len(X))
        for u in range(4)
        for v in range(4)
        if Y[i, u] < Y[i, v]
    ]
    penalty = 1e-4 / 2 * (np.sum(ranker.coef_**2) + np.sum(ranker.intercept_**2))
    assert np.mean(losses) + penalty == pytest.approx(ranker.loss_curve_[-1])


def test_graphs_and_ranks_teach_the_same():
    X, Y = linear_data()
    Y = np.minimum(Y, 3)
    graphs = PreferenceGraphs.from_ranks(Y)
    written_out = PreferenceGraphs(*graphs.compressed(), n_labels=4)
    rankers = [LogLinearLabelRanker(tol=1e-8).fit(X, y) for y in (Y, graphs, written_out)]
    for ranker in rankers[1:]:
        np.testing.assert_allclose(ranker.coef_, rankers[0].coef_, atol=1e-5)
        assert ranker.score(X, graphs) == rankers[0].score(X, graphs)


def test_graphs_go_through_search_and_cross_validation():
    X, Y = linear_data()
    graphs = PreferenceGraphs.from_ranks(Y)
    search = GridSearchCV(LogLinearLabelRanker(), {"alpha": [1e-4, 1e2]}, cv=3).fit(X, graphs)
    assert search.best_params_ == {"alpha": 1e-4}
    scores = cross_val_score(clone(search.best_estimator_), X, graphs, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(search.best_estimator_, X, Y, cv=3))


def test_cyclic_graphs_are_learned_as_well_as_any_order_can():
    cycle = PreferenceGraphs.from_pairs([[("a", "b"), ("b", "c"), ("c", "a")]] * 3, labels="abc")
    ranker = LogLinearLabelRanker("edges").fit(np.ones((3, 1)), cycle)
    np.testing.assert_allclose(ranker.decision_function([[1.0]]), 0, atol=1e-8)
    assert ranker.labels_.tolist() == ["a", "b", "c"]


def test_empty_graphs_and_labels_without_edges_are_named():
    graphs = PreferenceGraphs.from_pairs([[("a", "b")], []], labels=["a", "z", "b"])
    with (
        pytest.warns(UserWarning, match="1 of 2 rows of y rank no label"),
        pytest.warns(UserWarning, match="predicted last: 'z'"),
    ):
        ranker = LogLinearLabelRanker().fit([[0.0], [1.0]], graphs)
    assert ranker.predict_order([[0.0]]).tolist() == [["a", "b", "z"]]


def test_constant_features_leave_the_consensus():
    ranker = LogLinearLabelRanker().fit(np.zeros((3, 2)), [[1, 2, 3], [1, 2, 3], [3, 2, 1]])
    np.testing.assert_array_equal(ranker.predict(np.zeros((1, 2))), [[1, 2, 3]])


def test_boosting_refuses_a_penalty_it_cannot_hold():
    with pytest.raises(ValueError, match="cannot hold penalty='l2'"):
        LogLinearLabelRanker(solver="boosting", penalty="l2").fit([[0.0], [1.0]], [[1, 2], [2, 1]])

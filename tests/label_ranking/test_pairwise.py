import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from oracles import pair_sign
from prefero import PairwiseLabelRanker, _core
from prefero._solvers._logistic import solve_logistic
from prefero.rankings import drop_labels, pair_signs, strict_ranks
from strategies import rank_matrices

EXACT = LogisticRegression(tol=1e-9, max_iter=1000)


def linear_data(n=200, features=4, labels=5, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    utility = X @ rng.normal(size=(features, labels)) + noise * rng.normal(size=(n, labels))
    return X, strict_ranks(utility).astype(float)


def incomplete(Y, p):
    """Drop labels, but never a whole row."""
    dropped = drop_labels(Y, p, random_state=0)
    return np.where(np.isnan(dropped).all(axis=1, keepdims=True), Y, dropped)


@given(rank_matrices())
def test_pair_signs_say_who_stands_first(ranks):
    expected = [
        [pair_sign(row, i, j) for i in range(len(row)) for j in range(i + 1, len(row))]
        for row in ranks
    ]
    np.testing.assert_array_equal(pair_signs(ranks), np.reshape(expected, (len(ranks), -1)))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse", "wide"])
def test_solving_together_equals_one_logistic_regression_a_pair(form, fit_intercept):
    X, Y = linear_data(features=150 if form == "wide" else 4, n=120)
    Y = incomplete(Y, 0.4)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    model = LogisticRegression(C=0.7, tol=1e-9, max_iter=5000, fit_intercept=fit_intercept)
    ranker = PairwiseLabelRanker(model).fit(csr_array(X) if form == "sparse" else X, Y, weight)
    for pair, (i, j) in enumerate(ranker.pairs_):
        rows = np.flatnonzero([pair_sign(row, i, j) for row in Y])
        alone = model.fit(X[rows], Y[rows, i] < Y[rows, j], weight[rows])
        np.testing.assert_allclose(ranker.coef_[pair], alone.coef_[0], atol=1e-5)
        intercept = np.ravel(alone.intercept_)[0]
        np.testing.assert_allclose(ranker.intercept_[pair], intercept, atol=1e-5)


def test_newton_goes_back_where_a_full_step_overshoots():
    X = np.array([[7.0], [-2.0], [-3.0], [-196.0], [6.0]])
    signs, weight = np.array([[-1], [1], [1], [1], [1]], dtype=np.int8), [1, 1, 100, 100, 1]
    options = {"C": 1.0, "fit_intercept": True, "tol": 1e-8, "max_iter": 100}
    coef, intercept, converged = solve_logistic(X, signs, np.array(weight, float), **options)
    assert converged
    alone = EXACT.fit(X, signs[:, 0], weight)
    np.testing.assert_allclose(coef, alone.coef_, atol=1e-5)
    np.testing.assert_allclose(intercept, alone.intercept_, atol=1e-5)


@pytest.mark.parametrize("weight_a_problem", [False, True])
def test_of_many_rows_a_sample_shows_the_way_and_all_the_end(weight_a_problem):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 3)) * [1, 10, 0.1]
    # One problem by chance, one nearly separable, one with few rows of the second class, one that
    # only every other row knows.
    lean = X @ np.array([[1, 3, 0, 1], [0, 5, 0.02, -1], [0, 1, 0, 1]])
    signs = np.where(lean + rng.logistic(size=lean.shape) + [0, 0, 5, 0] > 0, 1, -1)
    signs[::2, 3] = 0
    weight = rng.uniform(0.5, 2, signs.shape if weight_a_problem else len(X))
    options = {"C": 3.0, "fit_intercept": True, "tol": 1e-9, "max_iter": 100}
    coef, intercept, converged = solve_logistic(X, signs.astype(np.int8), weight, **options)
    assert converged
    for problem, sign in enumerate(signs.T):
        rows = sign != 0
        own = (weight[:, problem] if weight_a_problem else weight)[rows]
        alone = LogisticRegression(C=3.0, tol=1e-9, solver="newton-cholesky")
        alone.fit(X[rows], sign[rows], own)
        np.testing.assert_allclose(coef[problem], alone.coef_[0], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(intercept[problem], alone.intercept_[0], rtol=1e-5)


@given(st.integers(0, 2**32 - 1))
def test_logistic_derivatives_are_those_of_the_loss(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6), rng.integers(1, 700)
    scores, signs = rng.normal(size=shape) * 30, rng.integers(-1, 2, size=shape)
    weight = rng.uniform(0, 3, shape[: rng.integers(1, 3)])
    share = np.where(signs == 0, 0, weight if weight.ndim == 2 else weight[:, None])
    margin = signs * scores
    residual, curvature = scores.copy(), np.empty(shape)
    loss = _core.logistic_derivatives(residual, signs.astype(np.int8), weight, curvature)
    np.testing.assert_allclose(loss, (share * np.logaddexp(0, -margin)).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(residual, share * signs * expit(-margin), atol=1e-12)
    np.testing.assert_allclose(curvature, share * expit(margin) * expit(-margin), atol=1e-12)


def test_unpenalised_separable_pairs_warn_of_no_convergence():
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        PairwiseLabelRanker(LogisticRegression(C=np.inf, max_iter=3)).fit(
            [[0.0], [1.0], [2.0], [3.0]], [[1, 2], [1, 2], [2, 1], [2, 1]]
        )


@pytest.mark.parametrize(
    "model", [GaussianNB(), RandomForestClassifier(5, random_state=0), KNeighborsClassifier(3)]
)
def test_any_classifier_learns_each_pair_from_the_rows_that_order_it(model):
    X, Y = linear_data()
    Y = incomplete(Y, 0.3)
    ranker = PairwiseLabelRanker(model).fit(X, Y)
    probability = ranker._pairwise_matrix(X)
    for i, j in [(0, 1), (2, 4)]:
        rows = np.flatnonzero([pair_sign(row, i, j) for row in Y])
        alone = model.fit(X[rows], Y[rows, i] < Y[rows, j])
        np.testing.assert_allclose(probability[:, i, j], alone.predict_proba(X)[:, 1])
    np.testing.assert_allclose(probability + probability.transpose(0, 2, 1), 1)
    np.testing.assert_allclose(ranker.decision_function(X), probability.sum(axis=2) - 0.5)
    assert ((ranker.predict_pairwise(X) > 0.5) == (probability > 0.5)).all()


def test_a_classifier_without_probabilities_votes():
    X, Y = linear_data(labels=3)
    ranker = PairwiseLabelRanker(RidgeClassifier()).fit(X, Y)
    assert set(np.unique(ranker._pairwise_matrix(X))) == {0.0, 0.5, 1.0}
    assert len(np.unique(ranker.predict_pairwise(X).round(9))) == 3
    assert ranker.score(X, Y) > 0.5


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_degenerate_pairs_get_a_smoothed_constant(model):
    nan = np.nan
    X = np.arange(6.0).reshape(-1, 1)
    Y = np.array([[1, 2, nan, nan]] * 3 + [[nan, nan, 1, 2], [nan, nan, 2, 1], [nan, nan, 1, 2]])
    probability = PairwiseLabelRanker(model).fit(X, Y)._pairwise_matrix(X)
    np.testing.assert_allclose(probability[:, 0, 1], 4 / 5)
    np.testing.assert_allclose(probability[:, 0, 2], 1 / 2)
    assert np.ptp(probability[:, 2, 3]) > 0


@settings(deadline=None, max_examples=25)
@given(rank_matrices(rows=(4, 8), labels=(2, 4)), st.integers(0, 99))
@pytest.mark.filterwarnings("ignore:.*rows of y rank no label", "ignore:.*predicted last")
def test_a_model_of_ties_is_a_logistic_regression_of_tied_against_ordered(ranks, seed):
    assume(not np.isnan(ranks).all(axis=0).any())
    X = np.random.default_rng(seed).normal(size=(len(ranks), 2))
    ranker = PairwiseLabelRanker(EXACT, ties="model", calibrate=False).fit(X, ranks)
    strict = PairwiseLabelRanker(EXACT, calibrate=False).fit(X, ranks)._first_leads(X)
    ties = ranker._tie_shares(X)
    for pair, (i, j) in enumerate(ranker.pairs_):
        rows = np.flatnonzero(~np.isnan(ranks[:, [i, j]]).any(axis=1))
        tied = ranks[rows, i] == ranks[rows, j]
        expected = (tied.sum() + 1) / (len(rows) + 2)
        if 0 < tied.sum() < len(rows):
            expected = clone(EXACT).fit(X[rows], tied).predict_proba(X)[:, 1]
        np.testing.assert_allclose(ties[:, pair], expected, atol=1e-5)
    leads = strict * (1 - ties) + ties / 2
    np.testing.assert_allclose(ranker._first_leads(X), leads, atol=1e-12)
    votes = np.arange(ranks.shape[1]) + leads @ ranker._wins
    np.testing.assert_allclose(ranker.decision_function(X), votes)


def test_ties_are_expected_where_the_model_learned_them():
    X, Y = linear_data(labels=3, noise=0.1)
    tied = np.where(X[:, :1] > 0, np.minimum(Y, 2), Y)
    ranker = PairwiseLabelRanker(ties="model").fit(X, tied)
    off = ~np.eye(3, dtype=bool)
    ties = ranker.predict_ties(X)[:, off].sum(axis=1)
    assert ties[X[:, 0] > 0.5].mean() > 3 * ties[X[:, 0] < -0.5].mean()
    beside = PairwiseLabelRanker().fit(X, tied)
    ties = beside.predict_ties(X)[:, off].sum(axis=1)
    assert ties[X[:, 0] > 0.5].mean() > 3 * ties[X[:, 0] < -0.5].mean()
    assert beside.coef_.shape == (3, X.shape[1])
    assert PairwiseLabelRanker().fit(X, Y)._tie_shares(X) is None


def test_one_label_is_ranked_first():
    ranker = PairwiseLabelRanker().fit([[0.0], [1.0]], [[1], [1]])
    np.testing.assert_array_equal(ranker.predict([[3.0]]), [[1]])


def test_refitting_with_another_kind_of_model_forgets_the_first():
    X, Y = linear_data(labels=3)
    ranker = PairwiseLabelRanker().fit(X, Y)
    ranker.set_params(estimator=GaussianNB()).fit(X, Y)
    fresh = PairwiseLabelRanker(GaussianNB()).fit(X, Y)
    np.testing.assert_array_equal(ranker.decision_function(X), fresh.decision_function(X))


def test_the_default_model_with_C_is_a_logistic_regression_with_C():
    X, Y = linear_data()
    ours = PairwiseLabelRanker(C=0.3, scale=False)
    theirs = PairwiseLabelRanker(LogisticRegression(C=0.3))
    np.testing.assert_array_equal(ours.fit(X, Y).coef_, theirs.fit(X, Y).coef_)
    with pytest.raises(ValueError, match="set the penalty of the estimator"):
        PairwiseLabelRanker(LogisticRegression(), C=0.3).fit(X, Y)


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()])
def test_the_number_of_jobs_changes_nothing(model):
    X, Y = linear_data()
    one, two = (PairwiseLabelRanker(model, n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_blocks_change_nothing_but_rounding(monkeypatch):
    X, Y = linear_data()
    whole = PairwiseLabelRanker(EXACT).fit(X, Y)
    monkeypatch.setattr("prefero._pairwise._BLOCK_ENTRIES", 2 * len(X))
    blocks = PairwiseLabelRanker(EXACT).fit(X, Y)
    np.testing.assert_allclose(blocks.decision_function(X), whole.decision_function(X))


def test_a_thousand_labels_are_refused_with_an_estimate():
    Y = np.tile(np.arange(1, 1001), (2, 1))
    with pytest.raises(ValueError, match=r"499,500 pairs.*MB of coefficients.*max_models"):
        PairwiseLabelRanker(calibrate=False).fit([[0.0], [1.0]], Y)


def test_weights_that_the_estimator_cannot_use_are_refused():
    X, Y = linear_data(labels=3)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        PairwiseLabelRanker(KNeighborsClassifier()).fit(X, Y, np.arange(len(X)))

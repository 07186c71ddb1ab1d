"""The same bits, whoever computes them: jobs, chunks, backends, rows, threads, processes."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from model_files import estimators_of, problem, small
from prefero._products import row_products
from prefero.rankings import drop_labels

PACKAGES = ("automatic", "label_ranking", "multilabel", "ordering")
ESTIMATORS = [
    (package, small(estimator))
    for package in PACKAGES
    for estimator in estimators_of(package)
    if package == "ordering" or hasattr(estimator, "decision_function")
]
NAMES = [type(estimator).__name__ for _, estimator in ESTIMATORS]


def targets(package, n):
    Y = problem(n)[1]
    if package in ("automatic", "label_ranking"):
        return {"y": drop_labels(Y, 0.2, random_state=0)}
    if package == "multilabel":
        return {"y": (Y < 3).astype(int)}
    return {"y": np.resize([1, 2, 3, 4], n), "qid": np.arange(n) // 4}


def fitted(package, estimator, n=60, **parameters):
    known = estimator.get_params()
    chosen = {name: value for name, value in parameters.items() if name in known}
    return clone(estimator).set_params(**chosen).fit(problem(n)[0], **targets(package, n))


def scores(model, X):
    """What a model says of each row alone."""
    for method in ("decision_function", "transform"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    return model.predict(X, qid=np.arange(len(X)))


def state_of(model):
    """The fitted arrays, as bytes; but not what the clock said."""
    kept = {name: value for name, value in model.__getstate__().items() if name.endswith("_")}
    for name in kept.keys() & {"leaderboard_"}:
        kept[name] = [{**line, "seconds": None} for line in kept[name]]
    return pickle.dumps(kept)


@pytest.mark.parametrize(("package", "estimator"), ESTIMATORS, ids=NAMES)
def test_jobs_and_backends(package, estimator):
    X = problem(50, seed=1)[0]
    alone = fitted(package, estimator)
    for backend in ("threading", "loky"):
        if "n_jobs" not in estimator.get_params():
            break
        with joblib.parallel_config(backend=backend):
            shared = fitted(package, estimator, n_jobs=2)
            np.testing.assert_array_equal(scores(shared, X), scores(alone, X))


@pytest.mark.parametrize(("package", "estimator"), ESTIMATORS, ids=NAMES)
def test_a_fit_is_repeated_bit_by_bit(package, estimator):
    assert state_of(fitted(package, estimator)) == state_of(fitted(package, estimator))


@pytest.mark.parametrize(("package", "estimator"), ESTIMATORS, ids=NAMES)
def test_the_rows_of_a_query_do_not_know_each_other(package, estimator):
    X = problem(50, seed=1)[0]
    model = fitted(package, estimator)
    whole = scores(model, X)
    order = np.random.default_rng(0).permutation(len(X))
    same = alike if type(model).__name__ in ASK_SCIKIT_LEARN else np.testing.assert_array_equal
    same(scores(model, X[order]), whole[order])
    parts = [scores(model, part) for part in np.array_split(X, [1, 4, 20])]
    same(np.concatenate(parts), whole)


# Their answers come from estimators of scikit-learn.
ASK_SCIKIT_LEARN = ("BinaryRelevanceRanker", "ExpectedRankOrderer", "RegressionLabelRanker")


def alike(found, whole):
    """The same order in each row, of scores that BLAS may round otherwise for a single row."""
    np.testing.assert_allclose(found, whole, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(np.argsort(-found, axis=-1), np.argsort(-whole, axis=-1))


@given(st.integers(1, 200), st.integers(0, 40), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_products_of_a_row_do_not_know_the_other_rows(n, n_features, n_columns, seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(n, n_features)), rng.normal(size=(n_features, n_columns))
    whole = row_products(X, weights)
    np.testing.assert_allclose(whole, X @ weights, rtol=1e-10, atol=1e-12)
    chosen = rng.integers(n, size=rng.integers(1, 150))
    np.testing.assert_array_equal(row_products(X[chosen], weights), whole[chosen])
    columns = np.asfortranarray(X)
    np.testing.assert_array_equal(row_products(columns, weights.copy("C")), whole)


@pytest.mark.parametrize(("package", "estimator"), ESTIMATORS, ids=NAMES)
def test_eight_threads_ask_at_once_and_change_nothing(package, estimator):
    X = problem(50, seed=1)[0]
    model = fitted(package, estimator)
    before, expected = state_of(model), scores(fitted(package, estimator), X)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: scores(model, X), range(32)):
            np.testing.assert_array_equal(found, expected)
    assert state_of(model) == before


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    X = problem(50, seed=1)[0]
    models = [fitted(package, estimator) for package, estimator in ESTIMATORS]
    expected = [scores(model, X) for model in models]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for found, whole in zip(pool.map(scores, models, [X] * len(models)), expected, strict=True):
            np.testing.assert_array_equal(found, whole)

"""Whatever joblib runs them on, estimators learn and say the same: threads, processes, Dask."""

from importlib import import_module

import joblib
import numpy as np
import pytest
from joblib.parallel import ThreadingBackend
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import prefero
from clusters import two_workers
from prefero.automatic import (
    AutoLabelRanker,
    AutoMultilabelRanker,
    AutoOrderer,
    StackingLabelRanker,
)
from prefero.automatic._choice import FoldEvaluation
from prefero.automatic._members import TrainingRows, fold_held_out
from prefero.datasets import make_label_ranking
from prefero.evaluation import run_experiment

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

X, Y = make_label_ranking(60, 3, 3, theta=1.0, random_state=0)
# Enough rows that predictions are divided too.
NEW = np.tile(X, (84, 1))
GROUPS, RANKS = np.repeat(np.arange(20), 3), np.tile([1.0, 2, 3], 20)


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as client:
        yield client


@pytest.fixture(params=["threading", "loky", "dask"])
def backend(request):
    if request.param == "dask":
        request.getfixturevalue("cluster")
    with joblib.parallel_config(backend=request.param, n_jobs=2):
        yield request.param


def with_jobs(room):
    """The estimators of a package that have a number of jobs."""
    names = import_module(f"prefero.{room}").__all__
    found = [getattr(import_module(f"prefero.{room}"), name) for name in names]
    estimators = [
        one() for one in found if isinstance(one, type) and issubclass(one, BaseEstimator)
    ]
    return [one for one in estimators if "n_jobs" in one.get_params(deep=False)]


LABEL_RANKERS = [
    *with_jobs("label_ranking"),
    prefero.PairwiseLabelRanker(LogisticRegression(tol=1e-3), calibrate=False),
    StackingLabelRanker(
        [("neighbors", prefero.NeighborsLabelRanker(5)), ("linear", prefero.PairwiseLabelRanker())]
    ),
    AutoLabelRanker(preset="quick"),
]


def quick(estimator):
    """The estimator with two jobs, few trees and a seed."""
    small = {"n_jobs": 2, "n_estimators": 6, "max_iter": 20, "random_state": 0}
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: small[name] for name in small if name in known})


@pytest.mark.parametrize("ranker", LABEL_RANKERS, ids=lambda one: type(one).__name__)
def test_label_rankers(ranker, backend):
    here = quick(ranker).set_params(n_jobs=1)
    there = quick(ranker).fit(X, Y)
    with joblib.parallel_config(backend="sequential"):
        expected = here.fit(X, Y).decision_function(NEW)
    assert np.allclose(there.decision_function(NEW), expected)


@pytest.mark.parametrize("ranker", with_jobs("multilabel"), ids=lambda one: type(one).__name__)
def test_multilabel_rankers(ranker, backend):
    relevance = (Y < 2.5).astype(int)
    there = quick(ranker).fit(X, relevance)
    with joblib.parallel_config(backend="sequential"):
        expected = quick(ranker).set_params(n_jobs=1).fit(X, relevance).predict_ranks(NEW)
    assert np.array_equal(there.predict_ranks(NEW), expected)


def test_the_automatic_multilabel_ranker(backend):
    relevance = (Y < 2.5).astype(int)
    ranker = AutoMultilabelRanker(preset="quick", random_state=0, n_jobs=2)
    there = ranker.fit(X, relevance).predict_ranks(X)
    with joblib.parallel_config(backend="sequential"):
        expected = clone(ranker).set_params(n_jobs=1).fit(X, relevance).predict_ranks(X)
    assert np.array_equal(there, expected)


def test_the_automatic_orderer(backend):
    orderer = AutoOrderer(preset="quick", random_state=0, n_jobs=2)
    there = orderer.fit(X, RANKS, GROUPS).decision_function(X)
    with joblib.parallel_config(backend="sequential"):
        here = clone(orderer).set_params(n_jobs=1).fit(X, RANKS, GROUPS)
    assert np.allclose(there, here.decision_function(X))


def test_every_automatic_estimator_with_jobs_is_tested():
    tested = {AutoLabelRanker, AutoMultilabelRanker, AutoOrderer, StackingLabelRanker}
    names = import_module("prefero.automatic").__all__
    found = {getattr(import_module("prefero.automatic"), name) for name in names}
    assert {one for one in found if "n_jobs" in one._get_param_names()} == tested


@pytest.mark.parametrize("reducer", with_jobs("ordering"), ids=lambda one: type(one).__name__)
def test_reducers(reducer, backend):
    there = quick(reducer).fit(X, RANKS, GROUPS)
    with joblib.parallel_config(backend="sequential"):
        expected = quick(reducer).set_params(n_jobs=1).fit(X, RANKS, GROUPS).components_
    assert np.allclose(there.components_, expected)


def test_experiments(backend):
    rankers = {"constant": prefero.ConsensusLabelRanker(), "tree": prefero.TreeLabelRanker()}
    run = {"n_splits": 2, "random_state": 0}
    there = run_experiment(rankers, {"made": (X, Y)}, n_jobs=2, **run)
    with joblib.parallel_config(backend="sequential"):
        here = run_experiment(rankers, {"made": (X, Y)}, n_jobs=1, **run)
    assert np.array_equal(there["tau"], here["tau"])


def test_searches(backend):
    grid = {"max_depth": [1, 3]}
    search = GridSearchCV(prefero.TreeLabelRanker(), grid, cv=2, n_jobs=2).fit(X, Y)
    with joblib.parallel_config(backend="sequential"):
        here = GridSearchCV(prefero.TreeLabelRanker(), grid, cv=2, n_jobs=1).fit(X, Y)
    assert search.best_params_ == here.best_params_
    assert np.array_equal(
        search.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"]
    )


class OnlyLists(ThreadingBackend):
    """Like Ray's and multiprocessing's: results come all at the end."""

    supports_return_generator = False


def test_experiments_where_results_come_at_the_end():
    joblib.register_parallel_backend("lists", OnlyLists)
    rankers = {"constant": prefero.ConsensusLabelRanker()}
    with joblib.parallel_config(backend="lists", n_jobs=2):
        table = run_experiment(rankers, {"made": (X, Y)}, n_splits=2, n_jobs=2)
    assert len(table["tau"]) == 2


@pytest.fixture
def ray(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    engine = pytest.importorskip("ray", reason="Ray is not installed")
    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    pytest.importorskip("ray.util.joblib").register_ray()
    with joblib.parallel_config(backend="ray", n_jobs=2):
        yield
    engine.shutdown()


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_ray(ray):
    pairwise = prefero.PairwiseLabelRanker(LogisticRegression(tol=1e-3), calibrate=False, n_jobs=2)
    there = pairwise.fit(X, Y).decision_function(X)
    run = {"n_splits": 2, "random_state": 0}
    rankers = {"constant": prefero.ConsensusLabelRanker(), "tree": prefero.TreeLabelRanker()}
    table = run_experiment(rankers, {"made": (X, Y)}, n_jobs=2, **run)
    with joblib.parallel_config(backend="sequential"):
        assert np.allclose(there, pairwise.fit(X, Y).decision_function(X))
        here = run_experiment(rankers, {"made": (X, Y)}, n_jobs=1, **run)
    assert np.array_equal(table["tau"], here["tau"])


@pytest.fixture
def scattered(cluster, monkeypatch):
    """The kinds of what is sent to the workers beside the tasks; of arrays their shapes."""
    from distributed import Client

    kinds, scatter = [], Client.scatter

    def noted(client, data, *arguments, **options):
        kinds.append(getattr(data, "shape", type(data).__name__))
        return scatter(client, data, *arguments, **options)

    monkeypatch.setattr(Client, "scatter", noted)
    return kinds


def test_a_data_set_is_sent_once_and_not_with_every_cell(scattered):
    large = make_label_ranking(2000, 5, 3, random_state=0)
    rankers = {"constant": prefero.ConsensusLabelRanker()}
    with joblib.parallel_config(backend="dask"):
        run_experiment(rankers, {"made": large}, n_splits=6, n_jobs=2)
    assert scattered.count("DataSet") == 1


@pytest.mark.parametrize(
    "ranker",
    [
        prefero.PairwiseLabelRanker(LogisticRegression(tol=1e-2), calibrate=False, n_jobs=2),
        prefero.RegressionLabelRanker(n_jobs=2),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rows_are_sent_once_and_not_with_every_model(ranker, scattered):
    features, ranks = make_label_ranking(300, 5, 4, random_state=0)
    with joblib.parallel_config(backend="dask"):
        ranker.fit(features, ranks)
    # A ranker without a calibration of its own is fitted again to parts of the rows.
    assert scattered.count((300, 5)) == 1


def test_a_case_base_is_sent_once_and_not_with_every_chunk(scattered):
    ranker = prefero.NeighborsLabelRanker(3, aggregation="pairs", shrinkage=0, n_jobs=2)
    ranker.set_params(feature_weights="equal").fit(X, Y)
    with joblib.parallel_config(backend="dask"):
        ranker.predict(np.tile(NEW, (4, 1)))
    assert scattered.count("SentOnce") == 1


def test_rows_are_sent_once_and_not_with_every_fold_of_a_member(scattered):
    fold, asked = np.arange(len(X)) % 5, np.arange(len(X))
    rows = TrainingRows(X, Y, np.ones(len(X)))
    margins = {
        engine: held_out(engine, fold_held_out, prefero.ConsensusLabelRanker(), rows, fold, asked)
        for engine in ("sequential", "dask")
    }
    assert scattered == ["SentOnce"]
    assert np.array_equal(margins["dask"].margins, margins["sequential"].margins)


def test_rows_are_sent_once_and_not_with_every_fold_of_a_choice(scattered):
    measures = FoldEvaluation(np.arange(len(X)), np.arange(len(X)) % 5, fitted_to, tau_of)
    found = {
        engine: held_out(engine, measures.held_out, prefero.ConsensusLabelRanker())
        for engine in ("sequential", "dask")
    }
    assert scattered == ["SentOnce"]
    assert np.array_equal(found["dask"].values, found["sequential"].values)


def held_out(engine, call, *arguments):
    with joblib.parallel_config(backend=engine):
        return call(*arguments, n_jobs=2)


def fitted_to(ranker, rows):
    return clone(ranker).fit(X[rows], Y[rows])


def tau_of(ranker, rows):
    return ranker.score(X[rows], Y[rows])

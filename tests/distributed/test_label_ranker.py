"""Rows in partitions against one machine, by threads and by the workers of a Dask cluster."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import effective_n_jobs

from clusters import two_workers
from partitions import cut, nested, orders, problem, same_trees
from prefero import (
    BoostingLabelRanker,
    ConsensusLabelRanker,
    ExpectedRankOrderer,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    RankCorrelationReducer,
    RankSVMOrderer,
    TreeLabelRanker,
    _core,
)
from prefero.distributed import DistributedLabelRanker, DistributedOrderer
from prefero.distributed._engine import find_engine
from prefero.metrics import pairwise_calibration_error
from prefero.persistence import load, save

da = pytest.importorskip("dask.array", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

# Client and LocalCluster leave warnings of their own when they close.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


# Forests


@pytest.mark.parametrize("criterion", ["spearman", "kendall"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_samples_leaf": 4, "max_depth": 4},
        {"min_similarity_ratio": 0.98},
        {"min_impurity_decrease": 0.01},
    ],
    ids=str,
)
def test_without_drawn_features_the_forest_is_that_of_one_machine(criterion, options):
    # Votes over four others are exact in the floats of the core: no cut is better by rounding.
    X, Y = problem(n_labels=5)
    forest = ForestLabelRanker(3, criterion=criterion, max_features=None, random_state=0, **options)
    found = (
        DistributedLabelRanker(forest, client=False).fit(cut(X, 40, 70), cut(Y, 40, 70)).to_local()
    )
    local = forest.fit(X, Y)
    assert nested(found) == nested(local)
    assert found.shrinkage_ == local.shrinkage_
    assert np.allclose(found.decision_function(X), local.decision_function(X), atol=1e-6)
    assert np.allclose(found.predict_pairwise(X), local.predict_pairwise(X), atol=0.01)
    assert np.allclose(found.feature_importances_, local.feature_importances_, atol=1e-6)


@settings(max_examples=15)
@given(
    criterion=st.sampled_from(["spearman", "kendall"]),
    missing=st.sampled_from([0.0, 0.4]),
    ties=st.booleans(),
    weighted=st.booleans(),
    gaps=st.booleans(),
    seed=st.integers(0, 99),
    first=st.integers(1, 58),
)
@pytest.mark.filterwarnings("ignore:.*rank no label:UserWarning")
def test_trees_do_not_depend_on_the_partitions(
    criterion, missing, ties, weighted, gaps, seed, first
):
    X, Y = problem(60, missing=missing, ties=ties, gaps=gaps, seed=seed)
    weight = np.random.default_rng(seed).random(60) * 3 if weighted else None
    forest = ForestLabelRanker(2, criterion=criterion, random_state=seed)
    found = [
        DistributedLabelRanker(forest, client=False)
        .fit(*(cut(a, *sizes) for a in (X, Y, weight)))
        .to_local()
        for sizes in [(), (first,), (first, 1)]
    ]
    same_trees(found[0], found[1])
    same_trees(found[0], found[2])
    assert np.array_equal(found[0].calibration_, found[2].calibration_)


def test_whole_weights_are_examples():
    X, Y = problem(40, n_labels=5)
    forest = ForestLabelRanker(2, max_features=None, min_samples_leaf=3, random_state=0)
    forest.set_params(criterion="spearman")
    weight = np.random.default_rng(0).integers(1, 4, 40).astype(float)
    found = DistributedLabelRanker(forest, client=False).fit(cut(X, 9), cut(Y, 9), cut(weight, 9))
    local = forest.fit(X, Y, weight)
    assert nested(found.to_local()) == nested(local)


@pytest.mark.parametrize(
    "ranker",
    [
        ForestLabelRanker(3, max_depth=4, random_state=0),
        BoostingLabelRanker(2, max_leaf_nodes=4, validation=None, random_state=0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_cluster_grows_the_trees_of_threads(ranker, client, monkeypatch):
    # Every worker looks for cuts, however small the histograms.
    monkeypatch.setattr("prefero.distributed._forest._WORTH_SHARING", 1)
    X, Y = problem()
    parts = cut(X, 60, 50), cut(Y, 60, 50)
    by_workers = DistributedLabelRanker(ranker, client=client).fit(*parts)
    by_threads = DistributedLabelRanker(ranker, client=False, n_jobs=2).fit(*parts)
    same_trees(by_workers.to_local(), by_threads.to_local())
    predicted = by_workers.predict(parts[0])
    assert predicted.chunks == parts[1].chunks
    assert np.array_equal(predicted.compute(), by_threads.to_local().predict(X))


def test_levels_asked_for_in_parts_are_the_same(monkeypatch):
    X, Y = problem()
    forest = ForestLabelRanker(2, random_state=0)
    ranker = DistributedLabelRanker(forest, client=False)
    whole = ranker.fit(cut(X, 80), cut(Y, 80)).to_local()
    monkeypatch.setattr("prefero.distributed._forest.MOST_BYTES", 2**16)
    monkeypatch.setattr("prefero.distributed._forest.TREES_TOGETHER", 1)
    same_trees(ranker.fit(cut(X, 80), cut(Y, 80)).to_local(), whole)


def test_kept_in_files(tmp_path):
    X, Y = problem(n=3000)
    forest = ForestLabelRanker(2, max_depth=4, random_state=0)
    ranker = DistributedLabelRanker(forest, client=False)
    inside = ranker.fit(cut(X, 2000), cut(Y, 2000)).to_local()
    ranker.set_params(folder=tmp_path)
    same_trees(ranker.fit(cut(X, 2000), cut(Y, 2000)).to_local(), inside)
    assert list(tmp_path.glob("*.arrays"))


@pytest.mark.parametrize(
    "ranker",
    [
        ForestLabelRanker(2, max_depth=4, random_state=0),
        LogLinearLabelRanker(alpha=0.1),
        PairwiseLabelRanker(C=1.0),
        NeighborsLabelRanker(5),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_arrays_that_are_mapped_into_memory(ranker, tmp_path):
    X, Y = problem(n=600)
    for name, array in {"X": X, "Y": Y}.items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "XY"]
    kept = tmp_path / "kept"
    kept.mkdir()
    on_disk = DistributedLabelRanker(ranker, client=False, folder=kept)
    found = on_disk.fit(*(cut(array, 200, 200) for array in mapped)).to_local()
    inside = DistributedLabelRanker(ranker, client=False).fit(cut(X, 200, 200), cut(Y, 200, 200))
    assert np.array_equal(found.decision_function(X), inside.to_local().decision_function(X))
    assert sum(file.stat().st_size for file in kept.iterdir()) > 600 * 4


def test_one_thread_unless_more_are_asked_for():
    for n_jobs, threads in [(None, 1), (1, 1), (3, 3), (-1, effective_n_jobs(-1))]:
        engine = find_engine(False, n_jobs, None)
        assert engine.jobs == threads
        engine.close()


def test_the_forest_is_as_good_as_one_machines():
    X, Y = problem(n=900, theta=1.0)
    forest = ForestLabelRanker(15, min_samples_leaf=3, random_state=0)
    ranker = DistributedLabelRanker(forest, client=False).fit(cut(X[:600], 200), cut(Y[:600], 200))
    local = forest.fit(X[:600], Y[:600]).score(X[600:], Y[600:])
    assert ranker.to_local().score(X[600:], Y[600:]) == pytest.approx(local, abs=0.04)


def of_partitions(forest, *parts):
    return DistributedLabelRanker(forest, forest="partitions", client=False).fit(*parts).to_local()


@pytest.mark.parametrize("kind", [ForestLabelRanker, BoostingLabelRanker])
def test_weights_are_exact_beyond_what_floats_count(kind):
    # Their sums are odd numbers beyond 2^24, where single precision knows even ones alone.
    X, Y = problem(400)
    weight = np.random.default_rng(0).integers(2**14, 2**15, 400) * 2.0 + 1
    ranker = kind(2, random_state=0)
    if kind is BoostingLabelRanker:
        ranker.set_params(subsample=1.0, validation=None)
    found = DistributedLabelRanker(ranker, client=False).fit(*(cut(a, 150) for a in (X, Y, weight)))
    trees = found.to_local()._grown
    expected = [int(weight.sum())] * 2
    if kind is ForestLabelRanker:
        samples = [_core.bootstrap_counts(int(seed), 0, 400, 400) for seed in found.ranker_.seeds_]
        expected = [int(counts @ weight.astype(int)) for counts in samples]
    weights = trees.arrays["weight"].astype(int)
    assert weights[trees.roots].tolist() == expected
    assert min(expected) > 2**24
    inner = np.flatnonzero(~trees.is_leaf)
    children = trees.children[inner]
    assert np.array_equal(weights[inner], weights[children] + weights[children + 1])


def test_pair_probabilities_hold_for_new_rows():
    X, Y = problem(n=1500, theta=1.0)
    forest = ForestLabelRanker(20, min_samples_leaf=3, random_state=0)
    constant = ConsensusLabelRanker().fit(X[:600], Y[:600]).score(X[600:], Y[600:])
    for kind in ("histograms", "partitions"):
        ranker = DistributedLabelRanker(forest, forest=kind, client=False)
        found = ranker.fit(cut(X[:600], 200, 200), cut(Y[:600], 200, 200)).to_local()
        assert found.score(X[600:], Y[600:]) > constant + 0.1
        assert pairwise_calibration_error(Y[600:], found.predict_pairwise(X[600:])) < 0.05


def test_a_forest_of_one_partition_is_that_of_one_machine():
    X, Y = problem(n=100)
    forest = ForestLabelRanker(4, min_samples_leaf=3, random_state=0)
    found, local = of_partitions(forest, X, Y), forest.fit(X, Y)
    same_trees(found, local)
    assert found.shrinkage_ == local.shrinkage_
    assert np.allclose(found.predict_pairwise(X), local.predict_pairwise(X), atol=1e-6)


def test_trees_of_partitions_see_all_rows_of_theirs_and_share_the_bounds():
    X, Y = problem(n=600)
    forest = ForestLabelRanker(12, min_samples_leaf=6, min_samples_split=30, random_state=0)
    parts = cut(X, 200, 300), cut(Y, 200, 300)
    found = of_partitions(forest, *parts)
    trees = found._grown
    assert [trees.arrays["weight"][root] for root in trees.roots] == 4 * [200] + 4 * [300] + 4 * [
        100
    ]
    tree = np.repeat(np.arange(12), np.diff(trees.arrays["node_starts"]))
    for first, leaf, split in [(0, 2, 10), (4, 3, 15), (8, 1, 5)]:
        own = (tree >= first) & (tree < first + 4)
        assert trees.arrays["weight"][own & trees.is_leaf].min() == leaf
        assert trees.arrays["weight"][own & ~trees.is_leaf].min() >= split
    with pytest.raises(ValueError, match="less than the 3 partitions"):
        of_partitions(ForestLabelRanker(2), *parts)


def test_rows_are_held_out_from_the_trees_of_other_partitions():
    # What one partition says is noise: seen rows would look certain, held out ones do not.
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(300, 2)), random.random((300, 3)).argsort().argsort() + 1
    found = of_partitions(ForestLabelRanker(10, random_state=0), cut(X, 150), cut(Y, 150))
    assert found.shrinkage_ == np.inf
    assert np.abs(found.predict_pairwise(X) - 0.5).max() < 0.15


@pytest.mark.parametrize(
    "parameters",
    [
        {"criterion": "mallows"},
        {"splitter": "random"},
        {"bootstrap": False},
        {"leaf_values": "scores"},
    ],
    ids=str,
)
def test_what_cannot_be_added_up_is_refused(parameters):
    X, Y = problem(20)
    ranker = DistributedLabelRanker(ForestLabelRanker(2, **parameters), client=False)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        ranker.fit(cut(X, 10), cut(Y, 10))


def test_other_rankers_are_refused():
    X, Y = problem(20)
    with pytest.raises(TypeError, match="TreeLabelRanker cannot be fitted to partitions"):
        DistributedLabelRanker(TreeLabelRanker()).fit(cut(X, 10), cut(Y, 10))


# Sums


@pytest.mark.parametrize(
    "ranker",
    [
        LogLinearLabelRanker(),
        LogLinearLabelRanker("edges", alpha=0.01, penalty="smooth_l1", fit_intercept=False),
        PairwiseLabelRanker(),
        PairwiseLabelRanker(C=0.0),
    ],
    ids=str,
)
def test_linear_rankers(ranker, client):
    # So noisy that the penalty is strong: without one, rounding errors grow from step to step.
    X, Y = problem(missing=0.2, seed=3, theta=0.3)
    weight = np.random.default_rng(0).random(len(X))
    parts = [cut(a, 60, 50) for a in (X, Y, weight)]
    found = DistributedLabelRanker(ranker, client=client).fit(*parts).to_local()
    local = ranker.fit(X, Y, weight)
    assert np.allclose(found.coef_, local.coef_, rtol=1e-9, atol=1e-9)
    assert np.allclose(found.intercept_, local.intercept_, rtol=1e-9, atol=1e-9)
    assert np.allclose(found.predict_pairwise(X), local.predict_pairwise(X), atol=1e-6)


def test_many_features_are_learned_by_gradients():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 120))
    Y = problem()[1][:, :3]
    ranker = PairwiseLabelRanker(C=0.1, calibrate=False)
    found = DistributedLabelRanker(ranker, client=False).fit(
        cut(X, 70), cut(Y.argsort().argsort() + 1, 70)
    )
    local = ranker.fit(X, Y.argsort().argsort() + 1)
    assert np.allclose(found.to_local().coef_, local.coef_, atol=1e-9)


@pytest.mark.parametrize(
    "ranker",
    [NeighborsLabelRanker(), NeighborsLabelRanker(5, shrinkage=0.5, feature_weights="equal")],
    ids=str,
)
def test_neighbors_of_all_partitions(ranker, client):
    X, Y = problem(missing=0.2)
    parts = cut(X, 60, 50), cut(Y, 60, 50)
    found = DistributedLabelRanker(ranker, client=client).fit(*parts)
    local = ranker.fit(X, Y)
    new = np.random.default_rng(1).normal(size=(30, X.shape[1]))
    expected = local.decision_function(new)
    assert np.allclose(found.decision_function(new), expected)
    assert np.allclose(found.decision_function(cut(new, 10)).compute(), expected)
    assert np.array_equal(found.predict(cut(new, 10)).compute(), local.predict(new))
    assert np.array_equal(found.to_local().predict(new), local.predict(new))


@pytest.mark.parametrize(
    "orderer", [ExpectedRankOrderer(), ExpectedRankOrderer(degree=2), RankSVMOrderer()], ids=str
)
def test_orderers(orderer, client):
    X, y, groups = orders()
    parts = [cut(a, 60, 120) for a in (X, y, groups)]
    found = DistributedOrderer(orderer, client=client).fit(*parts)
    expected = orderer.fit(X, y, groups).decision_function(X)
    assert np.allclose(found.to_local().decision_function(X), expected)
    assert np.allclose(found.decision_function(parts[0]).compute(), expected)


@pytest.mark.parametrize("correlation", ["spearman", "kendall"])
def test_reducer(correlation):
    X, y, groups = orders()
    reducer = RankCorrelationReducer(correlation=correlation)
    parts = [cut(a, 60, 120) for a in (X, y, groups)]
    found = DistributedOrderer(reducer, client=False).fit(*parts)
    reducer.fit(X, y, groups)
    assert np.allclose(found.to_local().components_, reducer.components_)
    assert np.allclose(found.to_local().concordance_, reducer.concordance_)
    assert np.allclose(found.transform(parts[0]).compute(), reducer.transform(X))


# Tables and files


def test_tables_name_features_and_labels_and_models_are_saved(client, path):
    X, Y = problem()
    features = pd.DataFrame(X, columns=["w", "x", "y", "z"])
    ranks = pd.DataFrame(Y, columns=list("abcd"))
    tables = (dd.from_pandas(table, npartitions=3) for table in (features, ranks))
    ranker = DistributedLabelRanker(ForestLabelRanker(2, random_state=0), client=client)
    ranker.fit(*tables)
    save(ranker.to_local(), path)
    model = load(path)
    assert np.array_equal(model.feature_ranges_, ranker.ranker.fit(X, Y).feature_ranges_)
    assert list(model.feature_names_in_) == ["w", "x", "y", "z"]
    assert list(model.labels_) == list("abcd")
    lazy = ranker.predict(dd.from_pandas(features, npartitions=2))
    assert np.array_equal(lazy.compute(), model.predict(features))

"""Data made from other data: the two constructions, what ships, what is fetched."""

from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import Bunch

from prefero.datasets import (
    _benchmarks,
    benchmark_path,
    benchmarks_folder,
    dataset_names,
    fetch_benchmark,
    load_dataset,
    ranks_from_classes,
    ranks_from_columns,
)
from prefero.exceptions import DataError
from prefero.tables import read_rankings


def test_classes_are_ranked_by_naive_bayes():
    X, y = load_iris(return_X_y=True)
    ranks, labels = ranks_from_classes(X, y)
    model = GaussianNB().fit(X, y)
    np.testing.assert_array_equal(labels[ranks.argmin(axis=1)], model.predict(X))
    for row, logs in zip(ranks, model.predict_log_proba(X), strict=True):
        assert np.argsort(row).tolist() == np.argsort(-logs, kind="stable").tolist()


class Undecided(LogisticRegression):
    """Gives class 1 no chance and all others the same."""

    def predict_log_proba(self, X):
        with np.errstate(divide="ignore"):
            return np.log(np.tile([0.5, 0.0, 0.5], (len(X), 1)))


def test_equal_probabilities_go_to_the_lower_index_and_zero_comes_last():
    ranks, _ = ranks_from_classes([[0.0], [1.0], [2.0]], ["a", "b", "c"], Undecided())
    np.testing.assert_array_equal(ranks, [[1, 3, 2]] * 3)


def test_columns_are_standardized_ordered_by_size_and_taken_out():
    X = np.array([[1.0, 100, 5], [2, 300, 6], [3, 200, 7]])
    rest, ranks = ranks_from_columns(X, [1, 0])
    np.testing.assert_array_equal(rest, [[5], [6], [7]])
    # standardized: column 1 is -, +, 0 and column 0 is -, 0, +; the tie goes to the first
    np.testing.assert_array_equal(ranks, [[1, 2], [1, 2], [2, 1]])


def test_columns_of_a_table_go_by_name():
    table = pd.DataFrame({"a": [1, 2, 3], "x": [5, 6, 7], "b": [100, 300, 200]})
    rest, ranks = ranks_from_columns(table, ["b", "a"])
    assert list(rest.columns) == ["x"]
    np.testing.assert_array_equal(ranks, [[1, 2], [1, 2], [2, 1]])
    with pytest.raises(ValueError, match=r"no column 'z'; its columns are \['a', 'x', 'b'\]"):
        ranks_from_columns(table, ["z"])


@pytest.mark.parametrize("name", dataset_names())
def test_what_ships_is_well_formed(name):
    data = load_dataset(name)
    n, c = data.target.shape
    assert data.data.shape == (n, len(data.feature_names))
    assert len(data.label_names) == c
    assert (np.sort(data.target, axis=1) == np.arange(1, c + 1)).all()
    assert name in data.DESCR
    frame = load_dataset(name, as_frame=True)
    assert list(frame.target.columns) == data.label_names
    assert list(frame.data.columns) == data.feature_names


def test_an_unknown_set_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="No data set 'moon' ships; there are breast_cancer"):
        load_dataset("moon")
    with pytest.raises(ValueError, match="no benchmark 'moon'; there are authorship"):
        fetch_benchmark("moon")


@pytest.fixture
def openml(monkeypatch):
    """Stands for the download: six numeric features, a nominal one and three classes."""
    calls = []
    rng = np.random.default_rng(0)

    def fetch(*, name, **options):
        calls.append((name, options))
        return Bunch(
            data=rng.normal(size=(30, 19)),
            target=np.repeat(["x", "y", "z"], 10),
            feature_names=[f"f{j}" for j in range(18)] + ["nominal"],
            categories={"nominal": ["p", "q"]},
        )

    monkeypatch.setattr(_benchmarks, "fetch_openml", fetch)
    return calls


def test_a_benchmark_of_classes(openml, tmp_path):
    data = fetch_benchmark("vehicle", data_home=tmp_path)
    assert openml[0][0] == "vehicle"
    assert str(openml[0][1]["data_home"]) == str(tmp_path)
    assert data.data.shape == (30, 18)
    assert data.label_names == ["x", "y", "z"]
    assert "construction (A)" in data.DESCR


def test_a_benchmark_of_columns(openml, tmp_path):
    data = fetch_benchmark("elevators", data_home=tmp_path, as_frame=True)
    assert list(data.data.columns) == [f"f{j}" for j in range(9)]
    assert list(data.target.columns) == [f"f{j}" for j in range(9, 18)]
    assert "construction (B)" in data.DESCR


@pytest.mark.parametrize("folder", ["kebi", "ties"])
def test_rankings_that_were_uploaded_are_known_by_their_sum(monkeypatch, benchmarks, folder):
    rankings = read_rankings(benchmarks / folder / "iris.csv")
    table = np.column_stack([rankings.X, rankings.ranks])
    asked = {}

    def fetch(**options):
        asked.update(options)
        names = [f"x{j}" for j in range(table.shape[1])]
        details = {"licence": "CC0", "citation": "a paper"}
        return Bunch(data=table, feature_names=names, details=details)

    monkeypatch.setattr(_benchmarks, "fetch_openml", fetch)
    data = fetch_benchmark("iris", exact=True)
    assert asked["data_id"] == 42851
    np.testing.assert_array_equal(data.target, rankings.ranks)
    assert ("with ties" in data.DESCR) == (folder == "ties")
    assert "Licence: CC0. To cite: a paper." in data.DESCR
    table[:, -3:] = table[::-1, -3:].copy()
    with pytest.raises(DataError, match="does not hold the rankings of iris"):
        fetch_benchmark("iris", exact=True)
    with pytest.raises(ValueError, match="no benchmark 'stock'; there are authorship"):
        fetch_benchmark("stock", exact=True)


def test_without_a_network_one_sentence_says_what_to_do(monkeypatch, tmp_path):
    def fail(*_, **__):
        raise URLError("no route to host")

    monkeypatch.setattr(_benchmarks, "fetch_openml", fail)
    with pytest.raises(ConnectionError, match=r"'iris' is not in .* network connection"):
        fetch_benchmark("iris", data_home=tmp_path)


def test_benchmark_files_are_found_by_the_environment(monkeypatch, tmp_path):
    (tmp_path / "set.csv").touch()
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path))
    assert benchmarks_folder() == tmp_path
    assert benchmark_path("set.csv") == tmp_path / "set.csv"
    with pytest.raises(FileNotFoundError, match=r"'other.csv': set PREFERO_DATA"):
        benchmark_path("other.csv")
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "nowhere"))
    assert benchmarks_folder() is None
    with pytest.raises(FileNotFoundError, match="set PREFERO_DATA"):
        benchmark_path("set.csv")

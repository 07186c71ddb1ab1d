"""LETOR files and ASlib scenarios: what is read from them, how a broken one is refused."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import PredefinedSplit

from prefero.exceptions import DataError
from prefero.tables import read_letor, read_parts, read_rankings, read_table
from table_files import FEATURES, FOLDS, LETOR, RUNS, SCENARIO


def test_letor_is_a_table_and_arrays(write):
    path = write(LETOR, "file.txt")
    table = read_table(path)
    assert list(table.frame) == ["relevance", "query", "x1", "x2", "x3"]
    assert (table.declared.group, table.declared.grade) == ("query", "relevance")
    assert table.lines.tolist() == [1, 3, 4]
    X, grades, groups = read_letor(path)
    np.testing.assert_array_equal(X, [[0.5, 0, 1], [0, 0.25, 0], [1, 0, 0]])
    np.testing.assert_array_equal(grades, [2, 0, 1])
    np.testing.assert_array_equal(groups, [10, 10, 11])
    np.testing.assert_array_equal(table.numbers("x*"), X)


def test_letor_files_are_read_one_after_the_other(write):
    first, second = write(LETOR, "a.txt"), write("1 qid:12 4:1\n", "b.txt")
    X, _, groups = read_letor(first, second)
    assert X.shape == (4, 4)
    assert groups.tolist() == [10, 10, 11, 12]
    assert read_letor(second, n_features=6)[0].shape == (1, 6)
    with pytest.raises(ValueError, match="at least one file"):
        read_letor()


@pytest.mark.parametrize("beside", ["t.svm.query", "t.query"])
def test_the_sizes_of_queries_may_stand_beside(write, beside):
    path = write("1 1:1\n0 1:2\n2 1:3\n", "t.svm")
    assert "query" not in read_table(path).frame
    with pytest.raises(DataError, match=r"t.svm: no line has a qid, and there is no .query file"):
        read_letor(path)
    write("1\n2\n", beside)
    assert read_table(path).frame["query"].tolist() == [0, 1, 1]
    assert read_letor(path)[2].tolist() == [0, 1, 1]
    write("1\n1\n", beside)
    with pytest.raises(DataError, match=r"query: the sizes of the queries sum to 2, .* has 3 obj"):
        read_table(path)
    write("1\nx\n", beside)
    with pytest.raises(DataError, match="query: 'x' is no number of objects"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("1 qid:1 1:0.5\n1 qid:x 1:1\n", ":2: 'GRADE qid:QUERY FEATURE:NUMBER ...' was expected"),
        ("1 qid:1 1:0.5\n\n1 1:1\n", ":3: 'GRADE qid:QUERY"),
        ("1 qid:1 2:0.5 1:1\n", ":1: the numbers of the features must ascend"),
        ("1 1:0.5\n1 1:x\n", ":2: 'GRADE FEATURE:NUMBER"),
        ("1 1:0.5\n1 1:1e999\n", ": a number is infinite"),
    ],
)
def test_broken_letor_is_refused_with_the_line(write, content, problem):
    with pytest.raises(DataError, match=f"t.svm{problem}"):
        read_table(write(content, "t.svm"))


@pytest.fixture
def scenario(write):
    for name, text in SCENARIO.items():
        path = write(text, f"toy/{name}")
    return path.parent


def test_an_aslib_scenario(scenario):
    data = read_rankings(scenario)
    assert data.labels == ["fast", "slow"]
    np.testing.assert_array_equal(data.ranks, [[1, 2], [2, 1], [1, 1]])
    np.testing.assert_array_equal(data.scores, [[-4, -50], [-1000, -7], [-1000, -1000]])
    np.testing.assert_array_equal(data.X, [[1.5], [2], [np.nan]])
    assert data.folds[:, 0].tolist() == [2, 1, 1]
    assert PredefinedSplit(data.folds[:, 0]).get_n_splits() == 2
    assert data.table.declared.cutoff == 100
    assert read_rankings(scenario / "description.txt").labels == data.labels
    assert [read_rankings(part).folds.tolist() for part in read_parts(scenario, 2)] == [
        [[2], [1]],
        [[1]],
    ]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("algorithm_runs.arff", RUNS.replace("runtime", "time"), "no column is named 'runtime'"),
        ("algorithm_runs.arff", RUNS.replace(",3,", ",x,"), "runs.arff:8: .* holds 'x'"),
        ("feature_values.arff", FEATURES.replace("size", "fast"), "both a feature and an algo"),
        ("cv.arff", FOLDS.replace("fold", "f"), "cv.arff: the attribute 'fold' is missing"),
    ],
)
def test_a_broken_scenario_is_refused(scenario, name, content, problem):
    (scenario / name).write_text(content)
    with pytest.raises(DataError, match=problem):
        read_table(scenario)


def test_a_scenario_without_a_part(scenario, tmp_path):
    (scenario / "cv.arff").unlink()
    assert read_rankings(scenario).folds is None
    (scenario / "feature_values.arff").unlink()
    with pytest.raises(DataError, match=r"toy: the scenario has no file feature_values.arff"):
        read_table(scenario)
    with pytest.raises(DataError, match=r"there is no description.txt"):
        read_table(tmp_path)


def test_aslib_agrees_with_the_table_made_of_it(benchmarks):
    folder = benchmarks / "aslib" / "QBF-2011"
    data = read_rankings(folder)
    made = read_rankings(folder / "label_ranking.csv", "rank_*")
    rows = pd.Index(data.table.frame["instance_id"]).get_indexer(made.table.frame["instance_id"])
    columns = [data.labels.index(name.removeprefix("rank_")) for name in made.labels]
    ours, theirs = data.ranks[rows][:, columns], made.ranks
    signs = [np.sign(ranks[:, :, None] - ranks[:, None, :]) for ranks in (ours, theirs)]
    np.testing.assert_array_equal(*signs)


def test_every_scenario_reads(benchmarks):
    for folder in sorted((benchmarks / "aslib").iterdir()):
        data = read_rankings(folder)
        assert data.ranks.shape == (len(data.X), len(data.labels))
        assert data.folds.min() >= 0


def test_letor_of_the_benchmarks(benchmarks):
    path = benchmarks / "letor" / "mq2008" / "S1.txt"
    X, grades, groups = read_letor(path)
    assert X.shape[1] == 46
    assert set(grades) == {0, 1, 2}
    content = io.BytesIO(path.read_bytes())
    np.testing.assert_array_equal(read_table(content).frame["query"], groups)

"""Readers of files: what they read, and how they refuse what is broken."""

import numpy as np
import pandas as pd
import pytest

from prefero.datasets import read_kebi, read_orders, read_xarff
from prefero.exceptions import DataError

XARFF = """\
% a comment
@relation toy

@attribute size NUMERIC
@attribute 'the state' {north,'Lower Saxony'}
@attribute L RANKING {a,b,c}

@data
1.5,\tnorth,\ta>b>c
?, 'Lower Saxony', c>a
% another
2, north, b>a|b>c
"""


@pytest.fixture
def write(tmp_path):
    def write(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_kebi_ranks(write):
    data = read_kebi(write("2,2,3\r\n0.5,-1,1,2,3\r\n2,3e-2,2,1,2\r\n"))
    np.testing.assert_array_equal(data.data, [[0.5, -1], [2, 0.03]])
    np.testing.assert_array_equal(data.target, [[1, 2, 3], [2, 1, 2]])
    assert (data.feature_names, data.label_names) == (["A1", "A2"], ["L1", "L2", "L3"])


def test_kebi_scores_with_a_number_for_missing(write):
    path = write("1,1,3\n7,0.4,0.00,-0.2\n")
    data = read_kebi(path, higher_is_better=True, missing_score=0.0, as_frame=True)
    np.testing.assert_array_equal(data.target, [[1, np.nan, 2]])
    np.testing.assert_array_equal(data.scores, [[0.4, np.nan, -0.2]])
    assert list(data.target.columns) == ["L1", "L2", "L3"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", ":1: the first line must hold"),
        ("a,b,c\n1,2,3\n", ":1: the first line must hold"),
        ("2,1\n", ":1: the first line must hold"),
        ("2,1,2\n0,1,2\n", ":2: the first line promises 2 instances, but 1 follow"),
        ("1,1,2\n", ":1: the first line promises 1 instances, but 0 follow"),
        ("2,1,2\n0,1,2\n0,1\n", ":3: 3 numbers were expected, got 2"),
        ("2,1,2\n0,1,2,9\n0,1,2,9\n", ":2: 3 numbers were expected, got 4"),
        ("2,1,2\n0,1,2\n0,x,2\n", ":3: 'x' is not a number"),
        ("2,1,2\n0,1,2\n0,0.3,2\n", ":3: label 0 has rank 0.3, outside 1..2"),
    ],
)
def test_broken_kebi_files_are_refused_with_the_line(write, content, problem):
    with pytest.raises(DataError, match=f"file.txt{problem}"):
        read_kebi(write(content))


def test_xarff(write):
    data = read_xarff(write(XARFF))
    np.testing.assert_array_equal(data.data, [[1.5, 0], [np.nan, 1], [2, 0]])
    np.testing.assert_array_equal(data.target, [[1, 2, 3], [2, np.nan, 1], [2, 1, 2]])
    assert data.categories == {"the state": ["north", "Lower Saxony"]}
    assert (data.feature_names, data.label_names) == (["size", "the state"], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("@data", "", ":9: .* is no declaration"),
        ("RANKING {a,b,c}", "{a>b>c,c>a,b>a|b>c}", " no attribute has the type ranking"),
        ("size NUMERIC", "size STRING", ":4: an attribute must be"),
        ("size NUMERIC", "size", ":4: an attribute must be"),
        ("size NUMERIC", "L RANKING {a,b}", ":6: attribute 'L' is declared twice"),
        ("size NUMERIC", "M RANKING {a,b}", ":6: a second attribute has the type ranking"),
        ("a>b>c", "a>b>z", ":9: label 'z' is not one of 'a', 'b', 'c'"),
        ("c>a", "c>a>c", ":10: label 'c' occurs twice"),
        ("c>a", "c>>a", ":10: a name is missing"),
        ("b>a|b>c", "b>a|a>b", ":12: 'a' and 'b' each come before the other"),
        ("2, north", "2, south", ":12: 'south' is not declared for attribute 'the state'"),
        ("2, north", "two, north", ":12: attribute 'size' is numeric, but holds 'two'"),
        ("2, north, ", "2, ", ":12: 3 values were expected, got 2"),
        ("2, north", "{0 2, 1 north", ":12: sparse rows"),
        ("2, north", "2, 'north", ":12: 3 values were expected"),
    ],
)
def test_broken_xarff_files_are_refused_with_the_line(write, old, new, problem):
    with pytest.raises(DataError, match=f"file.txt:?{problem}"):
        read_xarff(write(XARFF.replace(old, new, 1)))


def test_xarff_without_rows_or_header(write):
    with pytest.raises(DataError, match="no row after @data"):
        read_xarff(write(XARFF[: XARFF.index("@data") + 5]))
    with pytest.raises(DataError, match=r"file.txt:1: the line @data is missing"):
        read_xarff(write(""))


def test_a_column_of_orders(write):
    path = write('kind,size,order\nred,1,"b > a ~ ""c > d"""\nblue,,a\n\nred,3,\n')
    data = read_orders(path, as_frame=True)
    assert data.label_names == ["a", "b", "c > d"]
    np.testing.assert_array_equal(data.target, [[2, 1, 2], [1, *[np.nan] * 2], [np.nan] * 3])
    np.testing.assert_array_equal(data.data, [[1, 1], [0, np.nan], [1, 3]])
    assert data.categories == {"kind": ["blue", "red"]}


def test_tied_letters_in_a_named_column(write):
    data = read_orders(write("order,size\nb>a>cd,1\n"), column="order", letters=True)
    np.testing.assert_array_equal(data.target, [[2, 1, 3, 3]])
    np.testing.assert_array_equal(data.data, [[1]])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_any_usual_encoding_is_read(write, encoding):
    path = write("Größe,order\n1,ä > b\n".encode(encoding))
    data = read_orders(path)
    assert (data.feature_names, data.label_names) == (["Größe"], ["b", "ä"])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", ":1: the file is empty"),
        ("x,order\n", ":1: there is no row after the names"),
        ("x,order\n1,a>b\n2\n", ":3: 2 cells were expected, got 1"),
        ("x,order\n1,a>b\n2,a>a\n", ":3: label 'a' occurs twice"),
        ("x,order\n1,a>b\n\n2,a>\n", ":4: a name is missing"),
    ],
)
def test_broken_tables_of_orders_are_refused_with_the_line(write, content, problem):
    with pytest.raises(DataError, match=f"file.txt{problem}"):
        read_orders(write(content))


def test_an_unknown_column_is_refused(write):
    with pytest.raises(DataError, match="no column 'z' in x, order"):
        read_orders(write("x,order\n1,a\n"), column="z")


def test_every_kebi_file_reads(benchmarks):
    for path in sorted(benchmarks.glob("kebi/*.csv")) + sorted(benchmarks.glob("ties/*.csv")):
        data = read_kebi(path)
        assert len(data.data) == len(data.target) > 100
        assert not np.isnan(data.target).any()


def test_german_elections(benchmarks):
    data = read_orders(benchmarks / "elections" / "german2005.csv", letters=True, as_frame=True)
    assert data.data.shape == (412, 29)
    assert data.label_names == list("abcde")
    assert set(data.categories) == {"Type", "State", "Region"}
    assert isinstance(data.target, pd.DataFrame)


def test_yeast_expression_scores(benchmarks):
    path = benchmarks / "yeast_expression" / "spo_real.csv"
    data = read_kebi(path, higher_is_better=True, missing_score=0.0)
    assert np.isnan(data.scores).any()
    best = np.nanargmax(data.scores[0])
    assert data.target[0, best] == 1

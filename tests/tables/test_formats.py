"""Every kind of file: what is read from it, what is written, how a broken one is refused."""

import gzip

import numpy as np
import pandas as pd
import pytest

from prefero.exceptions import DataError
from prefero.tables import (
    in_form,
    read_parts,
    read_rankings,
    read_table,
    write_rankings,
    write_table,
)
from table_files import LETOR

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
nan = np.nan


def test_kebi_ranks(write):
    data = read_rankings(write("2,2,3\r\n0.5,-1,1,2,3\r\n2,3e-2,2,1,2\r\n", "file.txt"))
    np.testing.assert_array_equal(data.X, [[0.5, -1], [2, 0.03]])
    np.testing.assert_array_equal(data.ranks, [[1, 2, 3], [2, 1, 2]])
    assert (list(data.X), data.labels) == (["A1", "A2"], ["L1", "L2", "L3"])


def test_scores_with_a_number_for_missing(write):
    path = write("1,1,3\n7,0.4,0.00,-0.2\n", "file.txt")
    data = read_rankings(path, format="scores", higher_is_better=True, missing_score=0.0)
    np.testing.assert_array_equal(data.y, [[1, nan, 2]])
    np.testing.assert_array_equal(data.scores, [[0.4, nan, -0.2]])


def test_names_that_are_numbers_are_no_sizes(write):
    table = read_table(write("3,4,5\n1,2,3\n", "file.txt"))
    assert list(table.frame) == ["3", "4", "5"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", ":1: the file is empty"),
        ("2,1,2\n0,1,2\n", ":1: the first line promises 2 instances, but 1 follow"),
        ("1,1,2\n", ":1: there is no row after"),
        ("2,1,2\n0,1,2\n0,1\n", ":3: 3 cells were expected, got 2"),
        ("3,1,2\n0,1,2\n0,1\n1,1,2,3\n", ":3: 3 cells were expected, got 2; line 4 is wrong too"),
        ("2,1,2\n0,1,2,9\n0,1,2,9\n", ":2: 3 cells were expected, got 4"),
        ("2,1,2\n0,1,2\n0,x,2\n", ":3: column 'L1' holds 'x'"),
        ("2,1,2\n0,1,2\n0,0.3,2\n", ":3: label 'L1' has rank 0.3, outside 1..2"),
    ],
)
def test_broken_kebi_files_are_refused_with_the_line(write, content, problem):
    with pytest.raises(DataError, match=f"file.txt{problem}"):
        read_rankings(write(content, "file.txt"))


@pytest.mark.parametrize("name", ["x.xarff", "x.arff", "named-otherwise"])
def test_xarff(write, name):
    data = read_rankings(write(XARFF, name))
    np.testing.assert_array_equal(data.ranks, [[1, 2, 3], [2, nan, 1], [2, 1, 2]])
    np.testing.assert_array_equal(data.X["size"], [1.5, nan, 2])
    assert data.X["the state"].tolist() == ["north", "Lower Saxony", "north"]
    assert data.labels == ["a", "b", "c"]


def test_an_arff_file_without_rankings_is_a_table(write):
    content = "@relation t\n@attribute a numeric\n@attribute b real\n@data\n1,2\n2,?\n"
    np.testing.assert_array_equal(
        read_rankings(write(content, "file.txt")).ranks, [[1, 2], [2, nan]]
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("@data", "", ":9: .* is no declaration"),
        ("size NUMERIC", "size RELATIONAL", ":4: an attribute must be"),
        ("size NUMERIC", "size", ":4: an attribute must be"),
        ("size NUMERIC", "L RANKING {a,b}", ":6: attribute 'L' is declared twice"),
        ("size NUMERIC", "M RANKING {a,b}", ":6: a second attribute has the type ranking"),
        ("size NUMERIC", "a NUMERIC", " 'a' is both an attribute and a label"),
        ("{a,b,c}", "{a,b,c,a}", " Label 'a' occurs twice"),
        ("a>b>c", "a>b>z", ":9: label 'z' is not one of 'a', 'b', 'c'"),
        ("c>a", "c>a>c", ":10: label 'c' occurs twice"),
        ("c>a", "c>>a", ":10: a name is missing"),
        ("b>a|b>c", "b>a|a>b", ":12: 'a' and 'b' each come before the other"),
        ("2, north", "2, south", ":12: 'south' is not declared for attribute 'the state'"),
        ("2, north", "two, north", ":12: attribute 'size' is numeric, but holds 'two'"),
        ("2, north, ", "2, ", ":12: 3 values were expected, got 2"),
        ("2, north", "{0 2, 1 north", ":12: sparse rows"),
        ("2, north", "2, 'north", ":12: the quote at character 3 is not closed"),
    ],
)
def test_broken_xarff_files_are_refused_with_the_line(write, old, new, problem):
    with pytest.raises(DataError, match=f"file.txt:?{problem}"):
        read_table(write(XARFF.replace(old, new, 1), "file.txt"))


def test_xarff_without_rows_or_header(write):
    with pytest.raises(DataError, match="no row after @data"):
        read_table(write(XARFF[: XARFF.index("@data") + 5], "file.txt"))
    with pytest.raises(DataError, match=r"x.xarff:1: the line @data is missing"):
        read_table(write("", "x.xarff"))


def test_tied_letters_in_a_named_column(write):
    data = read_rankings(
        write("order,size\nb>a>cd,1\n,2\n", "file.txt"), "order", format="orders", letters=True
    )
    np.testing.assert_array_equal(data.ranks, [[2, 1, 3, 3], [nan] * 4])
    np.testing.assert_array_equal(data.X, [[1], [2]])


@pytest.mark.parametrize("word", ["null", "NA", "?", "", "NaN", "None", "#N/A", "n/a"])
@pytest.mark.parametrize("name", ["t.csv", "t.arff", "t.xlsx", "t.parquet"])
def test_one_set_of_words_is_missing_everywhere(tmp_path, write, word, name):
    """A word for missing once made a column of numbers nominal in one reader only."""
    path = tmp_path / name
    if name == "t.arff":
        head = "@relation t\n@attribute x numeric\n@attribute o string\n@data\n"
        write(f"{head}1,a>b\n{word},b>a\n", name)
    else:
        write_table(pd.DataFrame({"x": ["1", word], "o": ["a>b", "b>a"]}), path)
    data = read_rankings(path, "o", format="orders")
    np.testing.assert_array_equal(data.X, [[1], [nan]])
    assert data.table.kind("x") == "numbers, 1 missing"


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_the_mark_between_cells_is_found_and_told(write, mark, word):
    table = read_table(write(f"x{mark}a{mark}b\n1{mark}1{mark}2\n", "file.txt"))
    assert list(table.frame) == ["x", "a", "b"]
    assert table.note == f"cells are separated by {word}."


def test_the_mark_between_cells_may_be_given(write):
    assert list(read_table(write("a;b c\n1 2\n", "file.txt"), separator=" ").frame) == ["a;b", "c"]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv.gz", "t.parquet", "t.xlsx", "t.csv", "t.tsv"])
def test_what_is_written_is_read_again(tmp_path, name):
    frame = pd.DataFrame({"town": ["Köln", "a,b\t"], "a": [1, 2], "b": [2.0, None]})
    write_table(frame, tmp_path / name)
    data = read_rankings(tmp_path / name, "a,b")
    np.testing.assert_array_equal(data.ranks, [[1, 2], [2, nan]])
    assert data.X["town"].tolist() == ["Köln", "a,b\t"]
    assert data.table.note == ""


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "t.xlsx", "t.csv", "t.tsv", "t.xarff"])
def test_a_stream_is_read_as_the_file_is(tmp_path, name):
    path = tmp_path / name
    data = read_rankings(pd.DataFrame({"x": [1.5, 2.0], "a": [1, 2], "b": [2, 1]}), "a,b")
    write_rankings(data, path)
    with path.open("rb") as file:
        streamed = read_rankings(file, None if name == "t.xarff" else "a,b")
    np.testing.assert_array_equal(streamed.ranks, data.ranks)


@pytest.mark.parametrize("name", ["t.xarff", "t.kebi"])
def test_formats_of_the_literature_are_written(tmp_path, name):
    frame = pd.DataFrame({"x 1": [0.1, nan, 3.0], "a": [1, 2, nan], "b": [1, 1, nan]})
    if name == "t.xarff":
        frame["kind"] = ["it's", "ö", "it's"]
    data = read_rankings(frame, "a,b")
    write_rankings(data, tmp_path / name)
    again = read_rankings(tmp_path / name)
    np.testing.assert_array_equal(again.ranks, data.ranks)
    np.testing.assert_array_equal(again.X.iloc[:, 0], data.X.iloc[:, 0])
    if name == "t.xarff":
        pd.testing.assert_frame_equal(again.X, data.X)


@pytest.mark.parametrize("name", ["t", "t.xls", "t.svm", "t.gz", "t.prefero", "t.arf"])
def test_an_unknown_ending_is_refused_and_nothing_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"no table is written with the ending .*: use one of"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x.parquet", "x.xlsx"])
def test_a_foreign_file_is_refused(write, name):
    with pytest.raises(DataError, match=rf"{name}: this is no (parquet|Excel) file"):
        read_table(write("a,b\n1,2\n", name))


def test_a_broken_compression_is_refused(write):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)
    with pytest.raises(DataError, match=r"x.csv.gz: the compressed file is broken"):
        read_table(write(whole[:-20], "x.csv.gz"))


def test_an_excel_file_says_which_sheet_and_which_line(tmp_path):
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        frame = pd.DataFrame({"a": [1, "x", 2], "b": [2, 1, 1]})
        frame.to_excel(book, sheet_name="votes", index=False)
        frame.to_excel(book, sheet_name="more", index=False)
    table = read_table(path)
    assert table.note == "the sheet 'votes', first of 2, was read."
    with pytest.raises(DataError, match=r"t.xlsx:3: column 'a' holds 'x'"):
        read_rankings(table)


def test_parts_of_any_format_are_the_whole(tmp_path, write):
    frame = pd.DataFrame({"a": range(5), "b": list("vwxyz")})
    names = ["t.csv.gz", "t.parquet", "t.xlsx", "t.tsv"]
    for name in names:
        write_table(frame, tmp_path / name)
    for path in [*(tmp_path / name for name in names), write(LETOR * 2, "file.txt")]:
        whole = read_table(path)
        parts = list(read_parts(path, 2))
        assert [part.first_row for part in parts] == list(range(0, len(whole), 2))
        together = pd.concat([part.frame for part in parts], ignore_index=True)
        pd.testing.assert_frame_equal(together, whole.frame, check_dtype=False)


def test_the_rank_of_an_only_label_may_be_any_number():
    rankings = read_rankings(pd.DataFrame({"a": [1e300, 1.0]}))
    assert in_form(rankings, "ranks")["a"].tolist() == [1e300, 1.0]


def test_a_frame_is_a_table():
    frame = pd.DataFrame({"x": [1, 2], "y_a": [1, 2], "y_b": [2, 1]}, index=[7, 9])
    data = read_rankings(frame, ["y_a", "y_b"])
    assert data.y.to_dict("list") == {"y_a": [1, 2], "y_b": [2, 1]}
    with pytest.raises(DataError, match="table: row 1: label 'x' has rank"):
        read_rankings(frame.assign(x=9))


def test_every_kebi_file_reads(benchmarks):
    for path in sorted(benchmarks.glob("kebi/*.csv")) + sorted(benchmarks.glob("ties/*.csv")):
        data = read_rankings(path)
        assert len(data.X) == len(data.ranks) > 100
        assert not np.isnan(data.ranks).any()


def test_kebi_numbers_are_those_of_numpy(benchmarks):
    path = benchmarks / "kebi" / "wisconsin.csv"
    lines = path.read_text().rstrip().splitlines()[1:]
    values = np.loadtxt(lines, delimiter=",")
    data = read_rankings(path)
    np.testing.assert_array_equal(np.hstack([data.X, data.ranks]), values)


def test_german_elections(benchmarks):
    path = benchmarks / "elections" / "german2005.csv"
    data = read_rankings(path, "ranking", format="orders", letters=True)
    assert data.X.shape == (412, 29)
    assert data.labels == list("abcde")
    assert set(data.X.select_dtypes("category")) == {"Type", "State", "Region"}


def test_yeast_expression_scores(benchmarks):
    path = benchmarks / "yeast_expression" / "spo_real.csv"
    data = read_rankings(path, format="scores", higher_is_better=True, missing_score=0.0)
    assert np.isnan(data.scores).any()
    best = np.nanargmax(data.scores[0])
    assert data.ranks[0, best] == 1


def test_decimal_commas_are_numbers_and_said(write):
    content = "id;price;whole;y_a;y_b\nu,1;0,53;1;1;2\nv,2;1.204,5;2,5;2;1\nw,3;NA;-,5e2;1;2\n"
    table = read_table(write(content, "file.csv"))
    assert table.note == "cells are separated by semicolons and numbers have decimal commas."
    np.testing.assert_array_equal(
        table.numbers("price,whole"), [[0.53, 1], [1204.5, 2.5], [nan, -50]]
    )
    assert table.frame["id"].tolist() == ["u,1", "v,2", "w,3"]
    (part, *_) = read_parts(write(content, "file.csv"), 2)
    np.testing.assert_array_equal(part.numbers("price"), [[0.53], [1204.5]])


def test_decimal_points_beside_decimal_commas_are_refused(write):
    with pytest.raises(DataError, match=r"file.csv:3: numbers have decimal commas, but '0\.5'"):
        read_table(write("a;b\n0,5;1\n0.5;2\n", "file.csv"))


def test_commas_in_texts_are_no_decimals(write):
    table = read_table(write("a;b\n1,2,3;0.5\nx,1;2.5\n", "file.csv"))
    assert table.note == "cells are separated by semicolons."
    assert table.frame["a"].tolist() == ["1,2,3", "x,1"]

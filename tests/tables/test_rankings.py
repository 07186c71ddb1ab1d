"""Rankings out of tables: every format and kind of file, good ones and broken ones."""

import re

import numpy as np
import pandas as pd
import pytest

from prefero.exceptions import DataError
from prefero.tables import read_parts, read_rankings, read_table, write_table

RANKS = "x,color,y_a,y_b,y_c\n1.50,red,1,2,3\n2,blue,2,1,NA\n,red,1,1,3\n4,green,,,\n"


@pytest.fixture
def read(write):
    def read(content, name="data.csv", **reading):
        return read_rankings(write(content, name), **reading)

    return read


def test_ranks_with_features(read):
    rankings = read(RANKS, labels="y_*")
    nan = np.nan
    np.testing.assert_array_equal(
        rankings.ranks, [[1, 2, 3], [2, 1, nan], [1, 1, 3], [nan, nan, nan]]
    )
    assert rankings.labels == ["y_a", "y_b", "y_c"]
    assert rankings.X["x"].tolist()[:2] == [1.5, 2.0]
    assert np.isnan(rankings.X["x"][2])
    assert rankings.X["color"].tolist() == ["red", "blue", "red", "green"]


def test_label_columns_by_list_keep_its_order_and_patterns_may_mix(write):
    table = read_table(write(RANKS))
    assert table.columns("y_c, x") == ["y_c", "x"]
    assert table.columns("y_b,y_*") == ["y_b", "y_a", "y_c"]


@pytest.mark.parametrize(("higher", "ranks"), [(True, [1, 2]), (False, [2, 1])])
def test_scores_have_a_direction(read, higher, ranks):
    rankings = read("a,b\n9,7\n", format="scores", higher_is_better=higher)
    np.testing.assert_array_equal(rankings.ranks, [ranks])
    np.testing.assert_array_equal(np.argsort(-rankings.scores), np.argsort(rankings.ranks))


@pytest.mark.parametrize(
    "content",
    ['who,order\nu,"b > a ~ ""x > y"""\nv,NA > b\n', 'who,order\nu,b > a~"x > y"\nv,NA>b\n'],
)
def test_orders_as_text(read, content):
    rankings = read(content, format="orders", labels="order")
    assert rankings.labels == ["NA", "a", "b", "x > y"]
    np.testing.assert_array_equal(rankings.ranks, [[np.nan, 2, 1, 2], [1, np.nan, 2, np.nan]])


def test_names_by_position_and_the_rest_below(read):
    content = "first,second,age\nb,a,30\nc,,40\n"
    rankings = read(content, format="orders", labels="first,second", unranked="below")
    np.testing.assert_array_equal(rankings.ranks, [[2, 1, 3], [2, 2, 1]])
    assert rankings.X["age"].tolist() == [30, 40]


def test_pairs_by_instance(read):
    content = "who,win,lose,age\nu,a,b,30\nv,b,a,40\nu,b,c,30\n"
    rankings = read(content, format="pairs", labels="win,lose", instance="who")
    np.testing.assert_array_equal(rankings.ranks, [[1, 2, 3], [2, 1, np.nan]])
    assert rankings.X["age"].tolist() == [30, 40]


def test_pairs_without_instances_are_rankings_of_two(read):
    rankings = read("win,lose\na,b\nc,a\n", format="pairs")
    np.testing.assert_array_equal(rankings.ranks, [[1, 2, np.nan], [2, np.nan, 1]])


def test_best_and_worst(read):
    content = "i1,i2,i3,best,worst,rain\na,b,c,b,c,7\nb,c,d,d,,8\n"
    rankings = read(content, format="best-worst", labels="i*,best,worst")
    np.testing.assert_array_equal(rankings.ranks, [[2, 1, 3, np.nan], [np.nan, 2, 2, 1]])


def test_long_table(read):
    content = "plot,kind,yield,rain\n7,b,0.9,1\n7,a,0.1,1\n3,a,0.4,2\n3,c,,2\n"
    rankings = read(
        content, format="long", labels="kind,yield", instance="plot", higher_is_better=True
    )
    np.testing.assert_array_equal(rankings.ranks, [[2, 1, np.nan], [1, np.nan, np.nan]])
    assert rankings.X["rain"].tolist() == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_any_usual_encoding(write, encoding):
    table = read_table(write("Größe,b\n1,2\n".encode(encoding)))
    assert list(table.frame.columns) == ["Größe", "b"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_any_newline(write, newline):
    assert read_table(write(f"a,b{newline}1,2{newline}")).frame.to_numpy().tolist() == [["1", "2"]]


def test_tabs_and_parquet(write, tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": [2.0, None]})
    for name in ("t.tsv", "t.parquet", "t.csv"):
        write_table(frame, tmp_path / name)
        rankings = read_rankings(tmp_path / name)
        np.testing.assert_array_equal(rankings.ranks, [[1, 2], [2, np.nan]])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", r"data.csv:1: the file is empty"),
        ("\n\n", r"data.csv:1: the file is empty"),
        ("a,b\n", r"data.csv:1: there is no row after the names"),
        ("a,b\n1,2\n3\n", r"data.csv:3: 2 cells were expected, got 1"),
        ("a,b\n1,2\n\n3,4,5\n", r"data.csv:4: 2 cells were expected, got 3"),
        ('a,b\n"x\ny",2\n3\n', r"data.csv:4: 2 cells were expected, got 1"),
        ('a,b\n1,2\n"x,2\n3,4\n', r"data.csv:3: 2 cells were expected, got 1"),
        ("a, a\n1,2\n", r"data.csv:1: column 'a' occurs twice"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", r"data.csv: this is no text"),
    ],
)
def test_broken_files_are_refused_with_the_line(write, content, problem):
    with pytest.raises(DataError, match=problem):
        read_table(write(content))


PARTS = {
    "plain": "a,b\n1,2\n3,4\n5,6\n",
    "without a last newline": "a,b\r\n1,2\r\n3,4\r\n5,6",
    "quoted and blank lines": '\n"a\na",b\n\n"1\n\n1",2\n\n\n3,"4,""4"\n5,6\n\n',
    "Latin-1, at the end": "Größe,b\n1,2\n3,4\n5,Straße\n".encode("latin-1"),
    "byte-order mark": "\ufeffGröße,b\n1,2\n3,4\n5,6\n",
    "sizes instead of names": "3,1,2\n0.5,1,2\n0.3,2,1\n0.1,1,2\n",
    "ragged": "a,b\n1,2\n3,4\n5\n",
    "ragged after sizes": "3,1,2\n0.5,1,2\n0.3,2,1\n0.1,1\n0.1,1,2\n",
    "ragged after quoted lines": 'a,b\n"1\n1",2\n\n3,4\n5,6,7\n',
    "names only": "a,b\n",
    "empty": "",
    "no text": "a,b\n1,2\n3,4\n5,\0\n",
}


@pytest.mark.parametrize("n_rows", [1, 2, 3, 100])
@pytest.mark.parametrize("content", PARTS.values(), ids=list(PARTS))
def test_parts_of_a_file_are_the_whole(write, content, n_rows):
    path = write(content)
    try:
        whole = read_table(path)
    except DataError as error:
        with pytest.raises(DataError, match=f"^{re.escape(str(error))}$"):
            list(read_parts(path, n_rows))
        return
    parts = list(read_parts(path, n_rows))
    assert [len(part.frame) for part in parts[:-1]] == [n_rows] * (len(parts) - 1)
    pd.testing.assert_frame_equal(
        pd.concat([part.frame for part in parts], ignore_index=True), whole.frame, check_dtype=False
    )
    assert all(part.declared == whole.declared for part in parts)
    rows = [(part, row) for part in parts for row in range(len(part.frame))]
    assert [part.first_row + row for part, row in rows] == [0, 1, 2]
    assert [part.lines[row] for part, row in rows] == whole.lines.tolist()


def test_parts_of_a_parquet_file_know_their_rows(tmp_path):
    write_table(pd.DataFrame({"a": range(5)}), tmp_path / "t.parquet")
    parts = list(read_parts(tmp_path / "t.parquet", 2))
    assert [part.frame["a"].tolist() for part in parts] == [[0, 1], [2, 3], [4]]
    assert str(parts[2].error("no.", 0)).endswith("row 5: no.")


def test_a_foreign_file_named_parquet_is_refused(write):
    with pytest.raises(DataError, match=r"x.parquet: this is no parquet file"):
        read_table(write("a,b\n1,2\n", "x.parquet"))


XARFF = """\
@relation toy
@attribute size numeric
@attribute town {Ulm,Bonn}
@attribute L ranking {a,b}
@data
1.5,Bonn,b>a
2,Ulm,a>b
"""


def test_an_xarff_file_declares_its_labels(read):
    rankings = read(XARFF, "data.xarff")
    assert rankings.ranks.tolist() == [[2, 1], [1, 2]]
    assert rankings.labels == ["a", "b"]
    assert rankings.X["town"].tolist() == ["Bonn", "Ulm"]


def test_a_broken_xarff_file_is_refused_with_the_line(read):
    with pytest.raises(DataError, match=r"data.xarff:6: label 'z' is not one of 'a', 'b'"):
        read(XARFF.replace("b>a", "b>z"), "data.xarff")


def test_a_huge_cell_is_no_problem(read):
    assert read(f"a,b,note\n1,2,{'x' * 300_000}\n", labels="a,b").ranks.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("content", "reading", "problem"),
    [
        ("a,b\n1,2\n\n1,x\n", {}, r"data.csv:4: column 'b' holds 'x', which is no finite"),
        ("a,b\n1,inf\n", {}, r"data.csv:2: column 'b' holds 'inf'"),
        ("a,b\n1,2\n0.3,0.9\n", {}, r":3: label 'a' has rank 0.3.*try format='scores'"),
        ("a,b\n1,2\n", {"labels": "z*"}, r"data.csv: no column is named 'z\*'; there are a, b"),
        ("o\na > b\nb > a > b\n", {"format": "orders"}, r":3: label 'b' occurs twice"),
        ("o\na > b\na >\n", {"format": "orders"}, r":3: a name is missing"),
        (
            "w,p,o\n1,a,b\n2,a,b\n2,b,a\n",
            {"format": "pairs", "labels": "p,o", "instance": "w"},
            r":3: 'a' and 'b' each come before the other.*PreferenceGraphs",
        ),
        ("a\n1\n", {"format": "pairs"}, r"two columns: the preferred and the other"),
        ("a\n1\n", {"format": "best-worst"}, r"then the best, then the worst"),
        ("i,b,w\na,a,a\n", {"format": "best-worst"}, r":2: label 'a' is also the worst"),
        (
            "w,k,v\n1,a,3\n1,a,4\n",
            {"format": "long", "labels": "k,v", "instance": "w", "higher_is_better": True},
            r":3: instance 0 has label 'a' twice",
        ),
        ("k,v\na,3\n", {"format": "long", "higher_is_better": True}, "needs instance='COLUMN'"),
    ],
)
def test_tables_that_hold_no_rankings_are_refused_with_the_line(read, content, reading, problem):
    with pytest.raises(DataError, match=problem):
        read(content, **reading)


def test_rows_stand_for_lines_in_parquet(tmp_path):
    pd.DataFrame({"a": [1.0, 0.2], "b": [2.0, 1.0]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t.parquet: row 2: label 'a' has rank 0.2"):
        read_rankings(tmp_path / "t.parquet")


def orders_of(tmp_path, *orders):
    path = tmp_path / "orders.csv"
    path.write_text("x,o\n" + "".join(f"{i},{order}\n" for i, order in enumerate(orders)))
    return read_rankings(read_table(path), labels="o", format="orders")


def test_letters_written_together_are_tied(tmp_path):
    with pytest.warns(UserWarning, match=r"'abcdg' .* are read as ties: a ~ b ~ c ~ d ~ g"):
        found = orders_of(tmp_path, "e>f>abcdg", "a>b>cd", "g>f>e>d>c>b>a")
    assert list(found.labels) == list("abcdefg")
    assert found.ranks[0].tolist() == [3, 3, 3, 3, 1, 2, 3]


def test_a_name_made_of_other_names_is_said_and_kept(tmp_path):
    with pytest.warns(UserWarning, match="'tea milk' is made of|'teamilk' is made of"):
        found = orders_of(tmp_path, "tea>milk", "teamilk>beer", "beer>tea")
    assert set(found.labels) == {"tea", "milk", "teamilk", "beer"}


def test_names_that_share_letters_are_names(tmp_path):
    found = orders_of(tmp_path, "a>axe", "b>box")
    assert set(found.labels) == {"a", "axe", "b", "box"}


def test_names_of_single_letters_need_no_mark(tmp_path):
    assert set(orders_of(tmp_path, "a>b>c", "c>a~b").labels) == {"a", "b", "c"}

"""check, convert and aggregate, run as a user runs them."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero_inside as prefero
from prefero.cli.convert import Target
from prefero.cli.options import Format
from prefero.tables import FORMS, RANKING_FORMATS

RANKS = "x,color,y_a,y_b,y_c\n1.50,red,1,2,3\n2,blue,2,1,NA\n,red,1,1,3\n4,green,,,\n"


def test_check_describes_columns_and_asks_for_labels(write):
    done = prefero("check", write(RANKS))
    assert done.returncode == 0
    assert "4 rows, 5 columns" in done.stdout
    assert "text, 3 values" in done.stdout
    assert "--labels" in done.stderr


def test_check_counts(write):
    report = json.loads(prefero("check", write(RANKS), "--labels", "y_*", "--json").stdout)
    counts = {name: report[name] for name in ("complete", "incomplete", "empty", "with_ties")}
    assert counts == {"complete": 2, "incomplete": 1, "empty": 1, "with_ties": 1}
    assert report["labels"][0] == {
        "label": "y_a",
        "ranked": 3,
        "missing": 1,
        "first": 2,
        "mean_rank": 1.5,
        "relevant": None,
    }
    assert report["features"] == {"x": "numbers, 1 missing", "color": "text, 3 values"}


def test_check_lists_bad_cells_and_exits_3():
    done = prefero(
        "check", "-", "--labels", "*", "--format", "scores", stdin="a,b\n1,x\n2,3\ny,1\n"
    )
    assert done.returncode == 3
    assert "stdin:2: column 'b' holds 'x'" in done.stderr
    assert "stdin:4: column 'a' holds 'y'" in done.stderr
    assert "3 rankings: 1 complete, 2 incomplete" in done.stdout
    assert "--higher-is-better or --lower-is-better" in done.stderr


@pytest.mark.parametrize("command", [["check"], ["aggregate"], ["convert", "-", "--to", "orders"]])
@pytest.mark.parametrize(
    ("stdin", "problem"), [("", "stdin:1: the file is empty"), ("a,b\n1\n", "stdin:2: 2 cells")]
)
def test_bad_data_exits_3_with_one_sentence(command, stdin, problem):
    name, *others = command
    done = prefero(name, "-", *others, stdin=stdin)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"prefero: {problem}")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_wrong_usage_exits_2(write):
    path = write("a,b\n1,2\n")
    for arguments in (
        ["check", "nowhere.csv"],
        ["aggregate", path, "--format", "scores"],
        ["aggregate", path, "--format", "nonsense"],
        ["convert", path, "-"],
    ):
        done = prefero(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_convert_keeps_the_other_columns_as_they_are(write, tmp_path):
    done = prefero("convert", write(RANKS), "-", "--to", "ranks", "--labels", "y_*")
    assert done.stdout == RANKS.replace("NA", "")
    assert done.stderr == "Wrote the ranks of 4 rankings of 3 labels to stdout.\n"


def test_convert_there_and_back_again(write, tmp_path):
    source, orders, back = write(RANKS), tmp_path / "orders.parquet", tmp_path / "back.csv"
    assert prefero("convert", source, orders, "--to", "orders", "--labels", "y_*").returncode == 0
    assert pd.read_parquet(orders)["order"].tolist()[2] == "y_a ~ y_b > y_c"
    options = ("--to", "ranks", "--format", "orders", "--labels", "order")
    assert prefero("convert", orders, back, *options).returncode == 0
    assert back.read_text() == RANKS.replace("NA", "")


def test_convert_to_scores_and_pairs(write):
    path = write("a,b,c\n1,2,2\n2,,1\n")
    scores = pd.read_csv(io.StringIO(prefero("convert", path, "-", "--to", "scores").stdout))
    np.testing.assert_array_equal(scores, [[2, 0.5, 0.5], [0, np.nan, 1]])
    pairs = prefero("convert", path, "-", "--to", "pairs").stdout
    assert pairs == "instance,preferred,other\n1,a,b\n1,a,c\n2,c,a\n"


def test_a_failed_convert_leaves_the_old_file(write, tmp_path):
    old = write("old", "out.csv")
    assert prefero("convert", write("a,b\n1\n"), old, "--to", "orders").returncode == 3
    assert old.read_text() == "old"


@pytest.mark.parametrize("method", ["borda", "kemeny"])
def test_aggregate(write, method):
    path = write("order\nb > a > c\nb > c > a\na > b > c\n")
    done = prefero("aggregate", path, "--format", "orders", "--method", method)
    assert (done.returncode, done.stdout) == (0, "b > a > c\n")
    assert "3 rankings of 3 labels" in done.stderr


def test_aggregate_by_weights_as_json(write):
    path = write("order,count\nb > a,1\na > b,5\n")
    arguments = ("--format", "orders", "--labels", "order", "--weights", "count", "--json")
    result = json.loads(prefero("aggregate", path, *arguments).stdout)
    assert result["order"] == ["a", "b"]
    assert result["kendall_tau"] == pytest.approx(4 / 6)


@pytest.mark.parametrize("weight", ["-1", "", "nan"])
def test_bad_weights_are_refused_with_the_line(write, weight):
    path = write(f"order,count\nb > a,1\na > b,{weight}\n")
    arguments = ("--format", "orders", "--labels", "order", "--weights", "count")
    done = prefero("aggregate", path, *arguments)
    assert done.returncode == 3
    assert "data.csv:3: the weight in column 'count' is missing or negative" in done.stderr


def test_names_come_out_as_they_went_in(write):
    names = ["New York", "NA", "<script>", "東京", "[bold]x[/bold]"]
    path = write(",".join(names) + "\n1,2,3,4,5\n")
    assert prefero("aggregate", path).stdout == (
        'New York > NA > "<script>" > 東京 > "[bold]x[/bold]"\n'
    )
    shown = prefero("check", path, "--labels", "*").stdout
    assert all(name in shown for name in names)


def test_labels_that_name_nothing_are_refused(write):
    done = prefero("check", write(RANKS), "--labels", "")
    assert (done.returncode, done.stdout) == (3, "")
    assert "data.csv: the name of a column is missing; there are x, color, y_a" in done.stderr


def test_errors_speak_of_options(write):
    done = prefero("aggregate", write("a,b\n0.5,2\n"))
    assert done.stderr.endswith("this looks like scores: try --format 'scores'.\n")


def test_all_ragged_lines_are_named_at_once(write):
    done = prefero("check", write("a,b\n1\n1,2\n1,2,3\n2\n"))
    assert done.stderr.endswith(
        "data.csv:2: 2 cells were expected, got 1; lines 4, 5 are wrong too.\n"
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "xlsx", "xarff", "kebi"])
@pytest.mark.parametrize("command", [["check"], ["aggregate"], ["convert", "-", "--to", "orders"]])
def test_every_command_reads_every_format(write, tmp_path, command, ending):
    source, path = write("x,a,b\n1,1,2\n2,2,1\n3,1,2\n"), tmp_path / f"t.{ending}"
    assert prefero("convert", source, path, "--to", "ranks", "--labels", "a,b").returncode == 0
    name, *others = command
    labels = [] if ending in ("xarff", "kebi") else ["--labels", "a,b"]
    done = prefero(name, path, *others, *labels)
    assert done.returncode == 0, done.stderr
    assert "3 rankings" in done.stdout + done.stderr


def test_an_unknown_ending_is_wrong_usage(write, tmp_path):
    done = prefero("convert", write("a,b\n1,2\n"), tmp_path / "out.xls", "--to", "ranks")
    assert done.returncode == 2
    assert "no table is written with the ending '.xls': use one of" in " ".join(done.stderr.split())
    assert not (tmp_path / "out.xls").exists()


def test_the_mark_between_cells_is_told(write):
    done = prefero("aggregate", write("a;b\n1;2\n"))
    assert done.stdout == "a > b\n"
    assert "data.csv: cells are separated by semicolons." in done.stderr


def test_options_offer_what_the_room_can_read_and_write():
    assert [choice.value for choice in Format] == list(RANKING_FORMATS)
    assert [choice.value for choice in Target] == list(FORMS)
